package workload_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// runMode runs a mode over a table until there is enough to see, and returns
// the history.
func runMode(t *testing.T, change func(*workload.Config), enough func(*history.Event) bool) []history.Event {
	t.Helper()
	shared := &table{cells: map[string]*cell{}}
	r := newRig(t, 4)
	for _, c := range r.clients {
		connect := c.Connect
		c.Connect = func(ctx context.Context) (*workload.Conn, error) {
			conn, err := connect(ctx)
			conn.Locker = &tableLock{shared, c.Name}
			return conn, err
		}
	}
	cfg := load()
	cfg.TTL, cfg.Keys = time.Minute, 3
	change(&cfg)
	events := record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, enough)
	})
	for key, c := range shared.cells {
		if c.depth != 0 || c.readers != 0 || c.waiting != 0 {
			t.Errorf("%s is not free at the end: %+v", key, *c)
		}
	}
	if count(events, of(history.Acquire, history.OK)) != count(events, of(history.Release, history.OK)) {
		t.Error("grants and releases differ in number")
	}
	return events
}

func TestReadersAndWriters(t *testing.T) {
	mark := func(e *history.Event) bool {
		return e.Op == history.Read && e.Mode == history.Shared && e.Kind == history.OK && e.HasAll(history.HasSeq|history.HasBase) && e.Fence > 0
	}
	write := func(e *history.Event) bool {
		return e.Op == history.Write && e.Mode == history.Exclusive && e.Kind == history.OK
	}
	runMode(t, func(c *workload.Config) { c.Mode, c.Readers = workload.ModeRW, 0.7 }, all(times(5, mark), times(5, write)))
}

func TestReentry(t *testing.T) {
	events := runMode(t, func(c *workload.Config) { c.Mode = workload.ModeReentrant }, times(10, of(history.Release, history.OK)))
	depth, fence, nested := map[string]int{}, map[string]uint64{}, 0
	for _, e := range events {
		if e.Kind != history.OK {
			continue
		}
		switch e.Op {
		case history.Acquire:
			if depth[e.Owner]++; depth[e.Owner] == 2 {
				nested++
				if e.Fence != fence[e.Owner] {
					t.Errorf("re-entry changed the token: %+v", e)
				}
			}
			fence[e.Owner] = e.Fence
		case history.Release:
			depth[e.Owner]--
		}
	}
	if nested == 0 {
		t.Error("no key was taken twice")
	}
}

func TestSeveralKeysAtOnce(t *testing.T) {
	events := runMode(t, func(c *workload.Config) { c.Mode = workload.ModeMulti }, times(10, of(history.Release, history.OK)))
	held := map[string][]string{}
	both := 0
	for _, e := range events {
		if e.Kind != history.OK {
			continue
		}
		switch e.Op {
		case history.Acquire:
			held[e.Owner] = append(held[e.Owner], e.Key)
		case history.Write:
			if keys := held[e.Owner]; len(keys) != 2 || keys[0] == keys[1] || !slices.Contains(keys, e.Key) {
				t.Fatalf("write to %s while holding %v", e.Key, keys)
			}
			both++
		case history.Release:
			held[e.Owner] = nil
		}
	}
	if both == 0 {
		t.Error("no write under two keys")
	}
}

func TestWaiting(t *testing.T) {
	for name, change := range map[string]func(*workload.Config){
		"fair": func(c *workload.Config) { c.Mode = workload.ModeFair },
		"wait": func(c *workload.Config) { c.Wait = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			events := runMode(t, func(c *workload.Config) {
				c.Keys = 1
				change(c)
			}, times(20, of(history.Acquire, history.OK)))
			// Only the end of the phase refuses: once per client at most.
			if refused := count(events, of(history.Acquire, history.Fail)); refused > 4 {
				t.Errorf("%d refusals", refused)
			}
		})
	}
}

// In an open loop every attempt says when its arrival was due, and arrivals
// that find the backlog full are counted.
func TestOpenLoop(t *testing.T) {
	attempt := of(history.Acquire, history.Invoke)
	events := runMode(t, func(c *workload.Config) {
		c.Rate, c.Arrivals, c.Backlog, c.Hold = 2000, workload.ArrivalsConstant, 2, workload.Fixed(5*time.Millisecond)
	}, times(50, attempt))
	for _, e := range events {
		if attempt(&e) != e.HasAll(history.HasIntended) {
			t.Fatalf("attempts say when they were due, and nothing else does: %+v", e)
		}
		if attempt(&e) && e.Intended > e.Time {
			t.Fatalf("attempt before it was due: %+v", e)
		}
	}
}
