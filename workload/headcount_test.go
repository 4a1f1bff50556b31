package workload

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// A heldUntil lock refuses everybody until a time.
type heldUntil struct {
	lockimpl.Locker
	free time.Time
}

func (l heldUntil) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	if time.Now().Before(l.free) {
		return nil, lockimpl.ErrHeld
	}
	return promise{until: time.Now().Add(time.Minute)}, nil
}

// Of those who ask for a key that is held for long, one goes on beyond its patience; of another key, nobody does.
func TestTheLastWhoAsksForALongKeyStays(t *testing.T) {
	const patience, held = time.Second, 10 * time.Second
	for _, stays := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := &phase{name: history.PhaseMain, rec: history.NewRecorder(), cfg: Config{Mode: ModeMixed, TTL: 2 * time.Second, Patience: patience, Timeout: time.Second, Backoff: Backoff{Min: 10 * time.Millisecond, Max: 100 * time.Millisecond}}, alone: &alone{}}
			granted := make(chan time.Duration, 3)
			began := time.Now()
			for n := range 3 {
				c := &Client{}
				w := &worker{phase: p, client: c, rng: rand.New(rand.NewPCG(1, uint64(n))), inc: &incarnation{open: map[*operation]struct{}{}, dead: make(chan struct{}), conn: &Conn{Locker: heldUntil{free: began.Add(held)}}}}
				go func() {
					if s := w.obtain(t.Context(), arrival{keys: []string{"k9"}, use: use{how: ModeExclusive, stays: stays}}); s != nil {
						granted <- time.Since(began)
					} else {
						granted <- 0
					}
				}()
			}
			got, last := 0, time.Duration(0)
			for range 3 {
				if at := <-granted; at > 0 {
					got, last = got+1, at
				}
			}
			if stays && (got != 1 || last < held) || !stays && got != 0 {
				t.Errorf("stays %t: %d were granted, the last after %v", stays, got, last)
			}
		})
	}
}
