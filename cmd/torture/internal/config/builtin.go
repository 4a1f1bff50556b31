package config

import (
	"fmt"
	"time"

	"locktorture/workload"
)

// A Builtin is a scenario that comes with the tool.
type Builtin struct {
	About string
	make  func() Config
}

// Builtins are the scenarios by name.
var Builtins = map[string]Builtin{
	"standard": {"every fault of the standard plan against 16 clients on 12 keys, 60 s", standard},
	"demo":     {"a lock without an owner check, its holder paused beyond the TTL: broken within seconds", demo},
	"pause":    {"holders paused beyond their TTL, again and again", pause},
	"amnesia":  {"a holder cut off from N − q nodes, then one of its q nodes restarted empty at once", amnesia},
	"restarts": {"nodes restarted empty at once, one after another and then a quorum together, while a minority is cut off from one client after another", restarts},
	"calm":     {"no fault at all: contention alone", calm},
}

// Base returns the named scenario's settings.
func Base(name string) (Config, error) {
	b, ok := Builtins[name]
	if !ok {
		return Config{}, fmt.Errorf("scenario %q does not exist%s (torture list scenarios)", name, DidYouMean(name, keysOf(Builtins)))
	}
	c := b.make()
	c.Scenario = name
	return c, nil
}

func standard() Config {
	return Config{
		Lock: "redlock", Testbed: "auto", Persist: true, Clients: 16, TTL: 2 * time.Second, Duration: time.Minute, Out: "runs",
		Load: Load{
			Keys: 12, Rate: 20, Hold: constant(20 * time.Millisecond), Think: constant(5 * time.Millisecond), Writes: 3,
			Wait: 250 * time.Millisecond, Patience: 3 * time.Second, LongHold: 0.001, Extend: 0.05, Mode: workload.ModeMixed,
		},
		Faults:    Faults{Plan: "standard"},
		PerMinute: map[string]int{"grants": 600, "contended": 200, "faulted_handovers": 50, "fence_saves": 2, "takeovers": 3, "unknown": 5},
	}
}

func demo() Config {
	c := pause()
	c.Lock, c.Duration = "set-nx-ex-del", 12*time.Second
	return c
}

func pause() Config {
	c := calm()
	c.Faults = Faults{Plan: "pause"}
	c.Sometimes = []string{"expiry-while-held"}
	return c
}

func amnesia() Config {
	c := calm()
	c.Faults = Faults{Plan: "amnesia"}
	c.Persist = false
	return c
}

func restarts() Config {
	c := amnesia()
	c.Faults = Faults{Plan: "restarts"}
	return c
}

// calm is a small, busy load on a short lease: what the directed scenarios
// share.
func calm() Config {
	c := standard()
	c.Clients, c.TTL, c.Duration = 8, time.Second, 20*time.Second
	c.Load = Load{
		Keys: 2, Hold: constant(20 * time.Millisecond), Think: constant(10 * time.Millisecond), Writes: 3,
		Mode: workload.ModeExclusive,
	}
	c.Faults = Faults{Plan: "none"}
	c.PerMinute = nil
	return c
}

func constant(d time.Duration) workload.Dist { return workload.Dist{Shape: "constant", Mean: d} }
