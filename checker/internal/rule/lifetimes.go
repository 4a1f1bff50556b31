package rule

import (
	"time"

	"locktorture/checker/internal/ledger"
)

// Lifetimes are for how long leases were renewed automatically, from their grants to their deadlines.
// A lock may renew each of them for some time at most, and let it end: no history says so but by what
// becomes of all of them.
type Lifetimes struct {
	*Env
	longest time.Duration
	told    []time.Duration // of the latest that ended with a reported loss
}

const (
	endsAtMaximum   = 3 // leases that must have ended after about the same time, and none later
	lifetimesApart  = 4 // part of a TTL by which they may differ
	outlivedByShare = 2 // part of a TTL by which another lease must have outlived one
)

// Ended notes a lease that is over.
func (l *Lifetimes) Ended(g *ledger.Grant) {
	if g.Renewed {
		l.longest = max(l.longest, g.Latest()-g.OK)
	}
}

// Told notes that the loss of a lease which is over was reported at its end.
func (l *Lifetimes) Told(g *ledger.Grant) {
	l.told = AppendLatest(l.told, g.Latest()-g.OK)
}

// Longest is the longest of all.
func (l *Lifetimes) Longest() time.Duration { return l.longest }

// Outlived reports whether another lease was renewed for clearly longer than one that lived so long.
func (l *Lifetimes) Outlived(lived time.Duration) bool {
	return lived+l.Header.TTL/outlivedByShare <= l.longest
}

// AtMaximum reports whether one that lived so long ended as the lock lets leases end: several did
// after that time, and none was renewed for longer.
func (l *Lifetimes) AtMaximum(lived time.Duration) bool {
	ends := func(other time.Duration) bool { return other > l.longest-l.Header.TTL/lifetimesApart }
	n := 0
	for _, other := range l.told {
		if ends(other) {
			n++
		}
	}
	return n >= endsAtMaximum && ends(lived)
}
