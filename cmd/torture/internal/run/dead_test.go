package run_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/lockimpl"
)

// A dying lock keeps its leases in memory. It never grants the key dead again once it has granted it.
type dying struct {
	mu    sync.Mutex
	dead  string
	holds map[string]bool
}

func (d *dying) Acquire(_ context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds[key] {
		return nil, lockimpl.ErrHeld
	}
	d.holds[key] = true
	return &mortal{lock: d, key: key, until: time.Now().Add(ttl)}, nil
}

func (d *dying) Close() error { return nil }

type mortal struct {
	lock  *dying
	key   string
	until time.Time
}

func (m *mortal) Fence() uint64         { return 0 }
func (m *mortal) ValidUntil() time.Time { return m.until }
func (m *mortal) Extend(_ context.Context, ttl time.Duration) error {
	m.until = time.Now().Add(ttl)
	return nil
}
func (m *mortal) Release(context.Context) error {
	m.lock.mu.Lock()
	defer m.lock.mu.Unlock()
	if m.key != m.lock.dead {
		delete(m.lock.holds, m.key)
	}
	return nil
}

// A key that nobody gets any more is found in the final phase, in the scenarios as they are:
// whatever refused attempts of several clients say, each key is left to one of them.
func TestADeadKeyIsFoundInTheFinalPhase(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"calm", "standard"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Base(scenario)
			if err != nil {
				t.Fatal(err)
			}
			d := &dying{dead: "k1", holds: map[string]bool{}}
			lock := catalogue.Lock{ID: "dying", Nodes: 1, Factory: func(config.Config) lockimpl.Factory {
				return func([]lockimpl.Node) (lockimpl.Locker, error) { return d, nil }
			}}
			cfg.Lock, cfg.Testbed, cfg.Seed, cfg.Out, cfg.Faults = lock.ID, "embedded", 1, t.TempDir(), config.Faults{Plan: "none"}
			cfg.Duration = time.Second
			r, err := run.Run(t.Context(), cfg, lock, run.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// Where the harness stood still for most of the run, times prove nothing, and it is found as suspicious.
			found := r.Report.Violations
			if slices.ContainsFunc(r.Report.Void, func(v checker.Void) bool { return strings.Contains(v.Why, "V4") }) {
				found = append(slices.Clone(found), r.Report.Suspicious...)
			}
			if !slices.ContainsFunc(found, func(f checker.Finding) bool { return f.ID == "L1" && strings.Contains(f.Text, "k1") }) {
				t.Errorf("%s: %+v %+v", r.Verdict(), r.Report.Violations, r.Report.Suspicious)
			}
			for _, f := range r.Report.Violations {
				if !strings.Contains(f.Text, "k1") {
					t.Errorf("found of another key: %+v", f)
				}
			}
		})
	}
}
