package workload_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// runMode runs a mode over a table and returns the history.
func runMode(t *testing.T, change func(*workload.Config)) []history.Event {
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
		if err := workload.Run(t.Context(), cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
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
	events := runMode(t, func(c *workload.Config) { c.Mode, c.Readers = workload.ModeRW, 0.7 })
	marks := count(events, func(e *history.Event) bool {
		return e.Op == history.Read && e.Mode == history.Shared && e.Kind == history.OK && e.HasAll(history.HasSeq|history.HasBase) && e.Fence > 0
	})
	writes := count(events, func(e *history.Event) bool {
		return e.Op == history.Write && e.Mode == history.Exclusive && e.Kind == history.OK
	})
	if marks == 0 || writes == 0 {
		t.Errorf("%d reads under shared leases, %d writes", marks, writes)
	}
}

func TestReentry(t *testing.T) {
	events := runMode(t, func(c *workload.Config) { c.Mode = workload.ModeReentrant })
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
	events := runMode(t, func(c *workload.Config) { c.Mode = workload.ModeMulti })
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
			})
			// Only the end of the phase refuses: once per client at most.
			if refused := count(events, of(history.Acquire, history.Fail)); refused > 4 {
				t.Errorf("%d refusals", refused)
			}
			if count(events, of(history.Acquire, history.OK)) < 5 {
				t.Error("hardly a grant")
			}
		})
	}
}

// In an open loop every attempt says when its arrival was due, and arrivals
// that find the backlog full are counted.
func TestOpenLoop(t *testing.T) {
	events := runMode(t, func(c *workload.Config) {
		c.Rate, c.Arrivals, c.Backlog, c.Hold = 2000, workload.ArrivalsConstant, 2, workload.Fixed(5*time.Millisecond)
	})
	late := 0
	for _, e := range events {
		switch {
		case e.Op == history.Acquire && e.Kind == history.Invoke:
			if !e.HasAll(history.HasIntended) || e.Intended > e.Time {
				t.Fatalf("attempt without the moment it was due: %+v", e)
			}
			late++
		case e.HasAll(history.HasIntended):
			t.Fatalf("only an attempt is due: %+v", e)
		}
	}
	if late == 0 {
		t.Error("no attempt")
	}
}
