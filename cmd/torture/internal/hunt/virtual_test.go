package hunt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
)

// A fakeWorld knows for each lock the round in which it shows something, of all that
// are played; 0: none.
type fakeWorld struct {
	shows  map[string]int
	breaks string // the lock whose worker ends in its first round

	mu     sync.Mutex
	jobs   map[string][]simulate.Job
	rounds map[string]int
}

func (w *fakeWorld) explore(_ context.Context, j simulate.Job, tell func(simulate.RoundReport)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j.Shrink != nil {
		f := *j.Shrink
		f.Small, f.Events = &search.Shrink{Round: f.First}, 4
		tell(simulate.RoundReport{Found: []simulate.Found{f}})
		return nil
	}
	w.jobs[j.Lock] = append(w.jobs[j.Lock], j)
	if j.Lock == w.breaks {
		return errors.New("the worker broke")
	}
	for n := range j.Rounds {
		w.rounds[j.Lock]++
		t := simulate.RoundReport{Round: n + 1, CPU: time.Duration(n+1) * time.Second}
		if w.rounds[j.Lock] == w.shows[j.Lock] {
			t.Found = []simulate.Found{{Finding: search.Finding{ID: "S1"}, First: search.Round{Clients: 2}}}
		}
		if tell(t); len(t.Found) > 0 {
			return nil
		}
	}
	return nil
}

func playFakes(t *testing.T, v *Virtual, w *fakeWorld) map[string]*VirtualRow {
	t.Helper()
	w.jobs, w.rounds = map[string][]simulate.Job{}, map[string]int{}
	v.Locks, v.Explore, v.Jobs, v.Budget, v.Seed, v.Out = catalogue.Builtin(), w.explore, 2, time.Minute, 7, t.TempDir()
	rows, err := v.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*VirtualRow{}
	for _, r := range rows {
		all[r.Lock] = r
	}
	return all
}

// TestVirtualRows: flaws are looked for by turns until each is found or was looked for
// often enough, and what corrects them must stay clean for as many rounds as the flaw
// took that took most.
func TestVirtualRows(t *testing.T) {
	w := &fakeWorld{shows: map[string]int{"exists-set": 1, "quorum-2": 20, "quorum-2-twin": 3}, breaks: "timeout-is-grant"}
	v := &Virtual{Only: []string{"exists-set", "quorum-2", "quorum-2-twin", "token-max", "timeout-is-grant", "single", "failover", "polling", "token-watchdog"}, Seeds: 30}
	rows := playFakes(t, v, w)
	for lock, want := range map[string]struct {
		outcome string
		seeds   int
		cpu     time.Duration
	}{
		"exists-set":       {Found, 1, time.Second},
		"quorum-2":         {Found, 20, 20 * time.Second}, // 8 and 12
		"token-max":        {NotFound, 30, 30 * time.Second},
		"timeout-is-grant": {NoAnswer, 30, 0},
		"quorum-2-twin":    {Accused, 3, 3 * time.Second},
		"single":           {Clean, 30, 30 * time.Second},
		"failover":         {NotTried, 0, 0},
		"polling":          {NotTried, 0, 0},
		"token-watchdog":   {NotTried, 0, 0}, // as what corrects another lock, whose flaw it has
	} {
		r := rows[lock]
		if r == nil || r.Outcome != want.outcome || r.Seeds != want.seeds || r.CPU != want.cpu {
			t.Errorf("%s: %+v, want %+v", lock, r, want)
		}
	}
	if r := rows["quorum-2"]; r.File == "" || r.Finding.Events != 4 {
		t.Errorf("quorum-2: file %q, %+v", r.File, r.Finding)
	}
	jobs := w.jobs["quorum-2"]
	if len(jobs) != 2 || jobs[0].Rounds != firstSlice || jobs[1].Rounds != 2*firstSlice || jobs[0].Seed == jobs[1].Seed {
		t.Errorf("turns of quorum-2: %+v", jobs)
	}
	if j := jobs[0]; j.Twin != "quorum-2-twin" || !slices.Equal(j.Counts, []string{"S1", "S9"}) || !j.Beyond {
		t.Errorf("what is asked of quorum-2: %+v", j)
	}
	if j := w.jobs["single"][0]; j.Twin != "" || len(j.Counts) > 0 || j.Beyond {
		t.Errorf("what is asked of a lock that must stay clean: %+v", j)
	}
}

// TestVirtualAtRandom: each flaw is looked for a second time, and the table has both.
func TestVirtualAtRandom(t *testing.T) {
	v := &Virtual{Only: []string{"exists-set", "token-max"}, Seeds: 8, Random: true}
	w := &fakeWorld{shows: map[string]int{"exists-set": 9, "token-max": 2}} // exists-set in the second search alone
	rows := playFakes(t, v, w)
	if r := rows["exists-set"]; r.Outcome != NotFound || r.Random.ID != "S1" || r.Random.Seeds != 1 {
		t.Errorf("exists-set: %+v, at random %+v", r, r.Random)
	}
	if r := rows["token-max"]; r.Outcome != Found || r.Random.ID != "" || r.Random.Seeds != 8 {
		t.Errorf("token-max: %+v, at random %+v", r, r.Random)
	}
	if j := w.jobs["token-max"]; len(j) != 2 || j[0].Random || !j[1].Random {
		t.Errorf("jobs of token-max: %+v", j)
	}
	var out strings.Builder
	if err := VirtualTable(&out, []*VirtualRow{rows["exists-set"], rows["token-max"]}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"AT RANDOM", "1 of 2 flaws found, 1 at random", "not found: exists-set"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestVirtualInterrupted: what was not played to its end is neither clean nor a flaw that
// does not show.
func TestVirtualInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*VirtualRow{{Look: Look{Seeds: 5}}, {Corrected: true, Look: Look{Seeds: 5}}} {
		if r.conclude(ctx); r.Outcome != NoAnswer || r.Why == "" {
			t.Errorf("%+v", r)
		}
	}
}
