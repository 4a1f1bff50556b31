package run

import (
	"context"
	"slices"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/distributed"
	"locktorture/workload/history"
)

// TestSilenceExcusesWhatItCaused: a request that the network held back while a worker was
// silent leaves a key behind when it comes. Held against the lock is what came
// without a silence, or long after it was over; a double grant meanwhile is one.
func TestSilenceExcusesWhatItCaused(t *testing.T) {
	const late = `header ttl 2s lock x nodes 1
		1s c0 invoke acquire k
		2s c0 info acquire k err timeout
		14s witness ok key k node n1 pttl 1900 holder c0
		15s nemesis ok phase end`
	const double = `header ttl 2s lock x nodes 1
		2s c0 invoke acquire k
		2.1s c0 ok acquire k until 3.9s
		2.2s c1 invoke acquire k
		2.3s c1 ok acquire k until 4.1s
		15s nemesis ok phase end`
	silent := distributed.Silence{From: 900 * time.Millisecond, To: 6 * time.Second, Over: 13 * time.Second}
	for _, c := range []struct {
		name, text string
		silences   []distributed.Silence
		ended      time.Duration
		want       []string
	}{
		{"held back", late, []distributed.Silence{silent}, 15 * time.Second, nil},
		{"by nobody", late, nil, 15 * time.Second, []string{"L8"}},
		{"long after the silence", late, []distributed.Silence{{From: 900 * time.Millisecond, To: 2 * time.Second, Over: 4 * time.Second}}, 15 * time.Second, []string{"L8"}},
		{"by a silence that was not over", late, []distributed.Silence{silent}, 12 * time.Second, nil},
		{"granted twice meanwhile", double, []distributed.Silence{silent}, 15 * time.Second, []string{"S1"}},
	} {
		h, err := history.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		events := distributed.EventList(h.Events)
		sources := []distributed.Source{{Host: "w1", Events: &events}, silencesOf([]silences{{"w1", []string{"c0"}, c.silences}}, c.ended)}
		j := checker.New(h.Header, checker.Options{})
		var all []history.Event
		if _, err := distributed.Merge(h.Header, sources, func(e *history.Event) {
			j.Event(e)
			all = append(all, *e)
		}); err != nil {
			t.Fatal(err)
		}
		r := j.Finish(context.Background(), false)
		var found []string
		for _, v := range r.Violations {
			found = append(found, v.ID)
		}
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, found, c.want)
		}
		unproved := slices.ContainsFunc(r.Inconclusive, func(f checker.Finding) bool { return f.ID == "V2" })
		if healed := len(c.silences) == 0 || c.silences[0].Over <= c.ended; unproved == healed {
			t.Errorf("%s: healed %t, and %v", c.name, healed, r.Inconclusive)
		}
		for _, e := range all {
			if e.Process == history.Nemesis && e.HasAll(history.HasOf) && (all[e.Of].Op != e.Op || all[e.Of].Kind != history.Invoke) {
				t.Errorf("%s: event %d completes %v %v", c.name, e.Index, all[e.Of].Kind, all[e.Of].Op)
			}
		}
	}
}
