package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
)

// What the kind of testbed cannot suffer is refused before anything stands, and
// so is a plan in which nothing is left.
func TestFaultsAreRefusedBeforeTheRun(t *testing.T) {
	for _, c := range []struct {
		faults, bed, want string
		duration          time.Duration
	}{
		{"kill", "compose", "process, container and embedded can", 20 * time.Second},
		{"pause-node", "embedded", "process", 20 * time.Second},
		{"flushall", "external", "process, container and embedded can", 20 * time.Second},
		{"latency:delay=100us", "compose", "1ms would do", 20 * time.Second},
		{"bandwidth:rate=500", "compose", "1000 would do", 20 * time.Second},
		{"stuck-connection", "compose", "use the testbeds", 20 * time.Second},
		{"pause-client:rate=5", "process", "it takes client, at", 20 * time.Second},
		{"standard", "embedded", "none of them can take place within a duration of 1ms", time.Millisecond},
		{"random", "process", "none of them can take place within a duration of 1ms", time.Millisecond},
		{"failover-isolated", "process", "sentinel has Redis Sentinel", 20 * time.Second},
		{"failover:node=n2", "sentinel", "leave node out", 20 * time.Second},
		{"demote", "sentinel", "says who is a replica", 20 * time.Second},
		{"failover-isolated", "cluster", "sentinel has Redis Sentinel", 20 * time.Second},
		{"failover:node=n2", "cluster", "leave node out", 20 * time.Second},
		{"migrate-slot", "sentinel", "it has no slots; cluster has", 20 * time.Second},
		{"failover,cluster-failover,migrate-slot,kill:empty:node=master", "cluster", "", 20 * time.Second},
		{"kill", "process", "", 20 * time.Second},
		{"failover", "process", "", 20 * time.Second},
		{"failover,failover-isolated,kill:empty:node=master", "sentinel", "", 20 * time.Second},
		{"failover,failover-isolated,kill:empty:node=master", "sentinel in containers", "", 20 * time.Second},
		{"latency:delay=100us", "embedded", "", 20 * time.Second},
		{"cancel-context", "embedded", "", 20 * time.Second},
	} {
		cfg, err := config.Base("calm")
		if err != nil {
			t.Fatal(err)
		}
		if bed, in := strings.CutSuffix(c.bed, " in containers"); in {
			c.bed, cfg.Image = bed, testbed.DefaultImage
		}
		cfg.Testbed, cfg.Faults, cfg.Duration, cfg.Seed = c.bed, config.Faults{Plan: c.faults}, c.duration, 1
		if c.bed == "external" || c.bed == "compose" {
			cfg.Redis = []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1", "192.0.2.4:1", "192.0.2.5:1"}
		}
		err = FitsFaults(cfg, lock(t, cfg.Lock))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s on %s: %v, want %q", c.faults, c.bed, err, c.want)
		}
	}
}

// lock is the built-in lock called id.
func lock(t testing.TB, id string) catalogue.Lock {
	t.Helper()
	l, err := catalogue.Builtin().Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A lock that cannot live on a deployment is told why.
func TestFitsDeployment(t *testing.T) {
	for _, c := range []struct {
		lock, bed, want string
		nodes           int
	}{
		{"cluster", "cluster", "", 0},
		{"token-lua", "sentinel", "", 0},
		{"token-lua", "cluster", "leave --nodes out", 3},
		{"single", "cluster", "wants masters that are independent of one another", 0},
		{"redlock", "sentinel", "wants masters that are independent of one another", 0},
		{"rw-two-keys", "cluster", "no client that follows the slots", 0},
		{"sentinel-wait", "cluster", "no client that follows the slots", 0},
		{"redis-py", "cluster", "no links of its own", 0},
		{"sentinel-wait", "sentinel", "", 0},
		{"sentinel-wait", "process", "--testbed sentinel has replicas", 0},
		{"sentinel-wait", "", "testbed is auto", 0},
		{"rueidislock", "sentinel", "no client that asks Redis Sentinel", 0},
	} {
		cfg, err := config.Base("calm")
		if err != nil {
			t.Fatal(err)
		}
		cfg.Lock, cfg.Testbed, cfg.Nodes = c.lock, c.bed, c.nodes
		err = fitsDeployment(cfg, lock(t, c.lock))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s on %s: %v, want %q", c.lock, c.bed, err, c.want)
		}
	}
}

// A lock that connects when it is made is no misfit for that: what it can do shows once
// servers run.
func TestALockThatDialsIsFit(t *testing.T) {
	locks, err := catalogue.Builtin().With("yours", func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		_, err := nodes[0].Dial(t.Context(), "tcp", nodes[0].Addr)
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := locks.Find("yours")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Lock, cfg.Nodes = l.ID, 1
	if err := errors.Join(fitsMasters(cfg, l), FitsMode(cfg, l)); err != nil {
		t.Error(err)
	}
}
