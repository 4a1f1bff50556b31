package checker

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMovedClock judges what rests on a clock that was moved: nothing by time, as long as
// the clock of one of those in it was moved meanwhile; what one process did in turn, as ever.
func TestMovedClock(t *testing.T) {
	const held = `
		0ms a invoke acquire k
		1ms a ok acquire k until 100ms`
	moved := func(whose, from, to string) string {
		return from + " nemesis invoke fault worker-clock target " + whose + "\n" + from + " nemesis ok fault worker-clock target " + whose + " receipt moved\n" +
			to + " nemesis invoke heal worker-clock target " + whose + "\n" + to + " nemesis ok heal worker-clock target " + whose + " receipt over"
	}
	for _, c := range []struct{ name, id, history string }{
		{"a grant answered after its end, its stamps standing still", "S7", "120ms a invoke acquire k\n120ms a ok acquire k until 100ms"},
		{"two holders", "S1", held + `
			20ms b invoke acquire k
			120ms b ok acquire k until 220ms
			130ms c invoke acquire k
			131ms c ok acquire k until 230ms`},
		{"a write after its lease", "S3z", held + `
			120ms a invoke write k value a1
			121ms a ok write k value a1 seq 1`},
	} {
		owner := "a"
		if c.id == "S1" {
			owner = "b"
		}
		for _, m := range []struct {
			name, faults string
			excused      bool
		}{
			{"not at all", "", false},
			{"meanwhile", moved(owner, "110ms", "125ms"), true},
			{"for good", "110ms nemesis invoke fault worker-clock target " + owner + "\n110ms nemesis ok fault worker-clock target " + owner + " receipt moved", true},
			{"afterwards", moved(owner, "240ms", "250ms"), false},
			{"of somebody else", moved("other", "110ms", "125ms"), false},
		} {
			h := parse(t, "ttl 100ms", inTimeOrder(c.history+"\n"+m.faults))
			r := Check(t.Context(), h, Options{})
			has := func(all []Finding) bool {
				return slices.ContainsFunc(all, func(f Finding) bool { return f.ID == c.id })
			}
			if has(r.Violations) == m.excused || has(r.Suspicious) != m.excused {
				t.Errorf("%s, a clock that was moved %s: %v, suspicious %v", c.name, m.name, short(r.Violations), short(r.Suspicious))
			}
		}
	}
	refused := held + `
		10ms nemesis invoke fault worker-clock target a
		10ms nemesis ok fault worker-clock target a receipt moved
		38ms a invoke extend k
		40ms a fail extend k err lost
		60ms a invoke write k value a1
		61ms a ok write k value a1 seq 1
		70ms nemesis invoke heal worker-clock target a
		70ms nemesis ok heal worker-clock target a receipt over`
	if r := Check(t.Context(), parse(t, "ttl 100ms", refused), Options{}); !slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S8" }) {
		t.Errorf("a write after its own process was refused: %v", short(r.Violations))
	}
}

// inTimeOrder puts lines in the order of their times.
func inTimeOrder(text string) string {
	at := func(line string) time.Duration {
		stamp, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		d, _ := time.ParseDuration(stamp) // an empty line comes first
		return d
	}
	lines := strings.Split(text, "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	return strings.Join(lines, "\n")
}
