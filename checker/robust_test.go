package checker

import (
	"slices"
	"strings"
	"testing"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history"
)

// panics is a rule that breaks down at the nth fact.
type panics struct{ left int }

func (*panics) IDs() []string        { return []string{"S99"} }
func (*panics) Wants() []ledger.Kind { return []ledger.Kind{ledger.Asked, ledger.Granted} }
func (*panics) Finish()              {}
func (p *panics) Observe(*ledger.Fact) {
	if p.left--; p.left < 0 {
		panic("out of luck")
	}
}

// ruleOf is the judge's rule of this type.
func ruleOf[T rule.Rule](j *Judge) (found T) {
	for _, r := range j.env.Rules {
		if x, is := r.(T); is {
			found = x
		}
	}
	return found
}

// TestPanic shows that a rule that breaks down takes nothing with it but its
// own property.
func TestPanic(t *testing.T) {
	h := parse(t, "ttl 100ms", twice)
	whole := Check(t.Context(), h, Options{})
	for at := range 4 {
		j := blank(h.Header, Options{})
		for _, r := range slices.Insert(j.all(), at, rule.Rule(&panics{left: at})) {
			j.env.Enlist(r)
		}
		for i := range h.Events {
			j.Event(&h.Events[i])
		}
		r := j.Finish(t.Context(), false)
		if !slices.Equal(short(r.Violations), short(whole.Violations)) || r.Evidence != whole.Evidence {
			t.Errorf("with a panic at %d: %v, want %v", at, short(r.Violations), short(whole.Violations))
		}
		if len(r.Inconclusive) != 1 || !strings.Contains(r.Inconclusive[0].Text, "S99") {
			t.Errorf("inconclusive %v, want V5 for S99", r.Inconclusive)
		}
	}
}

func TestLive(t *testing.T) {
	h := parse(t, "ttl 100ms", twice)
	j := New(h.Header, Options{})
	for i := range h.Events {
		j.Event(&h.Events[i])
	}
	l := j.Live()
	if l.Grants != 2 || l.DoubleGrants != 1 || l.TokenRegressions != 1 || l.Contended != 0 || !strings.Contains(l.FirstHit, "duplicate token on k") {
		t.Errorf("got %+v", l)
	}
}

// TestRefuted shows that what was not kept is not refuted with what was.
func TestRefuted(t *testing.T) {
	const refuted = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		 2ms b invoke acquire k
		 5ms b ok acquire k until 102ms
		20ms a fail extend k began 2ms ended 3ms`
	const kept = `
		 6ms c invoke acquire l
		 7ms c ok acquire l
		 8ms d invoke acquire l
		 9ms d ok acquire l`
	first, last, _ := strings.Cut(refuted, "20ms")
	for limit, want := range map[int]Verdict{1: Inconclusive, 2: Fail} {
		r := Check(t.Context(), parse(t, "ttl 100ms", first+kept+"\n20ms"+last), Options{Limit: limit})
		if r.Verdict != want {
			t.Errorf("limit %d: %s %v, want %s", limit, r.Verdict, short(r.Violations), want)
		}
	}
	if r := Check(t.Context(), parse(t, "ttl 100ms accepted S1", first+kept+"\n20ms"+last), Options{Limit: 1}); r.Verdict != Pass {
		t.Errorf("%s %v, want PASS: it makes no difference how many of them there are", r.Verdict, r.Inconclusive)
	}
	if r := Check(t.Context(), parse(t, "ttl 100ms", refuted), Options{Limit: 1}); r.Verdict != Pass {
		t.Errorf("%s, want PASS: nothing else was found", r.Verdict)
	}
}

// TestLimit shows that a flood of findings neither grows the judge nor hides
// how many there were.
func TestLimit(t *testing.T) {
	h := parse(t, "ttl 100ms", "")
	h.Events = nil
	add := func(kind history.Kind, op history.Op, owner string) {
		n := len(h.Events)
		e := history.Event{Index: n, Time: 1000, Process: n / 2, Kind: kind, Op: op, Key: "k", Owner: owner}
		if kind == history.OK {
			e.Has, e.ValidUntil = history.HasValidUntil, 500
		}
		h.Events = append(h.Events, e)
	}
	for i := range 500 {
		owner := string(rune('a' + i%2))
		add(history.Invoke, history.Acquire, owner)
		add(history.OK, history.Acquire, owner)
	}
	h.Truncated = false
	r := Check(t.Context(), h, Options{Limit: 7})
	if len(r.Violations) != 7 || r.Totals["S7"] != 500 {
		t.Errorf("%d listed of %v", len(r.Violations), r.Totals)
	}
}
