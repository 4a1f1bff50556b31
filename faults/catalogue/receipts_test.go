package catalogue

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// A fault under which no client does anything proves nothing, however much of
// it took place: leases lie on the nodes, connections are open and at rest.
func TestNoReceiptWithoutOperations(t *testing.T) {
	catalogue := All()
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := catalogue[name]
			fsync := testbed.FsyncAlways
			if e.Needs == testbed.AbilityPowerLoss {
				fsync = testbed.FsyncSecond
			}
			limit := 2 * time.Second
			var r *rig
			switch name {
			case failoverIsolatedEntry.Name: // it is for Redis Sentinel alone, whose replicas take no writes
				r, limit = &rig{faulttest.SentinelRig(t, testbed.SentinelConfig{}, 2)}, faulttest.Late
			case clusterFailoverEntry.Name, migrateSlotEntry.Name:
				r, limit = &rig{faulttest.ClusterRig(t, testbed.ClusterConfig{}, 2)}, faulttest.Late
			default:
				r = serverRig(t, testbed.ProcessConfig{Nodes: 3, Persist: true, Fsync: fsync, FakeClock: e.Needs == testbed.AbilityClockJump && testbed.CanFakeClock() == nil}, 2)
				r.atRest(t)
			}
			r.TTL, r.Notifies = 200*time.Millisecond, true
			p := e.Default
			if p.Client == faults.RoleHolder {
				p.Client = faults.RoleAny // nobody holds
			}
			f := e.New(p)
			r.lend()
			if err := f.Supports(r.Target); err != nil {
				faulttest.Missing(t, err) // libfaketime is all that a machine may lack
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			res, err := r.Run(ctx, faults.Step{Fault: f, For: 50 * time.Millisecond})
			if err != nil || res.TookEffect() > 0 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// atRest leaves what a run leaves between two operations: keys with and without
// an end, cached scripts, errors of the past, and open connections.
func (r *rig) atRest(t *testing.T) {
	for _, n := range r.Testbed.Nodes() {
		r.Put(t, n, "lease", "owner")
		for _, command := range [][]string{{"SET", "fence", "7"}, {"SCRIPT", "LOAD", "return 1"}} {
			if _, err := testbed.Do(t.Context(), n, command...); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = testbed.Do(t.Context(), n, "EVALSHA", "0000000000000000000000000000000000000000", "0")
		for _, c := range r.Clients {
			r.Dial(t, c.Name(), n.Name())
		}
	}
}

// lend gives the clients wall clocks, which nobody reads, and operations that
// can be cancelled, of which there are none.
func (r *rig) lend() {
	for i, c := range r.Clients {
		r.Clients[i] = &idleClient{Client: c}
	}
}

// idleClient is a client that does nothing.
type idleClient struct {
	faults.Client
	clock faults.WallClock
}

func (*idleClient) Cancel() int                             { return 0 }
func (c *idleClient) WallClock() (*faults.WallClock, error) { return &c.clock, nil }
