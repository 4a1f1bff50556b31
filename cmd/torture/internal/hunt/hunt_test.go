package hunt

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/reports"
)

// generous bounds what waits for real servers on a busy machine.
const generous = 8 * time.Minute

// onRedis prepares a hunt of a lock on real servers, or skips where there are none.
func onRedis(t *testing.T, lock string, earlier *Report, dir string) *Hunt {
	t.Helper()
	base, err := Base()
	if err != nil {
		t.Fatal(err)
	}
	base.Lock, base.Testbed = lock, "process"
	l, err := catalogue.Builtin().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	play := func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		return run.Run(ctx, c, l, o)
	}
	h, err := New(t.Context(), Config{
		Lock: l, Base: base, Budget: generous, Seed: 1, Jobs: 2, Dir: dir, Play: play, Say: func(line string) { t.Log(line) },
	}, earlier)
	if err != nil && strings.Contains(err.Error(), "redis-server") && os.Getenv("LOCKTORTURE_REQUIRE_ALL") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// endWhen ends a hunt as soon as what it knows is enough.
func endWhen(t *testing.T, h *Hunt, enough func(*Report) bool) *Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	say := h.cfg.Say
	h.cfg.Say = func(line string) {
		say(line)
		if enough(h.Report()) {
			cancel()
		}
	}
	return h.Run(ctx)
}

func small(r *Report, id string) *search.Found {
	i := slices.IndexFunc(r.Found, func(f *search.Found) bool { return f.ID == id && f.Small != nil })
	if i < 0 {
		return nil
	}
	return r.Found[i]
}

// TestHunt finds what is wrong with the simplest recipe, makes it small, writes it
// down, and goes on from there.
func TestHunt(t *testing.T) {
	dir := t.TempDir()
	h := onRedis(t, "exists-set", nil, dir)
	r := endWhen(t, h, func(r *Report) bool { return small(r, "S1") != nil })
	f := small(r, "S1")
	if f == nil || r.Verdict != checker.Fail {
		t.Fatalf("%s: %s", r.Verdict, r.Why)
	}
	if f.Small.Again == 0 || f.Small.After.Steps > f.Small.Before.Steps || f.Small.After.Clients > f.Small.Before.Clients {
		t.Errorf("%+v", f.Small)
	}
	if err := h.Write(r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, PageFile))
	if err != nil || !strings.Contains(string(page), "What was found") || !strings.Contains(string(page), "<svg") {
		t.Errorf("the page: %v, %d bytes", err, len(page))
	}
	if _, err := reports.Load(f.Run); err != nil {
		t.Errorf("no record of the round that showed it: %v", err)
	}
	file, err := filepath.Glob(filepath.Join(dir, "F*.yaml"))
	if err != nil || len(file) == 0 {
		t.Fatalf("no scenario file: %v", err)
	}
	c, err := config.Base("standard")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ReadFile(file[0]); err != nil {
		t.Fatal(err)
	}

	earlier, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := len(earlier.Rounds)
	again := onRedis(t, "exists-set", earlier, dir)
	after := endWhen(t, again, func(r *Report) bool { return true })
	if after.Verdict != checker.Fail || small(after, "S1") == nil || len(after.Rounds) < before || after.Took < earlier.Took {
		t.Errorf("gone on with: %s, %d rounds after %d, %v after %v", after.Verdict, len(after.Rounds), before, after.Took, earlier.Took)
	}
}

// TestHuntOfASoundLock ends, when it is interrupted, without an accusation.
func TestHuntOfASoundLock(t *testing.T) {
	h := onRedis(t, "single", nil, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := h.Run(ctx)
	if r.Verdict != checker.Inconclusive || !r.Interrupted || len(r.Found) > 0 {
		t.Errorf("%s: %s, %+v", r.Verdict, r.Why, r.Found)
	}
	left, err := filepath.Glob(filepath.Join(h.base.Out, "*"))
	if err != nil || len(left) > 1 { // the link to the latest
		t.Errorf("records of rounds that showed nothing: %v, %v", left, err)
	}
}
