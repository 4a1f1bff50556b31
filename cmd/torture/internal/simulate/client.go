package simulate

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/link/gate"
	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/store"
)

// A client joins one contender of the workload to what the nemesis does to it.
// It acts at instants of its own, so that no two clients act at the same one.
type client struct {
	*workload.Client
	world *world
	turns *turns
	clock faults.WallClock

	mu      sync.Mutex
	lives   int // incarnations so far
	gate    *gate.Gate
	resumed *atomic.Int64 // how often the present incarnation went on
}

func newClient(w *world, number int) *client {
	c := &client{world: w, turns: &turns{own: firstTurn + int64(number)}, gate: gate.New(), resumed: new(atomic.Int64)}
	c.Client = &workload.Client{Name: fmt.Sprintf("c%02d", number), Connect: c.connect, Pause: c.wait}
	return c
}

// turns are the instants of one client: one in each grain of time, at a
// nanosecond at which no message arrives either.
type turns struct {
	own int64

	mu   sync.Mutex
	last time.Time
}

const (
	grain      = 4096 // ns; see link.NewVirtual
	firstTurn  = 3600 // beyond those of links
	turnsApart = 20   // at most so many clients
	lookTurn   = 4090 // of looks at what the nodes store; beyond those of all clients' connections
)

// next waits for the client's next instant. It reports false when ctx ended.
func (t *turns) next(ctx context.Context) bool {
	t.mu.Lock()
	at := time.Now()
	if !at.After(t.last) {
		at = t.last.Add(1)
	}
	behind := (t.own - at.UnixNano()) % grain
	if behind < 0 {
		behind += grain
	}
	t.last = at.Add(time.Duration(behind))
	timer := time.NewTimer(time.Until(t.last))
	t.mu.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// connect builds an incarnation with connections and a gate of its own.
func (c *client) connect(ctx context.Context) (*workload.Conn, error) {
	c.turns.next(ctx) // one after the other: they draw from the same random numbers
	gate, resumed := gate.New(), new(atomic.Int64)
	c.mu.Lock()
	c.gate, c.resumed = gate, resumed
	c.lives++
	name := fmt.Sprintf("%s#%06d", c.Client.Name, c.lives)
	c.mu.Unlock()
	number := int64(0)
	through := func(l link.Link) wiring.Dial {
		after := &turns{own: c.turns.own + turnsApart*(1+number)}
		number++
		return func(ctx context.Context) (net.Conn, error) {
			raw, err := gate.Dial(ctx, l.Dial)
			if err != nil {
				after.next(context.Background())
				return nil, err
			}
			return &steady{Conn: raw, resumed: resumed, turns: after}, nil
		}
	}
	var nodes []lockimpl.Node
	for _, n := range c.world.bed.Nodes() {
		l := c.world.links[c.Client.Name][n.Name()]
		nodes = append(nodes, wiring.Linked(n, l, through(l)))
	}
	locker, err := c.factory(name)(nodes)
	if err != nil {
		return nil, fmt.Errorf("client %s: %w", c.Client.Name, err)
	}
	guarded := store.Open(through(c.world.links[c.Client.Name][faults.StoreNode]), c.world.policy())
	return wiring.Conn(locker, guarded, gate), nil
}

// factory builds the lock of the incarnation with that name.
func (c *client) factory(name string) lockimpl.Factory {
	if c.world.lock.WithClock != nil {
		return c.world.lock.WithClock(c.clock.Now)
	}
	if c.world.lock.WithLinger != nil && c.world.last != nil {
		return c.world.lock.WithLinger(c.world.cfg, func(node string) { c.world.last.wait(name + "." + node) })
	}
	return c.world.lock.Factory(c.world.cfg)
}

// A steady connection fails at an instant of its own, and returns what it read
// while its client stood still at one of its own too: the time-outs of one attempt
// at all nodes, and all connections of a client that goes on, would end at once,
// in any order.
type steady struct {
	net.Conn
	resumed *atomic.Int64
	turns   *turns
}

// Read implements net.Conn.
func (s *steady) Read(b []byte) (int, error) {
	before := s.resumed.Load()
	n, err := s.Conn.Read(b)
	if err != nil || s.resumed.Load() != before {
		s.turns.next(context.Background())
	}
	return n, err
}

func (c *client) current() (*gate.Gate, *atomic.Int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gate, c.resumed
}

// wait is the client's pause point.
func (c *client) wait(ctx context.Context) error {
	if !c.turns.next(ctx) {
		return ctx.Err()
	}
	gate, resumed := c.current()
	before := resumed.Load()
	if err := gate.Wait(ctx); err != nil {
		return err
	}
	if resumed.Load() != before && !c.turns.next(ctx) {
		return ctx.Err()
	}
	return nil
}

// Name implements faults.Client.
func (c *client) Name() string { return c.Client.Name }

// Pause implements faults.Client.
func (c *client) Pause(context.Context) (string, error) {
	gate, _ := c.current()
	gate.Pause()
	return c.Client.Name + " stands still, its connections too", nil
}

// Resume implements faults.Client.
func (c *client) Resume(context.Context) (string, error) {
	gate, resumed := c.current()
	resumed.Add(1)
	return fmt.Sprintf("%s goes on; %d calls of its connections had stood still", c.Client.Name, gate.Resume()), nil
}

// WallClock implements faults.ClockedClient.
func (c *client) WallClock() (*faults.WallClock, error) {
	if c.world.lock.WithClock == nil {
		return nil, fmt.Errorf("lock %s reads no client's wall clock", c.world.lock.ID)
	}
	return &c.clock, nil
}
