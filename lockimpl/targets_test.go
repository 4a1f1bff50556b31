package lockimpl_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/peers/redislock"
	"locktorture/lockimpl/peers/redsync"
	"locktorture/lockimpl/peers/rueidislock"
)

// The benchmarks compare the lock with other libraries within one run: every
// repeat runs all of them on the same servers, in random order, and a ratio is
// taken within a repeat. What is reported is the median of the ratios.

const (
	repeats = 5
	slice   = 300 * time.Millisecond // of one lock in one repeat
)

// A rival is a lock to compare with.
type rival struct {
	name    string
	factory lockimpl.Factory
}

func ours() rival {
	return rival{name: "ours", factory: lockimpl.NewFactory(lockimpl.Config{})}
}

// A sample is what one lock did in one repeat.
type sample struct {
	rate     float64 // pairs or hand-offs per second
	p50, p99 time.Duration
}

// contest reports ours against each rival: rate as a multiple, latencies as a
// fraction.
func contest(b *testing.B, rivals []rival, run func(rival) sample) {
	b.Helper()
	samples := map[string][]sample{}
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		for range repeats {
			for _, i := range rng.Perm(len(rivals)) {
				samples[rivals[i].name] = append(samples[rivals[i].name], run(rivals[i]))
			}
		}
	}
	mine := samples[rivals[0].name]
	for _, r := range rivals[1:] {
		var rate, p50, p99 []float64
		for i, s := range samples[r.name] {
			rate = append(rate, mine[i].rate/max(s.rate, 1e-9))
			p50 = append(p50, float64(mine[i].p50)/float64(max(s.p50, 1)))
			p99 = append(p99, float64(mine[i].p99)/float64(max(s.p99, 1)))
		}
		b.ReportMetric(median(rate), "×rate/"+r.name)
		b.ReportMetric(median(p50), "×p50/"+r.name)
		b.ReportMetric(median(p99), "×p99/"+r.name)
	}
	var rates []float64
	for _, s := range mine {
		rates = append(rates, s.rate)
	}
	b.ReportMetric(median(rates), "pairs/s")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// pairs has g goroutines acquire and release keys of their own.
func pairs(b *testing.B, l lockimpl.Locker, g int, d time.Duration) sample {
	var wg sync.WaitGroup
	all := make([][]time.Duration, g)
	end := time.Now().Add(d)
	for i := range g {
		wg.Go(func() {
			key := fmt.Sprintf("own-%d", i)
			for time.Now().Before(end) {
				began := time.Now()
				lease, err := l.Acquire(context.Background(), key, 5*time.Second)
				if err != nil {
					continue
				}
				all[i] = append(all[i], time.Since(began))
				_ = lease.Release(context.Background())
			}
		})
	}
	wg.Wait()
	return summary(slices.Concat(all...), d)
}

func summary(waits []time.Duration, d time.Duration) sample {
	if len(waits) == 0 {
		return sample{p50: d, p99: d}
	}
	slices.Sort(waits)
	return sample{
		rate: float64(len(waits)) / d.Seconds(),
		p50:  waits[len(waits)/2], p99: waits[len(waits)*99/100],
	}
}

func BenchmarkOwnKeys(b *testing.B) {
	for _, n := range []int{1, 5} {
		nodes := serverNodes(b, n)
		rivals := []rival{ours(), {name: "redsync", factory: redsync.New(redsync.Options{})}}
		if n == 1 {
			rivals = append(rivals, rival{name: "redislock", factory: redislock.New()})
		}
		open := openAll(b, rivals, nodes)
		for _, g := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprintf("nodes=%d/goroutines=%d", n, g), func(b *testing.B) {
				contest(b, rivals, func(r rival) sample { return pairs(b, open[r.name], g, slice) })
			})
		}
	}
}

func openAll(b *testing.B, rivals []rival, nodes []lockimpl.Node) map[string]lockimpl.Locker {
	bootstrapped(b, nodes, lockimpl.Config{})
	open := map[string]lockimpl.Locker{}
	for _, r := range rivals {
		l, err := r.factory(nodes)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() })
		open[r.name] = l
		pairs(b, l, 64, 50*time.Millisecond)
	}
	return open
}

// handOffs has n waiters contend for one key, as n clients or as goroutines of
// one, and counts how often it changes hands.
func handOffs(b *testing.B, r rival, nodes []lockimpl.Node, n int, one bool, hold time.Duration) sample {
	var lockers []lockimpl.Locker
	for i := range n {
		if one && i > 0 {
			lockers = append(lockers, lockers[0])
			continue
		}
		l, err := r.factory(nodes)
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		lockers = append(lockers, l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), slice)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	last, changes := -1, 0
	waits := make([][]time.Duration, n)
	grants := make([]int, n)
	for i, l := range lockers {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				lease, err := wait(ctx, l, "hot")
				if err != nil {
					continue
				}
				waits[i] = append(waits[i], time.Since(began))
				mu.Lock()
				if last != i {
					changes++
				}
				last = i
				grants[i]++
				mu.Unlock()
				if hold > 0 {
					time.Sleep(hold)
				}
				_ = lease.Release(context.Background())
			}
		})
	}
	wg.Wait()
	s := summary(slices.Concat(waits...), slice)
	s.rate = float64(changes) / slice.Seconds()
	b.Logf("%s: %.0f hand-offs/s, shares %d to %d", r.name, s.rate, slices.Min(grants), slices.Max(grants))
	return s
}

// wait uses what the lock has for waiting, or asks again every millisecond.
func wait(ctx context.Context, l lockimpl.Locker, key string) (lockimpl.Lease, error) {
	if w, ok := l.(lockimpl.WaitLocker); ok {
		return w.AcquireWait(ctx, key, 5*time.Second)
	}
	for {
		lease, err := l.Acquire(ctx, key, 5*time.Second)
		if err == nil || !errors.Is(err, lockimpl.ErrHeld) || ctx.Err() != nil {
			return lease, err
		}
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkHotKey(b *testing.B) {
	for _, n := range []int{1, 5} {
		nodes := serverNodes(b, n)
		bootstrapped(b, nodes, lockimpl.Config{})
		rivals := []rival{ours(), {name: "redsync", factory: redsync.New(redsync.Options{})},
			{name: "rueidislock", factory: rueidislock.New()}}
		if n == 1 {
			rivals = append(rivals, rival{name: "redislock", factory: redislock.New()})
		}
		for _, hold := range []time.Duration{0, time.Millisecond} {
			for _, one := range []bool{false, true} {
				b.Run(fmt.Sprintf("nodes=%d/hold=%v/one-client=%v", n, hold, one), func(b *testing.B) {
					contest(b, rivals, func(r rival) sample { return handOffs(b, r, nodes, 16, one, hold) })
				})
			}
		}
	}
}
