package redlock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/redlock"
)

// A victim is a redis-server that is stopped, killed and started again.
type victim struct {
	path, addr string
	args       []string
	rdb        *redis.Client

	mu  sync.Mutex
	cmd *exec.Cmd
}

// newVictim starts a redis-server on a port, drawn from rng, that no outgoing
// connection takes while the server is down.
func newVictim(t *testing.T, rng *rand.Rand, args ...string) *victim {
	t.Helper()
	v := &victim{path: needServer(t)}
	for range 20 {
		v.addr = fmt.Sprintf("127.0.0.1:%d", 20_000+rng.IntN(12_000))
		_, port, _ := net.SplitHostPort(v.addr)
		v.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--loglevel", "warning"}, args...)
		if v.start() {
			v.rdb = redis.NewClient(&redis.Options{Addr: v.addr, MaxRetries: -1, DialerRetries: 1, PoolSize: 2})
			t.Cleanup(func() {
				_ = v.rdb.Close()
				v.kill()
			})
			return v
		}
	}
	t.Fatal("redis-server did not start on any port")
	return nil
}

// start runs the server, and reports whether it answers.
func (v *victim) start() bool {
	cmd := exec.Command(v.path, v.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Start() != nil {
		return false
	}
	v.mu.Lock()
	v.cmd = cmd
	v.mu.Unlock()
	if serves(v.addr, cmd.Process.Pid) {
		return true
	}
	v.kill()
	return false
}

// kill ends the server at once and waits for its end.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cmd != nil {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
		v.cmd = nil
	}
}

func (v *victim) signal(s syscall.Signal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cmd != nil {
		_ = v.cmd.Process.Signal(s)
	}
}

// restart kills the server and starts it again, after a while.
func (v *victim) restart(t *testing.T, down time.Duration) {
	v.kill()
	time.Sleep(down)
	for range 20 { // somebody may use the port for a moment
		if v.start() {
			return
		}
	}
	t.Errorf("redis-server does not start again on %s", v.addr)
}

// siege is what befalls real servers.
type siege struct {
	t       *testing.T
	victims []*victim
	tally   *tally
	rng     *rand.Rand
}

func (s *siege) below(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }
func (s *siege) one() *victim                        { return s.victims[s.rng.IntN(len(s.victims))] }

// do sends a command and does not care for the answer: the server may be away.
func (v *victim) do(args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = v.rdb.Do(ctx, args...).Err()
}

// What befalls a server. What takes its memory is followed by a rest as long
// as a quarantine, so that the lock is not out of service all the time.
var assaults = []struct {
	name   string
	memory bool
	strike func(s *siege)
}{
	{"CLIENT KILL", false, func(s *siege) { s.one().do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }},
	{"CLIENT KILL everywhere", false, func(s *siege) {
		for _, v := range s.victims {
			v.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		}
	}},
	{"SCRIPT FLUSH", false, func(s *siege) { s.one().do("SCRIPT", "FLUSH") }},
	{"SIGSTOP", false, func(s *siege) {
		v := s.one()
		v.signal(syscall.SIGSTOP)
		time.Sleep(s.below(700 * time.Millisecond))
		v.signal(syscall.SIGCONT)
	}},
	{"SIGSTOP everywhere", false, func(s *siege) {
		for _, v := range s.victims {
			v.signal(syscall.SIGSTOP)
		}
		time.Sleep(s.below(700 * time.Millisecond))
		for _, v := range s.victims {
			v.signal(syscall.SIGCONT)
		}
	}},
	{"CLIENT PAUSE", false, func(s *siege) { s.one().do("CLIENT", "PAUSE", 1+s.below(500*time.Millisecond).Milliseconds(), "ALL") }},
	{"busy script", false, func(s *siege) {
		s.one().do("EVAL", "local t = redis.call('TIME') local e = t[1] * 1000000 + t[2] + ARGV[1] "+
			"while true do local n = redis.call('TIME') if n[1] * 1000000 + n[2] > e then return 1 end end", 0, s.below(300*time.Millisecond).Microseconds())
	}},
	{"fences lost", false, func(s *siege) { s.one().loseFences() }},
	{"SIGKILL and restart", true, func(s *siege) { s.one().restart(s.t, s.below(500*time.Millisecond)) }},
	{"FLUSHALL", true, func(s *siege) { s.one().do("FLUSHALL") }},
	{"SIGKILL and restart of a majority", true, func(s *siege) {
		for _, i := range s.rng.Perm(len(s.victims))[:len(s.victims)/2+1] {
			s.victims[i].restart(s.t, s.below(100*time.Millisecond))
		}
	}},
}

// loseFences deletes what makes later tokens higher.
func (v *victim) loseFences() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if keys, err := v.rdb.Keys(ctx, "lock:fence:*").Result(); err == nil && len(keys) > 0 {
		_ = v.rdb.Del(ctx, keys...).Err()
	}
}

func (s *siege) lay(ctx context.Context, rest time.Duration) {
	var strong time.Time // until when memory is spared
	for {
		pause(ctx, s.below(300*time.Millisecond))
		if ctx.Err() != nil {
			return
		}
		a := assaults[s.rng.IntN(len(assaults))]
		if a.memory && time.Now().Before(strong) {
			continue
		}
		s.tally.fault(a.name)
		a.strike(s)
		if a.memory {
			strong = time.Now().Add(rest)
		}
	}
}

// Chaos on real servers, of which one keeps its data: their processes are
// stopped and killed, come back empty or with what they had, connections are
// closed, scripts and data deleted.
func TestChaosOnServers(t *testing.T) {
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint("nodes=", n), func(t *testing.T) { besiege(t, n, *chaosFor/2) })
	}
}

func besiege(t *testing.T, n int, length time.Duration) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	y, b := newTally(), newBook()
	s := &siege{t: t, tally: y, rng: rand.New(rand.NewPCG(seed, 1))}
	ports := rand.New(rand.NewPCG(seed, 2)) // of their own: a port that is taken must not shift the faults
	addrs := make([]string, n)
	for i := range n {
		kept := "no"
		if i == 0 && n > 1 {
			kept = "yes"
		}
		s.victims = append(s.victims, newVictim(t, ports, "--appendonly", kept, "--appendfsync", "always"))
		addrs[i] = s.victims[i].addr
	}
	nodes, cfg := nodesAt(addrs), redlock.Config{MaxTTL: time.Second, NodeTimeout: 300 * time.Millisecond}
	bootstrapped(t, nodes, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	keys, hidden := redlock.SharingAFence(3), cfg
	hidden.NoProposals, hidden.NoGossip = true, true
	var all []*contender
	var actors sync.WaitGroup
	for i := range 6 {
		c := &contender{
			name: fmt.Sprintf("c%d", i), lock: client(t, nodes, []redlock.Config{cfg, hidden}[i%2]), book: b, keys: keys,
			longest: time.Second, rng: rand.New(rand.NewPCG(seed, 100+uint64(i))),
		}
		all = append(all, c)
		actors.Go(func() { c.live(ctx) })
	}
	s.lay(ctx, 5*time.Second)
	actors.Wait()
	settle(t, b, client(t, nodes, cfg), keys)
	y.episodes++
	y.add(b, all)
	t.Logf("-chaos.seed=%d: %v", seed, y)
	if len(y.findings) > 0 {
		t.Error(strings.Join(y.findings, "\n"))
	}
	if b.total() < 20 {
		t.Errorf("%d grants in %v", b.total(), length)
	}
}

// settle has a client take every key, now that nothing befalls the servers any
// more.
func settle(t *testing.T, b *book, l *redlock.Locker, keys []string) {
	for _, key := range keys {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		asked := b.ask("the last one", key, false)
		lease, err := l.AcquireWait(ctx, key, time.Second)
		cancel()
		if err != nil {
			b.note("%s: all servers run, and it is not granted: %v", key, err)
			continue
		}
		b.left(key, b.granted(asked, "calm", lease))
		_ = lease.Release(t.Context())
	}
}
