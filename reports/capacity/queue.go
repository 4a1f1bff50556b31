package capacity

import "math"

// A Queue is what arrives at a service that stands still for a while.
type Queue struct {
	Rate     float64 // arrivals per second
	Capacity float64 // served per second, when it serves
	Outage   float64 // seconds without service
}

// Predict returns how many wait when the service is back, and after how many
// seconds more nobody waits because of it: Rate·Outage / (Capacity − Rate).
func (q Queue) Predict() (backlog, drain float64) {
	backlog = q.Rate * q.Outage
	if q.Capacity <= q.Rate {
		return backlog, math.Inf(1)
	}
	return backlog, backlog / (q.Capacity - q.Rate)
}
