package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/distributed"
	"locktorture/faults/link"
	"locktorture/faults/resolve"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A share is the part of a run that a worker plays: some of its clients.
type share struct {
	Config  config.Config  `json:"config"`
	Private string         `json:"private,omitempty"` // the servers' passwords
	Header  history.Header `json:"header"`
	Nodes   []string       `json:"nodes,omitempty"` // host:port; empty: those of Config
	Store   string         `json:"store,omitempty"`
	Clients []string       `json:"clients"`
	First   int            `json:"first"` // number of the first of them among all
}

// A host plays a share: its clients live in this process, and so do their links.
type host struct {
	env      *environment
	share    share
	rec      *history.Recorder
	resolver *resolve.Resolver
	journal  *distributed.Journal
	stalls   context.CancelFunc
	running  sync.WaitGroup
	over     chan struct{}
	ending   sync.Once

	mu      sync.Mutex
	stop    context.CancelFunc // ends the phase that is played; nil: none is
	applied map[uint64]link.Applied
}

// Host begins a share of a run for a worker.
func Host(locks catalogue.Locks) func(ctx context.Context, part json.RawMessage, keep distributed.Keep) (distributed.Part, error) {
	return func(ctx context.Context, part json.RawMessage, keep distributed.Keep) (_ distributed.Part, err error) {
		h := &host{over: make(chan struct{}), applied: map[uint64]link.Applied{}}
		if err := json.Unmarshal(part, &h.share); err != nil {
			return nil, err
		}
		cfg := h.share.Config
		if err := cfg.SetSecrets(h.share.Private); err != nil {
			return nil, err
		}
		lock, err := locks.Find(cfg.Lock)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		lock.Fences = h.share.Header.Fenced // which the coordinator may have learnt from a child
		h.env = newEnvironment(cfg, lock)
		defer func() {
			if err != nil {
				err = errors.Join(err, h.env.close())
			}
		}()
		if h.env.bed, err = h.join(ctx, cfg); err != nil {
			return nil, err
		}
		if err := errors.Join(h.env.openFabric(ctx), h.env.addClients(ctx, h.share.Clients)); err != nil {
			return nil, err
		}
		if h.journal, err = keep(h.share.Header); err != nil {
			return nil, err
		}
		h.resolver = h.env.resolver(h.share.Header)
		h.rec = history.NewRecorder(h.journal, &h.env.acquires, h.resolver)
		h.env.ledger = workload.NewLedger(h.rec, h.env.policy())
		stalling, end := context.WithCancel(context.WithoutCancel(ctx))
		h.stalls = end
		h.running.Go(func() { workload.WatchStalls(stalling, h.rec, workload.StallThreshold(cfg.TTL), nil) })
		return h, nil
	}
}

// join reaches the run's servers from here.
func (h *host) join(ctx context.Context, cfg config.Config) (testbed.Testbed, error) {
	if len(h.share.Nodes) == 0 {
		given, err := cfg.External()
		if err != nil {
			return nil, err
		}
		return testbed.Join(ctx, given)
	}
	return testbed.Join(ctx, testbed.ExternalConfig{Masters: server.Plain(h.share.Nodes...), Store: &server.Plain(h.share.Store)[0]})
}

// Now implements distributed.Part.
func (h *host) Now() time.Duration { return h.rec.Since(time.Now()) }

// Over implements distributed.Part.
func (h *host) Over() <-chan struct{} { return h.over }

// What a coordinator may ask of a host.
const (
	askPhase   = "phase"   // phaseOrder → workload.Summary, when the phase is over
	askStop    = "stop"    // the phase that is played ends
	askClient  = "client"  // clientOrder → a receipt
	askImpair  = "impair"  // linkOrder
	askImpact  = "impact"  // number of an impairment → link.Impact
	askMend    = "mend"    // the same, which ends
	askTraffic = "traffic" // linkOrder → link.Traffic
	askReset   = "reset"   // every link
	askFinish  = "finish"  // the clients end, and the journal
)

// A phaseOrder says what to play, and when it begins by the worker's clock.
type phaseOrder struct {
	Phase string        `json:"phase"`
	Beat  time.Duration `json:"beat"`
}

// A clientOrder asks a worker to do something to a client.
type clientOrder struct {
	Client string `json:"client"`
	Act    string `json:"act"` // pause, resume, crash, restart or cancel
}

// A linkOrder asks a worker to do something to a link.
type linkOrder struct {
	Number     uint64          `json:"number,omitempty"` // of the impairment
	Client     string          `json:"client"`
	Node       string          `json:"node"`
	Impairment link.Impairment `json:"impairment,omitzero"`
}

// A finished is the state of the harness at a worker at the end.
type finished struct {
	Unsent   bool     `json:"unsent,omitempty"` // not all of the journal could be sent
	Troubles []string `json:"troubles,omitempty"`
	Findings []string `json:"findings,omitempty"`
}

// Do implements distributed.Part.
func (h *host) Do(ctx context.Context, op string, body json.RawMessage) (any, error) {
	switch op {
	case askPhase:
		return with(body, func(o phaseOrder) (any, error) { return h.phase(ctx, o) })
	case askStop:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.stop != nil {
			h.stop()
		}
		return nil, nil
	case askClient:
		return with(body, func(o clientOrder) (any, error) { return h.act(ctx, o) })
	case askImpair:
		return with(body, func(o linkOrder) (any, error) { return nil, h.impair(ctx, o) })
	case askImpact, askMend:
		return with(body, func(number uint64) (any, error) { return h.impact(ctx, number, op == askMend) })
	case askTraffic:
		return with(body, func(o linkOrder) (any, error) {
			l, err := h.find(o)
			if err != nil {
				return nil, err
			}
			return l.Traffic(), nil
		})
	case askReset:
		return nil, h.env.drive.heal(ctx)
	case askFinish:
		return h.finish(ctx), nil
	}
	return nil, fmt.Errorf("%q is nothing that a worker does", op)
}

// with decodes body and calls a function with it.
func with[T any](body json.RawMessage, do func(T) (any, error)) (any, error) {
	var in T
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	return do(in)
}

// phase plays a phase, from the beat on.
func (h *host) phase(ctx context.Context, o phaseOrder) (workload.Summary, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h.mu.Lock()
	h.stop = stop
	h.mu.Unlock()
	cfg := h.env.cfg.Workload()
	cfg.Part = workload.Part{First: h.share.First, Of: h.env.cfg.Clients}
	cfg.Rate *= float64(len(h.share.Clients)) / float64(h.env.cfg.Clients)
	return workload.Play(ctx, o.Phase, cfg, localDriver{h.env}.contenders(), h.rec, func() error {
		beat := time.NewTimer(o.Beat - h.Now())
		defer beat.Stop()
		select {
		case <-beat.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// act does to a client what a fault asks for.
func (h *host) act(ctx context.Context, o clientOrder) (any, error) {
	for _, c := range h.env.clients {
		if c.Name() != o.Client {
			continue
		}
		switch o.Act {
		case "pause":
			return c.Pause(ctx)
		case "resume":
			return c.Resume(ctx)
		case "crash":
			return c.Crash(ctx)
		case "restart":
			return c.Restart(ctx)
		case "cancel":
			return c.Cancel(), nil
		}
		return nil, fmt.Errorf("%q is nothing that befalls a client", o.Act)
	}
	return nil, fmt.Errorf("no client %q is here", o.Client)
}

func (h *host) find(o linkOrder) (link.Link, error) {
	if l := h.env.links[o.Client][o.Node]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("no link %s→%s is here", o.Client, o.Node)
}

func (h *host) impair(ctx context.Context, o linkOrder) error {
	l, err := h.find(o)
	if err != nil {
		return err
	}
	a, err := l.Impair(ctx, o.Impairment)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.applied[o.Number] = a
	return nil
}

// impact returns what an impairment did, and heals it if heal is set. One that never came into
// force did nothing.
func (h *host) impact(ctx context.Context, number uint64, heal bool) (link.Impact, error) {
	h.mu.Lock()
	a := h.applied[number]
	h.mu.Unlock()
	switch {
	case a == nil:
		return link.Impact{}, nil
	case heal:
		return a.Heal(ctx)
	}
	return a.Impact(), nil
}

// finish ends the clients, records the outcomes of operations that links know, and sends the
// rest of the journal.
func (h *host) finish(ctx context.Context) (f finished) {
	note := func(err error) {
		if err != nil {
			f.Troubles = append(f.Troubles, history.OneLine(err.Error()))
		}
	}
	h.ending.Do(func() {
		note(h.env.drive.disconnect(ctx))
		for _, e := range h.resolver.Resolve() {
			h.rec.Append(e)
		}
		unsent, err := h.close(ctx)
		note(err)
		f.Unsent = unsent
		f.Findings = h.env.findings
		close(h.over)
	})
	return f
}

// close closes everything that the share of this machine uses, and reports whether some of
// the journal could not be sent.
func (h *host) close(ctx context.Context) (unsent bool, err error) {
	h.stalls()
	h.running.Wait()
	_, err = h.journal.Close(ctx)
	return err != nil, errors.Join(err, h.rec.Err(), h.env.close())
}

// Abandon implements distributed.Part.
func (h *host) Abandon() {
	h.ending.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what is not sent stays in the journal
		h.mu.Lock()
		stop := h.stop
		h.mu.Unlock()
		if stop != nil {
			stop()
		}
		_ = h.env.drive.heal(context.Background()) // nobody is left to be told
		_ = h.env.drive.disconnect(ctx)
		_, _ = h.close(ctx)
		close(h.over)
	})
}
