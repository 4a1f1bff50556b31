package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/workload/history"
)

// What a scenario demands beyond safety reaches the judge: bounds that were
// missed are breaches, and moments that were not reached leave the run
// inconclusive.
func TestDemandsReachTheJudge(t *testing.T) {
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Duration, cfg.Seed, cfg.Out = "single", "embedded", 2, 3*time.Second, 1, t.TempDir()
	cfg.Faults = config.Faults{Plan: "partition-client:at=500ms:client=all:for=1s"}
	cfg.Bounds = config.Bounds{
		Wait: time.Hour, Recovery: time.Nanosecond, Availability: 1,
		Loss: 5 * time.Hour, Undo: 2 * time.Hour, Wake: 3 * time.Hour, Woken: 4 * time.Hour, // the catalogue says less
	}
	cfg.Sometimes = []string{"extension"} // which this load never asks for
	var header history.Header
	r, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{Begin: func(b Beginning) []history.Sink {
		header = b.Header
		return nil
	}})
	if err != nil || len(r.Harness) > 0 {
		t.Fatal(err, r.Harness)
	}
	for name, want := range map[string]int64{
		"wait_ns": int64(time.Hour), "recovery_ns": 1, "availability_percent": 1,
		"undo_ns": 2 * int64(time.Hour), "wake_ns": 3 * int64(time.Hour), "woken_ns": 4 * int64(time.Hour), "loss_ns": 5 * int64(time.Hour),
	} {
		if got := header.Bounds[name]; got != want {
			t.Errorf("the header's bound %s is %d, want %d", name, got, want)
		}
	}
	has := func(all []checker.Finding, id string) bool {
		return slices.ContainsFunc(all, func(f checker.Finding) bool { return f.ID == id })
	}
	if !has(r.Report.Breaches, "L4") {
		t.Errorf("nobody recovers within a nanosecond: %+v", r.Report.Breaches)
	}
	if !has(r.Report.Inconclusive, "V3") {
		t.Errorf("a moment that was not reached: %+v", r.Report.Inconclusive)
	}
	for _, id := range []string{"L3", "L4", "L6"} {
		if slices.Contains(r.Report.Nothing, id) {
			t.Errorf("%s had nothing to judge", id)
		}
	}
}

// A child that declares tokens writes to a fenced store, unless the user says otherwise; and
// stale writes and unknown outcomes are demanded of nobody who may have none.
func TestTheStoreOfAChildHasTheFenceThatItDeclares(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		caps   string
		fenced *bool
		want   bool
	}{
		"tokens":            {"ttl,fence", nil, true},
		"none":              {"ttl", nil, false},
		"told to go bare":   {"ttl,fence", &no, false},
		"other's abilities": {"until,parallel", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := filepath.Join(dir, "idle.sh")
			text := `read -r line; echo '{"t":"init_ok","re":1,"clock":"none","caps":"` + c.caps + `"}'; read -r line` + "\n"
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Base("calm")
			if err != nil {
				t.Fatal(err)
			}
			cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Out, cfg.Seed = "exec:/bin/sh "+script, "embedded", 1, filepath.Join(dir, "runs"), 5
			cfg.Duration, cfg.Fenced, cfg.Floors = time.Second, c.fenced, map[string]int{"fence_saves": 2, "unknown": 5, "grants": 1}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var b Beginning
			r, err := Run(ctx, cfg, lock(t, cfg.Lock), Options{Begin: func(begins Beginning) []history.Sink {
				b = begins
				cancel()
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if b.Header.Fenced != c.want {
				t.Errorf("fenced: %t", b.Header.Fenced)
			}
			for _, floor := range []string{"fence_saves", "unknown"} {
				if _, demanded := b.Header.Floors[floor]; demanded || strings.Contains(string(b.Meta.Config), floor) || b.Header.Floors["grants"] != 1 {
					t.Errorf("demanded are %v, by %s", b.Header.Floors, b.Meta.Config)
				}
			}
			for _, what := range []string{"stale write", "unknown outcome"} {
				if !slices.ContainsFunc(r.Warnings, func(n string) bool { return strings.Contains(n, what) && strings.Contains(n, "is demanded") }) {
					t.Errorf("nothing is said of %ss, of which none is demanded: %q", what, r.Warnings)
				}
			}
		})
	}
}
