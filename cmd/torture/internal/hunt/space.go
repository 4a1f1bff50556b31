package hunt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/workload"
)

// space is what rounds against the lock are drawn from, and which faults were left out, with
// the reason.
func (h *Hunt) space(ctx context.Context) (s search.Space, leftOut []string) {
	s.Nodes = h.cfg.Lock.Masters(h.base)
	s.Faults = search.FaultNames(func(e faultcatalogue.Entry) bool {
		why := h.without(e)
		if why != "" {
			leftOut = append(leftOut, e.Name+": "+why)
		}
		return why == ""
	})
	s.Modes = modes(ctx, h.base, h.cfg.Lock)
	s.Moments = faults.KeyMoments()
	for _, c := range commandsOf(ctx, h.cfg.Lock, h.base) {
		s.Moments = append(s.Moments, faults.Reply(c, ""))
	}
	if l := h.cfg.Lock; l.UndoWithin != nil {
		s.Settles = l.UndoWithin(leastLease)
	}
	if h.cfg.Lock.Child {
		s.TTLs = foreignTTLs
	}
	if isDeployment(h.base.Testbed) {
		s.Elected, s.TTLs, s.Longest = true, deployedTTLs, deployedLongest
	}
	s.Model = func(r search.Round) *faults.Target { return run.Preview(r.Over(h.base), h.cfg.Lock) }
	s.Fits, s.Shortest = h.exec.Fits, h.shortest
	return s, leftOut
}

// A lock in another language may count its leases in whole seconds: what it cuts off shows in a
// lease of more than one that is no whole number of them.
var foreignTTLs = []time.Duration{400 * time.Millisecond, 700 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second}

// A master and its replicas need a second or two until they are of one mind again. What
// was granted before must outlast that to meet what is granted after.
var deployedTTLs = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}

const deployedLongest = 12 * time.Second

// leastLease is a short lease: what a lock's word rests on that goes with its leases is
// kept by any.
const leastLease = 400 * time.Millisecond

// without says why a fault is not drawn.
func (h *Hunt) without(e faultcatalogue.Entry) string {
	forgets := search.Forgets(e.Name)
	several := h.cfg.Lock.Masters(h.base) > 1
	switch {
	case faultcatalogue.Support(e, h.base.Testbed) != nil:
		return fmt.Sprintf("testbed %s cannot suffer it", h.base.Testbed)
	case e.Name == "starve-cpu":
		return "it would starve every other round"
	case (e.Name == "client-clock" || e.Name == "client-clock-stuck") && h.cfg.Lock.WithClock == nil:
		return "the lock reads no client's clock"
	case slices.Contains(h.cfg.Without, e.Name):
		return "as asked for"
	case h.cfg.Beyond || e.Beyond == "" || e.Name == "split-vote":
		return ""
	case forgets && (several || h.cfg.Forgets || h.cfg.Lock.Quarantine != nil):
		return ""
	case forgets:
		return "nothing keeps a lock over one master that forgets it (--beyond)"
	}
	return "it breaks what correct locks rest on: " + e.Beyond + " (--beyond)"
}

// modes are those that the lock can serve. A child says so itself; where it cannot be asked,
// its mixed mode finds out.
func modes(ctx context.Context, c config.Config, l catalogue.Lock) []workload.Mode {
	all := []workload.Mode{workload.ModeMixed, workload.ModeExclusive}
	serves := func(m workload.Mode) bool {
		c.Load.Mode, c.Load.Keys = m, 2
		return run.FitsMode(c, l) == nil
	}
	if l.Child {
		probe, done, err := probe(ctx, l, c)
		if err != nil {
			return all
		}
		defer done()
		serves = func(m workload.Mode) bool { return workload.Lacks(m, probe) == nil }
	}
	for _, m := range []workload.Mode{workload.ModeRW, workload.ModeReentrant, workload.ModeFair, workload.ModeMulti} {
		if serves(m) {
			all = append(all, m)
		}
	}
	return all
}

// probe starts a child that is asked for nothing but what it can do, on nodes in memory,
// until done is called.
func probe(ctx context.Context, l catalogue.Lock, c config.Config) (locker lockimpl.Locker, done func(), err error) {
	if isDeployment(c.Testbed) {
		return nil, nil, errors.New("its nodes are found by asking others")
	}
	bed, err := testbed.StartEmbedded(ctx, testbed.EmbeddedConfig{Nodes: l.Masters(c)})
	if err != nil {
		return nil, nil, err
	}
	locker, err = l.Factory(c)(wiring.Direct(bed.Nodes()))
	if err != nil {
		return nil, nil, errors.Join(err, bed.Close())
	}
	return locker, func() {
		_ = locker.Close() // what is wrong with it shows when it is played
		_ = bed.Close()
	}, nil
}
