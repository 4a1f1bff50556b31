package simulate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults/link"
	"locktorture/faults/testbed/virtual"
	"locktorture/workload"
)

// A small world is explored as a stateless model checker explores a program
// (Godefroid, "Model Checking for Programming Languages using VeriSoft", POPL 1997):
// the lock itself runs, again and again from the beginning, each time by another
// schedule. A schedule says which message arrives next; it deviates from a healthy
// network a few times at most, as delays are bounded in Emmi, Qadeer and Rakamarić,
// "Delay-Bounded Scheduling" (POPL 2011), and it is not pursued beyond a state in which
// an earlier one was that had as much left to do.

// An Exhaustion is a job: to try every schedule of some programs within bounds.
type Exhaustion struct {
	Bounds   Bounds    `json:"bounds"`
	Programs []Program `json:"programs"`
}

// exhaust does the job: what has fewer deviations first, and of each number all programs.
// Each has its share of the time that is left; a budget of 0 is no limit. A program that
// broke the lock, or for which there was not enough time, is not pursued further.
func (p *Player) exhaust(ctx context.Context, e Exhaustion, budget time.Duration, tell func(RoundReport)) {
	end := time.Now().Add(budget)
	programs := slices.Clone(e.Programs)
	for n := 0; n <= e.Bounds.Deviations && len(programs) > 0; n++ {
		var on []Program
		for i, g := range programs {
			if ctx.Err() != nil {
				return
			}
			var until time.Time
			if budget > 0 {
				until = time.Now().Add(time.Until(end) / time.Duration(len(programs)-i))
			}
			t := p.Try(ctx, g, e.Bounds, n, until)
			tell(RoundReport{Tried: &t, CPU: processorTime()})
			if t.Complete {
				on = append(on, g)
			}
		}
		programs = on
	}
}

// Bounds say which schedules are tried.
type Bounds struct {
	Deviations int  `json:"deviations"` // at most, faults among them
	Faults     int  `json:"faults"`     // at most
	Moves      int  `json:"moves"`      // after the warm-up; what follows is healthy
	Empty      bool `json:"empty"`      // nodes may lose their data
}

// A Program is what two clients do with a lock while schedules are tried.
type Program struct {
	Name string      `json:"name"`
	Load config.Load `json:"load"`
}

// A Tried is what trying all schedules of one program came to.
type Tried struct {
	Program    string        `json:"program"`
	Deviations int           `json:"deviations"` // at most, in each
	Schedules  int           `json:"schedules"`
	States     int           `json:"states"`   // that differ
	Met        int           `json:"met"`      // schedules that ended in a state that was known
	Points     int           `json:"points"`   // at most, in one schedule, at which there was a choice
	Grants     int           `json:"grants"`   // of the schedules that were played to their end
	Complete   bool          `json:"complete"` // no schedule within the bounds is left
	Void       int           `json:"void,omitempty"`
	Why        string        `json:"why,omitempty"` // of the first void one
	Took       time.Duration `json:"took_ns"`
	CPU        time.Duration `json:"cpu_ns,omitempty"` // of the process so far
	Found      []Broken      `json:"found,omitempty"`
}

// A Broken is a schedule that breaks the lock.
type Broken struct {
	search.Finding
	Replay Replay   `json:"replay"`
	Moves  []string `json:"moves"` // that deviate, and what was moved in between
}

// A Schedule is a round's order of messages, for a Replay.
type Schedule struct {
	Bounds
	Options []int `json:"options"` // one for each point at which there was a choice
}

// The world is small: two clients and one key. A client that is refused thinks and asks
// again, about twice while the other one holds, and a message that is held back can outlast
// a lease within a few turns.
const (
	SmallClients = 2
	smallLease   = time.Second
	smallHold    = 300 * time.Millisecond
	smallThink   = 190 * time.Millisecond
	smallMain    = 3 * time.Second
	SmallSeed    = 1

	impatient = time.Millisecond // a try is one attempt
	patient   = 2 * smallLease   // an operation that hears of what was held back for longer than a lease
)

// Programs are what two clients can do with the lock.
func (p *Player) Programs() (all []Program) {
	for _, m := range p.modes() {
		l := config.Load{Keys: 1, Hold: workload.Fixed(smallHold), Think: workload.Fixed(smallThink), Writes: 1, Patience: impatient, Mode: m}
		switch m {
		case workload.ModeExclusive:
			all = append(all, Program{"exclusive", l})
			l.Extend, l.Timeout = 1, patient
			all = append(all, Program{"exclusive, extended", l})
		case workload.ModeRW:
			l.Readers = 0.5
			all = append(all, Program{"readers and writers", l})
		case workload.ModeReentrant:
			all = append(all, Program{"re-entrant", l})
		case workload.ModeFair:
			l.Wait = smallLease
			all = append(all, Program{"waiting", l})
		}
	}
	return all
}

// round is one in which two clients run a program.
func (g Program) round() search.Round {
	return search.Round{
		Seed: SmallSeed, Clients: SmallClients, TTL: smallLease, Duration: smallMain, Load: g.Load, Origin: search.Scheduled,
	}
}

// Forgives reports whether the lock promises to bear a master that restarts without its
// data: it keeps such a one out by itself.
func (p *Player) Forgives() bool { return p.Lock.Quarantine != nil }

// isSafety reports whether a finding is one that counts here: all of safety, but for what a
// client does that outlasts its lease (S3, S3z), which no order of the lock's own messages
// shows.
func isSafety(id string) bool { return strings.HasPrefix(id, "S") && !strings.HasPrefix(id, "S3") }

// PlayAgain plays the round of a finding, by its schedule where it has one. A lock that
// behaves otherwise than the one that showed the finding may not have the choices of the
// schedule: what a healthy network does comes instead.
func (p *Player) PlayAgain(ctx context.Context, file Replay) Result {
	if file.Schedule == nil {
		res := p.Play(ctx, file.Round)
		res.Steps = file.Round.Steps
		return res
	}
	s := newSteering(file.Schedule.Bounds)
	s.lenient, s.prefix = true, file.Schedule.options()
	res := p.steered(file.Round, s)
	if res.Err == nil {
		res.Steps = s.script.all()
	}
	return res
}

func (s *Schedule) options() (all []byte) {
	for _, o := range s.Options {
		all = append(all, byte(o))
	}
	return all
}

func newSteering(b Bounds) *steering {
	return &steering{left: left{b.Deviations, b.Faults, b.Moves}, empty: b.Empty, seen: func(point) bool { return false }}
}

// steered plays a round in a bubble of its own, in the order that s decides.
func (p *Player) steered(r search.Round, s *steering) Result {
	network := func(bed *virtual.Bed) (f link.Fabric) {
		s.bed = bed
		f, s.manual = link.NewManual(r.Seed, bed.Server)
		return f
	}
	return p.inBubble(r, func(res *Result) {
		p.inWorld(res, r, network, func(ctx context.Context, w *world) error {
			s.warm.clients = r.Clients
			w.order.to = append(w.order.to, &s.warm)
			return errors.Join(w.follow(ctx, s), s.err)
		})
	})
}

// follow has the clients run while s decides what arrives when, and reads the truth.
func (w *world) follow(ctx context.Context, s *steering) error {
	cfg := w.cfg.Workload()
	loaded, stop := context.WithTimeout(ctx, cfg.Duration)
	defer stop()
	all, done := context.WithCancel(ctx)
	defer done()
	s.stop = stop
	steered := make(chan struct{})
	go func() {
		defer close(steered)
		s.run(loaded, all)
	}()
	err := workload.Run(loaded, cfg, w.contenders(), w.rec)
	stop()
	if err == nil {
		err = w.audit(ctx)
	}
	done()
	<-steered
	return err
}

// An exploration tries all schedules of one program with at most so many deviations.
type exploration struct {
	player  *Player
	program Program
	bounds  Bounds
	until   time.Time // zero: until all are tried
	tried   Tried
	known   map[uint64][]left
}

// Try tries every schedule of a program with at most n deviations, until one breaks the
// lock, the time is over, which zero never is, or ctx ends.
func (p *Player) Try(ctx context.Context, g Program, b Bounds, n int, until time.Time) Tried {
	b.Deviations, b.Faults = n, min(n, b.Faults)
	x := &exploration{player: p, program: g, bounds: b, until: until, known: map[uint64][]left{}}
	x.run(ctx)
	return x.tried
}

// run tries all schedules, depth first.
func (x *exploration) run(ctx context.Context) {
	began := time.Now()
	x.tried = Tried{Program: x.program.Name, Deviations: x.bounds.Deviations}
	open := [][]byte{nil}
	for len(open) > 0 && ctx.Err() == nil && len(x.tried.Found) == 0 && (x.until.IsZero() || time.Now().Before(x.until)) {
		prefix := open[len(open)-1]
		open = open[:len(open)-1]
		s := newSteering(x.bounds)
		s.prefix, s.seen = prefix, x.visited
		res := x.player.steered(x.program.round(), s)
		x.record(res, s)
		for i := len(prefix); i < len(s.options); i++ {
			for o := 1; o < s.options[i]; o++ {
				open = append(open, append(slices.Clone(s.taken[:i]), byte(o)))
			}
		}
	}
	x.tried.Complete = len(open) == 0 && ctx.Err() == nil && len(x.tried.Found) == 0 && x.tried.Void == 0
	x.tried.States, x.tried.Took, x.tried.CPU = len(x.known), time.Since(began), processorTime()
}

// visited reports whether an earlier schedule reached the same state with as much left to do,
// and remembers p.
func (x *exploration) visited(p point) bool {
	before := x.known[p.state]
	if slices.ContainsFunc(before, func(l left) bool { return l.covers(p.left) }) {
		return true
	}
	before = slices.DeleteFunc(before, p.left.covers)
	x.known[p.state] = append(before, p.left)
	return false
}

// record takes in what a schedule came to.
func (x *exploration) record(res Result, s *steering) {
	x.tried.Schedules++
	x.tried.Points = max(x.tried.Points, len(s.options))
	switch {
	case res.Err != nil:
		if x.tried.Void++; x.tried.Why == "" {
			x.tried.Why = res.Outcome.Void
		}
		return
	case s.cut:
		x.tried.Met++
		return
	}
	x.tried.Grants += res.Grants
	for _, f := range res.Outcome.Findings {
		if !isSafety(f.ID) || x.player.Counts != nil && !x.player.Counts(f.ID) {
			continue
		}
		options := make([]int, len(s.taken))
		for i, o := range s.taken {
			options[i] = int(o)
		}
		x.tried.Found = append(x.tried.Found, Broken{Finding: f, Moves: s.moves, Replay: Replay{
			Schema: Schema, Lock: x.player.Lock.ID, Nodes: x.player.Masters(), Hash: res.Hash, Finding: f,
			Round: x.program.round(), Schedule: &Schedule{x.bounds, options},
		}})
	}
}
