package catalogue

import (
	"context"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/link"
)

// A partition cuts each client off from some nodes: unseen lists those that the i-th of clients
// does not reach, of nodes 0 … n−1 with a quorum of q.
type partition struct {
	linkFault
	unseen func(i, clients, n, q int) []int
}

func newPartition(name string, unseen func(i, clients, n, q int) []int) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault {
		return partition{linkFault{Params: p, name: name, kind: link.BlackHole}, unseen}
	}
}

func (f partition) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	hit, err := f.aim(ctx, s, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	rng.Shuffle(len(hit.Clients), func(i, j int) { hit.Clients[i], hit.Clients[j] = hit.Clients[j], hit.Clients[i] })
	rng.Shuffle(len(hit.Nodes), func(i, j int) { hit.Nodes[i], hit.Nodes[j] = hit.Nodes[j], hit.Nodes[i] })
	var links []faults.LinkID
	for i, c := range hit.Clients {
		for _, n := range f.unseen(i, len(hit.Clients), len(hit.Nodes), s.Quorum) {
			links = append(links, faults.LinkID{Client: c, Node: hit.Nodes[n]})
		}
	}
	return f.impair(ctx, s, hit, links, rng)
}

// circle lists count numbers below n from start on, going round, or all of them
// where there are no more.
func circle(start, count, n int) []int {
	var all []int
	for i := range min(count, n) {
		all = append(all, ((start+i)%n+n)%n)
	}
	return all
}
