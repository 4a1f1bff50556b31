package distributed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What a run ends with waits for the end of a silence that began after the last phase, and
// of one that is noticed meanwhile; of a worker that is lost for no longer than its process was.
func TestAwaitsTheEndOfSilences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Coordinator{began: time.Now()}
		worker := func() *Remote {
			r := &Remote{coordinator: c, ended: make(chan struct{})}
			close(r.ended)
			r.heardAgain(time.Now(), time.Now())
			c.remotes = append(c.remotes, r)
			return r
		}
		silent, later, gone := worker(), worker(), worker()
		at := func() time.Duration { return time.Since(c.began) }
		awaits := func(until time.Duration) {
			t.Helper()
			if err := c.Await(t.Context()); err != nil || at() != until {
				t.Errorf("waits until %v, %v; want until %v", at(), err, until)
			}
		}
		awaits(0)
		hear := func(r *Remote) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.heardAgain(time.Now(), time.Now())
		}
		time.Sleep(10 * time.Second)
		hear(silent)                                          // to 10 s, and what was held back by 21 s
		time.AfterFunc(2*time.Second, func() { hear(later) }) // to 12 s, and by 25 s
		awaits(25 * time.Second)
		gone.mu.Lock()
		gone.lose("its process is no more", true)
		gone.mu.Unlock()
		awaits(25 * time.Second)

		hear(silent) // to 25 s: by 41 s
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Await(ctx); err != nil || at() != 26*time.Second {
			t.Errorf("interrupted, it waits until %v, %v", at(), err)
		}
	})
}
