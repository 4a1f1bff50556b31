package run

import (
	"errors"
	"fmt"
	"sync"

	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/reports"
	"locktorture/workload"
	"locktorture/workload/history"
)

// header opens the history: what a judge must know of the run.
func (r *environment) header(m reports.Meta) history.Header {
	h := history.Header{
		Type: "history", Version: history.Version, Scenario: m.Scenario, Lock: m.Lock, Seed: m.Seed,
		Nodes: len(r.bed.Nodes()), Quorum: r.quorum(), TTL: r.cfg.TTL, Fenced: fenced(r.cfg, r.lock),
		Began: m.Began, Floors: r.cfg.Floors, Expected: r.cfg.Expected,
	}
	if r.lock.Drift != nil {
		h.Drift = r.lock.Drift(r.cfg.TTL)
	}
	if r.lock.LossWithin != nil {
		h.Bounds = map[string]int64{"loss_ns": r.lock.LossWithin(r.cfg.TTL).Nanoseconds()}
	}
	if r.lock.Unchecked {
		h.OwnerCheckedRelease = new(bool)
	}
	return h
}

// describe says what the lock runs against, and what that cannot suffer.
func (r *environment) describe(p plan.Plan) reports.Testbed {
	t := reports.Testbed{Name: r.bed.Name(), Version: r.bed.Version(), Embedded: r.bed.Name() == testbed.KindEmbedded}
	for _, l := range p.LeftOut {
		t.LeftOut = append(t.LeftOut, fmt.Sprintf("%s: %s", l.Fault, l.Why))
	}
	return t
}

func (r *environment) link(client, node string) link.Link { return r.links[client][node] }

// leaseKeys asks the lock which keys bear the lease of key; none when it does
// not say.
func (r *environment) leaseKeys(key string) []string {
	if lister, ok := r.probe.(lockimpl.KeyLister); ok {
		return lister.LeaseKeys(key)
	}
	return nil
}

func (r *environment) contenders() []*workload.Client {
	var all []*workload.Client
	for _, c := range r.clients {
		all = append(all, c.Client)
	}
	return all
}

// disconnect ends every client, and the probe.
func (r *environment) disconnect() error {
	errs := make([]error, len(r.clients))
	var wg sync.WaitGroup
	for i, c := range r.clients {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
