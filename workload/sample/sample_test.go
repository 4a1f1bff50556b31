package sample_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locktorture/workload/history"
	"locktorture/workload/sample"
)

type node struct{ *miniredis.Miniredis }

func (node) Name() string { return "n1" }

func (n node) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", n.Addr())
}

// A log keeps the events of a run, and can be waited for.
type log struct {
	mu     sync.Mutex
	events []history.Event
	more   chan struct{}
}

func (l *log) Event(e *history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, *e)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// await blocks until an event is as it should be, and fails after a time that is
// enough for any machine.
func (l *log) await(t *testing.T, what string, is func(history.Event) bool) history.Event {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		l.mu.Lock()
		if i := slices.IndexFunc(l.events, is); i >= 0 {
			defer l.mu.Unlock()
			return l.events[i]
		}
		l.mu.Unlock()
		select {
		case <-l.more:
		case <-deadline:
			t.Fatalf("never seen: %s; seen were %v", what, l.events)
		}
	}
}

// watch samples m until the test is over.
func watch(t *testing.T, m *miniredis.Miniredis, names ...string) (l *log, ended <-chan error) {
	return watchNode(t, node{m}, names...)
}

func watchNode(t *testing.T, n sample.Node, names ...string) (l *log, ended <-chan error) {
	l = &log{more: make(chan struct{}, 1)}
	c := sample.Config{Nodes: []sample.Node{n}, TTL: time.Second}
	for _, name := range names {
		c.Keys = append(c.Keys, sample.Key{Resource: "k", Name: name})
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		done <- sample.Watch(ctx, c, history.NewRecorder(l))
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	return l, done
}

func of(name string, there bool, holder string) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Op == history.Key && e.Kind == history.OK && e.Note == name && e.Value == history.Sample && e.HasAll(history.HasPTTL|history.HasBegan) &&
			e.Began <= e.Time && e.Process == history.Witness && e.Key == "k" && e.Node == "n1" && (e.PTTL != -2) == there && e.Holder == holder
	}
}

func TestEveryTypeOfKey(t *testing.T) {
	m := miniredis.RunT(t)
	l, _ := watch(t, m, "text", "fields", "members")
	for _, name := range []string{"text", "fields", "members"} {
		l.await(t, name+" absent", of(name, false, ""))
	}
	m.Set("text", "owner 17")
	m.HSet("fields", "b", "2", "a", "1")
	m.ZAdd("members", 5, "m1")
	m.ZAdd("members", 6, "m2")
	l.await(t, "a string", of("text", true, "owner 17"))
	l.await(t, "a hash", of("fields", true, "a=1 b=2"))
	l.await(t, "a sorted set", of("members", true, "m1 m2"))
	m.Del("text")
	gone := l.await(t, "the string gone", func(e history.Event) bool { return of("text", false, "")(e) && e.Index > 5 })
	if gone.PTTL != -2 {
		t.Errorf("an absent key has %d ms left", gone.PTTL)
	}
}

// What stays as it is is told again, so that a judge knows how long it stayed, but
// not with every look.
func TestWhatStaysIsToldAgain(t *testing.T) {
	m := miniredis.RunT(t)
	m.Set("text", "x")
	l, _ := watch(t, m, "text")
	first := l.await(t, "x", of("text", true, "x"))
	again := l.await(t, "x again", func(e history.Event) bool { return of("text", true, "x")(e) && e.Index > first.Index })
	if gap := again.Time - first.Time; gap < 100*time.Millisecond {
		t.Errorf("told again after %v", gap)
	}
}

func TestNodeThatFallsSilent(t *testing.T) {
	m := miniredis.RunT(t)
	m.Set("text", "x")
	l, _ := watch(t, m, "text")
	l.await(t, "x", of("text", true, "x"))
	m.Close()
	lost := l.await(t, "a node that does not answer", func(e history.Event) bool { return e.Kind == history.Fail && e.Node == "n1" && e.Err != "" })
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	l.await(t, "x again, though it did not change", func(e history.Event) bool { return of("text", true, "x")(e) && e.Index > lost.Index })
}

func TestServerThatForbidsIt(t *testing.T) {
	m := miniredis.RunT(t)
	m.RequireAuth("secret")
	_, ended := watch(t, m, "text")
	err := <-ended
	var forbidden *sample.ForbiddenError
	if !errors.As(err, &forbidden) || forbidden.Node != "n1" || !strings.Contains(err.Error(), "n1") {
		t.Errorf("got %v, want a ForbiddenError of n1", err)
	}
}

// A refusing is a server that refuses every command but those of transactions.
type refusing struct {
	*miniredis.Miniredis
	with atomic.Pointer[string]
}

func (*refusing) Name() string { return "n1" }

func (r *refusing) Dial(ctx context.Context) (net.Conn, error) { return node{r.Miniredis}.Dial(ctx) }

func newRefusing(t *testing.T, with string) *refusing {
	r := &refusing{Miniredis: miniredis.RunT(t)}
	r.with.Store(&with)
	r.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		why := *r.with.Load()
		if why == "" || slices.Contains([]string{"HELLO", "MULTI", "CLIENT"}, command) {
			return false
		}
		if command == "EXEC" {
			why = "EXECABORT Transaction discarded because of previous errors."
		}
		c.WriteError(why)
		return true
	})
	return r
}

// A server that loads its data refuses the commands of a transaction, as one does that forbids
// them to the user: it is looked at again.
func TestServerThatIsLoading(t *testing.T) {
	r := newRefusing(t, "LOADING Redis is loading the dataset in memory")
	r.Set("text", "x")
	l, ended := watchNode(t, r, "text")
	l.await(t, "a node that does not answer", func(e history.Event) bool { return e.Kind == history.Fail && strings.HasPrefix(e.Err, "LOADING") })
	r.with.Store(new(string))
	l.await(t, "x", of("text", true, "x"))
	select {
	case err := <-ended:
		t.Errorf("ended: %v", err)
	default:
	}
}

// A user who may begin a transaction, and not read, is not asked again.
func TestServerThatForbidsACommandOfATransaction(t *testing.T) {
	r := newRefusing(t, "NOPERM this user has no permissions to run the 'pttl' command")
	_, ended := watchNode(t, r, "text")
	if err, is := errors.AsType[*sample.ForbiddenError](<-ended); !is || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("got %v, want a ForbiddenError that says NOPERM", err)
	}
}

func TestCostIsBounded(t *testing.T) {
	for keys, most := range map[int]float64{1: 500, 16: 500, 128: 500, 100_000: 500} {
		c := sample.Config{TTL: 10 * time.Millisecond, Keys: make([]sample.Key, keys)}
		c.Keys = c.Keys[:keys-c.Left()]
		if perSecond := float64(2*len(c.Keys)+2) / c.Every().Seconds(); perSecond > most {
			t.Errorf("%d keys: %.0f commands per second, want at most %.0f", keys, perSecond, most)
		}
	}
}
