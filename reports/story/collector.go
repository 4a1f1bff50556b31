package story

import (
	"slices"

	"locktorture/checker"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// What a Collector keeps of one violation at most.
const (
	keepBefore = 200 // events on the key before the first witness
	keepWithin = 800
	keepAfter  = 120
	keepFaults = 5000
)

// A Collector is a history.Sink that keeps what tells the first violations of
// a report: a bounded share of the history around their witnesses.
type Collector struct {
	header  history.Header
	nemesis []history.Event
	cases   []*collected
}

// collected is what is kept for one violation.
type collected struct {
	finding checker.Finding
	first   int // least and greatest witness index
	last    int
	before  []history.Event
	within  []history.Event
	after   int
}

// NewCollector prepares to tell the first n of found.
func NewCollector(h history.Header, found []checker.Finding, n int) *Collector {
	c := &Collector{header: h}
	for _, f := range found[:min(n, len(found))] {
		k := &collected{finding: f, first: -1, last: -1}
		if len(f.Witness) > 0 {
			k.first, k.last = slices.Min(f.Witness), slices.Max(f.Witness)
		}
		c.cases = append(c.cases, k)
	}
	return c
}

// Event implements history.Sink.
func (c *Collector) Event(e *history.Event) {
	if e.Op == history.Fault || e.Op == history.Heal {
		if len(c.nemesis) < keepFaults {
			c.nemesis = append(c.nemesis, *e)
		}
		return
	}
	for _, k := range c.cases {
		k.event(e)
	}
}

func (k *collected) event(e *history.Event) {
	_, witness := slices.BinarySearch(k.finding.Witness, e.Index)
	switch {
	case witness:
		k.within = append(k.within, *e)
	case k.first < 0 || k.finding.Key == "" || e.Key != k.finding.Key && !silent(e):
	case e.Index < k.first:
		k.before = append(k.before, *e)
		if len(k.before) >= 2*keepBefore {
			k.before = slices.Clone(k.before[keepBefore:])
		}
	case e.Index <= k.last && len(k.within) < keepWithin:
		k.within = append(k.within, *e)
	case e.Index > k.last && k.after < keepAfter:
		k.after++
		k.within = append(k.within, *e)
	}
}

// silent reports whether e says that a node did not answer, whatever it was asked for.
func silent(e *history.Event) bool {
	return e.Op == history.Key && e.Kind == history.Fail && e.Key == ""
}

// Stories tells the violations, once every event was seen, in texts that are
// fit to print.
func (c *Collector) Stories() []Story {
	var out []Story
	for i, k := range c.cases {
		out = append(out, printable.Of(c.story(i+1, k)))
	}
	return out
}
