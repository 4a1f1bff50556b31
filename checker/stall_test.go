package checker

import (
	"slices"
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// TestStalls judges what was stamped across the harness's own stalls: each case
// fails without one, and with one that was too short or elsewhere, and is only
// suspicious where the stall may have made it.
func TestStalls(t *testing.T) {
	const held = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 100ms`
	for _, c := range []struct {
		name, header, history string
		bounds                map[string]int64
		id                    string
		excused, stands       []string // stalls
	}{
		{
			name: "a grant answered after its end", header: "ttl 100ms", id: "S7",
			history: "0ms a invoke acquire k\n120ms a ok acquire k until 100ms",
			excused: []string{"began 50ms ended 90ms", "began 90ms ended 130ms", "began 1ms ended 12ms\nnemesis ok stall began 12ms ended 23ms", "began 50ms ended 130ms lag 20ms"},
			stands:  []string{"began 50ms ended 60ms", "began 120ms ended 150ms", "began 50ms ended 60ms\nnemesis ok stall began 52ms ended 61ms", "began 50ms ended 130ms lag 19ms"},
		},
		{
			name: "such a grant, by the lock's own word", header: "ttl 100ms", id: "S7",
			history: "0ms a invoke acquire k\n120ms a ok acquire k until 100ms ended 110ms",
			stands:  []string{"began 50ms ended 118ms"},
		},
		{
			name: "a write after its lease", header: "ttl 100ms", id: "S3z",
			history: held + `
				110ms a invoke write k value a1
				111ms a ok write k value a1 seq 1`,
			excused: []string{"began 95ms ended 110ms", "began 20ms ended 60ms"},
			stands:  []string{"began 95ms ended 104ms", "began 110ms ended 130ms"},
		},
		{
			name: "such a write, by the child's own word", header: "ttl 100ms", id: "S3z",
			history: held + `
				105ms a invoke write k value a1
				111ms a ok write k value a1 seq 1 began 106ms`,
			stands: []string{"began 50ms ended 105ms"},
		},
		{
			name: "a write after its lease, with clocks apart", header: "ttl 100ms epsilon 2ms", id: "S3z",
			history: held + `
				110ms a1 invoke write k owner a value a1
				111ms a1 ok write k owner a value a1 seq 1`,
			excused: []string{"began 102ms ended 110ms"},
			stands:  []string{"began 102.1ms ended 110ms"},
		},
		{
			name: "a write after another process was told of the loss", header: "ttl 100ms epsilon 2ms", id: "S8",
			history: held + `
				40ms a ok lost k
				60ms a0 invoke write k owner a value a1
				61ms a0 ok write k owner a value a1 seq 1`,
			excused: []string{"began 42ms ended 60ms"},
			stands:  []string{"began 42.1ms ended 60ms", "began 61ms ended 90ms"},
		},
		{
			name: "a write after its own process was told of the loss", header: "ttl 100ms epsilon 2ms", id: "S8",
			history: held + `
				40ms a ok lost k
				60ms a invoke write k value a1
				61ms a ok write k value a1 seq 1`,
			stands: []string{"began 40ms ended 60ms"},
		},
		{
			name: "a write after another process was told of the loss, by the child's own word", header: "ttl 100ms epsilon 2ms", id: "S8",
			history: held + `
				40ms a ok lost k
				59ms a0 invoke write k owner a value a1
				61ms a0 ok write k owner a value a1 seq 1 began 60ms`,
			stands: []string{"began 40ms ended 60ms"},
		},
		{
			name: "a write after another process was refused an extension", header: "ttl 100ms epsilon 2ms", id: "S8",
			history: held + `
				38ms a invoke extend k
				40ms a fail extend k err lost
				60ms a0 invoke write k owner a value a1
				61ms a0 ok write k owner a value a1 seq 1`,
			excused: []string{"began 42ms ended 60ms"},
			stands:  []string{"began 42.1ms ended 60ms", "began 61ms ended 90ms"},
		},
		{
			name: "a write after its own process was refused an extension", header: "ttl 100ms epsilon 2ms", id: "S8",
			history: held + `
				38ms a invoke extend k
				40ms a fail extend k err lost
				60ms a invoke write k value a1
				61ms a ok write k value a1 seq 1`,
			stands: []string{"began 40ms ended 60ms"},
		},
		{
			name: "a takeover before its holder was told", header: "ttl 100ms", id: "S10",
			history: held + `
				2ms nemesis invoke fault kill-node target n1 instant
				3ms nemesis ok fault kill-node target n1 receipt gone instant
				4ms b invoke acquire k
				5ms b ok acquire k until 104ms
				40ms a ok lost k`,
			excused: []string{"began 5ms ended 40ms"},
			stands:  []string{"began 5.1ms ended 40ms"},
		},
		{
			name: "a late report of a loss", header: "ttl 100ms", id: "S11", bounds: map[string]int64{"loss_ns": 10e6},
			history: held + `
				101ms b invoke acquire k
				102ms b ok acquire k until 200ms
				120ms a ok lost k`,
			excused: []string{"began 105ms ended 119ms"},
			stands:  []string{"began 105ms ended 112ms"},
		},
		{
			name: "a loss without a cause", header: "ttl 100ms", id: "L5",
			history: "nemesis ok phase main" + held + `
				50ms a ok lost k`,
			excused: []string{"began 20ms ended 30ms"},
			stands:  []string{"began 60ms ended 70ms"},
		},
		{
			name: "two holders, until one is told of its loss", header: "ttl 100ms", id: "S1",
			history: held + `
				20ms b invoke acquire k
				21ms b ok acquire k until 120ms
				40ms a ok lost k`,
			excused: []string{"began 20ms ended 40ms"},
			stands:  []string{"began 25ms ended 40ms", "began 0ms ended 20ms"},
		},
		{
			name: "two holders", header: "ttl 100ms", id: "S1",
			history: held + `
				20ms b invoke acquire k
				21ms b ok acquire k until 120ms`,
			stands: []string{"began 0ms ended 200ms"},
		},
		{
			name: "an orphan", header: "ttl 10ms", id: "L1", bounds: map[string]int64{"retry_ns": 5e6},
			history: `
				 2ms nemesis ok phase final
				18ms b invoke acquire k
				19ms b fail acquire k
				20ms b invoke acquire k
				21ms b fail acquire k
				22ms b invoke acquire k
				23ms b fail acquire k`,
			excused: []string{"began 3ms ended 8ms", "began 12ms ended 90ms"}, // nobody can hold it from 17 ms on
			stands:  []string{"began 3ms ended 7ms", "began 13ms ended 90ms", "began 17ms ended 90ms"},
		},
		{
			name: "a key without an owner", header: "ttl 100ms", id: "L8",
			history: held + `
				10ms a invoke release k
				11ms a ok release k
				12ms nemesis ok phase final
				300ms witness ok key k node n1 holder a pttl 50`,
			excused: []string{"began 12ms ended 211ms"},
			stands:  []string{"began 12ms ended 210ms", "began 301ms ended 490ms"},
		},
	} {
		judge := func(stall string) Report {
			text := c.history
			if stall != "" {
				text += "\n500ms nemesis ok stall " + stall
			}
			h := parse(t, c.header, text)
			h.Header.Bounds = c.bounds
			return Check(t.Context(), h, Options{})
		}
		has := func(fs []Finding) bool {
			return slices.ContainsFunc(fs, func(f Finding) bool { return f.ID == c.id })
		}
		for _, stall := range append(c.stands, "") {
			if r := judge(stall); !has(r.Violations) || r.Verdict != Fail {
				t.Errorf("%s, stall %q: %s %v, suspicious %v, want FAIL", c.name, stall, r.Verdict, short(r.Violations), short(r.Suspicious))
			}
		}
		for _, stall := range c.excused {
			if r := judge(stall); has(r.Violations) || !has(r.Suspicious) || r.Verdict == Fail {
				t.Errorf("%s, stall %q: %s %v, suspicious %v, want it suspicious", c.name, stall, r.Verdict, short(r.Violations), short(r.Suspicious))
			}
		}
	}
}

// TestStallsWithin adds up what overlaps, whatever order it came in.
func TestStallsWithin(t *testing.T) {
	s := ledger.Stalls{All: []ledger.Interval{{From: 50, To: 60}, {From: 10, To: 20}, {From: 15, To: 25}, {From: 60, To: 61}, {From: 90, To: 90}}}
	for _, test := range []struct{ from, to, want time.Duration }{
		{0, 100, 26}, {0, 10, 0}, {12, 22, 10}, {25, 50, 0}, {24, 51, 2}, {60, 61, 1}, {61, 100, 0}, {20, 10, 0},
	} {
		if got := s.Within(test.from, test.to); got != test.want {
			t.Errorf("[%d, %d]: %d, want %d", test.from, test.to, got, test.want)
		}
	}
}

// TestStallsOfPartOfAnInterval adds up what the harness may have been stopped for, where it was
// stopped for some of an interval: never for longer than that, nor for longer than what is asked
// of. What is told of in both ways may be two standstills.
func TestStallsOfPartOfAnInterval(t *testing.T) {
	s := ledger.Stalls{
		All:  []ledger.Interval{{From: 42, To: 45}, {From: 200, To: 219}},
		Some: []ledger.Stopped{{Interval: ledger.Interval{From: 10, To: 60}, For: 5}, {Interval: ledger.Interval{From: 50, To: 110}, For: 20}, {Interval: ledger.Interval{From: 190, To: 240}, For: 20}},
	}
	for _, test := range []struct{ from, to, want time.Duration }{
		{0, 40, 5}, {0, 10, 0}, {0, 12, 2}, {57, 60, 3}, {0, 50, 8}, {0, 110, 28}, {109, 120, 1}, {110, 190, 0}, {0, 300, 67}, {215, 240, 24}, {43, 47, 4}, {20, 10, 0},
	} {
		if got := s.Within(test.from, test.to); got != test.want {
			t.Errorf("[%d, %d]: %d, want %d", test.from, test.to, got, test.want)
		}
	}
	if got := s.Longest(); got != 20 {
		t.Errorf("longest %d, want 20", got)
	}
	s.All = append(s.All, ledger.Interval{From: 300, To: 321})
	if got := s.Longest(); got != 21 {
		t.Errorf("longest %d, want 21", got)
	}
}

// TestManyStallsOfPartOfAnInterval: of more than are kept, neighbours become one, which lasts
// from where the first began to where the last ended, and for as long as both together.
func TestManyStallsOfPartOfAnInterval(t *testing.T) {
	var s ledger.Stalls
	stall := func(from, to, lag int) {
		s.Observe(&history.Event{Kind: history.OK, Op: history.Stall, Time: time.Duration(to), Began: time.Duration(from), Ended: time.Duration(to), Lag: time.Duration(lag), Has: history.HasLag})
	}
	for k := range ledger.MaxStalls / 2 {
		stall(100*k+10, 100*k+60, 5)
		stall(100*k, 100*k+40, 7)
	}
	if len(s.Some) != ledger.MaxStalls {
		t.Fatalf("%d are kept, want %d", len(s.Some), ledger.MaxStalls)
	}
	const end = 50 * ledger.MaxStalls
	stall(end, end+50, 3)
	if n := len(s.Some); n != ledger.MaxStalls/2+1 {
		t.Fatalf("%d are kept, want %d", n, ledger.MaxStalls/2+1)
	}
	for i, want := range map[int]ledger.Stopped{
		0: {Interval: ledger.Interval{From: 0, To: 60}, For: 12}, 1: {Interval: ledger.Interval{From: 100, To: 160}, For: 12},
		ledger.MaxStalls/2 - 1: {Interval: ledger.Interval{From: end - 100, To: end - 40}, For: 12}, ledger.MaxStalls / 2: {Interval: ledger.Interval{From: end, To: end + 50}, For: 3},
	} {
		if s.Some[i] != want {
			t.Errorf("number %d is %+v, want %+v", i, s.Some[i], want)
		}
	}
}
