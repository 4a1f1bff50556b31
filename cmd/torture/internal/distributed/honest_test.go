package distributed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var movedSeeds = flag.Int("moved-seeds", 60, "worlds of TestMovedClockAccusesNobody")

// A world has a lock that keeps its word, and clients of it at two workers, of which the
// first's clock is m.
type world struct {
	*rand.Rand
	m      model
	twice  bool // the lock grants now and then what is held, with the holder's token
	ttl    time.Duration
	shown  time.Duration // the latest stamp of the first worker
	lines  [2][]string
	leases []*clientLease // one of each client
	held   int            // fence of the lease that the server has; 0: none
	gone   time.Duration  // when its time there is up
	fence  int            // the latest
	log    int            // writes that the store took
	newest int            // fence of the latest of them
	now    time.Duration
}

// A clientLease is what one client does: it waits, asks, holds, writes and gives back.
type clientLease struct {
	name   string
	worker int
	next   time.Duration // when it acts
	act    func(*world, *clientLease)
	fence  int
	until  time.Duration // its deadline, by its worker's clock
	start  time.Duration // … and when it began to ask
	writes int
	lives  int
}

func (w *world) clock(worker int) time.Duration {
	if worker == 0 {
		return w.m.shows(w.now)
	}
	return w.now
}

// note records a line as the worker's recorder does, whose stamps never go back.
func (w *world) note(c *clientLease, format string, args ...any) {
	at := w.clock(c.worker)
	if c.worker == 0 {
		w.shown = max(w.shown, at)
		at = w.shown
	}
	w.lines[c.worker] = append(w.lines[c.worker], fmt.Sprintf("%v %s ", at, c.name)+fmt.Sprintf(format, args...))
}

// later has c act after so long at most.
func (w *world) later(c *clientLease, within time.Duration, act func(*world, *clientLease)) {
	c.next, c.act = w.now+time.Duration(w.Int64N(int64(within)))+time.Microsecond, act
}

func attempt(w *world, c *clientLease) {
	c.start, c.fence, c.writes = w.clock(c.worker), 0, 1+w.IntN(3)
	w.note(c, "invoke acquire k")
	w.later(c, time.Millisecond, serve)
}

func serve(w *world, c *clientLease) {
	switch free := w.held == 0 || w.gone <= w.now; {
	case free:
		w.fence++
		w.held, w.gone, c.fence = w.fence, w.now+w.ttl, w.fence
	case w.twice && w.IntN(2) == 0:
		c.fence = w.held
	}
	w.later(c, time.Millisecond, answered)
}

// free has the server forget the lease of c, if it has that.
func (w *world) free(c *clientLease) bool {
	if c.fence == 0 || w.held != c.fence || w.gone <= w.now {
		return false
	}
	w.held = 0
	return true
}

// answered is for an attempt. The lock trusts its clock alone.
func answered(w *world, c *clientLease) {
	c.until = c.start + w.ttl - w.ttl/100
	if c.fence > 0 && w.clock(c.worker) < c.until {
		w.note(c, "ok acquire k until %v fence %d", c.until, c.fence)
		w.hold(c)
		return
	}
	w.note(c, "fail acquire k")
	w.free(c)
	w.later(c, w.ttl/10, attempt)
}

// hold has c go on: most often soon, sometimes only when its time is up, or not at all.
func (w *world) hold(c *clientLease) {
	switch w.IntN(16) {
	case 0:
		w.later(c, 2*w.ttl, write)
	case 1:
		c.lives++
		c.name = fmt.Sprintf("%s.%d", clientOf(c.name), c.lives)
		w.later(c, w.ttl/10, attempt)
	default:
		w.later(c, w.ttl/10, write)
	}
}

func write(w *world, c *clientLease) {
	if w.clock(c.worker) >= c.until {
		w.note(c, "ok lost k")
		w.free(c)
		w.later(c, w.ttl/10, attempt)
		return
	}
	value := fmt.Sprintf("%s/%d/%d", c.name, c.fence, c.writes)
	w.note(c, "invoke write k value %s fence %d", value, c.fence)
	if c.fence < w.newest {
		w.note(c, "fail write k value %s fence %d err stale", value, c.fence)
	} else {
		w.newest = c.fence
		w.log++
		w.note(c, "ok write k value %s fence %d seq %d", value, c.fence, w.log)
	}
	if c.writes--; c.writes > 0 {
		w.hold(c)
		return
	}
	w.later(c, w.ttl/20, release)
}

func release(w *world, c *clientLease) {
	w.note(c, "invoke release k")
	if w.free(c) {
		w.note(c, "ok release k")
	} else {
		w.note(c, "fail release k err lost")
	}
	w.later(c, w.ttl/10, attempt)
}

// play has all clients act, in turn, until run is over.
func (w *world) play(run time.Duration) {
	for i := range 4 {
		w.leases = append(w.leases, &clientLease{name: fmt.Sprintf("c%d", i), worker: i % 2})
		w.later(w.leases[i], w.ttl/10, attempt)
	}
	for {
		c := slices.MinFunc(w.leases, func(a, b *clientLease) int { return int(a.next - b.next) })
		if c.next > run {
			return
		}
		w.now = c.next
		c.act(w, c)
	}
}

// TestMovedClockAccusesNobody: whenever the clock of a worker is moved, and however far, a
// lock that keeps its word is found guilty of nothing, and one that gives a token twice is found.
func TestMovedClockAccusesNobody(t *testing.T) {
	const run = 8 * time.Second
	for seed := range uint64(*movedSeeds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := model{offset: 5 * time.Second, jump: []time.Duration{2 * time.Second, -2 * time.Second, -300 * time.Millisecond, 300 * time.Millisecond}[seed%4]}
		m.step = run/4 + time.Duration(rng.Int64N(int64(run/2)))
		w := &world{Rand: rng, m: m, ttl: []time.Duration{500 * time.Millisecond, 2 * time.Second}[seed/4%2], twice: seed%5 == 0}
		w.play(run)
		head := fmt.Sprintf("header ttl %v lock x fenced\n", w.ttl)
		a, h := source(t, "a", head+strings.Join(w.lines[0], "\n"))
		b, _ := source(t, "b", head+strings.Join(w.lines[1], "\n"))
		clock := EstimateClock(m.read(rand.New(rand.NewPCG(seed, 2)), run), m.shows(0), w.shown)
		a.Time, a.Clients = clock.Coordinator, []string{"c0", "c2"}
		end, _ := source(t, "coordinator", head+"8s nemesis ok phase end")
		events := merged(t, h, append([]Source{end, a, b}, Moved(a, clock)...)...)
		if _, found := judged(h, clock.Epsilon, []string{"a", "b", "coordinator"}, events); len(found) > 0 != w.twice {
			t.Errorf("seed %d, TTL %v, moved by %v at %v, gives tokens twice %t: found %v", seed, w.ttl, m.jump, m.step, w.twice, found)
		}
	}
}
