package run

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/reports"
	"locktorture/workload/history"
)

// header is the header of the history: what a judge must know of the run.
func (e *environment) header(m reports.Meta) history.Header {
	h := history.Header{
		Type: "history", Version: history.Version, Scenario: m.Scenario, Lock: m.Lock, Seed: m.Seed,
		Nodes: e.masters(), Quorum: e.quorum(), TTL: e.cfg.TTL, Fenced: fenced(e.cfg, e.lock),
		Began: m.Began, Floors: e.cfg.Floors, Expected: e.cfg.Expected, Accepted: e.cfg.Accept,
	}
	e.lock.Promises(&h)
	e.cfg.Bounds.AddTo(h.Bounds)
	return h
}

// describe says what the lock runs against, and which faults that does not support.
func (e *environment) describe(p plan.Plan) reports.Testbed {
	t := reports.Testbed{Name: e.bed.Name(), Version: e.bed.Version(), Embedded: e.bed.Name() == testbed.KindEmbedded}
	t.LeftOut = p.Omissions()
	return t
}

func (e *environment) link(client, node string) link.Link {
	if client == faults.Peers {
		return e.peers[node]
	}
	return e.drive.link(client, node)
}

// leaseKeys asks the lock which keys bear the lease of key; none when it does
// not say.
func (e *environment) leaseKeys(key string) []string {
	if lister, ok := e.probe.(lockimpl.KeyLister); ok {
		return lister.LeaseKeys(key)
	}
	return nil
}
