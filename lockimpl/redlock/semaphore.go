package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// A Semaphore lets up to n hold a key at once. It is n locks, its slots, of which
// a holder has one: what the table says of one lock holds for each of them, so
// that no more than n hold it where no two hold a lock. A lease's token orders
// the holders of its slot (Lease.Key) and says nothing about those of others: the
// resource keeps the highest token of each slot. Waiters are served in no order.
// The slots are the locks key#0, key#1 and so on, which nobody takes by other ways.
type Semaphore struct {
	l     *Lock
	slots []string
}

// mostSlots bounds the requests that one try may take.
const mostSlots = 64

// Semaphore returns the semaphore of n places on key; all clients must agree on n.
// Its leases are as long as Config.TTL.
func (l *Lock) Semaphore(key string, n int) (*Semaphore, error) {
	if key == "" || n < 1 || n > mostSlots {
		return nil, fmt.Errorf("semaphore of %d places on %s: %w: it takes a key and 1 to %d places", n, shown(key), ErrMisconfigured, mostSlots)
	}
	s := &Semaphore{l: l, slots: make([]string, n)}
	for i := range s.slots {
		s.slots[i] = key + "#" + strconv.Itoa(i)
	}
	return s, nil
}

// Acquire tries every slot once, from one at random. It returns ErrHeld when all
// of them are held.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) {
	var err error
	first := int(s.l.draw(int64(len(s.slots))))
	for i := range s.slots {
		var got *Lease
		if got, err = s.l.Acquire(ctx, s.slots[(first+i)%len(s.slots)], s.l.cfg.TTL); err == nil {
			return got, nil
		}
		if !errors.Is(err, ErrHeld) {
			return nil, err
		}
	}
	return nil, err
}

// AcquireWait waits until a slot is granted or ctx ends: it tries them all, and
// then queues for one at random until it is time to try them all again.
func (s *Semaphore) AcquireWait(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, fmt.Errorf("semaphore: %w: nil context", ErrMisconfigured)
	}
	slots, err := s.waitable(ctx)
	if err != nil {
		return nil, err
	}
	queue := func(ctx context.Context) (*Lease, error) { return s.queue(ctx, slots) }
	var last error
	for {
		for _, ask := range []func(context.Context) (*Lease, error){s.Acquire, queue} {
			got, err := ask(ctx)
			if err == nil || !retriable(ctx, err) {
				return got, waitError(ctx, err, last)
			}
			last = err
		}
	}
}

// waitable are the slots that may be waited for with ctx, which may end with leases on others;
// without any it is misused.
func (s *Semaphore) waitable(ctx context.Context) (slots []string, err error) {
	for _, slot := range s.slots {
		if under := s.l.notUnder(ctx, slot, request{}); under != nil {
			err = under
		} else {
			slots = append(slots, slot)
		}
	}
	if len(slots) > 0 {
		return slots, nil
	}
	return nil, err
}

// queue waits for one of slots for as long as a waiter pauses at most.
func (s *Semaphore) queue(ctx context.Context, slots []string) (*Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, s.l.cfg.Patience/3)
	defer cancel()
	return s.l.AcquireWait(ctx, slots[s.l.draw(int64(len(slots)))], s.l.cfg.TTL)
}
