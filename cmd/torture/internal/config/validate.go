package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/checker/anomaly"
	"locktorture/reports/slo"
	"locktorture/workload"
)

// Testbeds are the names that Config.Testbed may have.
var Testbeds = []string{"auto", "process", "sentinel", "cluster", "container", "embedded", "external", "compose"}

// Validate names the first setting that cannot work, where it was set, its
// value, and what would work. It touches nothing.
func (c *Config) Validate() error {
	for _, check := range []func() error{c.ranges, c.loadRanges, c.words, c.addresses, c.validateTestbed, c.validateCompose, c.validateServers} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := c.Workload().Validate(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// MaxNodes is how many masters a run may have.
const MaxNodes = 63

// Beyond these a setting is a slip of the pen, and sums of a few of them overflow.
const (
	maxSpan    = 24 * time.Hour
	maxLength  = 31 * 24 * time.Hour
	maxClients = 4096
	maxKeys    = 1_000_000

	maxReplicas = 2 // of testbed sentinel
	maxWrites   = 10_000
	maxRate     = 1_000_000
	minRate     = 0.001
)

func (c *Config) ranges() error {
	switch {
	case c.Nodes < 0 || c.Nodes > MaxNodes:
		return c.wrong("nodes", c.Nodes, "1 to 63, or 0 for what the lock is made for")
	case c.Clients < 1 || c.Clients > maxClients:
		return c.wrong("clients", c.Clients, "1 to 4096")
	case c.TTL < 10*time.Millisecond || c.TTL > maxSpan:
		return c.wrong("ttl", c.TTL, "at least 10ms, below which scheduling alone decides, and at most 24h")
	case c.Duration <= 0 || c.Duration > maxLength:
		return c.wrong("duration", c.Duration, "above 0, and at most 744h")
	case c.Final < 0 || c.Final > maxSpan:
		return c.wrong("final", c.Final, "0 (derived from the TTL) to 24h")
	case c.Bounds.Availability < 0 || c.Bounds.Availability > 100:
		return c.wrong("bounds", fmt.Sprintf("availability: %d", c.Bounds.Availability), "a percentage, 1 to 100")
	case c.Out == "":
		return c.wrong("out", `""`, "a folder for the run directories")
	}
	spans := c.Bounds.spans()
	for _, name := range slices.Sorted(maps.Keys(spans)) {
		if spans[name] < 0 || spans[name] > maxSpan {
			return c.wrong("bounds", fmt.Sprintf("%s: %v", strings.TrimSuffix(name, "_ns"), spans[name]), "above 0, and at most 24h")
		}
	}
	return nil
}

func (c *Config) loadRanges() error {
	l := c.Load
	switch {
	case l.Keys < 1 || l.Keys > maxKeys:
		return c.wrong("load.keys", l.Keys, "1 to 1000000")
	case l.Keys < 2 && l.Mode == workload.ModeMulti:
		return c.wrong("load.keys", l.Keys, "at least 2, since mode multi takes two keys at once")
	case l.Writes < 1 || l.Writes > maxWrites:
		return c.wrong("load.writes", l.Writes, "1 to 10000")
	case !(l.Skew >= 0 && l.Skew <= 100 && l.Skew != 1):
		return c.wrong("load.skew", l.Skew, "0 (uniform), or Zipf's exponent, up to 100, such as 0.99 (1 itself has no generator: take 0.99 or 1.01)")
	case !(l.Rate == 0 || l.Rate >= minRate && l.Rate <= maxRate):
		return c.wrong("load.rate", l.Rate, "0 (a closed loop), or 0.001 to 1000000 arrivals per second")
	case l.Readers != 0 && l.Mode != workload.ModeRW:
		return c.wrong("load.readers", l.Readers, "0, or --mode rw, which alone has readers")
	}
	shares := map[string]float64{"load.long_hold": l.LongHold, "load.extend": l.Extend, "load.readers": l.Readers}
	for _, key := range keysOf(shares) {
		share := shares[key]
		if !(share >= 0 && share <= 1) {
			return c.wrong(key, share, "a share, 0 to 1")
		}
	}
	spans := map[string]time.Duration{"load.wait": l.Wait, "load.patience": l.Patience, "load.timeout": l.Timeout}
	for _, key := range keysOf(spans) {
		span := spans[key]
		if span < 0 || span > maxSpan {
			return c.wrong(key, span, "0 to 24h")
		}
	}
	dists := map[string]workload.Dist{"load.hold": l.Hold, "load.think": l.Think}
	for _, key := range keysOf(dists) {
		d := dists[key]
		if longest := max(d.Mean, d.Max); longest < 0 || longest > maxSpan || d.Min < 0 {
			return c.wrong(key, d, "0s to 24h")
		}
	}
	if least := cmp.Or(l.Hold.Min, l.Hold.Mean); least > c.Duration {
		return c.wrong("load.hold", l.Hold, fmt.Sprintf("at most the run's own length (%s is %v), or no critical section ends", c.At("duration"), c.Duration))
	}
	return nil
}

// words checks what is chosen from a list, or written in a language of its own.
func (c *Config) words() error {
	modes := []string{"exclusive", "rw", "reentrant", "fair", "multi", "mixed"}
	if mode := string(c.Load.Mode); !slices.Contains(modes, mode) {
		return c.wrong("load.mode", strconv.Quote(mode), "one of "+strings.Join(modes, ", ")+DidYouMean(mode, modes))
	}
	for _, text := range c.SLO {
		if _, err := slo.Parse(text); err != nil {
			return fmt.Errorf("%s: %w", c.At("slo"), err)
		}
	}
	for _, kind := range keysOf(c.Floors) {
		n := c.Floors[kind]
		if !slices.Contains(checker.Floors(), kind) {
			return c.wrong("floors", strconv.Quote(kind), "kinds of evidence: "+strings.Join(checker.Floors(), ", ")+DidYouMean(kind, checker.Floors()))
		}
		if n < 0 {
			return c.wrong("floors", fmt.Sprintf("%s: %d", kind, n), "0 or more")
		}
	}
	for _, moment := range c.Sometimes {
		if !slices.Contains(checker.Moments(), moment) {
			return c.wrong("sometimes", strconv.Quote(moment), "moments: "+strings.Join(checker.Moments(), ", ")+DidYouMean(moment, checker.Moments()))
		}
	}
	for _, id := range c.Accept {
		a, known := anomaly.Find(id)
		if known && (a.Property == "" || anomaly.Has(id, anomaly.Service)) {
			return c.wrong("accept", strconv.Quote(id), "ids of anomalies that make a FAIL (torture list anomalies), which "+id+" does not")
		}
		if !known {
			return c.wrong("accept", strconv.Quote(id), "ids of anomalies that make a FAIL (torture list anomalies)"+DidYouMean(id, anomaly.IDs()))
		}
	}
	for _, id := range c.Expected {
		if anomaly.Name(id) == "" {
			return c.wrong("expected", strconv.Quote(id), "ids of anomalies (torture list anomalies)"+DidYouMean(id, anomaly.IDs()))
		}
	}
	return nil
}

// addresses checks how servers are named. What may bear a password is not
// repeated.
func (c *Config) addresses() error {
	given := map[string][]string{"redis": c.Redis, "store": {c.Store}, "toxiproxy": {c.Proxy}}
	for _, key := range keysOf(given) {
		for _, addr := range given[key] {
			if addr == "" && key != "redis" {
				continue
			}
			err := Address(c.At(key), addr)
			if key != "toxiproxy" && c.Testbed != "compose" {
				_, err = parseServer(c.At(key), addr)
			}
			if err != nil {
				return err
			}
		}
	}
	if c.isSet("redis") && len(c.Redis) == 0 {
		return errors.New(c.At("redis") + " names no server: host:port,… or URLs")
	}
	if c.isSet("slo") && len(c.SLO) == 0 && strings.HasPrefix(c.At("slo"), "-") {
		return errors.New(c.At("slo") + " states no objective: such as 'acquire.p99<250ms,error<1%'")
	}
	return nil
}

// Address checks a host:port that was given at origin.
func Address(origin, addr string) error {
	if strings.ContainsAny(addr, "@/?") {
		return fmt.Errorf("%s names a server by URL or with a password (not repeated here): give host:port", origin)
	}
	host, port, err := net.SplitHostPort(addr)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return fmt.Errorf("%s is %q: host:port, such as 127.0.0.1:6379", origin, addr)
	}
	return nil
}

// wrong says what is wrong with the value of a key.
func (c *Config) wrong(key string, value any, want string) error {
	if f, is := value.(float64); is {
		value = strconv.FormatFloat(f, 'g', -1, 64)
		if math.IsInf(f, 0) || math.IsNaN(f) {
			want = "a finite number: " + want
		}
	}
	return fmt.Errorf("%s is %v: %s", c.At(key), value, want)
}
