package catalogue

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// A roadFault impairs the links between some clients and some nodes.
type roadFault struct {
	faults.Params
	name string
	kind link.Kind
}

func (f roadFault) Name() string { return f.name }

func (f roadFault) Supports(t *faults.Target) error {
	if err := needLinks(t); err != nil {
		return err
	}
	if link.OneAtATime(t.Fabric) {
		return link.CheckStock(f.impairment())
	}
	return nil
}

// HurtsLinks marks the faults that the store can suffer too, on its links.
func (f roadFault) HurtsLinks() {}

func (f roadFault) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	hit, err := f.aim(ctx, s, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	roads := everyRoad(hit)
	if !slices.Contains(passing, f.kind) {
		if err := s.ReserveLinks(roads); err != nil {
			return faults.Injection{}, err
		}
	}
	return f.hurt(ctx, s, hit, roads, rng)
}

// aim resolves whom the fault hits.
func (f roadFault) aim(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Hit, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Hit{}, err
	}
	nodes, err := s.PickNodes(ctx, f.Node, clients, rng)
	if err != nil {
		return faults.Hit{}, err
	}
	return faults.Hit{Clients: phrase.Names(clients), Nodes: roadEnds(s, nodes), Direction: cmp.Or(direction[f.kind], f.Direction), Key: s.Occasion.Key}, nil
}

// hurt impairs the given roads.
func (f roadFault) hurt(ctx context.Context, s *faults.Scope, hit faults.Hit, roads []faults.LinkID, rng *rand.Rand) (faults.Injection, error) {
	if f.kind != link.Cut {
		if err := claimRoads(s, roads); err != nil {
			return faults.Injection{}, err
		}
	}
	s.Begin(hit)
	w := f.wounds(s, hit)
	i := f.impairment()
	for _, r := range roads {
		i.Seed = rng.Uint64()
		if err := w.hurt(ctx, s, s.Link(r.Client, r.Node), i); err != nil {
			return faults.Injection{}, err
		}
	}
	note := w.where
	if f.kind == link.Delay && f.Jitter > 0 && link.OneAtATime(s.Fabric) {
		note = phrase.Join(note, "jitter drawn once for each link and direction")
	}
	return faults.Injection{Target: hit, Note: note, Bitten: w.bitten}, nil
}

// impairment is what each of the fault's links suffers.
func (f roadFault) impairment() link.Impairment {
	return link.Impairment{
		Kind: f.kind, Toward: f.Toward(), Delay: f.Delay, Jitter: f.Jitter, Spread: f.Spread, Rate: f.Rate, Bytes: f.Bytes,
	}
}

// claimRoads keeps other faults off roads that bear one impairment at a time.
func claimRoads(s *faults.Scope, roads []faults.LinkID) error {
	if !link.OneAtATime(s.Fabric) {
		return nil
	}
	for _, r := range roads {
		if err := s.Take(r.Client + "→" + r.Node); err != nil {
			return err
		}
	}
	return nil
}

// wounds returns an empty set of wounds, which the heal will heal.
func (f roadFault) wounds(s *faults.Scope, hit faults.Hit) *wounds {
	w := &wounds{kind: f.kind, where: phrase.Few(hit.Clients) + "→" + phrase.Few(hit.Nodes)}
	s.OnHeal(fmt.Sprintf("%s on %s", f.kind, w.where), "end the run: its links end with it, those of an external toxiproxy by torture doctor --sweep", w.heal)
	return w
}

// everyRoad lists the roads from each client to each node of hit.
func everyRoad(hit faults.Hit) []faults.LinkID {
	var roads []faults.LinkID
	for _, c := range hit.Clients {
		for _, n := range hit.Nodes {
			roads = append(roads, faults.LinkID{Client: c, Node: n})
		}
	}
	return roads
}

// roadEnds returns the names under which links know the nodes.
func roadEnds(s *faults.Scope, nodes []testbed.Node) []string {
	ends := phrase.Names(nodes)
	for i, n := range nodes {
		if n == s.Testbed.Store() {
			ends[i] = faults.StoreNode
		}
	}
	return ends
}

// direction says which way a kind goes, where it is not both.
var direction = map[link.Kind]string{
	link.RequestLost:     "request",
	link.ResponseLost:    "response",
	link.Zombie:          "request",
	link.StuckConnection: "request",
	link.SlowReply:       "response",
	link.FastLostReply:   "response",
	link.Slicer:          "response",
	link.LimitData:       "response",
	link.SlowClose:       "response",
}

// Settings names what the kind of impairment can be told.
func (f roadFault) Settings() []string {
	of := map[link.Kind][]string{
		link.Delay:     {"delay", "jitter", "spread", "direction"},
		link.Bandwidth: {"rate", "direction"},
		link.Slicer:    {"bytes", "delay"},
		link.LimitData: {"bytes"},
		link.SlowClose: {"delay"},
	}
	return append(f.Params.Settings(), of[f.kind]...)
}
