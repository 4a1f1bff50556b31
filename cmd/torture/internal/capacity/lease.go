package capacity

import (
	"time"

	"locktorture/reports/capacity"
	"locktorture/reports/stats"
)

// A tail is what one repeat met with that a lease has to cover.
type tail struct {
	overheld []time.Duration // by how much holds outlasted what was asked for
	acquires []time.Duration // service times at or below the limit
	pause    time.Duration   // longest lag of the generator
}

// lease is the TTL that covers what the repeats met with.
func (s *survey) lease() capacity.Lease {
	var all []capacity.Tail
	for _, t := range s.tails {
		over, acquire := stats.QuantilesOfAll(t.overheld), stats.QuantilesOfAll(t.acquires)
		all = append(all, capacity.Tail{Hold: s.Hold + over.P9999, Acquire: acquire.P999, Pause: t.pause, Holds: over.Count, Acquires: acquire.Count})
	}
	return capacity.Cover(all)
}
