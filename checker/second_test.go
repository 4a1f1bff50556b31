package checker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locktorture/checker/internal/opinion"
	"locktorture/checker/internal/rule/exclusion"
	"locktorture/workload/history"
)

// judgeAll judges a text history with everything turned on, and without the rule of
// double grants when it is to be blind.
func judgeAll(t *testing.T, ctx context.Context, h history.History, blind bool) Report {
	t.Helper()
	j := blank(h.Header, Options{SecondOpinion: true, Counterfactual: true})
	for _, r := range j.all() {
		if _, sweep := r.(*exclusion.DoubleGrants); !sweep || !blind {
			j.env.Enlist(r)
		}
	}
	for i := range h.Events {
		j.Event(&h.Events[i])
	}
	return j.Finish(ctx, h.Truncated)
}

const overlapping = `
	 0ms a invoke acquire k
	 1ms a ok acquire k until 100ms
	 2ms b invoke acquire k
	 3ms b ok acquire k until 102ms`

func TestSecondOpinion(t *testing.T) {
	ctx := t.Context()
	t.Run("leaves out the grant at which a history breaks off", func(t *testing.T) {
		h := parse(t, "ttl 100ms", overlapping)
		h.Events, h.Truncated = h.Events[:4], true
		if r := judgeAll(t, ctx, h, false); r.Verdict != Inconclusive || len(r.Harness) > 0 || len(r.Suspicious) != 1 {
			t.Errorf("%s, harness %v, suspicious %v", r.Verdict, r.Harness, r.Suspicious)
		}
	})
	t.Run("agrees with a violation", func(t *testing.T) {
		r := judgeAll(t, ctx, parse(t, "ttl 100ms", overlapping), false)
		if o := r.SecondOpinion; r.Verdict != Fail || o.Anomalies != 1 || o.Agreed != o.Windows || len(r.Harness) > 0 {
			t.Errorf("%s, %+v, %v", r.Verdict, o, r.Harness)
		}
	})
	t.Run("agrees that nothing is wrong", func(t *testing.T) {
		r := judgeAll(t, ctx, parse(t, "ttl 100ms", oneGrant), false)
		if o := r.SecondOpinion; r.Verdict != Pass || o.Windows != 1 || o.Agreed != 1 {
			t.Errorf("%s, %+v", r.Verdict, o)
		}
	})
	t.Run("disagrees with a blind sweep", func(t *testing.T) {
		r := judgeAll(t, ctx, parse(t, "ttl 100ms", overlapping), true)
		if r.Verdict != HarnessError || r.Exit != 70 || len(r.Harness) != 1 || !strings.Contains(r.Harness[0].Text, "[1 3]") {
			t.Errorf("%s, %v", r.Verdict, r.Harness)
		}
	})
	t.Run("a violation prevails over a disagreement", func(t *testing.T) {
		r := judgeAll(t, ctx, parse(t, "ttl 100ms", overlapping+`
			 4ms b invoke write k value b1
			 5ms b ok write k value b1 seq 1
			 6ms b invoke release k
			 7ms b ok release k
			 8ms b invoke write k value b2
			 9ms b ok write k value b2 seq 2`), true)
		if r.Verdict != Fail || len(r.Harness) != 1 || !slices.Equal(short(r.Violations), []string{"S8 [6 9]"}) {
			t.Errorf("%s, %v, %v", r.Verdict, short(r.Violations), r.Harness)
		}
	})
	t.Run("undecided hides nothing and adds nothing", func(t *testing.T) {
		over, cancel := context.WithCancel(ctx)
		cancel()
		r := judgeAll(t, over, parse(t, "ttl 100ms", overlapping), false)
		if o := r.SecondOpinion; r.Verdict != Fail || o.Undecided != o.Windows || o.Windows == 0 || len(r.Harness) > 0 {
			t.Errorf("%s, %+v", r.Verdict, o)
		}
		if r := judgeAll(t, over, parse(t, "ttl 100ms", oneGrant), false); r.Verdict != Pass || r.SecondOpinion.Undecided != 1 {
			t.Errorf("%s, %+v", r.Verdict, r.SecondOpinion)
		}
	})
	t.Run("has no opinion on what it is not shown", func(t *testing.T) {
		for text, want := range map[string]Verdict{
			released + `
				 8ms a ok extend k began 7ms until 107ms`: Pass,
			`
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke extend k
				 3ms a fail extend k
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke release k
				 7ms b ok release k
				 8ms c invoke acquire k
				 9ms c fail acquire k
				10ms b invoke acquire k
				11ms b ok acquire k until 110ms
				12ms b invoke release k
				13ms b ok release k
				14ms a invoke extend k
				15ms a ok extend k until 114ms`: Fail, // of a grant that its key's window has lost
		} {
			r := Check(ctx, parse(t, "ttl 100ms", text), Options{SecondOpinion: true, Window: 2})
			if r.Verdict != want || len(r.Harness) > 0 || r.SecondOpinion.Undecided == 0 {
				t.Errorf("%s, %v, %+v", r.Verdict, r.Harness, r.SecondOpinion)
			}
		}
	})
	t.Run("decides on windows of many releases that prove nothing", func(t *testing.T) {
		grant := func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "\n%dms a invoke acquire k\n%dms a ok acquire k until %dms\n%dms a invoke release k\n%dms a ok release k", 10*i, 10*i+1, 10*i+100, 10*i+2, 10*i+3)
		}
		for _, again := range []string{"", "\n625ms b invoke acquire k\n626ms b ok acquire k until 725ms"} {
			var text strings.Builder
			for i := range opinion.MaxWindow - 1 {
				grant(&text, i)
			}
			text.WriteString(again)
			grant(&text, opinion.MaxWindow-1)
			r := Check(ctx, parse(t, "ttl 100ms unchecked-release", text.String()), Options{SecondOpinion: true, Window: opinion.MaxWindow})
			if o := r.SecondOpinion; o.Windows == 0 || o.Agreed != o.Windows || (again != "") != (o.Anomalies > 0) {
				t.Errorf("%+v, %v, %v", o, short(r.Violations), r.Harness)
			}
		}
	})
	t.Run("of a long history", func(t *testing.T) {
		h := recorded(20_000, 0.05, 1000)
		r := judgeAll(t, ctx, h, false)
		if o := r.SecondOpinion; o.Anomalies == 0 || o.Windows < opinion.RandomWindows || o.Agreed+o.Undecided != o.Windows || o.Agreed < o.Windows/2 {
			t.Errorf("%+v, %v", o, r.Harness)
		}
	})
}

// TestWindowsThatEndWithinAViolation holds that the judges do not disagree about a window
// which shows some of those who held while another one's lease was lost, and not the one
// that the finding names: the one who held longest.
func TestWindowsThatEndWithinAViolation(t *testing.T) {
	for before := range opinion.WindowGrants {
		h := "0ms z invoke acquire k\n1ms z ok acquire k until 2ms" + handedOn(10, before)
		at := 10 + 5*before + 10
		h += fmt.Sprintf("\n%dms a invoke acquire k\n%dms a ok acquire k until %dms", at, at+1, at+20)
		for i := range 3 {
			from := at + 30 + 10*i
			h += fmt.Sprintf("\n%dms b%d invoke acquire k\n%dms b%d ok acquire k until %dms\n%dms b%d invoke release k\n%dms b%d ok release k", from, i, from+1, i, from+50, from+4+i, i, from+5+i, i)
		}
		h += fmt.Sprintf("\n%dms a invoke release k\n%dms a ok release k", at+100, at+101)
		r := judgeAll(t, t.Context(), parse(t, "ttl 100ms", h), false)
		if len(r.Harness) > 0 {
			t.Errorf("%d grants before: the judges disagree: %v", before, r.Harness)
		}
		if len(r.Violations) == 0 || r.Violations[0].ID != "S6" {
			t.Errorf("%d grants before: %v", before, short(r.Violations))
		}
	}
}

func TestCounterfactual(t *testing.T) {
	r := judgeAll(t, t.Context(), parse(t, "ttl 10ms fenced", `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms
		 2ms a invoke write k fence 1 value a1
		 3ms a ok write k fence 1 value a1 seq 1
		 4ms a invoke write k fence 1 value a2
		 5ms a ok write k fence 1 value a2 seq 2
		11ms a invoke write k fence 1 value a3
		12ms a ok write k fence 1 value a3 seq 3
		12ms b invoke acquire k
		13ms b ok acquire k fence 2 until 22ms
		14ms b invoke write k fence 2 value b1
		15ms b ok write k fence 2 value b1 seq 4
		16ms a invoke write k fence 1 value a4
		17ms a fail write k fence 1 value a4 seq 5 err stale`), false)
	got := r.Counterfactual
	want := opinion.Counterfactual{Writes: 5, Late: 2, Stale: 1, Policies: []opinion.Policy{
		{Name: "none", Accepted: 5, LateAccepted: 2, StaleAccepted: 1, Witness: []int{7, 13}},
		{Name: "at-least", Accepted: 4, LateAccepted: 1, Witness: []int{7}},
		{Name: "greater", Accepted: 2, GoodRefused: 1},
		{Name: "deadline", Accepted: 3},
	}}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// TestDeterminism judges one long, broken history twice: the same bytes.
func TestDeterminism(t *testing.T) {
	h := recorded(30_000, 0.05, 100)
	first, err := json.Marshal(judgeAll(t, t.Context(), h, false))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := json.Marshal(judgeAll(t, t.Context(), h, false))
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(first) {
			t.Fatalf("two runs differ:\n%s\n%s", first, again)
		}
	}
}
