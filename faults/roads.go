package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// A roadFault impairs the links between some clients and some nodes.
type roadFault struct {
	Params
	name string
	kind link.Kind
}

func (f roadFault) Name() string             { return f.name }
func (f roadFault) Supports(t *Target) error { return needLinks(t) }

func (f roadFault) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	clients, err := t.PickClients(f.Client, rng)
	if err != nil {
		return Injection{}, err
	}
	nodes, err := t.PickNodes(ctx, f.Node, clients, rng)
	if err != nil {
		return Injection{}, err
	}
	hit := Hit{Clients: names(clients), Nodes: roadEnds(t, nodes), Direction: direction[f.kind], Key: t.Occasion.Key}
	t.Begin(hit)
	w := &wounds{kind: f.kind, where: roadNames(hit.Clients, hit.Nodes)}
	t.OnHeal(fmt.Sprintf("%s on %s", f.kind, w.where), "end the run: its links end with it, those of an external toxiproxy by torture doctor --sweep", w.heal)
	i := link.Impairment{Kind: f.kind, Delay: f.Delay, Jitter: f.Jitter, Spread: f.Spread, Rate: f.Rate}
	for _, c := range hit.Clients {
		for _, n := range hit.Nodes {
			i.Seed = rng.Uint64()
			if err := w.hurt(ctx, t, t.Link(c, n), i); err != nil {
				return Injection{}, err
			}
		}
	}
	return Injection{Target: hit, Note: w.where, Bitten: w.bitten}, nil
}

// roadEnds returns the names under which links know the nodes.
func roadEnds(t *Target, nodes []testbed.Node) []string {
	ends := names(nodes)
	for i, n := range nodes {
		if n == t.Testbed.Store() {
			ends[i] = StoreNode
		}
	}
	return ends
}

// direction says which way a kind goes, where it is not both.
var direction = map[link.Kind]string{
	link.RequestLost:   "request",
	link.ResponseLost:  "response",
	link.Zombie:        "request",
	link.SlowReply:     "response",
	link.FastLostReply: "response",
}

// wounds are the impairments of one fault.
type wounds struct {
	kind  link.Kind
	where string

	mu   sync.Mutex
	open []wound
	bite link.Bite // of those healed
}

type wound struct {
	link.Wound
	road   link.Link
	before link.Traffic
	heal   func() // takes it off the run's books
}

func (w *wounds) hurt(ctx context.Context, t *Target, road link.Link, i link.Impairment) error {
	if road == nil {
		return errors.New("no such link")
	}
	before := road.Traffic()
	hurt, err := road.Impair(ctx, i)
	if err != nil {
		return fmt.Errorf("impair %s→%s: %w", road.Client(), road.Node(), err)
	}
	shared, blocks := t.shared(), i.Kind != link.Delay && i.Kind != link.Bandwidth
	if blocks {
		shared.cut(road.Client(), road.Node(), 1)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, wound{Wound: hurt, road: road, before: before, heal: func() {
		if blocks {
			shared.cut(road.Client(), road.Node(), -1)
		}
	}})
	return nil
}

// bitten reports whether anything has come into the wounded roads. A cut has
// bitten where there was a connection.
func (w *wounds) bitten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.open {
		if x.road.Traffic() != x.before || w.kind == link.Cut && x.before.Conns > 0 {
			return true
		}
	}
	return false
}

// heal heals every wound that is still open.
func (w *wounds) heal(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	var open []wound
	for _, x := range w.open {
		bite, err := x.Heal(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("heal %s→%s: %w", x.road.Client(), x.road.Node(), err))
			open = append(open, x)
			continue
		}
		x.heal()
		w.bite.Bytes += bite.Bytes
		w.bite.Conns += bite.Conns
		w.bite.Dials += bite.Dials
		w.bite.Requests += bite.Requests
	}
	w.open = open
	if len(errs) > 0 || !w.bite.Bit() {
		return "", errors.Join(errs...)
	}
	return w.receipt(), nil
}

// verbs say what a kind did to the bytes.
var verbs = map[link.Kind]string{
	link.Stall: "held", link.Zombie: "held", link.SlowReply: "held", link.Delay: "delayed", link.Bandwidth: "slowed down",
	link.FastLostReply: "executed without a reply",
}

func (w *wounds) receipt() string {
	verb := verbs[w.kind]
	if verb == "" {
		verb = "dropped"
	}
	var bytes, conns, dials string
	if w.bite.Bytes > 0 {
		bytes = fmt.Sprintf("%d bytes of %d requests %s", w.bite.Bytes, w.bite.Requests, verb)
	}
	if w.bite.Conns > 0 {
		conns = fmt.Sprintf("%d connections died", w.bite.Conns)
	}
	if w.bite.Dials > 0 {
		dials = fmt.Sprintf("%d dials refused", w.bite.Dials)
	}
	return join(bytes, conns, dials) + " on " + w.where
}
