package config

import (
	"time"

	"locktorture/workload"
)

// Workload is the load of the run in the workload's own terms.
func (c *Config) Workload() workload.Config {
	l := c.Load
	return workload.Config{
		Keys: l.Keys, Prefix: c.Prefix, KeySkew: l.Skew, TTL: c.TTL, Hold: l.Hold, Think: l.Think, Writes: l.Writes,
		Rate: l.Rate, Wait: l.Wait, Patience: l.Patience, Timeout: l.Timeout, LongHold: l.LongHold, Extend: l.Extend, Mode: l.Mode, Renew: l.Renew,
		Readers: l.Readers, Duration: c.Duration, Final: c.FinalPhase(), Seed: c.Seed,
	}
}

// FinalPhase is how long the healthy final phase lasts at most.
func (c *Config) FinalPhase() time.Duration {
	if c.Final > 0 {
		return c.Final
	}
	return workload.Config{TTL: c.TTL, Wait: c.Load.Wait, Timeout: c.Load.Timeout}.FinalPhase()
}
