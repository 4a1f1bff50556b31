package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Demand counts how the critical sections ended that a phase's load demanded: Offered is the
// sum of the others. It stands in the note of the event that ends the phase.
type Demand struct {
	Offered   int64 `json:"offered"`
	Served    int64 `json:"served"`    // granted
	Dropped   int64 `json:"dropped"`   // never asked for: the backlog was full
	Abandoned int64 `json:"abandoned"` // asked for until the client's patience, or the client, came to an end
	Unserved  int64 `json:"unserved"`  // waiting when the phase ended
	Pending   int64 `json:"pending"`   // the same, but for so short a time that it says nothing

	// Waited counts those that were not served, Pending aside, by how long they
	// had waited at least when they were given up, or the phase ended.
	Waited []Waited `json:"waited,omitempty"`
}

// Waited is so many that had waited at least so long.
type Waited struct {
	AtLeast time.Duration `json:"at_least_ns"`
	Count   int64         `json:"count"`
}

// Failed is how many were certainly not served: without those that were pending.
func (d Demand) Failed() int64 { return d.Dropped + d.Abandoned + d.Unserved }

// Judged is how many were certainly served or not: without those that were pending.
func (d Demand) Judged() int64 { return d.Served + d.Failed() }

const (
	demandWord = "demand:"
	demandText = demandWord + " %d offered %d served %d dropped %d abandoned %d unserved %d pending waited"
)

// Note is the demand as part of a note, up to a semicolon.
func (d Demand) Note() string {
	var b strings.Builder
	fmt.Fprintf(&b, demandText, d.Offered, d.Served, d.Dropped, d.Abandoned, d.Unserved, d.Pending)
	for _, w := range d.Waited {
		fmt.Fprintf(&b, " %v×%d", w.AtLeast, w.Count)
	}
	return b.String()
}

// ParseDemand finds the demand in a note; false when there is none, or it does
// not add up.
func ParseDemand(note string) (d Demand, found bool) {
	at := strings.Index(note, demandWord)
	if at < 0 {
		return d, false
	}
	text, _, _ := strings.Cut(note[at:], ";")
	words := strings.Fields(text)
	head := len(strings.Fields(demandText))
	if len(words) < head {
		return d, false
	}
	n, err := fmt.Sscanf(strings.Join(words[:head], " "), demandText, &d.Offered, &d.Served, &d.Dropped, &d.Abandoned, &d.Unserved, &d.Pending)
	if n != 6 || err != nil {
		return Demand{}, false
	}
	sum := int64(0)
	for _, w := range words[head:] {
		span, count, _ := strings.Cut(w, "×")
		var one Waited
		one.AtLeast, err = time.ParseDuration(span)
		if _, scan := fmt.Sscan(count, &one.Count); err != nil || scan != nil || one.Count < 0 || one.AtLeast < 0 {
			return Demand{}, false
		}
		d.Waited = append(d.Waited, one)
		sum += one.Count
	}
	negative := slices.Min([]int64{d.Offered, d.Served, d.Dropped, d.Abandoned, d.Unserved, d.Pending}) < 0
	if negative || sum != d.Failed() {
		return Demand{}, false
	}
	return d, true
}
