package hunt

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/farm/farmtest"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/reports"
	"locktorture/workload/history/historyfile"
)

func TestMain(m *testing.M) {
	play := pretended(crowded)
	slow := func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		select {
		case <-time.After(100 * time.Millisecond): // so that something is under way whenever somebody is killed
		case <-ctx.Done():
		}
		return play(ctx, c, o)
	}
	farmtest.Main(m, map[string]farm.Player{ScenarioKind: PlayScenario(catalogue.Builtin(), slow, false)}, func(url, dir string) error {
		h, c, err := onFarm(context.Background(), url, dir, nil, 0) // until it is killed
		if err != nil {
			return err
		}
		r := h.Run(context.Background())
		if err := h.Write(r); err != nil {
			return err
		}
		return c.Close(context.Background(), true)
	})
}

// crowded says that a round with some clients and a fault breaks the lock, as most rounds do.
func crowded(c config.Config) bool { return c.Clients >= 3 && len(c.Faults.Steps) > 0 }

// onFarm is a hunt in dir whose rounds workers play: so many, over all sessions, or
// without an end.
func onFarm(ctx context.Context, url, dir string, earlier *Report, rounds int) (*Hunt, *farm.Coordinator, error) {
	c, err := farmtest.Open(ctx, url, dir)
	if err != nil {
		return nil, nil, err
	}
	base, err := Base()
	if err != nil {
		return nil, nil, err
	}
	base.Lock, base.Testbed = "single", "embedded"
	h, err := New(ctx, Config{
		Lock: catalogue.Builtin()["single"], Base: base, Budget: generous, Seed: 1, Jobs: 8, Rounds: rounds, Dir: dir, Accept: []string{"S1"}, Farm: c,
	}, earlier)
	return h, c, err
}

// played waits until the hunt in dir has written down so many rounds.
func playedIn(t *testing.T, dir string, rounds int) *Report {
	t.Helper()
	for began := time.Now(); time.Since(began) < generous; time.Sleep(20 * time.Millisecond) {
		if r, err := Load(dir); err == nil && len(r.Rounds) >= rounds {
			return r
		}
	}
	t.Fatalf("%d rounds were never played in %s", rounds, dir)
	return nil
}

// TestHuntOnAFarm takes as long as a task stays with a worker that is no more. A worker
// and the coordinator are killed; the next session has every round once, and every
// finding once, with its record.
func TestHuntOnAFarm(t *testing.T) {
	url, dir := farmtest.Address(t), t.TempDir()
	victim := farmtest.Worker(t, url, "embedded")
	farmtest.Worker(t, url, "embedded")
	coordinator := farmtest.Coordinator(t, url, dir)
	playedIn(t, dir, 5)
	farmtest.Kill(t, victim)
	playedIn(t, dir, 20)
	farmtest.Kill(t, coordinator)
	earlier, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	rounds := len(earlier.Rounds) + 40
	h, c, err := onFarm(t.Context(), url, dir, earlier, rounds)
	if err != nil {
		t.Fatal(err)
	}
	r := h.Run(t.Context())
	if len(r.Rounds) != rounds || r.Sums.Void > 0 || r.Verdict != checker.Pass {
		t.Errorf("%d rounds, %d void, %s: %s", len(r.Rounds), r.Sums.Void, r.Verdict, r.Why)
	}
	var recorded, stored, kinds []string
	for _, p := range r.Rounds {
		recorded = append(recorded, p.Outcome.Task)
	}
	for _, one := range c.Results() {
		stored = append(stored, one.Task.ID)
	}
	slices.Sort(recorded)
	if !slices.Equal(recorded, stored) || len(slices.Compact(slices.Clone(recorded))) != rounds {
		t.Errorf("rounds %v\nresults %v", recorded, stored)
	}
	for _, f := range r.Found {
		kinds = append(kinds, f.Key())
		if _, err := os.Stat(filepath.Join(f.Run, historyfile.Name)); f.Run != "" && err != nil {
			t.Errorf("the record of round %d: %v", f.Number, err)
		}
	}
	slices.Sort(kinds)
	if len(kinds) == 0 || len(slices.Compact(slices.Clone(kinds))) != len(kinds) {
		t.Fatalf("found %v", kinds)
	}
	if !slices.ContainsFunc(r.Found[:1], func(f *search.Found) bool { return f.Run != "" }) {
		t.Errorf("no record of the first finding: %+v", r.Found[0])
	}
	if err := c.Close(t.Context(), true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "farm")); err == nil {
		t.Error("the farm's streams are left")
	}
}

// TestConfigTravels: a scenario is the same on the other side.
func TestConfigTravels(t *testing.T) {
	for _, name := range []string{"standard", "calm", "pause", "amnesia", "restarts"} {
		c, err := config.Base(name)
		if err != nil {
			t.Fatal(err)
		}
		c.PerMinute = nil // which a hunt has none of, and a night sends beside it
		raw, err := json.Marshal(scenario{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		var there scenario
		if err := json.Unmarshal(raw, &there); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(there.Config.Printable(), c.Printable()) {
			t.Errorf("%s:\n%+v\n%+v", name, there.Config, c)
		}
	}
}

// TestCommandsNeedLeave: a worker runs no command of the coordinator's choice unless it
// was told so.
func TestCommandsNeedLeave(t *testing.T) {
	c, err := Base()
	if err != nil {
		t.Fatal(err)
	}
	c.Lock = "exec:touch ran"
	body, err := json.Marshal(scenario{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	play := func(context.Context, config.Config, run.Options) (*reports.Run, error) {
		t.Error("it was played")
		return nil, nil
	}
	if a := PlayScenario(catalogue.Builtin(), play, false)(t.Context(), farm.Task{Body: body}, t.TempDir()); a.Trouble == "" {
		t.Errorf("%+v", a)
	}
}
