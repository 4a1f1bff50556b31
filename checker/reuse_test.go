package checker

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// TestReuse shows that no rule looks at an op or a grant once it is taken back:
// it makes no difference whether they are used again, overwritten, or left alone.
func TestReuse(t *testing.T) {
	for seed := range uint64(60) {
		h := slips(seed, 2000)
		if seed%4 == 0 {
			h = anyHistory(seed, 2000)
		}
		for _, second := range []bool{false, true} {
			o := Options{Counterfactual: true, SecondOpinion: second, Window: 4}
			again, overwritten, alone := New(h.Header, o), New(h.Header, o), New(h.Header, o)
			overwritten.spoil, alone.spoil = overwrite, func(*op, *grant) {}
			want := reported(t, alone, h)
			if got := reported(t, again, h); got != want {
				t.Fatalf("seed %d: used again %s\nleft alone %s", seed, got, want)
			}
			if got := reported(t, overwritten, h); got != want {
				t.Fatalf("seed %d: overwritten %s\nleft alone %s", seed, got, want)
			}
		}
	}
}

// TestTakenBack shows that ties are undone: of a lock that works, nearly every
// grant is used again, and nearly every op.
func TestTakenBack(t *testing.T) {
	var h history.Buffer
	g := newGenerator(2, 8, 7, h.Event)
	g.operations(20_000)
	for _, second := range []bool{false, true} {
		j := New(g.header(), Options{SecondOpinion: second, Window: 4})
		ops, grants := 0, 0
		j.spoil = func(o *op, _ *grant) {
			if o != nil {
				ops++
			} else {
				grants++
			}
		}
		j.Events(h.Events)
		if all := j.ev.Grants; grants < all/2 || ops < len(h.Events)/3 {
			t.Errorf("second opinion %t: taken back %d of %d grants, and %d ops of %d events", second, grants, all, ops, len(h.Events))
		}
	}
}

func overwrite(o *op, g *grant) {
	if o != nil {
		*o = op{}
	} else {
		*g = grant{}
	}
}

// slips makes a history of n operations of a right lock, a few of which went
// wrong: leases end early, what was refused is granted, what was done is not.
func slips(seed uint64, n int) history.History {
	var buf history.Buffer
	g := newGenerator(1+int(seed%4), 3+int(seed%11), seed, buf.Event)
	g.unknown = 0.01
	g.operations(n)
	g.end()
	for i := range buf.Events {
		e := &buf.Events[i]
		switch slip := g.rng.IntN(40) == 0; {
		case !slip || e.Kind == history.Invoke || e.Kind == history.Info:
		case e.Op == history.Acquire && e.Kind == history.OK:
			e.ValidUntil = e.Time + time.Duration(g.rng.IntN(2000))
		case e.Op == history.Acquire:
			e.Kind, e.Fence = history.OK, uint64(1+g.rng.IntN(n/6))
		case e.Op == history.Release:
			e.Kind = history.Fail
		}
	}
	return history.History{Header: g.header(), Events: buf.Events}
}

func reported(t *testing.T, j *Judge, h history.History) string {
	t.Helper()
	j.Events(h.Events)
	r := j.Finish(t.Context(), h.Truncated)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

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
		if j.broken != nil || len(j.crashed) > 0 {
			t.Fatalf("seed %d: broke down: %+v %+v", seed, j.broken, j.crashed)
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

// A reuseCase is a history in which memory that a tie would have kept is used
// again, for something else.
type reuseCase struct {
	tie    tie
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

// forgotten makes room for the memory of owner's grant, if it has ended: its
// key remembers four others, and its owner two. The last one takes the place.
func forgotten(owner, words string) string {
	return turns(remembered, "x", words) + turns(2, owner, words)
}

func reuseCases() []reuseCase {
	return []reuseCase{
		{tieHeld, 0, verdictCase{
			name: "live, though its owner holds in another mode too", want: Fail, violations: []string{"S1 [1 11]"},
			history: `
				a invoke acquire k mode r
				a ok acquire k mode r` + turns(2, "a", "") + `
				b invoke acquire k
				b ok acquire k`,
		}},
		{tieActing, 0, verdictCase{
			name: "a write after a release, settled late", want: Fail, violations: []string{"S8 [2 30]"},
			history: turns(1, "a", "") + `
				a0 invoke write k value a1 owner a
				a0 info write k value a1 owner a` + forgotten("a", "") + `
				store ok audit k value a1 seq 1 owner a`,
		}},
		{tiePair, 0, verdictCase{
			name: "an overlap that may be within the clocks' uncertainty", header: "epsilon 50ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				a invoke acquire k
				a ok acquire k
				b invoke acquire k
				b ok acquire k
				a invoke release k
				a ok release k
				b invoke release k
				b ok release k` + forgotten("a", ""),
		}},
		{tiePair, 0, verdictCase{
			name: "such an overlap with a grant that was told late", header: "epsilon 50ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				0ms a invoke acquire k
				1ms a ok acquire k
				2ms b invoke acquire k
				4ms a invoke release k
				5ms a ok release k
				6ms b ok acquire k ended 3ms
				7ms b invoke release k
				8ms b ok release k` + forgotten("b", ""),
		}},
		{tieIntruder, 0, verdictCase{
			name: "a release across a hold long ago", want: Fail, violations: []string{"S6 [1 5 33]"},
			history: `
				a invoke acquire k
				a ok acquire k
				a invoke extend k
				a fail extend k` + turns(1, "b", "") + forgotten("b", "") + `
				a invoke release k
				a ok release k`,
		}},
		{tieCrossing, 0, verdictCase{
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
				22ms b ok lost k` + forgotten("a", "") + `
				b ok extend k began 19ms until 100ms`,
		}},
		{tieRenewed, 0, verdictCase{
			name: "extended, as is told only behind its owner's next grant", header: "ttl 5ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1
				 2ms a0 invoke extend k owner a
				 9ms a invoke acquire k
				 9ms a ok acquire k fence 1
				10ms a0 ok extend k owner a ended 8ms
				10ms a invoke release k fence 1
				10ms a ok release k fence 1` + turns(rememberedOpen+1, "x", "") + turns(2, "a", ""),
		}},
		{tieReleased, 0, verdictCase{
			name: "released late, and nobody was harmed", header: "ttl 5ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 5]"},
			history: `
				0ms a invoke acquire k
				1ms a ok acquire k
				6ms b invoke acquire k mode r
				7ms b ok acquire k mode r until 500ms
				8ms a invoke release k
				9ms a ok release k` + forgotten("a", "mode r"),
		}},
		{tieVictim, 0, verdictCase{
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
				14ms b0 invoke extend k owner b` + turns(remembered+1, "x", "mode r") + `
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
		{tieRecent, windowGrants, verdictCase{
			name: "extended, and then granted again", want: Pass,
			history: extendedOnce + forgotten("a", ""),
		}},
		{tieWindow, 2, verdictCase{
			name: "extended, and then granted again, in another window", want: Pass,
			history: extendedOnce + forgotten("a", ""),
		}},
		{tieUnknown, 0, verdictCase{
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
		{tieWaiting, 0, verdictCase{
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
		{tieParked, 0, verdictCase{
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

// TestTies cuts every tie in turn: the judge must judge a history otherwise that
// it judges rightly when nothing is cut.
func TestTies(t *testing.T) {
	shown := map[tie]bool{}
	for _, c := range reuseCases() {
		t.Run(c.name, func(t *testing.T) {
			if got, want := c.judged(t, 0), fmt.Sprint(c.want, c.violations, c.suspicious); got != want {
				t.Errorf("judged %s, want %s", got, want)
			} else if cut := c.judged(t, c.tie); cut == want {
				t.Errorf("judged %s with tie %d cut, too", cut, c.tie)
			}
		})
		shown[c.tie] = true
	}
	for x := tie(1); x < ties; x++ {
		if !shown[x] {
			t.Errorf("no case tells whether tie %d is there", x)
		}
	}
}

func (c reuseCase) judged(t *testing.T, cut tie) string {
	h := parse(t, c.header, c.history)
	j := New(h.Header, Options{SecondOpinion: c.window > 0, Window: c.window})
	j.cut = cut
	j.Events(h.Events)
	r := j.Finish(t.Context(), false)
	return fmt.Sprint(r.Verdict, short(r.Violations), short(r.Suspicious))
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
	text.WriteString(forgotten("a", "") + "\nstore ok audit k value v2000 seq 1 owner a")
	r := judge(t, "ttl 1h", text.String())
	last := 4 + 2*writes + (remembered+2)*4
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
	for g := j.key("k").holders[0].grant; len(g.intruders()) > 0; g = g.intruders()[0] {
		chain++
	}
	if chain == 0 || chain > 4 {
		t.Errorf("the first grant keeps a chain of %d", chain)
	}
}
