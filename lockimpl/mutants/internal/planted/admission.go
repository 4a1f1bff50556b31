// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
)

// admission is the state of one node's admission by this client: at most one
// goroutine per node works at it.
type admission struct {
	busy atomic.Bool
	why  atomic.Pointer[error]     // its last round failed by this; nil: it did not
	end  atomic.Pointer[time.Time] // of the quarantine, as far as is known
}

// note keeps what became of a round.
func (a *admission) note(err error) {
	if err == nil {
		a.why.Store(nil)
		return
	}
	a.why.Store(&err)
}

// notAdmitted is what is told of node i, which is not admitted: with what keeps it from
// being, where it is not its quarantine alone, and otherwise for how long that goes on.
func (l *Lock) notAdmitted(i int) error {
	if why := l.admission[i].why.Load(); why != nil {
		return fmt.Errorf("%w; its admission fails: %w", ErrNotAdmitted, *why)
	}
	if end := l.admission[i].end.Load(); end != nil && time.Now().Before(*end) {
		return fmt.Errorf("%w, for %v more", ErrNotAdmitted, max(time.Until(*end).Round(100*time.Millisecond), 100*time.Millisecond))
	}
	return ErrNotAdmitted
}

// The states that hello.lua answers.
const (
	inQuarantine = 0
	isAdmitted   = 1
	wantsSeed    = 2
)

// clockMargin is how far tokens may run ahead of a node's clock: the slack
// that hints are allowed and the reserve of the high-water mark.
const clockMargin = 4 * time.Second

// mostClock bounds what is taken for a token from a clock that is centuries ahead, here
// and in the scripts: those after it must be told apart by numbers of 53 bits.
const mostClock = 1 << 52

// A greeting is a node's answer to hello.lua.
type greeting struct {
	state  int64
	ticket string
	hw     int64 // highest value that the node may have issued
	maxTTL time.Duration
	left   time.Duration
	now    int64 // node clock, us
}

// quarantine is how long a node that lost its memory stays out: by then every
// lease that it may have granted has ended. Other clients may be configured for
// longer leases than this one: what any node says that it grants counts.
func (l *Lock) quarantine() time.Duration {
	longest := max(l.cfg.MaxTTL, time.Duration(l.longest.Load()))
	return longest + longest/50 + 10*time.Millisecond
}

// noteMaxTTL remembers the longest lease that any node grants.
func (l *Lock) noteMaxTTL(d time.Duration) {
	for {
		longest := l.longest.Load()
		if int64(d) <= longest || l.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// admit starts to work at the admission of node i, in the background.
func (l *Lock) admit(i int) {
	if l.admission[i].busy.Swap(true) {
		return
	}
	started := l.spawn(func() {
		defer l.admission[i].busy.Store(false)
		l.awaitAdmission(l.ctx, i)
	})
	if !started {
		l.admission[i].busy.Store(false)
	}
}

// awaitAdmission waits until node i is admitted, by this client or by another one.
// It waits out the quarantine on its own clock as well as on the node's. A node that
// is gone, or that too few can vouch for, is asked ever more rarely.
func (l *Lock) awaitAdmission(ctx context.Context, i int) {
	var ticket string
	var seen time.Time
	var early marks // read too early to be of use
	pause := l.firstLook()
	rest := func() {
		sleep(ctx, pause)
		pause = min(2*pause, l.betweenLooks())
	}
	for ctx.Err() == nil {
		g, err := l.greet(ctx, i)
		l.admission[i].note(err)
		switch {
		case err != nil:
			rest()
			continue
		case g.state == isAdmitted:
			return
		case g.ticket != ticket:
			ticket, seen = g.ticket, time.Now()
			l.greetAll(ctx) // what do the others grant?
			if l.bugs.EarlySeed {
				early = l.marks(ctx, i, g)
			}
		}
		left := max(g.left, l.quarantine()-time.Since(seen))
		end := time.Now().Add(left)
		l.admission[i].end.Store(&end)
		if left > 0 && !l.bugs.AdmitAtOnce {
			pause = l.firstLook()
			sleep(ctx, min(left, l.betweenLooks()))
			continue
		}
		m := l.marks(ctx, i, g)
		if l.bugs.EarlySeed {
			m = early
		}
		if !l.bugs.AdmitAtOnce && l.quarantine() > time.Since(seen) { // a node that grants longer has only now been heard
			continue
		}
		if err := l.seed(ctx, i, g, m); err != nil {
			l.admission[i].note(err)
			rest()
		}
	}
}

// The pauses between two looks at a node that is to be admitted, however long the configuration
// has others pause, and leases last: nobody can be served by the node before that.
const (
	mostFirstLook    = time.Second      // the first of them …
	mostBetweenLooks = 10 * time.Second // … and the longest
)

// firstLook is the first pause after a node could not be admitted.
func (l *Lock) firstLook() time.Duration { return min(l.cfg.RetryMax, mostFirstLook) }

// betweenLooks is the longest pause between two looks at a node that is to be admitted.
func (l *Lock) betweenLooks() time.Duration {
	return max(l.firstLook(), min(l.quarantine()/20, mostBetweenLooks))
}

// sleep is a pause that ends with ctx.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *Lock) greet(ctx context.Context, i int) (greeting, error) {
	n := l.nodes[i]
	r, err := n.Do(ctx, func(w *node.Writer) {
		w.Script(script.Hello, 2)
		w.Refs(&l.space.Node, &l.space.Quarantine)
		w.Run()
		w.Int(l.quarantine().Milliseconds())
	})
	if err != nil {
		return greeting{}, fmt.Errorf("greet %w", l.of(i, err))
	}
	g := greeting{
		state: r.At(0), ticket: r.Str(1), hw: r.At(2), maxTTL: milliseconds(r.At(3)),
		left: milliseconds(r.At(4)), now: min(r.At(5), mostClock),
	}
	l.noteMaxTTL(g.maxTTL)
	return g, nil
}

// greetAll greets every node at once; a node that did not answer has a nil
// greeting.
func (l *Lock) greetAll(ctx context.Context) []*greeting {
	all, _ := l.greetEach(ctx)
	return all
}

// greetEach is greetAll with the reasons of those that did not answer.
func (l *Lock) greetEach(ctx context.Context) ([]*greeting, []error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.NodeTimeout)
	defer cancel()
	all, errs := make([]*greeting, len(l.nodes)), make([]error, len(l.nodes))
	l.eachNode(func(i int) {
		g, err := l.greet(ctx, i)
		if errs[i] = err; err == nil {
			all[i] = &g
		}
	})
	return all, errs
}

var errNoSeed = errors.New("too few admitted nodes to seed from")

// marks is what the nodes say about the tokens that they may have issued.
type marks struct {
	highest  int64
	clock    int64 // the furthest of the nodes' clocks, us
	admitted int   // nodes other than the one to be seeded
	lacking  int   // nodes that are not admitted, that one included
}

// marks reads the marks for seeding node i.
func (l *Lock) marks(ctx context.Context, i int, g greeting) marks {
	m := marks{highest: g.hw, clock: g.now}
	for j, other := range l.greetAll(ctx) {
		if other == nil {
			continue
		}
		m.highest, m.clock = max(m.highest, other.hw), max(m.clock, other.now)
		if other.state != isAdmitted {
			m.lacking++
		} else if j != i {
			m.admitted++
		}
	}
	return m
}

// seed admits node i with a floor that no token exceeds. The marks must have
// been read after the quarantine was over: an attempt that was decided before
// it began has left its token on a quorum by then.
func (l *Lock) seed(ctx context.Context, i int, g greeting, m marks) error {
	floor := m.highest
	switch {
	case l.bugs.NoSeed || l.bugs.AdmitAtOnce:
		floor = 0
	case m.admitted >= l.quorum:
	case m.lacking > len(l.nodes)-l.quorum:
		// No quorum can exist: only a clock is ahead of every token.
		floor = max(floor, m.clock+clockMargin.Microseconds())
	default:
		return errNoSeed
	}
	_, err := l.admitWith(ctx, i, g.ticket, floor, l.bugs.AdmitAtOnce)
	return err
}

func (l *Lock) admitWith(ctx context.Context, i int, ticket string, floor int64, force bool) (bool, error) {
	n, flag := l.nodes[i], "0"
	if force {
		flag = "1"
	}
	r, err := n.Do(ctx, func(w *node.Writer) {
		w.Script(script.Admit, 2)
		w.Refs(&l.space.Node, &l.space.Quarantine)
		w.Run()
		w.Str(ticket)
		w.Int(floor)
		w.Int(l.cfg.MaxTTL.Milliseconds())
		w.Str(flag)
	})
	if err != nil {
		return false, fmt.Errorf("admit %w", l.of(i, err))
	}
	return r.Int() == 1, nil
}
