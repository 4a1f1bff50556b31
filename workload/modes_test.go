package workload_test

import (
	"slices"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// runMode runs a mode over a table until there is enough to see, and returns
// the history.
func runMode(t *testing.T, change func(*workload.Config), enough func(*history.Event) bool) []history.Event {
	t.Helper()
	shared := &table{cells: map[string]*cell{}}
	r := newRig(t, 4, func(r *rig) { r.lock = func(name string) lockimpl.Locker { return &tableLock{shared, name} } })
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

// At the end a key that readers share is left to one client as a reader and as a writer by turns,
// so that what a reader leaves behind, and readers keep alive, is met by somebody who would write.
func TestAtTheEndAKeyIsReadAndWrittenByTurns(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    workload.Mode
		readers float64
	}{{"mixed", workload.ModeMixed, 0}, {"rw", workload.ModeRW, 0.5}} {
		t.Run(c.name, func(t *testing.T) {
			left := &table{cells: map[string]*cell{"k1": {readers: 1}}} // by a reader who is no more
			r := newRig(t, 2, func(r *rig) { r.lock = func(name string) lockimpl.Locker { return &tableLock{left, name} } })
			cfg := load()
			cfg.Mode, cfg.Keys, cfg.TTL, cfg.Wait, cfg.Readers = c.mode, 4, 50*time.Millisecond, time.Millisecond, c.readers
			row, turns := 0, 0 // writers refused in a row, and readers granted in between
			record(t, func(rec *history.Recorder) {
				runUntil(t, rec, workload.RunFinal, cfg, r.clients, func(e *history.Event) bool {
					switch {
					case e.Op != history.Acquire || e.Key != "k1":
					case e.Mode == history.Shared && e.Kind == history.OK && row > 0:
						turns, row = turns+1, 0
					case e.Mode == history.Exclusive && e.Kind == history.Fail:
						row++
					}
					return turns >= 3
				})
			})
		})
	}
}

// Readers ask for two leases' length from the first turn on, before a writer can take away what keeps
// them out. Who was refused as a writer asks as a reader for as long again, and the other way round: so
// long a lock may keep the place in line of the other one that he is.
func TestAtTheEndWhoIsRefusedAsOneAsksForLongAsTheOther(t *testing.T) {
	left := &table{cells: map[string]*cell{"k0": {depth: 1, writer: "nobody"}}}
	r := newRig(t, 1, func(r *rig) { r.lock = func(name string) lockimpl.Locker { return &tableLock{left, name} } })
	cfg := load()
	cfg.Mode, cfg.Keys, cfg.TTL, cfg.Wait, cfg.Readers = workload.ModeRW, 1, 20*time.Millisecond, time.Millisecond, 0.5
	var mode history.Mode
	var last, before time.Duration // when the attempt before was answered, and the last one of the turn before
	turns := 0
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.RunFinal, cfg, r.clients, func(e *history.Event) bool {
			switch {
			case e.Op != history.Acquire:
			case e.Kind != history.Invoke:
				last = e.Time
			case e.Mode != mode:
				if turns++; turns > 1 && e.Time-before < 2*cfg.TTL {
					t.Errorf("asked in one mode for %s at most, and then in the other", e.Time-before)
				}
				mode, before = e.Mode, last
			}
			return turns > 6
		})
	})
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
