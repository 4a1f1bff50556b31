package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/workload"
)

// Testbeds are the names that Config.Testbed may have.
var Testbeds = []string{"auto", "process", "container", "embedded", "external", "compose"}

// Validate names the first setting that cannot work, and what would.
func (c *Config) Validate() error {
	if c.Testbed == "external" && len(c.Redis) == 0 {
		return errors.New("testbed external needs --redis host:port,… of the masters")
	}
	if c.Image != "" && c.Testbed != "auto" && c.Testbed != "container" {
		return fmt.Errorf("redis-image is %s, but testbed %s has no containers: --testbed container does", c.Image, c.Testbed)
	}
	if err := c.validateCompose(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Testbeds, c.Testbed):
		return fmt.Errorf("testbed %q does not exist%s: one of %v", c.Testbed, DidYouMean(c.Testbed, Testbeds), Testbeds)
	case c.Nodes < 0 || c.Nodes > 63:
		return fmt.Errorf("nodes is %d: 1 to 63, or 0 for what the lock is made for", c.Nodes)
	case c.Clients < 1 || c.Clients > 4096:
		return fmt.Errorf("clients is %d: 1 to 4096", c.Clients)
	case c.TTL < 10*time.Millisecond:
		return fmt.Errorf("ttl is %v: at least 10ms, below which scheduling alone decides", c.TTL)
	case c.Duration <= 0:
		return fmt.Errorf("duration is %v: above 0", c.Duration)
	case c.Final < 0:
		return fmt.Errorf("final is %v: 0 or more", c.Final)
	}
	return nil
}

// Workload is the load of the run in the workload's own terms.
func (c *Config) Workload() workload.Config {
	l := c.Load
	return workload.Config{
		Keys: l.Keys, KeySkew: l.Skew, TTL: c.TTL, Hold: l.Hold, Think: l.Think, Writes: l.Writes,
		Rate: l.Rate, Wait: l.Wait, Patience: l.Patience, Timeout: l.Timeout, LongHold: l.LongHold, Extend: l.Extend, Mode: l.Mode, Renew: l.Renew,
		Readers: l.Readers, Duration: c.Duration, Final: c.FinalPhase(), Seed: c.Seed,
	}
}

// FinalPhase is how long the healthy final phase lasts: long enough for every
// lease of the main phase to end and for each key to be taken afresh.
func (c *Config) FinalPhase() time.Duration {
	if c.Final > 0 {
		return c.Final
	}
	return c.TTL + c.TTL/2 + time.Second
}
