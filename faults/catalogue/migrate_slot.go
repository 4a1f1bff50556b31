package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var migrateSlotEntry = Entry{
	Name:     "migrate-slot",
	Wire:     "The slot of a held key migrates to another master of a Redis Cluster: its keys go first (ASK), the slot at the end (MOVED).",
	Survives: "Keys move with their values and times to live; nothing is forgotten.",
	Takes:    true, For: ttlTimes(0.25),
	New: func(p faults.Params) faults.Fault { return migrateSlot{p} },
}

// migrateSlot moves the slot of a key that somebody holds to another master, in two
// steps.
type migrateSlot struct{ faults.Params }

func (f migrateSlot) Name() string { return "migrate-slot" }

func (f migrateSlot) Supports(t *faults.Target) error { return needCluster(t) }

func (f migrateSlot) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	key, err := heldKey(s, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if err := s.Claim(faults.Peers); err != nil { // nobody is promoted meanwhile
		return faults.Injection{}, err
	}
	m, err := planMigration(ctx, s, key, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	for _, n := range []testbed.Node{m.from, m.to} {
		if err := s.Claim(n.Name()); err != nil {
			return faults.Injection{}, err
		}
	}
	hit := faults.Hit{Nodes: []string{m.from.Name()}, Key: s.Occasion.Key}
	s.Begin(hit)
	s.OnHeal(fmt.Sprintf("slot %d is on its way from %s to %s", m.slot, m.from.Name(), m.to.Name()),
		fmt.Sprintf("redis-cli --cluster fix %s", m.from.Addr()), func(ctx context.Context) (string, error) { return m.finish(ctx, s) })
	s.ProvedBy(func() bool {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), faults.LookLimit)
		defer cancel()
		now, err := errorsOf(ctx, m.from, "ASK")
		return err == nil && now > m.asked
	})
	if err := m.begin(ctx); err != nil {
		return faults.Injection{}, err
	}
	return faults.Injection{Target: hit, Note: fmt.Sprintf("slot %d, with %d keys, migrates from %s to %s", m.slot, m.keys, m.from.Name(), m.to.Name())}, nil
}

// Settings implements faults.Settable: which slot, the held keys say.
func (migrateSlot) Settings() []string { return nil }

// Claims implements faults.Claimer.
func (migrateSlot) Claims() string { return faults.RoleMaster }

// heldKey is a key that bears a lease right now: that of the step's occasion, or any.
func heldKey(s *faults.Scope, rng *rand.Rand) (string, error) {
	resource := s.Occasion.Key
	if held := s.Holdings(""); resource == "" && len(held) > 0 {
		resource = held[rng.IntN(len(held))].Key
	}
	if resource == "" || s.LeaseKeys == nil || len(s.LeaseKeys(resource)) == 0 {
		return "", fmt.Errorf("no key is held: %w", faults.ErrMissed)
	}
	return s.LeaseKeys(resource)[0], nil
}

// A migration moves one slot from one master to another.
type migration struct {
	slot         int
	from, to     testbed.Node
	fromID, toID string
	keys         int
	asked, moved int64 // answered by from before
}

func planMigration(ctx context.Context, s *faults.Scope, key string, rng *rand.Rand) (*migration, error) {
	c := s.Testbed.(testbed.Cluster)
	masters, err := c.Masters(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, faults.ErrMissed)
	}
	shard, err := c.Shard(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, faults.ErrMissed)
	}
	m := &migration{slot: c.Slot(key), from: masters[shard], to: masters[(shard+1+rng.IntN(len(masters)-1))%len(masters)]}
	if m.fromID, err = text(ctx, m.from, "CLUSTER", "MYID"); err != nil {
		return nil, err
	}
	if m.toID, err = text(ctx, m.to, "CLUSTER", "MYID"); err != nil {
		return nil, err
	}
	if m.asked, err = errorsOf(ctx, m.from, "ASK"); err != nil {
		return nil, err
	}
	m.moved, err = errorsOf(ctx, m.from, "MOVED")
	return m, err
}

// text sends a command and returns its reply as a text.
func text(ctx context.Context, n testbed.Node, args ...string) (string, error) {
	reply, err := testbed.Do(ctx, n, args...)
	return fmt.Sprint(reply), err
}

// setSlot says on n what becomes of the slot.
func (m *migration) setSlot(ctx context.Context, n testbed.Node, what, id string) error {
	if err := administer(ctx, n, "CLUSTER", "SETSLOT", strconv.Itoa(m.slot), what, id); err != nil {
		return fmt.Errorf("%s: %w", n.Name(), err)
	}
	return nil
}

// begin has the servers expect the migration, in this order, and moves the keys: who
// asks for one is sent on by ASK.
func (m *migration) begin(ctx context.Context) error {
	if err := m.setSlot(ctx, m.to, "IMPORTING", m.fromID); err != nil {
		return err
	}
	if err := m.setSlot(ctx, m.from, "MIGRATING", m.toID); err != nil {
		return err
	}
	return m.moveKeys(ctx)
}

// pageOfKeys is how many keys are moved by one MIGRATE, which holds both servers up.
const pageOfKeys = 100

func (m *migration) moveKeys(ctx context.Context) error {
	host, port, err := net.SplitHostPort(m.to.Addr())
	if err != nil {
		return err
	}
	for {
		reply, err := testbed.Do(ctx, m.from, "CLUSTER", "GETKEYSINSLOT", strconv.Itoa(m.slot), strconv.Itoa(pageOfKeys))
		if err != nil {
			return fmt.Errorf("%s: %w", m.from.Name(), err)
		}
		page, _ := reply.([]any)
		if len(page) == 0 {
			return nil
		}
		command := []string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}
		for _, key := range page {
			command = append(command, fmt.Sprint(key))
		}
		if err := administer(ctx, m.from, command...); err != nil {
			return fmt.Errorf("%s: %w", m.from.Name(), err)
		}
		m.keys += len(page)
	}
}

// finish moves what is left, and gives the slot away: who asks for its keys is sent on
// by MOVED. The receipt is that clients were told both.
func (m *migration) finish(ctx context.Context, s *faults.Scope) (string, error) {
	c := s.Testbed.(testbed.Cluster)
	if err := m.moveKeys(ctx); err != nil {
		return "", err
	}
	masters, err := c.Masters(ctx)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(masters, func(n testbed.Node) bool { return n == m.to || n == m.from })
	for _, n := range append([]testbed.Node{m.to, m.from}, others...) { // the others would hear of it by and by
		if err := m.setSlot(ctx, n, "NODE", m.toID); err != nil {
			return "", err
		}
	}
	moved, err := awaitErrors(ctx, s, m.from, "MOVED", m.moved)
	if err != nil {
		return "", err
	}
	asked, err := errorsOf(ctx, m.from, "ASK")
	if err != nil {
		return "", err
	}
	if err := c.Settle(ctx); err != nil {
		return "", fmt.Errorf("slot %d has not settled: %w", m.slot, err)
	}
	if asked -= m.asked; asked == 0 || moved == 0 {
		return "", nil
	}
	return fmt.Sprintf("slot %d is %s's, with the %d keys that it had; %s answered ASK %d times, and MOVED %d times", m.slot, m.to.Name(), m.keys, m.from.Name(), asked, moved), nil
}
