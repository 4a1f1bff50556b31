package redlock_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/mutants"
	"locktorture/lockimpl/redlock"
)

var (
	chaosFor  = flag.Duration("chaos", 15*time.Second, "how long each of the chaos tests goes on")
	chaosSeed = flag.Uint64("chaos.seed", 0, "play only the episode of this seed; 0 draws seeds")
)

// An episode is one small world in which everything goes wrong for a while.
type episode struct {
	seed             uint64
	nodes            int
	cfg              redlock.Config
	jumps            bool // clocks of nodes jump ahead: tokens must be in order, holders may be two
	sharing          bool // the keys share one fence
	clients          int
	serverFaultEvery time.Duration // on average
	longest          time.Duration // of the leases
}

const episodeLasts = time.Minute // of virtual time

func newEpisode(seed uint64) (episode, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 1))
	e := episode{
		seed: seed, nodes: []int{1, 3, 3, 5, 5, 5}[rng.IntN(6)], clients: 3 + rng.IntN(4),
		jumps: rng.IntN(5) == 0, sharing: rng.IntN(2) == 0,
		serverFaultEvery: time.Duration(2+rng.IntN(20)) * time.Second,
	}
	e.cfg.Patience = []time.Duration{500 * time.Millisecond, 3 * time.Second}[rng.IntN(2)]
	e.longest = []time.Duration{500 * time.Millisecond, 2 * time.Second, 5 * time.Second}[rng.IntN(3)]
	e.cfg.NoProposals, e.cfg.NoGossip = rng.IntN(2) == 0, rng.IntN(2) == 0
	if e.nodes == 5 && rng.IntN(5) == 0 {
		e.cfg.Quorum = 4
	}
	return e, rng
}

func (e episode) String() string {
	return fmt.Sprintf("-chaos.seed=%d: %d nodes, %d clients, quorum %d, proposals %v, gossip %v, clock jumps %v, shared fence %v",
		e.seed, e.nodes, e.clients, e.cfg.Quorum, !e.cfg.NoProposals, !e.cfg.NoGossip, e.jumps, e.sharing)
}

func (e episode) keys() []string {
	if e.sharing {
		return redlock.SharingAFence(3)
	}
	return []string{"a", "b", "c"}
}

// A tally is what happened in several episodes.
type tally struct {
	mu       sync.Mutex
	grants   map[string]int
	faults   map[string]int
	refused  int
	unknown  int
	episodes int
	findings []string
}

func newTally() *tally { return &tally{grants: map[string]int{}, faults: map[string]int{}} }

func (y *tally) fault(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.faults[name]++
}

func (y *tally) add(b *book, all []*contender) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for ability, n := range b.grants {
		y.grants[ability] += n
	}
	for _, c := range all {
		y.refused += c.refused
		y.unknown += c.unknown
	}
	y.findings = append(y.findings, b.wrong...)
}

func (y *tally) String() string {
	total := 0
	for _, n := range y.grants {
		total += n
	}
	return fmt.Sprintf("%d episodes, %d grants %v, %d refusals, %d unknown outcomes, faults %v",
		y.episodes, total, y.grants, y.refused, y.unknown, y.faults)
}

// play plays one episode with the locks of factory.
func (e episode) play(t *testing.T, y *tally, rng *rand.Rand, factory lockimpl.Factory) {
	y.episodes++
	world.Run(t, e.nodes, func(t *testing.T, w *world.World) {
		b := newBook()
		b.alone = !e.jumps
		ctx, cancel := context.WithTimeout(t.Context(), episodeLasts)
		defer cancel()
		b.onWrong = cancel // what was found is enough
		var all []*contender
		var actors sync.WaitGroup
		servers := &serverFaults{w: w, tally: y, keys: e.keys(), jumps: e.jumps, every: e.serverFaultEvery, rng: rand.New(rand.NewPCG(e.seed, 2))}
		for i := range e.clients {
			l, links := w.Client(factory)
			servers.clients = append(servers.clients, l)
			c := &contender{
				name: fmt.Sprintf("c%d", i), lock: l, book: b, keys: e.keys(),
				longest: e.longest, rng: rand.New(rand.NewPCG(e.seed, 100+uint64(i))),
			}
			all = append(all, c)
			actors.Go(func() { c.live(ctx) })
			onLinks := &linkFaults{links: links, tally: y, rng: rand.New(rand.NewPCG(e.seed, 200+uint64(i)))}
			actors.Go(func() { onLinks.inject(ctx) })
		}
		fresh, _ := w.Client(factory)
		actors.Go(func() { servers.inject(ctx) })
		actors.Wait()
		e.afterwards(t, w, b, fresh)
		y.add(b, all)
	})
}

// afterwards has one client take every key after everything has ended, and looks for
// leases that were left.
func (e episode) afterwards(t *testing.T, w *world.World, b *book, l world.Lock) {
	time.Sleep(30 * time.Second) // two quarantines, and longer than any lease
	for _, key := range e.keys() {
		asked := b.ask("the last one", key, false)
		lease, err := w.Acquire(l, key, time.Second)
		if err != nil {
			b.note("%s: nobody has it, all nodes serve, and it is not granted: %v", key, err)
			continue
		}
		b.left(key, b.granted(asked, "calm", lease))
		_ = lease.Release(t.Context())
	}
	time.Sleep(2 * time.Second)
	for _, key := range e.keys() {
		if on := w.LeaseKeys(l, key); len(on) > 0 {
			b.note("%s: leases are left on servers %v", key, on)
		}
	}
}

// linkFaults injects faults into the links of one client.
type linkFaults struct {
	links []*memnet.Link
	tally *tally
	rng   *rand.Rand
}

func (s *linkFaults) below(d time.Duration) time.Duration {
	return time.Duration(s.rng.Int64N(int64(d)))
}

// drawLinks draws links: mostly one, sometimes many.
func (s *linkFaults) drawLinks() []*memnet.Link {
	order := s.rng.Perm(len(s.links))
	n := 1
	if s.rng.IntN(3) == 0 {
		n = 1 + s.rng.IntN(len(s.links))
	}
	var out []*memnet.Link
	for _, i := range order[:n] {
		out = append(out, s.links[i])
	}
	return out
}

// A linkFault is in force on a link for a while. What was lost on the way takes its
// connection with it.
type linkFault struct {
	name  string
	begin func(s *linkFaults, l *memnet.Link)
	end   func(s *linkFaults, l *memnet.Link)
}

func cut(_ *linkFaults, l *memnet.Link) { l.Cut() }

func restore(_ *linkFaults, l *memnet.Link) {
	l.Up.Delay(0)
	l.Down.Delay(0)
	l.Up.Free()
	l.Down.Free()
}

var linkFaultKinds = []linkFault{
	{"cut", cut, restore},
	{"partition", func(_ *linkFaults, l *memnet.Link) { l.Refuse(true); l.Cut() }, func(_ *linkFaults, l *memnet.Link) { l.Refuse(false) }},
	{"requests held up", func(_ *linkFaults, l *memnet.Link) { l.Up.Hold() }, restore},
	{"replies held up", func(_ *linkFaults, l *memnet.Link) { l.Down.Hold() }, restore},
	{"requests lost", func(_ *linkFaults, l *memnet.Link) { l.Up.Drop() }, func(s *linkFaults, l *memnet.Link) { l.Cut(); restore(s, l) }},
	{"replies lost", func(_ *linkFaults, l *memnet.Link) { l.Down.Drop() }, func(s *linkFaults, l *memnet.Link) { l.Cut(); restore(s, l) }},
	{"delay", func(s *linkFaults, l *memnet.Link) {
		l.Up.Delay(s.below(300 * time.Millisecond))
		l.Down.Delay(s.below(300 * time.Millisecond))
	}, restore},
	// What is sent meanwhile arrives up to three seconds later; after the cut
	// the client sends it once more, on another connection.
	{"late and twice", func(s *linkFaults, l *memnet.Link) { l.Up.Delay(s.below(3 * time.Second)) }, func(s *linkFaults, l *memnet.Link) { l.Up.Delay(0); l.Cut() }},
	{"cut while held up", func(_ *linkFaults, l *memnet.Link) { l.Up.Hold() }, func(s *linkFaults, l *memnet.Link) {
		l.Cut()
		pause(context.Background(), s.below(time.Second))
		restore(s, l)
	}},
}

func (s *linkFaults) inject(ctx context.Context) {
	for {
		pause(ctx, s.below(3*time.Second))
		if ctx.Err() != nil {
			return
		}
		g, links := linkFaultKinds[s.rng.IntN(len(linkFaultKinds))], s.drawLinks()
		s.tally.fault(g.name)
		for _, l := range links {
			g.begin(s, l)
		}
		pause(ctx, s.below([]time.Duration{20 * time.Millisecond, time.Second, 4 * time.Second}[s.rng.IntN(3)]))
		for _, l := range links {
			g.end(s, l)
		}
	}
}

// serverFaults injects faults into the servers and the clocks of clients.
type serverFaults struct {
	w       *world.World
	tally   *tally
	clients []world.Lock
	keys    []string
	jumps   bool
	every   time.Duration
	rng     *rand.Rand
}

func (s *serverFaults) server() int { return 1 + s.rng.IntN(s.w.Size()) }
func (s *serverFaults) key() string { return s.keys[s.rng.IntN(len(s.keys))] }

var serverFaultKinds = map[string]func(s *serverFaults){
	"comes back empty": func(s *serverFaults) { s.w.Forget(s.server()) },
	"several come back empty": func(s *serverFaults) {
		for range 1 + s.rng.IntN(s.w.Size()) {
			s.w.Forget(s.server())
		}
	},
	"comes back with old data": func(s *serverFaults) { s.w.Restart(s.clients[0], s.server(), s.key()) },
	"demoted and promoted": func(s *serverFaults) {
		server := s.server()
		s.w.Demote(server)
		time.Sleep(2 * time.Millisecond) // no resynchronisation and promotion is quicker
		s.w.Promote(s.clients[0], server, s.key())
	},
	"fences lost": func(s *serverFaults) { s.w.LoseFences(s.server()) },
	"all fences lost": func(s *serverFaults) {
		for i := range s.w.Size() {
			s.w.LoseFences(i + 1)
		}
	},
	"a client proposes ahead": func(s *serverFaults) {
		ahead := time.Duration(s.rng.Int64N(int64(2500 * time.Millisecond)))
		redlock.Propose(s.clients[s.rng.IntN(len(s.clients))], time.Now().Add(ahead))
	},
	clockJump: func(s *serverFaults) { s.w.Forward(s.server(), time.Duration(s.rng.Int64N(int64(10*time.Second)))) },
}

const clockJump = "clock jumps ahead"

func (s *serverFaults) inject(ctx context.Context) {
	names := slices.Sorted(maps.Keys(serverFaultKinds))
	for {
		pause(ctx, time.Duration(s.rng.Int64N(int64(2*s.every))))
		if ctx.Err() != nil {
			return
		}
		name := names[s.rng.IntN(len(names))]
		if name == clockJump && !s.jumps {
			continue
		}
		s.tally.fault(name)
		serverFaultKinds[name](s)
	}
}

// Chaos in virtual time: every kind of message loss, of delay and of amnesia
// that the table of guarantees speaks of, several at once, with several clients
// that use every ability. Nobody may hold a key beside another, and no token may
// come out of order or twice.
func TestChaosInVirtualTime(t *testing.T) {
	y, first := newTally(), max(*chaosSeed, rand.Uint64N(1<<40))
	if *chaosSeed > 0 {
		first = *chaosSeed
	}
	for began := time.Now(); y.episodes == 0 || *chaosSeed == 0 && time.Since(began) < *chaosFor; {
		e, rng := newEpisode(first + uint64(y.episodes))
		e.play(t, y, rng, redlock.NewFactory(e.cfg))
		if len(y.findings) > 0 || t.Failed() {
			t.Fatalf("%v\n%s", e, strings.Join(y.findings, "\n"))
		}
	}
	t.Logf("seeds from %d: %v", first, y)
	if y.grants["calm"] != 3*y.episodes {
		t.Errorf("%d keys were taken after %d episodes, want three each", y.grants["calm"], y.episodes)
	}
}

// What chaos is worth: it finds bugs that are planted.
func TestChaosFindsPlantedBugs(t *testing.T) {
	for _, id := range []string{"quorum-2", "amnesia-serves", "token-clock"} {
		t.Run(id, func(t *testing.T) {
			m, y := mutants.All()[id], newTally()
			for seed := uint64(1); len(y.findings) == 0; seed++ {
				if seed > 40 {
					t.Fatalf("not found: %v", y)
				}
				e, rng := newEpisode(seed)
				if e.jumps || e.nodes < 5 {
					continue
				}
				e.play(t, y, rng, m.Factory(e.cfg))
			}
			t.Logf("%v: %s", y, y.findings[0])
		})
	}
}
