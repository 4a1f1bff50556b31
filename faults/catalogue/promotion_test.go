package catalogue

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

// keepAsking has a client ask every node for something, until the test ends. The
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
				_ = rdb.Ping(ask).Err()
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

// A master that Sentinel replaces has not told its replicas what it took last; its
// successor does not have it, and it comes back without. Killed or isolated.
func TestPromotion(t *testing.T) {
	for _, fault := range []string{"failover", "failover-isolated"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := &rig{faulttest.SentinelRig(t, testbed.SentinelConfig{}, 1)}
			d := r.Testbed.(testbed.Deployment)
			old, err := d.Master(t.Context())
			if err != nil {
				t.Fatal(err)
			}
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
			next, err := d.Master(t.Context())
			if err != nil || next == old {
				t.Fatalf("%v is the master: %v", next, err)
			}
			for _, n := range []testbed.Node{old, next} {
				if since := r.Get(t, n, "since"); last == 0 || since == strconv.Itoa(last) {
					t.Errorf("%s has %s, the last of %d writes to the old master", n.Name(), since, last)
				}
			}
		})
	}
}
