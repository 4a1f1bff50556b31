package capacity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/lockimpl"
	"locktorture/reports/capacity"
	"locktorture/workload/load"
)

// What is held at once to see how much memory a key takes.
const (
	heldKeys   = 5000
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
		if s.late(lateRamp) && repeat >= 2 {
			break
		}
		if err := s.costOfPairs(ctx, c, idle, &all); err != nil {
			return err
		}
		if err := s.costOfKeys(ctx, c, repeat, &all); err != nil {
			return err
		}
	}
	s.r.Cost = capacity.Cost{
		Size: calibrated, Keys: heldKeys, Client: capacity.Amount(all.client), Master: capacity.Amount(all.master),
		Commands: capacity.Amount(all.commands), In: capacity.Amount(all.in), Out: capacity.Amount(all.out),
		Connections: capacity.Amount(all.connections), Key: capacity.Amount(all.key),
	}
	return nil
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
	if err != nil || pairs == 0 {
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

// costOfKeys holds many keys at once, and gives them back.
func (s *survey) costOfKeys(ctx context.Context, c *measure.Clients, repeat int, all *costs) error {
	before, err := s.servers.Totals(ctx, s.Masters)
	if err != nil {
		return err
	}
	began := time.Now()
	leases := make([]lockimpl.Lease, heldKeys)
	var next, refused atomic.Int64
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < heldKeys && ctx.Err() == nil; i = next.Add(1) - 1 {
				l, err := c.Lockers[int(i)%len(c.Lockers)].Acquire(ctx, fmt.Sprintf("%s-held-%d-%d", c.Prefix, repeat, i), heldTTL)
				if err != nil {
					refused.Add(1)
					continue
				}
				leases[i] = l
			}
		})
	}
	wg.Wait()
	after, err := s.servers.Totals(ctx, s.Masters)
	if took := time.Since(began); err == nil && refused.Load() == 0 && took < heldWithin && ctx.Err() == nil {
		all.key = append(all.key, (after.Memory-before.Memory)/heldKeys/float64(s.Masters))
	}
	next.Store(0)
	for range holders {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < heldKeys; i = next.Add(1) - 1 {
				if leases[i] != nil {
					_ = leases[i].Release(context.WithoutCancel(ctx)) // what is left ends by itself
				}
			}
		})
	}
	wg.Wait()
	return err
}
