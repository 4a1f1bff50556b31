package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
)

var clientClockEntry = Entry{
	Name:     "client-clock",
	Wire:     "Nothing: the client's wall clock jumps, ahead by two TTLs and a second unless told otherwise, and back at the heal.",
	Survives: "A lock that leaves the time to the server does not notice; one that compares clients' stamps grants twice.",
	Default:  faults.Params{Client: faults.RoleAny}, For: ttlTimes(1),
	New: func(p faults.Params) faults.Fault { return clientClock{p} },
}

// clientClock moves the wall clocks of clients, and moves them back at the
// heal. It concerns locks that trust those clocks, and only them.
type clientClock struct{ faults.Params }

// clockTolerance is the disagreement of clocks that recipes which compare the stamps of several
// clients commonly allow for.
const clockTolerance = time.Second

func (f clientClock) Name() string { return "client-clock" }

func (f clientClock) Supports(t *faults.Target) error { return needWallClocks(t) }

// needWallClocks says whether every client of t has a wall clock of its own.
func needWallClocks(t *faults.Target) error {
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

func wallClock(c faults.Client) (*faults.WallClock, error) {
	clocked, ok := c.(faults.ClockedClient)
	if !ok {
		return nil, fmt.Errorf("needs clients with wall clocks of their own; %s has none", c.Name())
	}
	return clocked.WallClock()
}

func (f clientClock) Inject(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	by := f.Jump
	if by == 0 {
		by = 2*s.TTL + clockTolerance
	}
	hit := faults.Hit{Clients: phrase.Names(clients), Key: s.Occasion.Key}
	s.Begin(hit)
	var moved []*movedClock
	for _, c := range clients {
		m, err := moveClock(s, c, by)
		if err != nil {
			return faults.Injection{}, err
		}
		moved = append(moved, m)
	}
	return faults.Injection{Target: hit, Note: phrase.Few(hit.Clients) + " " + ahead(by), TookEffect: anyRead(moved)}, nil
}

// A movedClock is a client's clock that is wrong.
type movedClock struct {
	clock  *faults.WallClock
	before int64 // readings
}

func (m *movedClock) reads() int64 { return m.clock.Reads() - m.before }

// anyRead says whether one of the clocks was read while it was wrong.
func anyRead(moved []*movedClock) func() bool {
	return func() bool { return slices.ContainsFunc(moved, func(m *movedClock) bool { return m.reads() > 0 }) }
}

func moveClock(s *faults.Scope, c faults.Client, by time.Duration) (*movedClock, error) {
	clock, err := wallClock(c)
	if err != nil {
		return nil, err
	}
	m := &movedClock{clock: clock, before: clock.Reads()}
	m.onHeal(s, c, ahead(by), func() { clock.Move(-by) })
	clock.Move(by)
	return m, nil
}

// onHeal sets c's clock right again. The receipt says how it was wrong.
func (m *movedClock) onHeal(s *faults.Scope, c faults.Client, wrong string, mend func()) {
	s.OnHeal(c.Name()+"'s wall clock is wrong", "end the run: the clock lives inside it", func(context.Context) (string, error) {
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

// Settings adds how far the clock moves.
func (f clientClock) Settings() []string { return []string{"client", "jump"} }
