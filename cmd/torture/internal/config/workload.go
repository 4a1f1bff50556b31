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

// FinalPhase is how long the healthy final phase lasts at most: long enough for every lease of
// the main phase to end, for each key to be taken afresh, and for whoever then has a key to himself
// to be refused time and again, each time as late as he is answered at all.
func (c *Config) FinalPhase() time.Duration {
	if c.Final > 0 {
		return c.Final
	}
	w := workload.Config{TTL: c.TTL, Timeout: c.Load.Timeout}.WithDefaults()
	return w.LeasesEnd() + c.TTL/8 + 4*(min(c.Load.Wait, c.TTL)+w.Timeout) + time.Second
}
