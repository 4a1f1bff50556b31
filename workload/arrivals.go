package workload

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// A dispatcher offers an open loop's arrivals at their moments, whether or not
// a client is free.
type dispatcher struct{}

// run offers arrivals until the phase is over. An arrival keeps the moment at
// which it was due, also when the dispatcher itself is late.
func (dispatcher) run(p *phase) {
	rng := stream(p.cfg.Seed, p.name+" dispatcher"+p.cfg.Part.suffix())
	keys := p.keySource(-1-p.cfg.Part.First, 1)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; {
		due = due.Add(p.cfg.gap(rng))
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-p.over:
			return
		}
		a := p.draw(rng, keys)
		a.due = due
		p.demand.offer()
		select {
		case p.queue <- a:
		default:
			p.demand.drop(a)
		}
	}
}

// suffix tells the actors of a part from those of the first one, or of a whole run.
func (p Part) suffix() string {
	if p.First == 0 {
		return ""
	}
	return " " + strconv.Itoa(p.First)
}

// gap draws the time between two arrivals.
func (c Config) gap(rng *rand.Rand) time.Duration {
	mean := float64(time.Second) / c.Rate
	if c.Arrivals == ArrivalsConstant {
		return time.Duration(mean)
	}
	return time.Duration(rng.ExpFloat64() * mean)
}
