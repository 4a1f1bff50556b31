package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// A linkFault impairs the links between some clients and some nodes.
type linkFault struct {
	faults.Params
	name string
	kind link.Kind
}

func (f linkFault) Name() string { return f.name }

func (f linkFault) Supports(t *faults.Target) error {
	if err := needLinks(t); err != nil {
		return err
	}
	if f.Node == faults.StoreNode && t.OwnWrites {
		return errors.New("clients in processes of their own write by themselves, past the links to the store; those of locks in Go use them")
	}
	if link.OneAtATime(t.Fabric) {
		return link.CheckStock(f.impairment())
	}
	return nil
}

// ImpairsLinks marks the faults that the store can suffer too, on its links.
func (f linkFault) ImpairsLinks() {}

func (f linkFault) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	hit, err := f.aim(ctx, s, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	links := everyLink(hit)
	if !slices.Contains(passing, f.kind) {
		if err := s.ReserveLinks(links); err != nil {
			return faults.Injection{}, err
		}
	}
	return f.impair(ctx, s, hit, links, rng)
}

// aim resolves whom the fault hits.
func (f linkFault) aim(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Hit, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Hit{}, err
	}
	nodes, err := s.PickNodes(ctx, f.Node, clients, rng)
	if err != nil {
		return faults.Hit{}, err
	}
	return faults.Hit{Clients: phrase.Names(clients), Nodes: linkEnds(s, nodes), Direction: cmp.Or(direction[f.kind], f.Direction), Key: s.Occasion.Key}, nil
}

// impair impairs the given links.
func (f linkFault) impair(ctx context.Context, s *faults.Scope, hit faults.Hit, links []faults.LinkID, rng *rand.Rand) (faults.Injection, error) {
	if f.kind != link.Cut {
		if err := claimLinks(s, links); err != nil {
			return faults.Injection{}, err
		}
	}
	s.Begin(hit)
	applied := f.impairments(s, hit)
	i := f.impairment()
	var gone []error
	for _, l := range links {
		i.Seed = rng.Uint64()
		err := applied.impair(ctx, s, s.Link(l.Client, l.Node), i)
		if errors.Is(err, faults.ErrMissed) { // it went with its worker: the others are there
			gone = append(gone, err)
		} else if err != nil {
			return faults.Injection{}, err
		}
	}
	if len(gone) > 0 && len(gone) == len(links) {
		return faults.Injection{}, errors.Join(gone...)
	}
	note := applied.where
	if f.kind == link.Delay && f.Jitter > 0 && link.OneAtATime(s.Fabric) {
		note = phrase.Join(note, "jitter drawn once for each link and direction")
	}
	return faults.Injection{Target: hit, Note: note, TookEffect: applied.tookEffect}, nil
}

// impairment is what each of the fault's links suffers.
func (f linkFault) impairment() link.Impairment {
	return link.Impairment{
		Kind: f.kind, Toward: f.Toward(), Delay: f.Delay, Jitter: f.Jitter, Spread: f.Spread, Rate: f.Rate, Bytes: f.Bytes,
	}
}

// claimLinks keeps other faults off links that bear one impairment at a time.
func claimLinks(s *faults.Scope, links []faults.LinkID) error {
	if !link.OneAtATime(s.Fabric) {
		return nil
	}
	for _, l := range links {
		if err := s.Claim(l.Client + "→" + l.Node); err != nil {
			return err
		}
	}
	return nil
}

// impairments returns an empty set of impairments, which the heal will heal.
func (f linkFault) impairments(s *faults.Scope, hit faults.Hit) *impairments {
	all := &impairments{kind: f.kind, healing: make(chan struct{}, 1), where: phrase.Few(hit.Clients) + "→" + phrase.Few(hit.Nodes)}
	s.OnHeal(fmt.Sprintf("%s on %s", f.kind, all.where), "end the run: its links end with it, those of an external toxiproxy by torture doctor --sweep", all.heal)
	return all
}

// everyLink lists the links from each client to each node of hit.
func everyLink(hit faults.Hit) []faults.LinkID {
	var links []faults.LinkID
	for _, c := range hit.Clients {
		for _, n := range hit.Nodes {
			links = append(links, faults.LinkID{Client: c, Node: n})
		}
	}
	return links
}

// linkEnds returns the names under which links know the nodes.
func linkEnds(s *faults.Scope, nodes []testbed.Node) []string {
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
func (f linkFault) Settings() []string {
	of := map[link.Kind][]string{
		link.Delay:     {"delay", "jitter", "spread", "direction"},
		link.Bandwidth: {"rate", "direction"},
		link.Slicer:    {"bytes", "delay"},
		link.LimitData: {"bytes"},
		link.SlowClose: {"delay"},
	}
	return append(f.Params.Settings(), of[f.kind]...)
}
