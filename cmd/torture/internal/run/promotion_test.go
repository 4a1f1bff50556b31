package run

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/faults"
	"locktorture/workload/history"
)

// A lock behind Redis Sentinel finds the master that was promoted, whether it lives
// in this process or in another, and so does one on a Redis Cluster: the fault's receipt
// names a client that the new master serves.
func TestPromotionRun(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		redistest.Missing(t, err)
	}
	for lock, bed := range map[string]string{"sentinel": "sentinel", "redis-py": "sentinel", "cluster": "cluster"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			if said, err := exec.Command("/usr/bin/python3", "-c", "import redis.sentinel").CombinedOutput(); lock == "redis-py" && err != nil {
				redistest.Missing(t, fmt.Errorf("python3-redis is not installed: %w: %s", err, said))
			}
			promoted(t, lock, bed)
		})
	}
}

func promoted(t *testing.T, id, bed string) {
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Load.Keys, cfg.Out, cfg.Seed = id, bed, 3, 6, t.TempDir(), 7
	cfg.TTL, cfg.Load.Timeout, cfg.Duration, cfg.Final, cfg.Floors = time.Second, 300*time.Millisecond, time.Minute, time.Second, nil
	cfg.Faults = config.Faults{Steps: []faults.Spec{{At: time.Second, Fault: "failover"}}}
	ctx, done := context.WithCancel(t.Context()) // once a grant has come after the heal
	defer done()
	var header history.Header
	healed, grants := "", 0
	look := history.SinkFunc(func(e *history.Event) {
		switch {
		case e.Op == history.Heal && e.Kind != history.Invoke:
			healed = e.Receipt
		case e.Op == history.Acquire && e.Kind == history.OK && healed != "":
			grants++
			done()
		}
	})
	r, err := Run(ctx, cfg, lock(t, id), Options{Begin: func(b Beginning) []history.Sink {
		header = b.Header
		return []history.Sink{look}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Troubles()) > 0 {
		t.Fatal(r.Troubles())
	}
	if header.Nodes != 1 || header.Quorum != 1 {
		t.Errorf("%d masters, quorum %d; want one", header.Nodes, header.Quorum)
	}
	if !strings.Contains(healed, "promoted in the place of n") || !strings.Contains(healed, "served by") || grants == 0 {
		t.Errorf("receipt %q, and %d grants after it", healed, grants)
	}
}
