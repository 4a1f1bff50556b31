package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"locktorture/faults/testbed"
	"locktorture/workload/history"
	"locktorture/workload/sample"
)

// startSampling starts to sample the nodes, past every link, until the function that it returns
// is called. What is not sampled is said in the history and in the report.
func (s *session) startSampling(ctx context.Context) (stop func()) {
	cfg := sample.Config{Keys: s.env.sampledKeys(), TTL: s.env.cfg.TTL}
	if len(cfg.Keys) == 0 {
		s.unsampled("lock " + s.env.lock.ID + " does not say which keys bear its leases")
		return func() {}
	}
	if _, deployed := s.env.bed.(testbed.Deployment); deployed {
		s.unsampled("who of them is a master may change from one look to the next")
		return func() {}
	}
	if left := cfg.Left(); left > 0 {
		s.unsampled(fmt.Sprintf("%d of %d keys are too many to be looked at while the run goes on", left, len(cfg.Keys)))
	}
	for _, n := range s.env.bed.Nodes() {
		cfg.Nodes = append(cfg.Nodes, n)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	var looking sync.WaitGroup
	looking.Go(func() {
		var forbidden *sample.ForbiddenError
		if err := sample.Watch(ctx, cfg, s.rec); errors.As(err, &forbidden) {
			s.unsampled(forbidden.Error())
		}
	})
	return func() {
		end()
		looking.Wait()
	}
}

// unsampled says what was not sampled during the run.
func (s *session) unsampled(why string) {
	text := "nodes not sampled: " + why
	s.env.find(text)
	s.rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Note: text})
}

// sampledKeys are the keys that bear leases on the nodes, as far as the lock says.
func (e *environment) sampledKeys() (keys []sample.Key) {
	cfg := e.cfg.Workload()
	for n := range cfg.Keys {
		resource := cfg.Key(n)
		for _, name := range e.leaseKeys(resource) {
			keys = append(keys, sample.Key{Resource: resource, Name: name})
		}
	}
	return keys
}
