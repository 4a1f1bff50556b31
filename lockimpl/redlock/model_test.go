package redlock_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

const modelTTL = 5 * time.Second

// A modelled key knows who must be able to rely on it.
type modelled struct {
	writer  lockimpl.Lease
	readers []lockimpl.Lease
	ended   []lockimpl.Lease // released or run out
	highest uint64           // token of a writer or reader so far
	written uint64           // token of a writer so far
}

// expire moves on what has run out by the holders' own clock.
func (k *modelled) expire() {
	if k.writer != nil && !time.Now().Before(k.writer.ValidUntil()) {
		k.ended, k.writer = append(k.ended, k.writer), nil
	}
	var left []lockimpl.Lease
	for _, r := range k.readers {
		if time.Now().Before(r.ValidUntil()) {
			left = append(left, r)
		} else {
			k.ended = append(k.ended, r)
		}
	}
	k.readers = left
}

// A model is a set of keys and the clients that contend for them.
type model struct {
	world   *world.World
	clients []world.Lock
	prefix  string
	keys    [3]modelled
}

// settle lets stragglers arrive, places in the queue end, and what has run out
// for its holder run out on the nodes too.
func (m *model) settle() {
	time.Sleep(201 * time.Millisecond) // a key ends on a server a millisecond after its time
	synctest.Wait()
	for i := range m.keys {
		m.keys[i].expire()
	}
}

func (m *model) pick(t *rapid.T) (world.Lock, *modelled, string) {
	i := rapid.IntRange(0, len(m.keys)-1).Draw(t, "key")
	l := m.clients[rapid.IntRange(0, len(m.clients)-1).Draw(t, "client")]
	return l, &m.keys[i], fmt.Sprintf("%s-%d", m.prefix, i)
}

// granted checks an answer to a try against whether it had to be granted.
func granted(t *rapid.T, what string, err error, want bool) {
	if want != (err == nil) {
		t.Fatalf("%s: %v, and granting it was right: %v", what, err, want)
	}
	if err != nil && !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("%s: %v, want ErrHeld", what, err)
	}
}

func (m *model) acquire(t *rapid.T) {
	l, k, key := m.pick(t)
	got, err := l.Acquire(t.Context(), key, modelTTL)
	granted(t, "acquire "+key, err, k.writer == nil && len(k.readers) == 0)
	if err == nil {
		m.wrote(t, k, got)
	}
}

func (m *model) wrote(t *rapid.T, k *modelled, got lockimpl.Lease) {
	if got.Fence() <= k.highest {
		t.Fatalf("a writer's token %d after %d", got.Fence(), k.highest)
	}
	k.writer, k.highest, k.written = got, got.Fence(), got.Fence()
}

func (m *model) share(t *rapid.T) {
	l, k, key := m.pick(t)
	got, err := l.AcquireShared(t.Context(), key, modelTTL)
	granted(t, "acquire shared "+key, err, k.writer == nil)
	if err != nil {
		return
	}
	if got.Fence() <= k.written {
		t.Fatalf("a reader's token %d after a writer's %d", got.Fence(), k.written)
	}
	k.readers, k.highest = append(k.readers, got), max(k.highest, got.Fence())
}

func (m *model) all(t *rapid.T) {
	l := m.clients[rapid.IntRange(0, len(m.clients)-1).Draw(t, "client")]
	names, free := make([]string, len(m.keys)), true
	for i := range m.keys {
		names[len(names)-1-i] = fmt.Sprintf("%s-%d", m.prefix, i)
		free = free && m.keys[i].writer == nil && len(m.keys[i].readers) == 0
	}
	got, err := l.AcquireAll(t.Context(), names, modelTTL)
	granted(t, "acquire all", err, free)
	for i, lease := range got {
		m.wrote(t, &m.keys[len(names)-1-i], lease)
	}
}

func (m *model) release(t *rapid.T) {
	_, k, key := m.pick(t)
	lease := k.writer
	switch {
	case lease != nil:
		k.writer = nil
	case len(k.readers) > 0:
		i := rapid.IntRange(0, len(k.readers)-1).Draw(t, "reader")
		lease = k.readers[i]
		k.readers = append(k.readers[:i:i], k.readers[i+1:]...)
	default:
		t.Skip("nobody holds it")
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatalf("release %s: %v", key, err)
	}
	k.ended = append(k.ended, lease)
}

func (m *model) extend(t *rapid.T) {
	_, k, key := m.pick(t)
	for _, lease := range append(k.readers, k.writer) {
		if lease == nil {
			continue
		}
		until, token := lease.ValidUntil(), lease.Fence()
		if err := lease.Extend(t.Context(), modelTTL); err != nil {
			t.Fatalf("extend %s: %v", key, err)
		}
		if lease.ValidUntil().Before(until) || lease.Fence() != token {
			t.Fatalf("an extension shortened the lease or changed its token")
		}
	}
}

// disturb uses leases that have ended: nothing may come of it.
func (m *model) disturb(t *rapid.T) {
	_, k, key := m.pick(t)
	if len(k.ended) == 0 {
		t.Skip("none has ended")
	}
	lease := rapid.SampledFrom(k.ended).Draw(t, "ended")
	if err := lease.Extend(t.Context(), modelTTL); !errors.Is(err, lockimpl.ErrLost) {
		t.Fatalf("extend of an ended lease on %s: %v, want ErrLost", key, err)
	}
	_ = lease.Release(t.Context())
}

// loseFences deletes what one server stores to make later tokens higher.
func (m *model) loseFences(t *rapid.T) {
	m.world.LoseFences(rapid.IntRange(1, m.world.Size()).Draw(t, "server"))
}

func (m *model) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 6).Draw(t, "seconds")) * time.Second)
}

// Random operations of several clients must answer as the model says.
func TestLockFollowsItsModel(t *testing.T) {
	for _, n := range []int{1, 5} {
		for _, hints := range []bool{true, false} {
			t.Run(fmt.Sprintf("nodes=%d/hints=%v", n, hints), func(t *testing.T) {
				world.Run(t, n, func(t *testing.T, w *world.World) { followModel(t, w, hints) })
			})
		}
	}
}

func followModel(t *testing.T, w *world.World, hints bool) {
	f := redlock.NewFactory(redlock.Config{
		NoProposals: !hints, NoGossip: !hints, Patience: 50 * time.Millisecond,
	})
	var clients []world.Lock
	for range 3 {
		l, _ := w.Client(f)
		clients = append(clients, l)
	}
	runs := 0
	rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
		runs++
		m := &model{world: w, clients: clients, prefix: fmt.Sprintf("k%d", runs)}
		step := func(f func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) {
				f(t)
				m.settle()
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": step(m.acquire), "share": step(m.share), "all": step(m.all), "release": step(m.release),
			"extend": step(m.extend), "disturb": step(m.disturb), "sleep": step(m.sleep),
			"lose fences": step(m.loseFences),
		})
	})
}
