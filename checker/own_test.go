package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locktorture/workload/history"
)

// spree is a checker of one's own: nobody may be granted one key more than
// most times in a row.
type spree struct {
	most int
	last map[string]string // owner by key
	runs map[string]int
	out  Opinion
}

func (*spree) Name() string { return "spree" }

func (s *spree) Event(e *history.Event) {
	if e.Op != history.Acquire || e.Kind != history.OK {
		return
	}
	if s.last[e.Key] != e.Owner {
		s.last[e.Key], s.runs[e.Key] = e.Owner, 0
	}
	if s.runs[e.Key]++; s.runs[e.Key] > s.most {
		s.out.Violations = append(s.out.Violations, Finding{
			ID: "X1", Key: e.Key, Owners: []string{e.Owner}, Witness: []int{e.Index},
			Text: fmt.Sprintf("%s was granted %s more than %d times in a row.", e.Owner, e.Key, s.most),
		})
	}
}

func (s *spree) Findings(context.Context) (Opinion, error) { return s.out, nil }

// ExampleOwn judges a history by the catalogue and by a rule of one's own.
func ExampleOwn() {
	h, err := history.Parse(`header ttl 100ms
		1ms a invoke acquire k
		2ms a ok acquire k until 90ms
		3ms a invoke release k
		4ms a ok release k
		5ms a invoke acquire k
		6ms a ok acquire k until 90ms
		7ms nemesis ok phase end`)
	if err != nil {
		panic(err)
	}
	own := &spree{most: 1, last: map[string]string{}, runs: map[string]int{}}
	r := Check(context.Background(), h, Options{Own: []Own{own}})
	fmt.Println(r.Verdict, r.Violations[0].ID, r.Violations[0].Witness, r.Violations[0].Text)
	// Output: FAIL X1 [5] a was granted k more than 1 times in a row.
}

// rude is an own checker that fails as its name says.
type rude struct {
	how   string
	after int
}

func (r *rude) Name() string { return r.how }

func (r *rude) Event(*history.Event) {
	if r.after--; r.how == "panics" && r.after < 0 {
		panic("out of luck")
	}
}

func (r *rude) Findings(context.Context) (Opinion, error) {
	switch r.how {
	case "panics late":
		panic("at the end")
	case "gives up":
		return Opinion{Violations: []Finding{{ID: "X1", Text: "t"}}}, errors.New("no idea")
	}
	return Opinion{}, nil
}

// TestOwnFails shows that an own checker that fails takes nothing with it but
// its own opinion.
func TestOwnFails(t *testing.T) {
	h := parse(t, "ttl 100ms", twice)
	whole := Check(t.Context(), h, Options{})
	for _, how := range []string{"panics", "panics late", "gives up"} {
		r := Check(t.Context(), h, Options{Own: []Own{&rude{how: how, after: 2}}})
		if !slices.Equal(short(r.Violations), short(whole.Violations)) || r.Evidence != whole.Evidence {
			t.Errorf("%s: %v, want %v", how, short(r.Violations), short(whole.Violations))
		}
		if len(r.Inconclusive) != 1 || !strings.Contains(r.Inconclusive[0].Text, how) {
			t.Errorf("%s: inconclusive %v", how, r.Inconclusive)
		}
	}
	calm := Check(t.Context(), h, Options{Own: []Own{&rude{how: "calm"}}})
	if len(calm.Inconclusive) != 0 || len(calm.Violations) != len(whole.Violations) {
		t.Errorf("calm: %v %v", calm.Inconclusive, short(calm.Violations))
	}
}
