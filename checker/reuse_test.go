package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/opinion"
)

// TestAnything judges histories that keep the format and nothing else: the judge
// neither breaks down nor disagrees with its second opinion.
func TestAnything(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(200) {
		h := anyHistory(seed, 200)
		j := New(h.Header, Options{Counterfactual: true, SecondOpinion: true, Window: 2 + int(seed%15)})
		j.Events(h.Events)
		r := j.Finish(t.Context(), h.Truncated)
		if len(r.Harness) > 0 {
			t.Errorf("seed %d: %s", seed, r.Harness[0].Text)
		}
		if j.broken != nil || len(j.env.Crashed) > 0 {
			t.Fatalf("seed %d: broke down: %+v %+v", seed, j.broken, j.env.Crashed)
		}
		checkTexts(t, r)
		for _, f := range r.Violations {
			found[f.ID] = true
		}
	}
	for _, id := range anomaly.IDs() {
		if id[0] == 'S' && !found[id] {
			t.Errorf("%s was never found: these histories do not reach its rule", id)
		}
	}
}

// A reuseCase is a history in which a grant, or an operation, is looked at when its
// memory would be used for another one, were it not pinned.
type reuseCase struct {
	window int // of the second opinion; 0 is without
	verdictCase
}

// turns are n grants of k to owner, each released. More words may follow the
// owner, as of a mode.
func turns(n int, owner, words string) string {
	return strings.Repeat(fmt.Sprintf(`
		%[1]s invoke acquire k %[2]s
		%[1]s ok acquire k %[2]s
		%[1]s invoke release k %[2]s
		%[1]s ok release k %[2]s`, owner, words), n)
}

// afterwards makes room for the memory of owner's grant, if it has ended: its
// key remembers four others, and its owner two. The last one takes the place.
func afterwards(owner, words string) string {
	return turns(ledger.Remembered, "x", words) + turns(2, owner, words)
}

func reuseCases() []reuseCase {
	return []reuseCase{
		{0, verdictCase{
			name: "live, though its owner holds in another mode too", want: Fail, violations: []string{"S1 [1 11]"},
			history: `
				a invoke acquire k mode r
				a ok acquire k mode r` + turns(2, "a", "") + `
				b invoke acquire k
				b ok acquire k`,
		}},
		{0, verdictCase{
			name: "a write after a release, settled late", want: Fail, violations: []string{"S8 [2 30]"},
			history: turns(1, "a", "") + `
				a0 invoke write k value a1 owner a
				a0 info write k value a1 owner a` + afterwards("a", "") + `
				store ok audit k value a1 seq 1 owner a`,
		}},
		{0, verdictCase{
			name: "an overlap that may be within the clocks' uncertainty", header: "epsilon 50ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				a invoke acquire k
				a ok acquire k
				b invoke acquire k
				b ok acquire k
				a invoke release k
				a ok release k
				b invoke release k
				b ok release k` + afterwards("a", ""),
		}},
		{0, verdictCase{
			name: "such an overlap with a grant that was told late", header: "epsilon 50ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				0ms a invoke acquire k
				1ms a ok acquire k
				2ms b invoke acquire k
				4ms a invoke release k
				5ms a ok release k
				6ms b ok acquire k ended 3ms
				7ms b invoke release k
				8ms b ok release k` + afterwards("b", ""),
		}},
		{0, verdictCase{
			name: "a release across a hold long ago", want: Fail, violations: []string{"S6 [1 5 33]"},
			history: `
				a invoke acquire k
				a ok acquire k
				a invoke extend k
				a fail extend k` + turns(1, "b", "") + afterwards("b", "") + `
				a invoke release k
				a ok release k`,
		}},
		{0, verdictCase{
			name: "a release across a hold that is extended", header: "ttl 50ms epsilon 5ms", want: Fail, violations: []string{"S6 [1 5 7]"}, suspicious: []string{"S6 [1 5 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k
				 2ms a invoke extend k
				 3ms a fail extend k
				 4ms b invoke acquire k
				 5ms b ok acquire k until 6ms
				20ms a invoke release k
				21ms a ok release k
				22ms b ok lost k` + afterwards("a", "") + `
				b ok extend k began 19ms until 100ms`,
		}},
		{0, verdictCase{
			name: "extended, as is told only behind its owner's next grant", header: "ttl 5ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1
				 2ms a0 invoke extend k owner a
				 9ms a invoke acquire k
				 9ms a ok acquire k fence 1
				10ms a0 ok extend k owner a ended 8ms
				10ms a invoke release k fence 1
				10ms a ok release k fence 1` + turns(ledger.RememberedOpen+1, "x", "") + turns(2, "a", ""),
		}},
		{0, verdictCase{
			name: "released late, and nobody was harmed", header: "ttl 5ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 5]"},
			history: `
				0ms a invoke acquire k
				1ms a ok acquire k
				6ms b invoke acquire k mode r
				7ms b ok acquire k mode r until 500ms
				8ms a invoke release k
				9ms a ok release k` + afterwards("a", "mode r"),
		}},
		{0, verdictCase{
			name: "released late, and another lease is extended when that hold has ended", header: "ttl 5ms unchecked-release", want: Fail,
			violations: []string{"S1 [38 40]"}, suspicious: []string{"S5 [5 9]"},
			history: `
				 0ms z invoke acquire k mode r
				 1ms z ok acquire k mode r
				 2ms z invoke extend k
				 3ms z fail extend k
				 4ms a invoke acquire k
				 5ms a ok acquire k
				10ms a invoke release k
				11ms b invoke acquire k mode r
				12ms b ok acquire k mode r until 500ms
				13ms a ok release k
				14ms b0 invoke extend k owner b` + turns(ledger.Remembered+1, "x", "mode r") + `
				b invoke acquire k
				b ok acquire k
				b invoke release k
				b ok release k
				b0 fail extend k owner b
				z ok extend k began 3ms until 100ms
				b invoke acquire k
				b ok acquire k until 500ms
				c invoke acquire k
				c ok acquire k until 500ms`,
		}},
		{opinion.WindowGrants, verdictCase{
			name: "extended, and then granted again", want: Pass,
			history: extendedOnce + afterwards("a", ""),
		}},
		{2, verdictCase{
			name: "extended, and then granted again, in another window", want: Pass,
			history: extendedOnce + afterwards("a", ""),
		}},
		{0, verdictCase{
			name: "of unknown outcome, and its owner goes on", want: Fail, violations: []string{"S8 [6]"},
			history: `
				a invoke acquire k
				a ok acquire k
				b invoke write k value b1
				b info write k value b1
				a invoke write k value a1
				a ok write k value a1 seq 1
				store ok audit k value b1 seq 2 owner b`,
		}},
		{0, verdictCase{
			name: "numbered behind an open write", want: Fail, violations: []string{"S8 [4]", "S8 [7]"},
			history: `
				a invoke acquire k
				a ok acquire k
				b0 invoke write k value b1 owner b
				b1 invoke write k value b2 owner b
				b1 ok write k value b2 seq 2 owner b
				a invoke write k value a1
				a ok write k value a1 seq 3
				b0 ok write k value b1 seq 1 owner b`,
		}},
		{0, verdictCase{
			name: "written after the deadline, while an extension is open", header: "ttl 5ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k
				 4ms a0 invoke extend k owner a
				 8ms a invoke write k value a1
				 9ms a ok write k value a1 seq 1
				10ms b invoke read k
				11ms a0 fail extend k owner a`,
		}},
	}
}

const extendedOnce = `
	a invoke acquire k
	a ok acquire k
	a invoke extend k
	a ok extend k
	a invoke release k
	a ok release k`

// TestPinned judges those rightly: with any one of the pins left out it does not.
func TestPinned(t *testing.T) {
	for _, c := range reuseCases() {
		t.Run(c.name, func(t *testing.T) {
			r := Check(t.Context(), parse(t, c.header, c.history), Options{SecondOpinion: c.window > 0, Window: c.window})
			if got, want := fmt.Sprint(r.Verdict, short(r.Violations), short(r.Suspicious)), fmt.Sprint(c.want, c.violations, c.suspicious); got != want {
				t.Errorf("judged %s, want %s", got, want)
			}
		})
	}
}

// TestManyUnknown has more writes of one lease stay unknown than a small number
// can count.
func TestManyUnknown(t *testing.T) {
	const writes = 1 << 15
	text := new(strings.Builder)
	text.WriteString(turns(1, "a", ""))
	for i := 2000; i < 2000+writes; i++ { // named processes have lower numbers
		fmt.Fprintf(text, "\n%d invoke write k value v%d owner a\n%d info write k value v%d owner a", i, i, i, i)
	}
	text.WriteString(afterwards("a", "") + "\nstore ok audit k value v2000 seq 1 owner a")
	r := judge(t, "ttl 1h", text.String())
	last := 4 + 2*writes + (ledger.Remembered+2)*4
	if want := []string{fmt.Sprintf("S8 [2 %d]", last)}; !slices.Equal(short(r.Violations), want) {
		t.Errorf("violations %q, want %q", short(r.Violations), want)
	}
}

// TestForgottenIntruders has an owner that never comes back, and two that never
// release: each grant crosses the one before. The first remembers who crossed it,
// and with it must not come all that were granted since.
func TestForgottenIntruders(t *testing.T) {
	text := new(strings.Builder)
	owner := []string{"a", "b"}
	fmt.Fprint(text, "z invoke acquire k\nz ok acquire k until 2ms")
	for i := range 100 {
		o, from := owner[i%2], 10*(i+1)
		fmt.Fprintf(text, "\n%dms %s invoke acquire k\n%dms %s ok acquire k until %dms", from, o, from+1, o, from+2)
	}
	h := parse(t, "ttl 5ms", text.String())
	j := New(h.Header, Options{})
	j.Events(h.Events)
	chain := 0
	for g := j.env.Key("k").Holders[0].Grant; len(g.Intruders()) > 0; g = g.Intruders()[0] {
		chain++
	}
	if chain == 0 || chain > 4 {
		t.Errorf("the first grant keeps a chain of %d", chain)
	}
}
