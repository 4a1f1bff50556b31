package reference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A generator draws a history in which a plausible lock and store run, and lie
// now and then, at instants that lie close to every edge of the definitions.
type generator struct {
	*rand.Rand
	h       history.History
	clients []*client
	keys    []string
	state   map[string]*resource
	edges   []time.Duration // instants near which something is decided
	now     time.Duration
	ops     int     // still to be invoked
	honest  float64 // how often lock and store tell the truth
	lingers float64 // how often a free key is refused all the same, as by a place in line
	apart   float64 // how often an owner that holds is given a lease of its own once more
	kept    float64 // how often a release that is acknowledged changes nothing
	plain   bool    // every operation is answered, and says nothing of when it was under way
	rmw     bool    // writes name the version that they read
	tokens  bool    // leases have tokens
	modes   bool    // leases may be shared
	seq     uint64
	numbers bool // writes are numbered
	values  int
	next    int // unused process number
	audits  []history.Event
}

// A client is one owner's thread of control.
type client struct {
	owner   string
	process int
	open    *history.Event
	leases  []lease
}

type lease struct {
	key   string
	fence uint64
	mode  history.Mode
	until time.Duration
}

// A resource is what the lock's server and the store know of a key.
type resource struct {
	holder  string
	expires time.Duration
	fence   uint64
	seen    uint64 // the newest token that the store has seen
	version uint64
}

// Generate draws the history of a seed: 2 to 6 clients, 1 to 3 keys, up to 30 operations.
func Generate(seed uint64) history.History {
	g := newGenerator(seed, 14)
	g.header(seed)
	g.ops = 4 + g.IntN(27)
	g.honest = []float64{0.6, 0.9, 0.98, 1}[g.IntN(4)]
	g.tokens, g.numbers, g.modes = g.chance(.7), g.chance(.85), g.chance(.2)
	g.rmw = g.numbers && g.chance(.4)
	for i := range 1 + g.IntN(3) {
		key := fmt.Sprintf("k%d", i+1)
		g.keys, g.state[key] = append(g.keys, key), &resource{}
	}
	for i := range 2 + g.IntN(5) {
		owner := string(rune('a' + i))
		if i > 0 && g.chance(.1) {
			owner = g.clients[i-1].owner // two processes share a re-entrant lease
			g.modes = false              // which none of them upgrades
		}
		g.clients = append(g.clients, &client{owner: owner, process: i})
	}
	g.next = len(g.clients)
	g.share(seed)
	for g.ops > 0 {
		g.step()
	}
	g.finish()
	return g.h
}

// share has one process act for two owners, in some histories.
func (g *generator) share(seed uint64) {
	if rng := rand.New(rand.NewPCG(seed, 33)); rng.IntN(5) == 0 {
		a, b := rng.IntN(len(g.clients)), rng.IntN(len(g.clients))
		g.clients[b].process = g.clients[a].process
	}
}

// busy reports whether an operation of c's process is open.
func (g *generator) busy(c *client) bool {
	return slices.ContainsFunc(g.clients, func(x *client) bool { return x.process == c.process && x.open != nil })
}

// retire gives the owners for whom a process acts another one.
func (g *generator) retire(process int) {
	for _, c := range g.clients {
		if c.process == process {
			c.process = g.next
		}
	}
	g.next++
}

func newGenerator(seed, stream uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, stream)), state: map[string]*resource{}}
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

func (g *generator) unit(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (g *generator) header(seed uint64) {
	g.h.Header = history.Header{
		Type: "history", Version: history.Version, Lock: "drawn", Seed: seed, Nodes: 1, Quorum: 1,
		TTL: g.unit(10 + g.IntN(20)), Drift: g.unit(g.IntN(3)), Fenced: g.chance(.5),
	}
	if g.chance(.5) {
		g.h.Header.Epsilon = g.unit(1 + g.IntN(3))
	}
	if g.chance(.2) {
		g.h.Header.OwnerCheckedRelease = new(bool)
	}
}

// advance lets time pass: not at all, a little, or to within ε of an edge.
func (g *generator) advance() {
	epsilon := g.h.Header.Epsilon
	near := []time.Duration{-g.unit(1), 0, g.unit(1), epsilon, epsilon + g.unit(1), -epsilon}
	switch g.IntN(14) {
	case 0, 1, 2, 3, 4:
	case 5, 6, 7, 8, 9, 10, 11:
		g.now += g.unit(1)
	case 12:
		g.now += epsilon + g.unit(g.IntN(2))
	default:
		if len(g.edges) > 0 && g.chance(.7) {
			recent := g.edges[max(0, len(g.edges)-4):]
			g.now = max(g.now, recent[g.IntN(len(recent))]+near[g.IntN(len(near))])
		}
	}
}

func (g *generator) append(e history.Event) {
	e.Index, e.Time = len(g.h.Events), g.now
	g.h.Events = append(g.h.Events, e)
}

// step lets one client do one thing.
func (g *generator) step() {
	g.advance()
	c := g.clients[g.IntN(len(g.clients))]
	switch {
	case c.open != nil && g.chance(.85):
		g.complete(c)
	case len(c.leases) > 0 && g.chance(.04):
		l := c.leases[g.IntN(len(c.leases))]
		g.append(history.Event{Process: c.process, Kind: history.OK, Op: history.Lost, Key: l.key, Owner: c.owner, Fence: g.maybe(l.fence)})
		c.drop(l, 9)
	case !g.busy(c) && len(c.leases) > 0 && g.chance(.06):
		g.renewal(c)
	case g.chance(.03):
		g.kill()
	case !g.busy(c):
		g.ops--
		g.invoke(c)
	}
}

func (g *generator) maybe(fence uint64) uint64 {
	if g.chance(.5) {
		return fence
	}
	return 0
}

func (g *generator) kill() {
	e := history.Event{Process: history.Nemesis, Kind: history.Invoke, Op: history.Fault, Fault: "kill-node", Target: history.NamedTarget("n1"), Instant: true}
	g.append(e)
	e.Kind, e.Receipt = history.OK, "gone"
	g.append(e)
}

// drop forgets up to n holds of a lease.
func (c *client) drop(l lease, n int) {
	for i := len(c.leases) - 1; i >= 0 && n > 0; i-- {
		if c.leases[i].key == l.key && c.leases[i].fence == l.fence {
			c.leases = append(c.leases[:i], c.leases[i+1:]...)
			n--
		}
	}
}

// finish closes what is open, says what links saw, and reads the store's log.
func (g *generator) finish() {
	for _, c := range g.clients {
		if c.open != nil && g.chance(.8) {
			g.advance()
			g.complete(c)
		}
	}
	g.receipts()
	if g.numbers && g.chance(.6) {
		g.audit()
	}
	g.append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
}
