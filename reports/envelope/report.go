// Package envelope shows how far a lock can be trusted: over leases of many lengths, and
// pauses, delays and wrong clocks of many lengths.
package envelope

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/reports/unit"
)

// A Report is the envelope of one lock.
type Report struct {
	Schema   int             `json:"schema"`
	Command  string          `json:"command"`
	Version  string          `json:"version"`
	Lock     string          `json:"lock"`
	Masters  int             `json:"masters"`
	Redis    string          `json:"redis,omitempty"` // the servers of it; empty: in memory, in virtual time
	Fenced   bool            `json:"fenced"`          // whether the lock gives tokens, and the store checks them
	Hold     time.Duration   `json:"hold_ns"`
	Clients  int             `json:"clients"`
	Rate     float64         `json:"rate"` // arrivals per second
	Patience time.Duration   `json:"patience_ns"`
	Times    int             `json:"times"`  // that a fault comes in a round
	Rounds   int             `json:"rounds"` // of every cell that were asked for
	Seed     uint64          `json:"seed"`
	Began    time.Time       `json:"began"`
	Took     time.Duration   `json:"took_ns"`
	TTLs     []time.Duration `json:"ttls_ns"`
	Maps     []Map           `json:"maps"`
	Advice   []string        `json:"advice"`
}

// An Axis is what a map varies beside the lease.
type Axis struct {
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	Values []time.Duration `json:"values_ns"`
	Lines  []time.Duration `json:"lines_ns"` // for each lease, from where on theory expects harm; none: there is no line
	Line   string          `json:"line"`     // what theory says
}

// A Map is one cell for every lease and value.
type Map struct {
	Axis
	Cells [][]Cell `json:"cells"` // by lease, then by value
}

// NewMap is one without a round.
func NewMap(a Axis, ttls []time.Duration) Map {
	m := Map{Axis: a}
	for range ttls {
		m.Cells = append(m.Cells, make([]Cell, len(a.Values)))
	}
	return m
}

// A Cell is what the rounds of one lease and one value came to.
type Cell struct {
	Rounds     int            `json:"rounds"`
	Void       int            `json:"void,omitempty"`       // rounds that say nothing, since the harness was in trouble or lagged
	VoidWhy    string         `json:"void_why,omitempty"`   // of the last of them
	VoidHarm   map[string]int `json:"void_harm,omitempty"`  // violations that were proved in them all the same, by anomaly
	Missing    string         `json:"missing,omitempty"`    // why it cannot be played
	Faults     int            `json:"faults"`               // that took effect
	Saves      int            `json:"fence_saves"`          // late writes that the fence rejected: without one they are stale writes
	Harm       int            `json:"harm"`                 // violations that happened all the same
	Violations map[string]int `json:"violations,omitempty"` // as which anomalies they were proved; some as several
	Offered    int64          `json:"offered"`
	Served     int64          `json:"served"`
	Longest    time.Duration  `json:"longest_wait_ns"`
}

// Add counts the violations of a round, by anomaly. Two anomalies often prove one and the
// same thing: there are as many violations as the most frequent of them tells.
func (c *Cell) Add(found map[string]int) {
	most := 0
	for id, n := range found {
		if c.Violations == nil {
			c.Violations = map[string]int{}
		}
		c.Violations[id] += n
		most = max(most, n)
	}
	c.Harm += most
}

// AddVoid adds a round that is in no figure: why, and what was proved in it all the same.
func (c *Cell) AddVoid(why string, found map[string]int) {
	c.Void++
	c.VoidWhy = why
	for id, n := range found {
		if c.VoidHarm == nil {
			c.VoidHarm = map[string]int{}
		}
		c.VoidHarm[id] += n
	}
}

// Unfenced is how many violations there would be without a fence.
func (c Cell) Unfenced() int { return c.Saves + c.Harm }

// Available is the share of requests that were served within their patience; −1 where
// there was none.
func (c Cell) Available() float64 {
	if c.Offered == 0 {
		return -1
	}
	return float64(c.Served) / float64(c.Offered)
}

// Beyond reports whether theory expects harm in a cell.
func (m Map) Beyond(lease, value int) bool {
	return len(m.Lines) > 0 && m.Values[value] >= m.Lines[lease]
}

// Validity is how much of a lease a holder may count on, with the usual allowance for
// clocks that drift.
// Source: Redis documentation, "Distributed locks with Redis".
func Validity(ttl time.Duration) time.Duration { return ttl - ttl/100 - 2*time.Millisecond }

// find returns a map by its name.
func (r *Report) find(name string) *Map {
	i := slices.IndexFunc(r.Maps, func(m Map) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Maps[i]
}

// covered is up to which value a lease showed no harm, in all of its cells up to there;
// false when not even the smallest, or when it was not played.
func (m *Map) covered(lease int, harmless func(Cell) bool) (last time.Duration, ok bool) {
	for x, c := range m.Cells[lease] {
		if c.Rounds == 0 || c.Faults == 0 || !harmless(c) {
			break
		}
		last, ok = m.Values[x], true
	}
	return last, ok
}

// enoughServed is the share of requests that counts as available.
const enoughServed = 0.95

// A Choice is one length of the lease, with what it covers and what it costs.
type Choice struct {
	TTL    time.Duration
	Covers []string
	Cost   string
}

// Length is the lease in words.
func (c Choice) Length() string { return unit.Setting(c.TTL) }

// Choices are what each lease covers and costs.
func (r *Report) Choices() (out []Choice) {
	for i, ttl := range r.TTLs {
		c := Choice{TTL: ttl}
		for _, one := range []struct {
			axis, words, none string
			harmless          func(Cell) bool
		}{
			{"pause", "pauses up to %s", "no pause that was tried", func(c Cell) bool { return c.Unfenced() == 0 }},
			{"delay", "delays up to %s", "no delay that was tried", func(c Cell) bool { return c.Unfenced() == 0 && c.Available() >= enoughServed }},
			{"clock", "clocks that jump by up to %s", "no jump of clocks that was tried", func(c Cell) bool { return c.Unfenced() == 0 }},
		} {
			if m := r.find(one.axis); m != nil {
				covered := one.none
				if m.Cells[i][0].Rounds == 0 {
					covered = one.axis + ": nobody knows (not played)"
				}
				if last, ok := m.covered(i, one.harmless); ok {
					covered = fmt.Sprintf(one.words, unit.Setting(last))
				}
				c.Covers = append(c.Covers, covered)
			}
		}
		c.Cost = "not measured"
		if m := r.find("crash"); m != nil && m.Cells[i][0].Rounds > 0 && m.Cells[i][0].Faults > 0 {
			c.Cost = fmt.Sprintf("after a holder's crash others waited up to %s (%s)", unit.Latency(m.Cells[i][0].Longest), unit.Counted(m.Cells[i][0].Faults, "crash"))
		}
		out = append(out, c)
	}
	return out
}

// Advise writes what follows for the choice of a lease.
func (r *Report) Advise() {
	r.Advice = nil
	say := func(format string, args ...any) { r.Advice = append(r.Advice, fmt.Sprintf(format, args...)) }
	var saved, through, inside, short int
	ids := map[string]int{}
	for _, m := range r.Maps {
		for t, row := range m.Cells {
			for x, c := range row {
				saved, through = saved+c.Saves, through+c.Harm
				if len(m.Lines) > 0 && !m.Beyond(t, x) && c.Rounds > 0 {
					short++
					if c.Unfenced() > 0 {
						inside++
					}
				}
				for id, n := range c.Violations {
					ids[id] += n
				}
			}
		}
	}
	say("Choose the shortest lease that covers the pauses, delays and clock errors that you have to expect: a longer one costs waiting after a crash, a shorter one costs leases that are lost in vain.")
	switch {
	case !r.Played():
		r.Advice = []string{"Nothing was played, so that nothing is known of any lease."}
		return
	case r.Fenced && through+saved == 0:
		say("These rounds brought about no late write: of the fence they say nothing.")
	case r.Fenced && through == 0:
		say("The fence rejected all %s late writes that these rounds brought about; a store that does not check tokens would have taken every one of them.", unit.Count(saved))
	case through > 0:
		say("%s happened in spite of everything (%s), beside %s late writes that a fence rejected: beyond the envelope this lock does not keep what it promises.", unit.Counted(through, "violation"), times(ids), unit.Count(saved))
	default:
		say("No violation was seen, and the lock has no fence that would have hidden one.")
	}
	if inside > 0 {
		say("%s short of the theoretical line showed harm: look at these first.", unit.Counted(inside, "cell"))
	} else if short > 0 {
		say("None of the %s short of a theoretical line that were played showed harm.", unit.Counted(short, "cell"))
	} else {
		say("No cell short of a theoretical line was played: of these lines nothing is known.")
	}
}

// all are the cells.
func (r *Report) all() (out []Cell) {
	for _, m := range r.Maps {
		out = append(out, slices.Concat(m.Cells...)...)
	}
	return out
}

// Warnings say which rounds are in no figure, and of which cells less is known than was
// asked for.
func (r *Report) Warnings() (out []string) {
	var rounds, void, empty, fewer int
	why, harm, missing := "", map[string]int{}, map[string]int{}
	for _, c := range r.all() {
		rounds, void = rounds+c.Rounds+c.Void, void+c.Void
		if why == "" {
			why = c.VoidWhy
		}
		for id, n := range c.VoidHarm {
			harm[id] += n
		}
		switch {
		case c.Missing != "":
			missing[c.Missing]++
		case c.Rounds == 0:
			empty++
		case c.Rounds < r.Rounds:
			fewer++
		}
	}
	if void > 0 {
		text := fmt.Sprintf("%d of %s are in no figure, since the harness was in trouble or the machine too busy for it: such as %q (void, in the JSON)", void, unit.Counted(rounds, "round"), why)
		if len(harm) > 0 {
			text += fmt.Sprintf("; proved in them all the same, of no cell: %s", times(harm))
		}
		out = append(out, text)
	}
	for _, reason := range slices.Sorted(maps.Keys(missing)) {
		out = append(out, fmt.Sprintf("%s cannot be played: %s", unit.Counted(missing[reason], "cell"), reason))
	}
	if empty > 0 {
		out = append(out, fmt.Sprintf("%s without a round: the budget left no time for them, or none of theirs counts", unit.Counted(empty, "cell")))
	}
	if fewer > 0 {
		out = append(out, fmt.Sprintf("%s with fewer rounds than the %d that were asked for", unit.Counted(fewer, "cell"), r.Rounds))
	}
	return out
}

// times lists anomalies with how often they were proved.
func times(ids map[string]int) string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		list = append(list, fmt.Sprintf("%s ×%d", id, ids[id]))
	}
	return strings.Join(list, ", ")
}

// Played reports whether any cell has a round.
func (r *Report) Played() bool {
	return slices.ContainsFunc(r.all(), func(c Cell) bool { return c.Rounds > 0 })
}
