package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestToldLate holds that what says itself when it was ends a hold then, and not when
// that is told; and that what is told too late to be judged is undecided.
func TestToldLate(t *testing.T) { runCases(t, toldLateCases()) }

func toldLateCases() []verdictCase {
	const two = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		20ms b invoke acquire k
		21ms b ok acquire k until 120ms`
	const asked = `
		 0ms a0 invoke acquire k owner a
		 1ms a0 ok acquire k owner a until 100ms
		20ms a0 invoke release k owner a`
	const wrote = `
		50ms a1 invoke write k owner a value a1 began 45ms
		51ms a1 ok write k owner a value a1 seq 1`
	return []verdictCase{
		{
			name: "a child's late write, told once its lease had been extended", header: "ttl 30ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a until 30ms
				49ms a2 ok extend k owner a until 90ms began 48ms` + wrote,
		},
		{
			name: "the same, while the extension was under way", header: "ttl 30ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a until 30ms
				49ms a2 ok extend k owner a until 90ms began 45ms` + wrote,
		},
		{
			name: "a child's write in time, told once its lease had been extended", header: "ttl 30ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a until 45ms
				46ms a2 ok extend k owner a until 90ms began 46ms` + wrote,
		},
		{
			name: "a child's write behind a release that it never answered", header: "ttl 100ms", want: Pass,
			history: asked + `
				30ms a0 info release k owner a err "no answer"` + wrote,
		},
		{
			name: "the same, once its lease was over", header: "ttl 30ms", want: Fail, violations: []string{"S3z [1 5]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a until 30ms
				20ms a0 invoke release k owner a
				25ms a0 info release k owner a err "no answer"` + wrote,
		},
		{
			name: "the same, while the release is asked for", header: "ttl 100ms", want: Pass,
			history: asked + wrote + `
				60ms a0 info release k owner a err "no answer"`,
		},
		{
			name: "a child's write behind a release of which it says that it began it", header: "ttl 100ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: asked + `
				30ms a0 info release k owner a began 21ms ended 29ms err timeout` + wrote,
		},
		{
			name: "the same, of which it began after the write", header: "ttl 100ms", want: Pass,
			history: asked + wrote + `
				60ms a0 ok release k owner a began 55ms ended 58ms`,
		},
		{
			name: "a child's write behind a release that was answered the second time", header: "ttl 100ms", want: Fail, violations: []string{"S8 [2 7]"},
			history: asked + `
				30ms a0 info release k owner a err "no answer"
				31ms a2 invoke release k owner a
				33ms a2 ok release k owner a` + wrote,
		},
		{
			name: "a write without a stamp of its own", header: "ttl 100ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: asked + `
				30ms a0 info release k owner a err timeout
				50ms a1 invoke write k owner a value a1
				51ms a1 ok write k owner a value a1 seq 1`,
		},
		{
			name: "a release that began before another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke release k
				51ms a ok release k began 18ms ended 19ms`,
		},
		{
			name: "the same, as its invocation says", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke release k began 18ms
				51ms a ok release k ended 19ms`,
		},
		{
			name: "a release that began after another's grant", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]", "S6 [1 3 5]"},
			history: two + `
				50ms a invoke release k
				51ms a ok release k began 23ms ended 24ms`,
		},
		{
			name: "a release at the instant of another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke release k
				51ms a ok release k began 21ms ended 24ms`,
		},
		{
			name: "a release of unknown outcome that began before another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke release k
				51ms a info release k began 18ms ended 19ms err timeout`,
		},
		{
			name: "a refused release that began before another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke release k
				51ms a fail release k began 18ms ended 19ms err lost`,
		},
		{
			name: "a refused extension, answered before another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a invoke extend k
				51ms a fail extend k began 18ms ended 19ms err lost`,
		},
		{
			name: "a refused extension, answered after another's grant", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: two + `
				50ms a invoke extend k
				51ms a fail extend k began 18ms ended 25ms err lost`,
		},
		{
			name: "a loss told before another's grant", header: "ttl 100ms", want: Pass,
			history: two + `
				50ms a ok lost k began 19ms`,
		},
		{
			name: "an extension across another's hold, as was told when", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]", "S6 [1 3 5]"},
			history: two + `
				50ms a invoke extend k
				51ms a ok extend k began 45ms ended 46ms until 145ms`,
		},
		{
			name: "an extension that began before another's grant", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: two + `
				50ms a invoke extend k
				51ms a ok extend k began 15ms ended 16ms until 115ms`,
		},
		{
			name: "a grant that was answered before another's release, both told late", header: "ttl 100ms unchecked-release", want: Fail, violations: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				30ms a invoke release k
				31ms a ok release k
				50ms b invoke acquire k
				51ms b ok acquire k began 9ms ended 10ms until 109ms`,
		},
		{
			name: "a grant that was answered behind another's release, told late", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 5ms a invoke release k
				 6ms a ok release k
				50ms b invoke acquire k
				51ms b ok acquire k began 9ms ended 10ms until 109ms`,
		},
		{
			name: "a write under a grant that is told late", header: "ttl 100ms", want: Pass,
			history: `
				20ms w invoke write k owner b value b1
				21ms w ok write k owner b value b1 seq 1
				50ms b invoke acquire k
				51ms b ok acquire k began 9ms ended 10ms until 109ms`,
		},
		{
			name: "a write before a grant that is told late", header: "ttl 100ms", want: Fail, violations: []string{"S8 [1]"},
			history: `
				 5ms w invoke write k owner b value b1
				 6ms w ok write k owner b value b1 seq 1
				50ms b invoke acquire k
				51ms b ok acquire k began 9ms ended 10ms until 109ms`,
		},
		{
			name: "a write behind a release by another process, which is told behind it", header: "ttl 100ms", want: Inconclusive,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				20ms w invoke write k owner a value a1
				21ms w ok write k owner a value a1 seq 1
				50ms a invoke release k
				51ms a ok release k began 9ms ended 10ms`,
		},
		{
			name: "a write before a release by another process, which is told behind it", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				20ms w invoke write k owner a value a1
				21ms w ok write k owner a value a1 seq 1
				50ms a invoke release k
				51ms a ok release k began 29ms ended 30ms`,
		},
		{
			name: "a late write, and an extension before it that is told behind it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				12ms w invoke write k owner a value a1
				13ms w ok write k owner a value a1 seq 1
				50ms a invoke extend k
				51ms a ok extend k began 8ms ended 9ms until 18ms`,
		},
		{
			name: "a token lower than one that was given before, told late", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 2 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				50ms b invoke acquire k
				51ms b ok acquire k fence 1 began 9ms ended 10ms until 19ms`,
		},
		{
			name: "an automatic renewal that was refused before a write, told behind it", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 5ms a0 invoke write k owner a value a1
				 6ms a0 ok write k owner a value a1 seq 1
				 9ms a fail extend k began 2ms ended 3ms err lost`,
		},
		{
			name: "an extension that was refused before a write, told behind it", header: "ttl 100ms", want: Fail, violations: []string{"S8 [4 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke extend k
				 5ms a0 invoke write k owner a value a1
				 6ms a0 ok write k owner a value a1 seq 1
				 9ms a fail extend k began 2ms ended 3ms err lost`,
		},
		{
			name: "a token lower than one that was given afterwards, told late", header: "ttl 10ms", want: Pass, suspicious: []string{"S4 [1 5]"},
			history: `
				20ms a invoke acquire k
				21ms a ok acquire k fence 2 until 30ms
				22ms a invoke release k
				23ms a ok release k
				50ms b invoke acquire k
				51ms b ok acquire k fence 1 began 9ms ended 10ms until 19ms`,
		},
		{
			name: "a loss without cause, of a lease that had been given back", header: "ttl 100ms", want: Pass,
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				20ms a ok lost k
				50ms a invoke release k
				51ms a ok release k began 9ms ended 10ms
				60ms nemesis ok phase final`,
		},
	}
}

// TestAheadOfKnown holds that a write issued, by its own stamp, before its owner's grants
// is one without a lease while all of those are remembered, and undecided beyond.
func TestAheadOfKnown(t *testing.T) {
	for _, c := range []struct {
		leases int
		want   Verdict
	}{{1, Fail}, {2, Fail}, {4, Fail}, {40, Inconclusive}} {
		var text strings.Builder
		at := func(n int) string { return (time.Duration(n) * time.Millisecond).String() }
		for i := 1; i <= c.leases; i++ {
			text.WriteString("\n" + at(10*i) + " a invoke acquire k\n" + at(10*i+1) + " a ok acquire k" +
				"\n" + at(10*i+5) + " a invoke release k\n" + at(10*i+6) + " a ok release k")
		}
		end := 10 * (c.leases + 1)
		text.WriteString("\n" + at(end) + " w invoke write k owner a value a1 began 5ms\n" + at(end+1) + " w ok write k owner a value a1 seq 1")
		r := judge(t, "ttl 100ms", text.String())
		if r.Verdict != c.want || (c.want == Fail) != slices.Equal(short(r.Violations), []string{"S8 " + fmt.Sprintf("[%d]", 4*c.leases+1)}) {
			t.Errorf("behind %d leases: %s %v %v, want %s", c.leases, r.Verdict, short(r.Violations), r.Inconclusive, c.want)
		}
	}
}

// TestForgottenBeside holds that a grant told behind more others than are remembered
// leaves open whether it met them, unless it lies between them.
func TestForgottenBeside(t *testing.T) {
	for _, c := range []struct {
		others int
		from   int // ms
		known  bool
		open   bool
	}{{1, 1, true, false}, {4, 1, true, false}, {40, 1, false, true}, {40, 5, false, false}} {
		var text strings.Builder
		at := func(n int) string { return (time.Duration(n) * time.Millisecond).String() }
		for i := range c.others {
			text.WriteString("\n" + at(10*i) + " a invoke acquire k\n" + at(10*i+1) + " a ok acquire k until " + at(10*i+9) +
				"\n" + at(10*i+5) + " a invoke release k\n" + at(10*i+6) + " a ok release k")
		}
		text.WriteString("\n" + at(10*c.others) + " b invoke acquire k\n" + at(10*c.others+1) + fmt.Sprintf(" b ok acquire k began %dms ended %dms until %dms", c.from, c.from+1, c.from+5))
		r := judge(t, "ttl 100ms unchecked-release", text.String())
		found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S1" })
		undecided := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return strings.Contains(f.Text, "(S1, S6, S10)") })
		if found != c.known || undecided != c.open {
			t.Errorf("behind %d others, from %d ms: found %t, undecided %t; want found %t, undecided %t: %v %v", c.others, c.from, found, undecided, c.known, c.open, short(r.Violations), r.Inconclusive)
		}
	}
}
