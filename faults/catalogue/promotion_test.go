package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

// keepAsking has a client ask every node for one key, until the test ends. The
// function returned waits until it has done so once more.
func (r *rig) keepAsking(t *testing.T, client string) (onceMore func()) {
	ctx, end := context.WithCancel(t.Context())
	done, rounds := make(chan struct{}), make(chan struct{})
	asked := map[string]*redis.Client{} // one connection each: a dial a round would fill a machine's table of connections
	for _, n := range r.Testbed.Nodes() {
		asked[n.Name()] = r.Raw(client, n.Name())
		t.Cleanup(func() { _ = asked[n.Name()].Close() })
	}
	go func() {
		defer close(done)
		for wait.For(ctx, 5*time.Millisecond) {
			for _, rdb := range asked {
				ask, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
				_ = rdb.Get(ask, "since").Err()
				cancel()
			}
			select {
			case rounds <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() { end(); <-done })
	return func() { <-rounds; <-rounds } // the first may have begun before
}

// master is the master of a shard.
func (r *rig) master(t *testing.T, shard int) testbed.Node {
	t.Helper()
	masters, err := r.Testbed.(testbed.Deployment).Masters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return masters[shard]
}

// A master that Sentinel replaces has not told its replicas what it took last; its
// successor does not have it, and it comes back without. Killed or isolated.
func TestPromotion(t *testing.T) {
	for _, fault := range []string{"failover", "failover-isolated"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := &rig{faulttest.SentinelRig(t, testbed.SentinelConfig{}, 1)}
			old := r.master(t, 0)
			asked := r.keepAsking(t, "c00")
			killed := fault == "failover"
			last := 0 // written to the old master, and acknowledged
			write := func() {
				if _, err := testbed.Do(t.Context(), old, "SET", "since", strconv.Itoa(last+1)); err == nil {
					last++
				}
			}
			var f *held
			if killed {
				f = r.inject(t, fault, faults.Params{}, write) // it waits for a write that no replica has, and then kills
			} else {
				f = r.inject(t, fault, faults.Params{})
				write()
				asked()
			}
			if alive := old.(testbed.Killer).Alive(); alive == killed {
				t.Errorf("the old master is alive: %v", alive)
			}
			f.healed(t, "promoted in the place of n1 by the Sentinels", "c00 served by", " changes lost", "n1 is back, as a replica")
			next := r.master(t, 0)
			if next == old {
				t.Fatalf("%v is the master", next)
			}
			for _, n := range []testbed.Node{old, next} {
				if since := r.Get(t, n, "since"); last == 0 || since == strconv.Itoa(last) {
					t.Errorf("%s has %s, the last of %d writes to the old master", n.Name(), since, last)
				}
			}
		})
	}
}

// A fault that writes, or that acts on writes, finds nobody to hit in a replica of a
// deployment, whoever names it.
func TestWritesMissReplicas(t *testing.T) {
	t.Parallel()
	r := &rig{faulttest.SentinelRig(t, testbed.SentinelConfig{}, 1)}
	replica := "n2"
	if r.master(t, 0).Name() == replica {
		replica = "n1"
	}
	for _, name := range []string{"demote", "evict", "evict-volatile", "flushall", "out-of-memory", "server-pause", "ttl-shift"} {
		entry := All()[name]
		f := entry.New(faults.Params{Node: replica}.Or(entry.Default))
		r.Inside(t, func(s *faults.Scope) {
			_, err := f.Inject(t.Context(), s, faulttest.Seeded(1))
			if !errors.Is(err, faults.ErrMissed) || !strings.Contains(err.Error(), replica+" is a replica") {
				t.Errorf("%s of a replica: %v", name, err)
			}
		})
	}
}

// A master of a cluster that its replica replaces has not told it what it took last, as
// with Sentinel.
func TestClusterPromotion(t *testing.T) {
	t.Parallel()
	r := &rig{faulttest.ClusterRig(t, testbed.ClusterConfig{}, 1)}
	keys := r.keyOfEach(t)
	r.keepAsking(t, "c00")
	written := map[string]int{} // by node, and acknowledged
	old := []testbed.Node{r.master(t, 0), r.master(t, 1), r.master(t, 2)}
	f := r.inject(t, "failover", faults.Params{}, func() {
		for shard, n := range old {
			if _, err := testbed.Do(t.Context(), n, "SET", keys[shard], strconv.Itoa(written[n.Name()]+1)); err == nil {
				written[n.Name()]++
			}
		}
	})
	killed := slices.IndexFunc(old, func(n testbed.Node) bool { return !n.(testbed.Killer).Alive() })
	if killed < 0 {
		t.Fatal("every master is alive")
	}
	name := old[killed].Name()
	f.healed(t, "promoted in the place of "+name+" by the other masters", "c00 served by", " changes lost", name+" is back, as a replica")
	if since := r.Get(t, r.master(t, killed), keys[killed]); written[name] == 0 || since == strconv.Itoa(written[name]) {
		t.Errorf("the new master has %s, the last of %d writes to the old one", since, written[name])
	}
}

// keyOfEach is a key of each shard.
func (r *rig) keyOfEach(t *testing.T) (keys [3]string) {
	t.Helper()
	for i := 0; slices.Contains(keys[:], ""); i++ {
		key := fmt.Sprint("k", i)
		shard, err := r.Testbed.(testbed.Cluster).Shard(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		keys[shard] = key
	}
	return keys
}

// CLUSTER FAILOVER has a master and its replica change places, and loses nothing.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	r := &rig{faulttest.ClusterRig(t, testbed.ClusterConfig{}, 1)}
	keys := r.keyOfEach(t)
	old := []testbed.Node{r.master(t, 0), r.master(t, 1), r.master(t, 2)}
	for shard, n := range old {
		r.Put(t, n, keys[shard], "v")
	}
	asked := r.keepAsking(t, "c00")
	f := r.inject(t, "cluster-failover", faults.Params{})
	asked()
	f.healed(t, "promoted in the place of ", "c00 served by", "answered MOVED")
	changed := 0
	for shard, key := range keys {
		n := r.master(t, shard)
		if v := r.Get(t, n, key); v != "v" {
			t.Errorf("%s has %s of %s", n.Name(), v, key)
		}
		if n != old[shard] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d masters changed", changed)
	}
}

// The slot of a held key goes to another master with the key, its value and its time to
// live; clients hear of it by ASK, and then by MOVED.
func TestMigrateSlot(t *testing.T) {
	t.Parallel()
	r := &rig{faulttest.ClusterRig(t, testbed.ClusterConfig{}, 1)}
	c := r.Testbed.(testbed.Cluster)
	shard, err := c.Shard(t.Context(), "since")
	if err != nil {
		t.Fatal(err)
	}
	old := r.master(t, shard)
	r.Put(t, old, "since", "v")
	r.Grant("since", "c00")
	asked := r.keepAsking(t, "c00")
	f := r.inject(t, "migrate-slot", faults.Params{})
	asked()
	if _, err := testbed.Do(t.Context(), old, "GET", "since"); err == nil || !strings.Contains(err.Error(), "ASK") {
		t.Errorf("half-way %s answers %v", old.Name(), err)
	}
	f.healed(t, "with the 1 keys that it had", "answered ASK", "and MOVED")
	now, err := c.Shard(t.Context(), "since")
	if err != nil || now == shard {
		t.Fatalf("it is in shard %d: %v", now, err)
	}
	next := r.master(t, now)
	left, err := query(t.Context(), next, "PTTL", "since")
	if v := r.Get(t, next, "since"); v != "v" || err != nil || left <= 0 {
		t.Errorf("%s has %s for %d ms: %v", next.Name(), v, left, err)
	}
}
