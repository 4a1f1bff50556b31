package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/lockimpl"
	"locktorture/reports/capacity"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

// What is held at once to see how much memory a key takes.
const (
	heldKeys   = 5000
	manyKeys   = 100_000 // once, on one master
	heldTTL    = 10 * time.Second
	heldWithin = heldTTL * 3 / 4 // later the first of them may have ended
	holders    = 64
)

// cost measures what a pair costs the clients and the masters, and a held key in memory.
func (s *survey) cost(ctx context.Context) (err error) {
	if s.servers.Embedded() {
		s.r.Cost.Missing = "embedded nodes are no Redis: what they cost says nothing"
		return nil
	}
	idle, err := s.servers.Totals(ctx, s.Masters)
	if err != nil {
		s.r.Cost.Missing = err.Error()
		return nil
	}
	c, err := s.connect(ctx, s.Masters, s.Clients, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	all := costs{}
	for repeat := range s.Repeats {
		if s.late(lateRamp) && repeat >= 2 || err != nil {
			break
		}
		if err = s.costOfPairs(ctx, c, idle, &all); err == nil {
			err = s.costOfKeys(ctx, c, repeat, &all)
		}
	}
	var many capacity.Sample
	if err == nil {
		many, err = s.costOfManyKeys(ctx)
	}
	s.r.Cost = capacity.Cost{
		Size: calibrated, Keys: heldKeys, Client: capacity.Amount(all.client), Master: capacity.Amount(all.master),
		Commands: capacity.Amount(all.commands), In: capacity.Amount(all.in), Out: capacity.Amount(all.out),
		Connections: capacity.Amount(all.connections), Key: capacity.Amount(all.key), Many: many,
	}
	return err
}

// costs are the figures of the repeats.
type costs struct{ client, master, commands, in, out, connections, key []float64 }

func (s *survey) costOfPairs(ctx context.Context, c *measure.Clients, idle measure.Totals, all *costs) error {
	before, err := s.servers.Totals(ctx, s.Masters)
	if err != nil {
		return err
	}
	redis, harness := s.servers.CPUTimes()
	pairs := int64(0)
	for range measure.Tries { // every pair counts, also of a loop that others disturbed: the servers counted it too
		pairs += load.Closed(ctx, c.Workers(calibrated, c.Keys(calibrated)), s.task(0), s.briefly(), s.rng.Uint64()).AllPairs
	}
	redisAfter, harnessAfter := s.servers.CPUTimes()
	after, err := s.servers.Totals(ctx, s.Masters)
	if err := cmp.Or(ctx.Err(), err); err != nil || pairs == 0 {
		return err
	}
	n := float64(pairs)
	all.client = append(all.client, (harnessAfter-harness).Seconds()/n)
	used := 0.0
	for i := range s.Masters {
		used += (redisAfter[i] - redis[i]).Seconds() / n / float64(s.Masters)
	}
	if used > 0 {
		all.master = append(all.master, used)
	}
	all.commands = append(all.commands, (after.Commands-before.Commands)/n)
	all.in, all.out = append(all.in, (after.In-before.In)/n), append(all.out, (after.Out-before.Out)/n)
	all.connections = append(all.connections, (after.Connections-idle.Connections)/float64(s.Clients*s.Masters))
	return nil
}

// costOfKeys holds keys at once on the masters, as the repeats do.
func (s *survey) costOfKeys(ctx context.Context, c *measure.Clients, repeat int, all *costs) error {
	bytes, missing, err := s.hold(ctx, c, s.Masters, heldKeys, fmt.Sprintf("%s-held-%d", c.Prefix, repeat))
	if err == nil && missing == "" {
		all.key = append(all.key, bytes)
	}
	return err
}

// costOfManyKeys holds many more keys at once, on one master and once.
func (s *survey) costOfManyKeys(ctx context.Context) (m capacity.Sample, err error) {
	switch {
	case !s.lock.Fits(1) && s.Masters > 1:
		return capacity.Sample{Missing: "the lock runs on no single master"}, nil
	case s.late(lateRetries):
		return capacity.Sample{Missing: "the budget left no time for it"}, nil
	}
	c, err := s.connect(ctx, 1, s.Clients, false)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	m.Keys = manyKeys
	m.Each, m.Missing, err = s.hold(ctx, c, 1, manyKeys, c.Prefix+"-many")
	return m, err
}

// hold acquires so many keys, and gives them back: how many bytes each takes on a master,
// or why that is not known.
func (s *survey) hold(ctx context.Context, c *measure.Clients, masters, keys int, name string) (bytes float64, missing string, err error) {
	before, err := s.servers.Totals(ctx, masters)
	if err != nil {
		return 0, "", err
	}
	began := time.Now()
	leases := make([]lockimpl.Lease, keys)
	var refused atomic.Int64
	each := func(do func(i int)) {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range holders {
			wg.Go(func() {
				for i := next.Add(1) - 1; i < int64(keys); i = next.Add(1) - 1 {
					do(int(i))
				}
			})
		}
		wg.Wait()
	}
	each(func(i int) {
		if ctx.Err() != nil || time.Since(began) > heldWithin {
			refused.Add(1)
			return
		}
		l, err := c.Lockers[i%len(c.Lockers)].Acquire(ctx, fmt.Sprintf("%s-%d", name, i), heldTTL)
		if err != nil {
			refused.Add(1)
			return
		}
		leases[i] = l
	})
	after, err := s.servers.Totals(ctx, masters)
	switch took := time.Since(began); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case refused.Load() > 0 || took >= heldWithin:
		missing = fmt.Sprintf("%d of %s were not held within %s", refused.Load(), unit.Counted(keys, "key"), unit.Setting(heldWithin))
	}
	each(func(i int) {
		if leases[i] != nil {
			_ = leases[i].Release(context.WithoutCancel(ctx)) // what is left ends by itself
		}
	})
	return (after.Memory - before.Memory) / float64(keys) / float64(masters), missing, err
}
