package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// handedOn are n grants to others, one behind the other from a millisecond on, each for a
// little more than one.
func handedOn(from, n int) string {
	var b strings.Builder
	for i := range n {
		t := from + 2*i
		fmt.Fprintf(&b, "\n%d.0ms o%d invoke acquire k\n%d.1ms o%d ok acquire k until %dms", t, i, t, i, t+50)
		fmt.Fprintf(&b, "\n%d.2ms o%d invoke release k\n%d.3ms o%d ok release k", t+1, i, t+1, i)
	}
	return b.String()
}

// late are histories in which a's lease lasts until 15 ms, or nearly, which is told only
// when others were granted the key, and gave it back.
var late = []struct{ name, before, behind string }{
	{"a round of renewal", "", "\n900ms a ok extend k began 9ms until 15ms"},
	{"an extension", "\n9ms a invoke extend k", "\n900ms a ok extend k until 15ms"},
	{"a release that began later", "\n8ms a invoke extend k\n9ms a ok extend k until 100ms\n10ms a invoke release k", "\n900ms a ok release k began 15ms ended 16ms"},
	{"a release that was never sent", "\n8ms a invoke extend k\n9ms a ok extend k until 15ms\n10ms a invoke release k", "\n900ms a fail release k err \"connection refused\""},
	{"the same, of which a link says so", "\n8ms a invoke extend k\n9ms a ok extend k until 15ms\n10ms a invoke release k\n10ms a info release k", "\n900ms link ok receipt never-forwarded of 4"},
	{"an inner release that was never sent", "\n8ms a invoke acquire k\n9ms a ok acquire k until 15ms\n10ms a invoke release k", "\n900ms a fail release k err \"connection refused\""},
	{"the same, of which a link says so", "\n8ms a invoke acquire k\n9ms a ok acquire k until 15ms\n10ms a invoke release k\n10ms a info release k", "\n900ms link ok receipt never-forwarded of 4"},
	{"an inner release that began later", "\n8ms a invoke acquire k\n9ms a ok acquire k until 100ms\n10ms a invoke release k", "\n900ms a ok release k began 15ms ended 16ms"},
}

// TestForgottenMeanwhile holds that a hold which turns out to have lasted beside others that
// are forgotten leaves open whether they met, and one beside nobody does not.
func TestForgottenMeanwhile(t *testing.T) {
	for _, c := range late {
		for _, others := range []int{3, 20, 100} {
			for _, from := range []int{11, 16} {
				r := judge(t, "ttl 100ms unchecked-release", "0ms a invoke acquire k\n1ms a ok acquire k until 10ms"+c.before+handedOn(from, others)+c.behind)
				met := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S1" })
				undecided := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return strings.Contains(f.Text, "(S1, S6, S10)") })
				switch name := fmt.Sprintf("%s, %d others from %d ms on", c.name, others, from); {
				case len(r.Harness) > 0:
					t.Errorf("%s: the judges disagree: %v", name, r.Harness)
				case from == 11 && !met && !undecided, from == 11 && others == 3 && !met:
					t.Errorf("%s: nothing found, nothing left open: %s", name, r.Verdict)
				case from == 16 && met, from == 16 && others < 100 && undecided:
					t.Errorf("%s: met %t, undecided %t: %v %v", name, met, undecided, short(r.Violations), r.Inconclusive)
				}
			}
		}
	}
}

// TestRemembersAgain holds that a lease which goes on is compared with grants again, once it
// has been forgotten.
func TestRemembersAgain(t *testing.T) {
	const next = "\n910ms z invoke acquire k\n911ms z ok acquire k until 990ms"
	for _, c := range []struct{ name, before, behind string }{
		{"a round of renewal", "", "\n900ms a ok extend k began 9ms until 950ms"},
		{"a release that was never sent", "\n8ms a invoke extend k\n9ms a ok extend k until 950ms\n10ms a invoke release k", "\n900ms a fail release k err \"connection refused\""},
		{"the same, of which a link says so", "\n8ms a invoke extend k\n9ms a ok extend k until 950ms\n10ms a invoke release k\n10ms a info release k", "\n900ms link ok receipt never-forwarded of 4"},
		{"an inner release that was never sent", "\n8ms a invoke acquire k\n9ms a ok acquire k until 950ms\n10ms a invoke release k", "\n900ms a fail release k err \"connection refused\""},
		{"the same, of which a link says so", "\n8ms a invoke acquire k\n9ms a ok acquire k until 950ms\n10ms a invoke release k\n10ms a info release k", "\n900ms link ok receipt never-forwarded of 4"},
		{"one that may have been of two leases", "\n2ms a1 invoke acquire k owner a\n2ms a2 invoke acquire k owner a mode r\n3ms a1 ok acquire k owner a until 950ms\n4ms a2 ok acquire k owner a mode r until 9ms\n5ms a2 invoke release k owner a", "\n900ms a2 fail release k owner a err \"connection refused\""},
		{"the same, by a process that took neither", "\n2ms a1 invoke acquire k owner a\n2ms a2 invoke acquire k owner a\n3ms a1 ok acquire k owner a fence 1 until 950ms\n4ms a2 ok acquire k owner a fence 2 until 9ms\n5ms a3 invoke release k owner a", "\n900ms a3 fail release k owner a err \"connection refused\""},
	} {
		r := judge(t, "ttl 1s unchecked-release", "0ms a invoke acquire k\n1ms a ok acquire k until 10ms"+c.before+handedOn(20, 40)+c.behind+next)
		if !slices.ContainsFunc(r.Violations, func(f Finding) bool {
			return f.ID == "S1" && slices.Equal(f.Owners, []string{"a", "z"})
		}) {
			t.Errorf("%s: the next grant met nobody: %v %v", c.name, short(r.Violations), r.Inconclusive)
		}
	}
}

// TestUnsentLongAgo holds that a release of unknown outcome, of which links say only at the
// end of a run that it never was sent, leaves nothing open: who was granted the key since
// was compared with the lease that it left, however many there were, as long as that lasted.
func TestUnsentLongAgo(t *testing.T) {
	const (
		lease   = "0ms a invoke acquire k\n1ms a ok acquire k until 100ms\n10ms a invoke release k"
		nested  = "0ms a invoke acquire k\n0ms a ok acquire k until 10ms\n0ms a invoke acquire k\n1ms a ok acquire k until 100ms\n10ms a invoke release k"
		unknown = "\n20ms a info release k err timeout"
		later   = 600 // ms
	)
	for _, c := range []struct {
		name, between string // … the invocation of the release and what the link says at the end
		met           bool   // others were granted the key, while a's lease went on
	}{
		{"nobody while it lasted", unknown + handedOn(101, 200), false},
		{"one of many while it lasted", unknown + handedOn(98, 200), true},
		{"many while it lasted", unknown + handedOn(80, 200), true},
		{"very many while it lasted", unknown + handedOn(21, 39) + handedOn(101, 200), true},
		{"many before its outcome was unknown", handedOn(11, 10) + "\n60ms a info release k err timeout" + handedOn(101, 200), true},
		{"one, which is told late", unknown + handedOn(101, 100) + "\n310ms z invoke acquire k\n311ms z ok acquire k began 50ms ended 51ms until 60ms" + handedOn(320, 100), true},
		{"one, which is told late, behind it", unknown + handedOn(101, 100) + toldLate(510, 1), false},
		{"many, which are told late, behind it", unknown + toldLate(101, 40) + handedOn(300, 70), false},
		{"one, and behind it many, which are told late", unknown + handedOn(101, 20) + "\n310ms z invoke acquire k\n311ms z ok acquire k began 50ms ended 51ms until 60ms" + toldLate(320, 40) + handedOn(500, 20), true},
		{"one for no time, who is told of more", unknown + "\n50ms b invoke acquire k\n51ms b ok acquire k until 51ms\n51ms b invoke extend k\n52ms b ok extend k until 90ms" + handedOn(101, 200), true},
		{"many before a deadline that is told late", unknown + handedOn(101, 200) + "\n550ms a ok extend k began 9ms until 150ms", true},
		{"one behind many of its owner's own", unknown + ofOwn(21, 10) + handedOn(98, 200), true},
		{"very many at once", unknown + together(30, 100) + handedOn(101, 200), true},
	} {
		for _, held := range []string{lease, nested} {
			release := strings.Count(held, "\n")
			r := judge(t, "ttl 100ms unchecked-release", held+c.between+fmt.Sprintf("\n%dms link ok receipt never-forwarded of %d", later, release))
			met := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S1" && slices.Contains(f.Owners, "a") })
			name := fmt.Sprintf("%s (release %d)", c.name, release)
			switch {
			case len(r.Harness) > 0:
				t.Errorf("%s: the judges disagree: %v", name, r.Harness)
			case !c.met && (met || len(r.Inconclusive) > 0):
				t.Errorf("%s: %v, left open: %v", name, short(r.Violations), r.Inconclusive)
			case c.met && !met && len(r.Inconclusive) == 0:
				t.Errorf("%s: nothing found, nothing left open: %s", name, r.Verdict)
			}
		}
	}
}

// toldLate are n grants, each of which is told of a millisecond after it was made, from a
// millisecond on.
func toldLate(from, n int) string {
	var b strings.Builder
	for i := range n {
		t := from + 4*i
		fmt.Fprintf(&b, "\n%dms l%d invoke acquire k\n%dms l%d ok acquire k began %dms ended %dms until %dms\n%dms l%d invoke release k\n%dms l%d ok release k",
			t, i, t+2, i, t, t+1, t+4, t+2, i, t+3, i)
	}
	return b.String()
}

// ofOwn are n further grants to a, by another process, one behind the other from a millisecond on.
func ofOwn(from, n int) string {
	var b strings.Builder
	for t := from; t < from+4*n; t += 4 {
		fmt.Fprintf(&b, "\n%dms a1 invoke acquire k owner a\n%dms a1 ok acquire k owner a until %dms\n%dms a1 invoke release k owner a\n%dms a1 ok release k owner a", t, t+1, t+50, t+2, t+3)
	}
	return b.String()
}

// together are n readers who hold at once for 20 ms, from a millisecond on.
func together(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\n%dms r%d invoke acquire k mode r\n%dms r%d ok acquire k mode r until %dms", from, i, from, i, from+50)
	}
	for i := range n {
		fmt.Fprintf(&b, "\n%dms r%d invoke release k\n%dms r%d ok release k", from+20, i, from+20, i)
	}
	return b.String()
}
