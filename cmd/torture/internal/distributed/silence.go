package distributed

import (
	"context"
	"time"

	"locktorture/cmd/torture/internal/periodic"
)

// silentAfter is for how long nothing may be heard of a worker before that is on record:
// two readings of its clock.
const silentAfter = 2 * readEvery

// resendFirst is what TCP waits at most before it sends again for the first time what
// nobody has acknowledged; it doubles that each time (RFC 6298, 2.1 and 5.5).
const resendFirst = time.Second

// A Silence is a span of the coordinator's time in which a worker answered nothing.
type Silence struct {
	From time.Duration `json:"from_ns"` // when the question was put that it answered last
	To   time.Duration `json:"to_ns"`   // when it answered again, or its process was known to be no more; 0: not at all

	// Over is by when all that the network may have held back is delivered. What was sent
	// for the first time after From and for the last time before To is sent once more at
	// most so much later than it took until then, and one first wait.
	Over time.Duration `json:"over_ns"`

	Gone bool `json:"gone,omitempty"` // its process ended, which sends nothing again
}

// heardAgain notes that the worker answered, at now, what it was asked at asked. r.mu is
// held.
func (r *Remote) heardAgain(asked, now time.Time) {
	if r.reached.IsZero() { // it was not listened for before
		r.reached = asked
	}
	if r.heard = now; now.Sub(r.reached) > silentAfter && asked.After(r.reached) {
		s := Silence{From: r.reached.Sub(r.coordinator.began), To: now.Sub(r.coordinator.began)}
		s.Over = s.To + (s.To - s.From) + resendFirst
		r.fellSilent(s)
	}
	if asked.After(r.reached) {
		r.reached = asked
	}
}

// lose has the worker count as lost. gone says that its process is known to be no more:
// else it may act on, unheard. r.mu is held.
func (r *Remote) lose(why string, gone bool) {
	r.lost = why
	s := Silence{From: r.reached.Sub(r.coordinator.began), Gone: gone}
	if gone {
		s.To = time.Since(r.coordinator.began)
		s.Over = s.To
	}
	r.fellSilent(s)
}

// fellSilent puts a silence on record. r.mu is held.
func (r *Remote) fellSilent(s Silence) {
	r.silences = append(r.silences, s)
	r.coordinator.record.add(note{Worker: r.Name, Silence: &s})
}

// Silences are the spans in which the worker answered nothing, in their order.
func (r *Remote) Silences() []Silence {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Silence(nil), r.silences...)
}

// AwaitDelivery waits until everything is delivered that the network may have held back while
// a worker was silent: from then on the network is healthy.
func (c *Coordinator) AwaitDelivery(ctx context.Context) {
	for {
		var over time.Duration
		for _, r := range c.remotes {
			for _, s := range r.Silences() {
				over = max(over, s.Over)
			}
		}
		left := over - time.Since(c.began)
		if left <= 0 || !periodic.Sleep(ctx, left) {
			return
		}
	}
}

// Await waits until all that the workers recorded was taken in, but for what will not come,
// and until the silences are over that any of them fell into meanwhile.
func (c *Coordinator) Await(ctx context.Context) error {
	if err := c.awaitReceived(ctx); err != nil {
		return err
	}
	c.AwaitDelivery(ctx)
	return nil
}
