package redlock

import (
	"context"
	"runtime"
	"strconv"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/keys"
	"locktorture/lockimpl/redlock/internal/waiting"
)

// Suspend makes it as if the machine had been suspended for d since the lease
// began: the wall clock has moved on, and the monotonic clock has not.
func Suspend(l lockimpl.Lease, d time.Duration) { SuspendLease(l.(held).Lease, d) }

// SuspendLease is Suspend for a Lease.
func SuspendLease(l *Lease, d time.Duration) {
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wall = e.wall.Add(-d)
}

// Fences is the largest number of fence keys on a node.
const Fences = keys.Fences

// Propose makes a client propose tokens from that time on.
func Propose(l lockimpl.Locker, from time.Time) {
	if l, ok := l.(*Locker); ok {
		l.learn(from.UnixMicro())
	}
}

// SharingAFence returns names of so many locks that share one fence; of fewer, where
// names hardly share any.
func SharingAFence(n int) []string {
	names := keys.Under(DefaultPrefix)
	all := []string{"first"}
	for i := 0; len(all) < n && i < 10*n*Fences; i++ {
		if name := strconv.Itoa(i); names.Of(name).Fence == names.Of(all[0]).Fence {
			all = append(all, name)
		}
	}
	return all
}

// SentAgain is how many calls wait to be sent again.
func SentAgain(l *Lock) int {
	n := 0
	for _, r := range []*retries{&l.retries, &l.late} {
		r.mu.Lock()
		n += len(r.list)
		r.mu.Unlock()
	}
	return n
}

// Contexts is how many contexts a lease has to end.
func Contexts(l *Lease) int {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	return len(l.e.cancels)
}

// KeepLate has the places of two of a client's waiters kept as if that had been decided while
// both waited: one has left since, the other waits until ctx ends.
func KeepLate(ctx context.Context, l *Lock, key string) {
	line := make([]*waiting.Waker, 2)
	for i := range line {
		line[i] = waiting.NewWaker(l.quorum)
		line[i].Place = waiting.Place{Member: l.member(false), Ticket: time.Now().UnixMicro(), TTL: 1000}
	}
	line[0].Leave()
	leave := l.lines.Join(key, line[1].Place.Member, line[1])
	go func() {
		defer leave()
		l.lines.Rest(ctx, key, line[1], waiting.Rest{Pause: time.Hour, Every: time.Hour})
	}()
	for !line[1].Resting() {
		runtime.Gosched()
	}
	l.keepPlaces(l.keys(key), line)
}

// NamedPause is the longest that one of l's waiters pauses that a minority has named for the
// first time.
func NamedPause(l *Lock) (longest time.Duration) {
	for range 100 {
		longest = max(longest, l.rest(l.keys("k"), 0).Named)
	}
	return longest
}
