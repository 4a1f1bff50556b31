package redlock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

func TestSemaphoreLetsNoMoreThanNIn(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		const places, clients, turns = 3, 8, 5
		var mu sync.Mutex
		inside, most, total := 0, 0, 0
		fences := map[string]uint64{} // highest by slot
		var wg sync.WaitGroup
		for range clients {
			l, _ := api(w, redlock.Config{TTL: 5 * time.Second})
			s, err := l.Semaphore("pool", places)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for range turns {
					got, err := s.AcquireWait(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					inside++
					total++
					most = max(most, inside)
					if got.Fence() <= fences[got.Key()] {
						t.Errorf("%s: token %d after %d", got.Key(), got.Fence(), fences[got.Key()])
					}
					fences[got.Key()] = got.Fence()
					mu.Unlock()
					time.Sleep(20 * time.Millisecond)
					mu.Lock()
					inside--
					mu.Unlock()
					if err := got.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if most != places || total != clients*turns || len(fences) != places {
			t.Errorf("%d inside at once, %d turns, %d slots; want %d, %d and %d", most, total, len(fences), places, clients*turns, places)
		}
	})
}

func TestSemaphoreThatIsFullSaysHeld(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		s, err := l.Semaphore("pool", 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := s.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Acquire(t.Context()); !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("the third: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.AcquireWait(ctx); !errors.Is(err, redlock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the third, waiting: %v", err)
		}
		for _, n := range []int{0, 65} {
			if _, err := l.Semaphore("pool", n); err == nil {
				t.Errorf("a semaphore of %d", n)
			}
		}
	})
}

// A semaphore of which one slot is held and another cannot be asked is not said to be full.
func TestSemaphoreOfWhichASlotCannotBeAskedIsNotFull(t *testing.T) {
	m := embedded(t, 1)[0]
	l := bootstrapped(t, nodesAt([]string{m.Addr()}), quick)
	s, err := l.Semaphore("pool", 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(t.Context(), "pool#0", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Lpush(l.LeaseKeys("pool#1")[0], "not a lock"); err != nil {
		t.Fatal(err)
	}
	for range 40 { // which slot is asked first is drawn
		if _, err := s.Acquire(t.Context()); errors.Is(err, redlock.ErrHeld) || !errors.Is(err, redlock.ErrMisconfigured) {
			t.Fatalf("told %v, want ErrMisconfigured", err)
		}
	}
}

// Three candidates: one leads at a time, the next takes over when it dies, and
// an onlooker sees each of them.
func TestElection(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		looker, _ := api(w, redlock.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		var seen []string
		done := make(chan error)
		go func() {
			done <- looker.Watch(ctx, "leader", 50*time.Millisecond, func(h redlock.Holder, held bool) {
				if held {
					seen = append(seen, h.Name)
				} else {
					seen = append(seen, "")
				}
			})
		}()
		time.Sleep(time.Second)
		var last uint64
		for _, name := range []string{"a", "b", "c"} {
			l, links := api(w, redlock.Config{Name: name, TTL: time.Second})
			err := l.Do(t.Context(), "leader", func(ctx context.Context, fence uint64) error {
				if fence <= last {
					t.Errorf("%s leads with token %d after %d", name, fence, last)
				}
				last = fence
				time.Sleep(3 * time.Second)
				for _, link := range links {
					link.Up.Drop() // it is heard of no more
				}
				<-ctx.Done()
				return nil
			})
			if !errors.Is(err, redlock.ErrLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		time.Sleep(2 * time.Second)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		var leaders []string
		for _, name := range seen {
			if name != "" {
				leaders = append(leaders, name)
			}
		}
		if len(leaders) != 3 || leaders[0] != "a" || leaders[1] != "b" || leaders[2] != "c" || seen[0] != "" || seen[len(seen)-1] != "" {
			t.Errorf("seen %q", seen)
		}
	})
}
