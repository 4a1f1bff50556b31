package distributed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/periodic"
	"locktorture/workload/history"
)

// A Remote is a worker as its coordinator knows it.
type Remote struct {
	Offer

	coordinator *Coordinator
	number      int // among the run's workers, from 0
	asked       atomic.Uint64
	intake      *intake
	ended       chan struct{} // closed when all that it recorded was taken in

	mu       sync.Mutex
	heard    time.Time // when it answered last
	reached  time.Time // when it was asked what it answered so far, the latest
	silences []Silence
	silent   time.Time // since when nobody listens in its place; zero: somebody does
	lost     string    // why it counts as lost
	returned bool      // it was started anew
	forgone  bool      // what is missing of its history will not come
	readings []Reading
	latest   time.Duration // of its events, by its own clock
	err      error         // that kept its history from being taken in
}

// Lost says why the worker counts as lost; empty: it does not. It stays lost: clients
// that were without their harness say nothing of the lock.
func (r *Remote) Lost() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// Whole reports whether all that the worker recorded was taken in.
func (r *Remote) Whole() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Returned reports whether the worker was started anew and sent what it still had.
func (r *Remote) Returned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.returned
}

// Forgo says that what has not come of the worker's history is not to be waited for.
func (r *Remote) Forgo() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgone = true
}

// awaited reports whether more of the worker's history may come: of one that is lost, for
// as long as it has been away less than lostAfter.
func (r *Remote) awaited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.forgone && (r.lost == "" || time.Since(r.heard) < lostAfter)
}

// Err returns what kept the worker's history from being taken in.
func (r *Remote) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Received is how many events were taken in.
func (r *Remote) Received() int { return r.intake.have() }

// Path is the file of the worker's history as it was taken in.
func (r *Remote) Path() string { return r.intake.path }

// Ask has the worker do op, and reads its answer into out unless that is nil. It asks
// again while no answer comes, for as long as ctx lasts and the worker is not lost.
func (r *Remote) Ask(ctx context.Context, op string, in, out any) error {
	q := question{ID: r.asked.Add(1), Op: op}
	var err error
	if q.Body, err = json.Marshal(in); err != nil {
		return err
	}
	raw, err := json.Marshal(q)
	if err != nil {
		return err
	}
	for {
		data, err := r.request(ctx, askPrefix, raw)
		if err == nil {
			var a answer
			if err := json.Unmarshal(data, &a); err != nil {
				return fmt.Errorf("worker %s: %s: %w", r.Name, op, err)
			}
			if a.Err != "" {
				return fmt.Errorf("worker %s: %s", r.Name, a.Err)
			}
			if out == nil {
				return nil
			}
			return json.Unmarshal(a.Body, out)
		}
		if why := r.Lost(); why != "" {
			return fmt.Errorf("worker %s: %s: %w: %s", r.Name, op, ErrLost, why)
		}
		if errors.Is(err, nats.ErrNoResponders) {
			periodic.Sleep(ctx, 100*time.Millisecond)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("worker %s: %s: %w", r.Name, op, context.Cause(ctx))
		}
	}
}

// request asks once, and notes whether the worker is there.
func (r *Remote) request(ctx context.Context, prefix string, raw []byte) ([]byte, error) {
	if r.Lost() != "" {
		return nil, ErrLost
	}
	c := r.coordinator
	ctx, cancel := context.WithTimeout(ctx, askAgain)
	defer cancel()
	asked := time.Now()
	m, err := c.cfg.Conn.RequestWithContext(ctx, prefix+c.run+"."+r.Name, raw)
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.heardAgain(asked, now)
		r.silent = time.Time{}
		return m.Data, nil
	case r.lost != "" || r.Whole():
	case errors.Is(err, nats.ErrNoResponders) && r.silent.IsZero():
		r.silent = now
	case errors.Is(err, nats.ErrNoResponders) && now.Sub(r.silent) > goneAfter:
		r.lose(fmt.Sprintf("nobody has listened in its place since %v after the run began", r.silent.Sub(c.began).Round(time.Millisecond)), true)
	case now.Sub(r.heard) > lostAfter:
		r.lose(fmt.Sprintf("it has not answered since %v after the run began", r.heard.Sub(c.began).Round(time.Millisecond)), false)
	}
	return nil, err
}

// follow reads the worker's clock again and again, until all of its history has come.
func (r *Remote) follow(ctx context.Context) {
	for periodic.Sleep(ctx, readEvery) && !r.Whole() {
		_ = r.readClock(ctx) // what is wrong is noted: it may be lost
	}
}

// readClock reads the worker's clock a few times, and keeps what the fastest exchange
// says.
func (r *Remote) readClock(ctx context.Context) error {
	var best *Reading
	for range readTries {
		sent := time.Since(r.coordinator.began)
		data, err := r.request(ctx, clockPrefix, nil)
		back := time.Since(r.coordinator.began)
		var a clockAnswer
		if err == nil {
			err = json.Unmarshal(data, &a)
		}
		if err != nil {
			return err
		}
		one := Reading{Sent: sent, Back: back, Got: a.Got, Answered: a.Answered}
		if best == nil || one.width() < best.width() {
			best = &one
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readings = append(r.readings, *best)
	r.coordinator.record.add(note{Worker: r.Name, Reading: best})
	return nil
}

// Clock is the worker's clock, for the span of its events.
func (r *Remote) Clock() Clock {
	r.mu.Lock()
	defer r.mu.Unlock()
	return EstimateClock(r.readings, 0, r.latest)
}

// ClockAt is what the worker's clock shows at a time of the coordinator's, as far as it is
// known at this moment.
func (r *Remote) ClockAt(at time.Duration) time.Duration { return at + r.offset() }

// offset is the difference of both clocks by the best of the latest readings.
func (r *Remote) offset() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	latest := r.readings[max(len(r.readings)-8, 0):]
	best := latest[0]
	for _, one := range latest {
		if one.width() <= best.width() {
			best = one
		}
	}
	low, high := best.bounds()
	return low + (high-low)/2
}

// receive appends a batch of the worker's events: each event once, however often it comes.
func (r *Remote) receive(m jetstream.Msg, sink func(r *Remote, e *history.Event)) {
	if r.Err() != nil || r.Whole() {
		return
	}
	offset := r.offset()
	var latest time.Duration
	err := r.intake.append(m.Data(), func(e *history.Event) {
		latest = e.Time
		e.Time -= offset
		if e.HasAll(history.HasValidUntil) {
			e.ValidUntil -= offset
		}
		if e.HasAll(history.HasBegan) {
			e.Began -= offset
		}
		if e.HasAll(history.HasIntended) {
			e.Intended -= offset
		}
		sink(r, e)
	})
	r.mu.Lock()
	r.latest = max(r.latest, latest)
	r.mu.Unlock()
	if end := m.Headers().Get(endHeader); err == nil && end != "" {
		if have := fmt.Sprint(r.intake.have()); have != end {
			err = fmt.Errorf("%s events came, and it recorded %s", have, end)
		} else {
			r.mu.Lock()
			r.returned = m.Headers().Get(returnedHeader) != ""
			if r.returned && r.lost == "" {
				r.lose("it was started anew", true)
			}
			r.mu.Unlock()
			close(r.ended)
		}
	}
	if err != nil {
		r.mu.Lock()
		r.err = fmt.Errorf("history of worker %s: %w", r.Name, err)
		r.mu.Unlock()
	}
}
