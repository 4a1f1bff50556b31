package config

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"locktorture/workload"
)

// ScaleFloors lays down the evidence that a pass demands: a scenario's floors per
// minute, scaled to the run's own length, or, where it has none, floors that
// follow from what was asked for. A kind of evidence for which a floor was given
// outright keeps that, and `floors: {}` demands nothing.
func (c *Config) ScaleFloors() {
	if c.Floors != nil && len(c.Floors) == 0 && c.isSet("floors") {
		return
	}
	for kind, n := range c.PerMinute {
		c.floor(kind, c.scaled(n))
	}
}

// scaled is a floor per minute for the length of c.
func (c *Config) scaled(perMinute int) int {
	return max(1, int(float64(perMinute)*c.Duration.Minutes()))
}

// inherits reports whether the scenario that c began as has a floor by itself.
func (c *Config) inherits(kind string, n int) bool {
	base, err := Base(c.Scenario)
	perMinute, has := base.PerMinute[kind]
	return err == nil && has && n == c.scaled(perMinute)
}

// DeriveFloors is ScaleFloors for a scenario that the user chose: one without
// floors per minute gets those that follow from its duration and load.
func (c *Config) DeriveFloors() {
	c.ScaleFloors()
	if len(c.PerMinute) > 0 || c.Floors != nil && len(c.Floors) == 0 && c.isSet("floors") {
		return
	}
	c.floor("grants", max(1, int(leastServed*c.possible()*c.Duration.Seconds())))
	if c.Clients > c.Load.Keys && c.Load.Mode != workload.ModeRW {
		c.floor("contended", 1)
	}
	if name := c.Faults.Plan; len(c.Faults.Steps) > 0 || name != "" && name != "none" {
		c.floor("faulted_handovers", 1)
	}
}

func (c *Config) floor(kind string, n int) {
	if _, given := c.Floors[kind]; given {
		return
	}
	if c.Floors == nil {
		c.Floors = map[string]int{}
	}
	c.Floors[kind] = n
}

const (
	// leastServed is the share of what the load could have been granted below
	// which a run shows too little. It leaves room for faults that last and for a
	// machine that is busy.
	leastServed = 0.05
	// aroundHold is what taking a key and giving it back takes beside the hold.
	aroundHold = 5 * time.Millisecond
)

// possible is how many grants per second the load could get: what arrives, or as
// many as the clients ask for, and no more than the keys have room for.
func (c *Config) possible() float64 {
	l := c.Load
	hold := mean(l.Hold) + aroundHold
	room := float64(l.Keys) / hold.Seconds()
	asked := l.Rate
	if asked == 0 {
		asked = float64(c.Clients) / (hold + mean(l.Think)).Seconds()
	}
	return min(room, asked, float64(c.Clients)/hold.Seconds())
}

func mean(d workload.Dist) time.Duration { return cmp.Or(d.Mean, (d.Min+d.Max)/2) }

// servedObjective is demanded wherever the user gave an objective or a rate, and
// none of the objectives speaks of what was served.
const servedObjective = "served>99%"

// DeriveObjectives adds the objective that demand was served. An empty list of
// objectives in a scenario file demands nothing.
func (c *Config) DeriveObjectives() {
	if len(c.SLO) == 0 && (c.isSet("slo") || c.Load.Rate == 0 || !c.isSet("load.rate")) {
		return
	}
	for _, text := range c.SLO {
		if strings.HasPrefix(strings.TrimSpace(text), "served") {
			return
		}
	}
	c.SLO = append(c.SLO, servedObjective)
}

// WithoutFloor returns c without a floor that nothing can reach, and whether it had
// one. What the user wrote down stays, unless it is what the scenario demands anyhow:
// --print-config writes that down too.
func (c Config) WithoutFloor(kind string) (Config, bool) {
	n, has := c.Floors[kind]
	if !has || c.isSet("floors") && !c.inherits(kind, n) {
		return c, false
	}
	c.Floors = maps.Clone(c.Floors)
	delete(c.Floors, kind)
	return c, true
}

// DemandCells has a pass of a scenario with floors per minute demand so many cells of
// phase × class of faults, unless it says itself how many.
func (c *Config) DemandCells(n int) {
	if len(c.PerMinute) == 0 || n == 0 || c.Floors != nil && len(c.Floors) == 0 {
		return
	}
	c.Floors = maps.Clone(c.Floors)
	c.floor("cells", n)
}
