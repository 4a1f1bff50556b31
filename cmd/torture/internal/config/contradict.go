package config

import (
	"fmt"
	"slices"

	"locktorture/workload"
)

// Reconcile settles what the settings mean for one another: what the user chose
// overrides the inherited opposite, and two choices that exclude each other are
// an error.
func (c *Config) Reconcile() error {
	c.hidePasswords()
	c.chooseTestbed()
	l := &c.Load
	switch thinks := l.Think != (workload.Dist{}) && l.Think != constant(0); {
	case l.Rate == 0 || !c.isSet("load.think") || !thinks:
	case c.isSet("load.rate"):
		return c.both("load.rate", l.Rate, "load.think", l.Think, "an open loop has no pause to think: leave one of them out (--rate 0 is a closed loop)")
	default:
		l.Rate = 0
	}
	return c.excluded()
}

// chooseTestbed settles what other settings imply of the testbed.
func (c *Config) chooseTestbed() {
	switch {
	case c.Testbed == "compose":
		c.ComposeDefaults()
	case c.Testbed != "auto":
	case len(c.Redis) > 0:
		c.Testbed = "external"
	case c.Image != "":
		c.Testbed = "container"
	}
}

// validateTestbed checks what depends on the testbed.
func (c *Config) validateTestbed() error {
	switch {
	case !slices.Contains(Testbeds, c.Testbed):
		return fmt.Errorf("testbed %q does not exist%s: %s is one of %v", c.Testbed, DidYouMean(c.Testbed, Testbeds), c.At("testbed"), Testbeds)
	case c.Testbed == "external" && len(c.Redis) == 0:
		return fmt.Errorf("testbed external needs --redis host:port,… of the masters")
	case c.Image != "" && !slices.Contains([]string{"auto", "container", "sentinel", "cluster"}, c.Testbed):
		return fmt.Errorf("redis-image is %s, but testbed %s has no containers: --testbed container does", c.Image, c.Testbed)
	case c.MinReplicas != 0 && c.Testbed != "sentinel":
		return fmt.Errorf("%s is %d, but the masters of testbed %s have no replicas: --testbed sentinel has", c.At("min_replicas"), c.MinReplicas, c.Testbed)
	case c.MinReplicas < 0 || c.MinReplicas > maxReplicas:
		return c.wrong("min_replicas", c.MinReplicas, "0 to 2, as there are two replicas")
	}
	return nil
}

// excluded refuses settings of one testbed beside another testbed: they would be
// ignored.
func (c *Config) excluded() error {
	given := c.Testbed == "external" || c.Testbed == "compose"
	switch {
	case !slices.Contains(Testbeds, c.Testbed): // refused by Validate
	case len(c.Redis) > 0 && !given:
		return c.both("redis", c.Redis, "testbed", c.Testbed, "servers that run already are testbed external: leave one of them out")
	case c.Store != "" && !given:
		return c.both("store", c.Store, "testbed", c.Testbed, "it brings a store of its own: give the masters too (--redis), or leave --store out")
	case c.OwnRedis && c.isSet("i_own_this_redis") && !given:
		return c.both("i_own_this_redis", true, "testbed", c.Testbed, "there is no Redis of anybody's: give --redis, or leave it out")
	case c.isSet("persist") && c.Persist && given:
		return c.both("persist", true, "testbed", c.Testbed, "the servers' persistence is their own: leave --persist out")
	case c.Testbed == "external" && c.isSet("nodes") && c.Nodes > 0 && c.Nodes != len(c.Redis):
		return c.both("nodes", c.Nodes, "redis", c.Redis, fmt.Sprintf("that is %d: give as many, or leave --nodes out", len(c.Redis)))
	case c.Testbed == "compose" && c.isSet("nodes") && c.Nodes > 0 && c.Nodes != composeMasters:
		return c.both("nodes", c.Nodes, "testbed", c.Testbed, fmt.Sprintf("it has %d masters: leave --nodes out", composeMasters))
	}
	return nil
}

// both says that two settings exclude each other, and how to mend that.
func (c *Config) both(a string, va any, b string, vb any, mend string) error {
	if safe := c.addresses(); safe != nil {
		return safe // what cannot be repeated is not
	}
	return fmt.Errorf("%s (%v) contradicts %s (%v): %s", c.At(a), va, c.At(b), vb, mend)
}
