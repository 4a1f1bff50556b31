package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// A WallClock is the time of day as one client sees it, from its first
// incarnation to its last. The zero WallClock shows this machine's time. Its
// methods are safe for concurrent use.
type WallClock struct {
	ahead atomic.Int64              // of this machine's clock
	stuck atomic.Pointer[time.Time] // where it stands still; nil while it goes
	reads atomic.Int64
}

// Now returns the time of day. It has no monotonic part: differences between
// two readings follow every move in between, as those of a real wall clock do.
func (c *WallClock) Now() time.Time {
	c.reads.Add(1)
	now := time.Now()
	if at := c.stuck.Load(); at != nil {
		now = *at
	}
	return now.Round(0).Add(time.Duration(c.ahead.Load()))
}

// Move moves the clock by d, ahead when positive. Moves add up.
func (c *WallClock) Move(d time.Duration) { c.ahead.Add(int64(d)) }

// Ahead returns by how much the clock is ahead of this machine's.
func (c *WallClock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Stop has the clock stand still at a time of day, where it does not already
// stand still, until Start. It says whether it did.
func (c *WallClock) Stop(at time.Time) bool { return c.stuck.CompareAndSwap(nil, &at) }

// Start lets the clock go on, with this machine's.
func (c *WallClock) Start() { c.stuck.Store(nil) }

// Reads returns how often the clock was read.
func (c *WallClock) Reads() int64 { return c.reads.Load() }

// A ClockedClient is a Client with a wall clock of its own.
type ClockedClient interface {
	// WallClock returns the clock that the client's lock reads, or why there is
	// none.
	WallClock() (*WallClock, error)
}

// clientClock moves the wall clocks of clients, and moves them back at the
// heal. It concerns locks that trust those clocks, and only them.
type clientClock struct{ Params }

// clockTolerance is what recipes that compare stamps of several clients commonly
// grant to the disagreement of their clocks.
const clockTolerance = time.Second

func (f clientClock) Name() string { return "client-clock" }

func (f clientClock) Supports(t *Target) error { return needWallClocks(t) }

// needWallClocks says whether every client of t has a wall clock of its own.
func needWallClocks(t *Target) error {
	if err := needClients(t); err != nil {
		return err
	}
	for _, c := range t.Clients {
		if _, err := wallClock(c); err != nil {
			return err
		}
	}
	return nil
}

func wallClock(c Client) (*WallClock, error) {
	clocked, ok := c.(ClockedClient)
	if !ok {
		return nil, fmt.Errorf("needs clients with wall clocks of their own; %s has none", c.Name())
	}
	return clocked.WallClock()
}

func (f clientClock) Inject(_ context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	clients, err := t.PickClients(f.Client, rng)
	if err != nil {
		return Injection{}, err
	}
	by := f.Jump
	if by == 0 {
		by = 2*t.TTL + clockTolerance
	}
	hit := Hit{Clients: names(clients), Key: t.Occasion.Key}
	t.Begin(hit)
	var moved []*movedClock
	for _, c := range clients {
		m, err := moveClock(t, c, by)
		if err != nil {
			return Injection{}, err
		}
		moved = append(moved, m)
	}
	return Injection{Target: hit, Note: few(hit.Clients) + " " + ahead(by), Bitten: anyRead(moved)}, nil
}

// movedClock is one client's clock that is wrong.
type movedClock struct {
	clock  *WallClock
	before int64 // readings
}

func (m *movedClock) reads() int64 { return m.clock.Reads() - m.before }

// anyRead says whether one of the clocks was read while it was wrong.
func anyRead(moved []*movedClock) func() bool {
	return func() bool { return slices.ContainsFunc(moved, func(m *movedClock) bool { return m.reads() > 0 }) }
}

func moveClock(t *Target, c Client, by time.Duration) (*movedClock, error) {
	clock, err := wallClock(c)
	if err != nil {
		return nil, err
	}
	m := &movedClock{clock: clock, before: clock.Reads()}
	m.onHeal(t, c, ahead(by), func() { clock.Move(-by) })
	clock.Move(by)
	return m, nil
}

// onHeal sets c's clock right again. The receipt says how it was wrong.
func (m *movedClock) onHeal(t *Target, c Client, wrong string, mend func()) {
	t.OnHeal(c.Name()+"'s wall clock is wrong", "end the run: the clock lives inside it", func(context.Context) (string, error) {
		reads := m.reads()
		mend()
		if reads == 0 {
			return "", nil
		}
		return fmt.Sprintf("%s read its clock %d times while it was %s", c.Name(), reads, wrong), nil
	})
}

func ahead(by time.Duration) string {
	if by < 0 {
		return fmt.Sprintf("%v behind", -by)
	}
	return fmt.Sprintf("%v ahead", by)
}
