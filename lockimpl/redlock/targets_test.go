package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/peers/redislock"
	"locktorture/lockimpl/peers/redsync"
	"locktorture/lockimpl/peers/rueidislock"
	"locktorture/lockimpl/redlock"
)

// The benchmarks compare the lock with other libraries within one run: every
// repeat runs all of them on the same servers, in random order, and a ratio is
// taken within a repeat. What is reported is the median of the ratios. Beside
// it stand the processor times of client and servers per pair, which a busy
// machine blurs less than rates.
//
//	go test ./lockimpl/redlock -run xxx -bench 'OwnKeys|HotKey|OneBadNode' -benchtime 1x

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
	return rival{name: "ours", factory: redlock.NewFactory(redlock.Config{})}
}

// rivals are those to compare with on n nodes, ours first.
func rivals(n int) []rival {
	all := []rival{ours(), {name: "redsync", factory: redsync.New(redsync.Options{})}}
	if n == 1 {
		return append(all, rival{name: "redislock", factory: redislock.New()})
	}
	return append(all, rival{name: "redsync-fastest", factory: redsync.NewFailFast()})
}

// pings is the floor: two bare round trips in the place of a pair, by the
// client that the peers use.
func pings() rival {
	return rival{name: "ping", factory: func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		return pinger{redis.NewClient(&redis.Options{Addr: nodes[0].Addr})}, nil
	}}
}

type pinger struct{ *redis.Client }

func (p pinger) Acquire(ctx context.Context, _ string, _ time.Duration) (lockimpl.Lease, error) {
	return pinged{p}, p.Ping(ctx).Err()
}

type pinged struct{ pinger }

func (pinged) Fence() uint64                               { return 0 }
func (pinged) ValidUntil() time.Time                       { return time.Time{} }
func (pinged) Extend(context.Context, time.Duration) error { return nil }
func (p pinged) Release(ctx context.Context) error         { return p.Ping(ctx).Err() }

// A sample is what one lock did in one repeat.
type sample struct {
	rate           float64 // pairs or hand-offs per second
	p50, p99, p999 time.Duration
	jain           float64       // Jain's index of the contenders' shares
	client, server time.Duration // processor time per pair
	allocs         float64       // per pair, of the whole process
}

// contest reports ours against each rival: rate as a multiple, latencies and
// processor time as a fraction.
func contest(b *testing.B, rivals []rival, nodes []lockimpl.Node, run func(rival) sample) {
	b.Helper()
	samples := map[string][]sample{}
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		for range repeats {
			for _, i := range rng.Perm(len(rivals)) {
				samples[rivals[i].name] = append(samples[rivals[i].name], metered(b, nodes, rivals[i], run))
			}
		}
	}
	mine := samples[rivals[0].name]
	for _, r := range rivals[1:] {
		ratio := func(unit string, of func(sample) float64) {
			var all []float64
			for i, s := range samples[r.name] {
				all = append(all, of(mine[i])/max(of(s), 1e-9))
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], unit+"/"+r.name)
			b.Logf("%s/%s: median %.2f, %.2f to %.2f", unit, r.name, all[len(all)/2], all[0], all[len(all)-1])
		}
		ratio("×rate", func(s sample) float64 { return s.rate })
		ratio("×p50", func(s sample) float64 { return float64(max(s.p50, 1)) })
		ratio("×p99", func(s sample) float64 { return float64(max(s.p99, 1)) })
		ratio("×p999", func(s sample) float64 { return float64(max(s.p999, 1)) })
		ratio("×cpu", func(s sample) float64 { return float64(s.client + s.server) })
	}
	report := func(unit string, of func(sample) float64) {
		var all []float64
		for _, s := range mine {
			all = append(all, of(s))
		}
		b.ReportMetric(median(all), unit)
	}
	report("pairs/s", func(s sample) float64 { return s.rate })
	report("p50-µs", func(s sample) float64 { return micros(s.p50) })
	report("p99-µs", func(s sample) float64 { return micros(s.p99) })
	report("client-µs/pair", func(s sample) float64 { return micros(s.client) })
	report("server-µs/pair", func(s sample) float64 { return micros(s.server) })
	report("allocs/pair", func(s sample) float64 { return s.allocs })
	report("jain", func(s sample) float64 { return s.jain })
	b.ReportMetric(0, "ns/op")
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// metered adds to a sample what it cost.
func metered(b *testing.B, nodes []lockimpl.Node, r rival, run func(rival) sample) sample {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	client, server := clientTime(), serverTime(b, nodes)
	s := run(r)
	client, server = clientTime()-client, serverTime(b, nodes)-server
	runtime.ReadMemStats(&after)
	if pairs := s.rate * slice.Seconds(); pairs > 0 {
		s.client, s.server = time.Duration(float64(client)/pairs), time.Duration(float64(server)/pairs)
		s.allocs = float64(after.Mallocs-before.Mallocs) / pairs
	}
	return s
}

// clientTime is the processor time of this process so far.
func clientTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverTime is the processor time of the servers so far.
func serverTime(b *testing.B, nodes []lockimpl.Node) time.Duration {
	var sum float64
	for _, n := range nodes {
		c := redis.NewClient(&redis.Options{Addr: n.Addr})
		info, err := c.Info(b.Context(), "cpu").Result()
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			if name == "used_cpu_sys" || name == "used_cpu_user" {
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					b.Fatal(err)
				}
				sum += seconds
			}
		}
	}
	return time.Duration(sum * 1e9)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// pairs has g goroutines acquire and release keys of their own.
func pairs(l lockimpl.Locker, g int, d time.Duration) sample {
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
	return summary(all, d)
}

// summary makes a sample of the waits of each contender.
func summary(by [][]time.Duration, d time.Duration) sample {
	waits := slices.Concat(by...)
	if len(waits) == 0 {
		return sample{p50: d, p99: d, p999: d}
	}
	slices.Sort(waits)
	var sum, squares float64
	for _, of := range by {
		sum += float64(len(of))
		squares += math.Pow(float64(len(of)), 2)
	}
	return sample{
		rate: float64(len(waits)) / d.Seconds(),
		p50:  waits[len(waits)/2], p99: waits[len(waits)*99/100], p999: waits[len(waits)*999/1000],
		jain: sum * sum / (float64(len(by)) * squares),
	}
}

// Rows 1 to 3 and 6 to 8 of the targets.
func BenchmarkOwnKeys(b *testing.B) {
	for _, n := range []int{1, 5} {
		nodes := serverNodes(b, n)
		all := rivals(n)
		if n == 1 {
			all = append(all, pings())
		}
		open := openAll(b, all, nodes)
		for _, g := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprintf("nodes=%d/goroutines=%d", n, g), func(b *testing.B) {
				contest(b, all, nodes, func(r rival) sample { return pairs(open[r.name], g, slice) })
			})
		}
		noKeyLeft(b, open["ours"], nodes)
	}
}

func openAll(b *testing.B, rivals []rival, nodes []lockimpl.Node) map[string]lockimpl.Locker {
	b.Helper()
	bootstrapped(b, nodes, redlock.Config{})
	open := map[string]lockimpl.Locker{}
	for _, r := range rivals {
		l, err := r.factory(nodes)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() })
		open[r.name] = l
		pairs(l, 64, 50*time.Millisecond)
	}
	return open
}

// noKeyLeft fails when a key that bears a lease outlives the rest of its
// releases: row 11 of the targets.
func noKeyLeft(b *testing.B, l lockimpl.Locker, nodes []lockimpl.Node) {
	b.Helper()
	names := map[string]bool{}
	for i := range 256 {
		for _, key := range l.(lockimpl.KeyLister).LeaseKeys(fmt.Sprintf("own-%d", i)) {
			names[key] = true
		}
	}
	for _, key := range l.(lockimpl.KeyLister).LeaseKeys("hot") {
		names[key] = true
	}
	time.Sleep(time.Second) // well below a lease
	for _, n := range nodes {
		c := redis.NewClient(&redis.Options{Addr: n.Addr})
		all, err := c.Keys(b.Context(), "*").Result()
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
		for _, key := range all {
			if names[key] {
				b.Errorf("node %s keeps %s", n.Name, key)
			}
		}
	}
}

// handOffs has n waiters contend for one key, as n clients or as goroutines of
// one, and counts how often it changes hands.
func handOffs(b *testing.B, r rival, nodes []lockimpl.Node, n int, one bool, hold time.Duration) sample {
	b.Helper()
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
	warmUp(lockers)
	ctx, cancel := context.WithTimeout(context.Background(), slice)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	last, changes := -1, 0
	waits := make([][]time.Duration, n)
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
				mu.Unlock()
				if hold > 0 {
					time.Sleep(hold)
				}
				_ = lease.Release(context.Background())
			}
		})
	}
	wg.Wait()
	s := summary(waits, slice)
	s.rate = float64(changes) / slice.Seconds()
	return s
}

// warmUp has all of lockers contend once or twice, so that connections and
// subscriptions are there.
func warmUp(lockers []lockimpl.Locker) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*slice)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range lockers {
		wg.Go(func() {
			for range 2 {
				if lease, err := wait(ctx, l, "hot"); err == nil {
					_ = lease.Release(context.Background())
				}
			}
		})
	}
	wg.Wait()
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

// Rows 4 and 5 of the targets.
func BenchmarkHotKey(b *testing.B) {
	for _, n := range []int{1, 5} {
		nodes := serverNodes(b, n)
		l := bootstrapped(b, nodes, redlock.Config{})
		all := append(rivals(n), rival{name: "rueidislock", factory: rueidislock.New(rueidislock.ForOneServer)})
		for _, hold := range []time.Duration{0, time.Millisecond} {
			for _, one := range []bool{false, true} {
				b.Run(fmt.Sprintf("nodes=%d/hold=%v/one-client=%v", n, hold, one), func(b *testing.B) {
					contest(b, all, nodes, func(r rival) sample { return handOffs(b, r, nodes, 16, one, hold) })
				})
			}
		}
		noKeyLeft(b, l, nodes)
	}
}

// A lag is a connection whose replies come later, or never.
type lag struct {
	net.Conn
	by    time.Duration
	never bool
}

// Read implements net.Conn.
func (c lag) Read(b []byte) (int, error) {
	for c.never {
		if _, err := c.Conn.Read(b); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b)
	time.Sleep(c.by)
	return n, err
}

// Rows 9 and 10 of the targets: one of five nodes answers 50 ms late, or not
// at all. The figures are ratios to our own lock over five healthy nodes.
func BenchmarkOneBadNode(b *testing.B) {
	nodes := serverNodes(b, 5)
	bootstrapped(b, nodes, redlock.Config{})
	for name, bad := range map[string]lag{"slow": {by: 50 * time.Millisecond}, "black-holed": {never: true}} {
		for _, g := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, g), func(b *testing.B) {
				hurt := slices.Clone(nodes)
				hurt[2].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := new(net.Dialer).DialContext(ctx, network, addr)
					return lag{c, bad.by, bad.never}, err
				}
				ill, healthy := client(b, hurt, redlock.Config{}), client(b, nodes, redlock.Config{})
				pairs(ill, 64, time.Second)
				pairs(healthy, 64, 100*time.Millisecond)
				idle := runtime.NumGoroutine()
				most := 0
				all := []rival{{name: "ours"}, {name: "healthy"}}
				contest(b, all, nodes, func(r rival) sample {
					if r.name == "healthy" {
						return pairs(healthy, g, slice)
					}
					done := make(chan sample)
					go func() { done <- pairs(ill, g, slice) }()
					for {
						select {
						case s := <-done:
							return s
						case <-time.After(10 * time.Millisecond):
							most = max(most, runtime.NumGoroutine()-idle-g-1)
						}
					}
				})
				b.ReportMetric(float64(most), "goroutines-beyond-callers")
				if os.Getenv("LOCKTORTURE_TARGETS") != "" && most > 4*len(nodes) {
					b.Errorf("%d goroutines beyond those of the callers", most)
				}
				if bad.by > 0 {
					noKeyLeft(b, ill, nodes)
				}
			})
		}
	}
}
