package reference

import (
	"locktorture/workload/history"
)

// GenerateCrowd draws the history of a seed in which several processes act for each of two
// owners on one key, and one that holds is at times given another lease beside it. Some of
// what they are told, GenerateLate's way, is told late.
func GenerateCrowd(seed uint64) history.History {
	g := newGenerator(seed, 55)
	g.header(seed)
	g.ops, g.apart = 4+g.IntN(13), .5
	g.honest = []float64{.8, .95, 1}[g.IntN(3)]
	g.tokens, g.numbers = g.chance(.75), g.chance(.85)
	g.keys, g.state["k"] = []string{"k"}, &resource{}
	for i := range 3 + g.IntN(3) {
		owner := []string{"a", "b"}[i/3]
		if i == 2 && g.chance(.5) {
			owner = "b"
		}
		g.clients = append(g.clients, &client{owner: owner, process: i})
	}
	g.next = len(g.clients)
	for g.ops > 0 {
		g.step()
	}
	g.finish()
	if g.chance(.5) {
		return g.h
	}
	w := &widener{g.Rand, g.h}
	w.late([]float64{.05, .15, .4}[w.IntN(3)])
	return w.h
}
