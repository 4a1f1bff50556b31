package catalogue

import (
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
)

// ImpairmentOf is what a latency does to each of its links, at a TTL of ttl.
func ImpairmentOf(f faults.Fault, ttl time.Duration) link.Impairment {
	return f.(latency).withDefaults(ttl).impairment()
}
