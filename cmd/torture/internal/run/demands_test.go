package run

import (
	"slices"
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
	cfg.Bounds = config.Bounds{Wait: time.Hour, Recovery: time.Nanosecond, Availability: 1}
	cfg.Sometimes = []string{"extension"} // which this load never asks for
	var header history.Header
	r, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{Begin: func(b Beginning) []history.Sink {
		header = b.Header
		return nil
	}})
	if err != nil || len(r.Harness) > 0 {
		t.Fatal(err, r.Harness)
	}
	for name, want := range map[string]int64{"wait_ns": int64(time.Hour), "recovery_ns": 1, "availability_percent": 1} {
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
