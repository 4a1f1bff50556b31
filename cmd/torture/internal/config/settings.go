package config

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/workload"
)

// A Setting is one knob, by flag (--name) and by variable (TORTURE_NAME).
type Setting struct {
	Name string
	Help string
	Set  func(c *Config, value string) error
	Bool bool
}

// Settings are all knobs that flags and variables can set.
var Settings = []Setting{
	{Name: "lock", Help: "lock under test (see: torture list locks)", Set: text(func(c *Config) *string { return &c.Lock })},
	{Name: "testbed", Help: strings.Join(Testbeds, ", "), Set: text(func(c *Config) *string { return &c.Testbed })},
	{Name: "redis", Help: "masters that run already, by comma: host:port, redis://user:password@host:port/db, rediss://… or unix:///path (testbed external)", Set: list(func(c *Config) *[]string { return &c.Redis })},
	{Name: "store", Help: "the guarded store's Redis, written as in --redis (testbed external; the first master's when left out)", Set: text(func(c *Config) *string { return &c.Store })},
	{Name: "prefix", Help: "prefix of every key that the run writes; with it the servers of --redis may hold other keys, without it they must be empty", Set: text(func(c *Config) *string { return &c.Prefix })},
	{Name: "redis-password-file", Help: "file with the password of the servers of --redis and --store whose URLs have none (or TORTURE_REDIS_PASSWORD)", Set: text(func(c *Config) *string { return &c.PasswordFile })},
	{Name: "tls-ca", Help: "certificate of the authority that vouches for rediss:// servers (PEM file; the system's when left out)", Set: text(func(c *Config) *string { return &c.TLSCA })},
	{Name: "tls-cert", Help: "the client's certificate for rediss:// servers that ask for one (PEM file)", Set: text(func(c *Config) *string { return &c.TLSCert })},
	{Name: "tls-key", Help: "key of --tls-cert (PEM file)", Set: text(func(c *Config) *string { return &c.TLSKey })},
	{Name: "tls-server-name", Help: "name that the certificates of rediss:// servers must bear (the host's when left out)", Set: text(func(c *Config) *string { return &c.TLSServerName })},
	{Name: "redis-image", Help: "image of the servers, e.g. redis:7.0.15 or valkey/valkey:8.1.0 (testbed container; sentinel and cluster have their servers in containers then)", Set: text(func(c *Config) *string { return &c.Image })},
	{Name: "min-replicas", Help: "number of replicas that a master must have to accept writes (min-replicas-to-write, with a min-replicas-max-lag of 1 s; testbed sentinel)", Set: integer(func(c *Config) *int { return &c.MinReplicas })},
	{Name: "toxiproxy", Help: "host:port of the toxiproxy server between clients and nodes (testbed compose)", Set: text(func(c *Config) *string { return &c.Proxy })},
	{Name: "i-own-this-redis", Help: "allow faults and key deletion on servers beyond loopback", Set: flag(func(c *Config) *bool { return &c.OwnRedis }), Bool: true},
	{Name: "nodes", Help: "number of Redis masters; by default as many as the lock is made for", Set: nonzero(integer(func(c *Config) *int { return &c.Nodes }), "1 to 63, or leave it out for what the lock is made for")},
	{Name: "persist", Help: "masters keep their data when they restart (appendfsync always)", Set: flag(func(c *Config) *bool { return &c.Persist }), Bool: true},
	{Name: "clients", Help: "contending clients", Set: integer(func(c *Config) *int { return &c.Clients })},
	{Name: "keys", Help: "number of keys that the clients contend for", Set: integer(func(c *Config) *int { return &c.Load.Keys })},
	{Name: "ttl", Help: "lease length, e.g. 2s", Set: duration(func(c *Config) *time.Duration { return &c.TTL })},
	{Name: "hold", Help: `work under the lock: "20ms", "uniform 5ms..30ms" or "exp 20ms"`, Set: dist(func(c *Config) *workload.Dist { return &c.Load.Hold })},
	{Name: "think", Help: "closed loop: pause between two cycles of a client", Set: dist(func(c *Config) *workload.Dist { return &c.Load.Think })},
	{Name: "rate", Help: "open loop: arrivals per second over all clients; 0 is a closed loop", Set: float(func(c *Config) *float64 { return &c.Load.Rate })},
	{Name: "wait", Help: "how long an acquire may wait; 0 tries once", Set: duration(func(c *Config) *time.Duration { return &c.Load.Wait })},
	{Name: "patience", Help: "how long a client keeps asking for one key before it gives up and takes the next arrival", Set: duration(func(c *Config) *time.Duration { return &c.Load.Patience })},
	{Name: "timeout", Help: "time after which the outcome of an operation counts as unknown, not counting its --wait; by default half a TTL, at most 1s", Set: nonzero(duration(func(c *Config) *time.Duration { return &c.Load.Timeout }), "above 0s, or leave it out for half a TTL")},
	{Name: "long-hold", Help: "share of critical sections that last longer than the TTL and renew their lease if the lock can, 0 to 1", Set: float(func(c *Config) *float64 { return &c.Load.LongHold })},
	{Name: "extend", Help: "share of critical sections that extend their lease once, by hand, 0 to 1", Set: float(func(c *Config) *float64 { return &c.Load.Extend })},
	{Name: "mode", Help: "exclusive, rw, reentrant, fair, multi or mixed (all that the lock can)", Set: mode},
	{Name: "readers", Help: "mode rw: share of acquisitions in shared mode, 0 to 1", Set: float(func(c *Config) *float64 { return &c.Load.Readers })},
	{Name: "renew", Help: "renew leases automatically, where the lock can", Set: flag(func(c *Config) *bool { return &c.Load.Renew }), Bool: true},
	{Name: "duration", Help: "length of the main phase", Set: duration(func(c *Config) *time.Duration { return &c.Duration })},
	{Name: "seed", Help: "seed of load and faults (0x… or decimal)", Set: seed},
	{Name: "faults", Help: `plan ("standard", "none") or faults, e.g. pause-client,kill:empty (see: torture list faults)`, Set: plan},
	{Name: "fenced", Help: "whether the store rejects stale tokens", Set: fenced, Bool: true},
	{Name: "slo", Help: "objectives, e.g. 'acquire.p99<250ms,error<1%'", Set: list(func(c *Config) *[]string { return &c.SLO })},
	{Name: "accept", Help: "anomalies to report without a FAIL, e.g. S3z,S3 (see: torture list anomalies)", Set: list(func(c *Config) *[]string { return &c.Accept })},
	{Name: "out", Help: "folder of the run directories", Set: text(func(c *Config) *string { return &c.Out })},
}

// Variable is the name of s among the environment variables.
func (s Setting) Variable() string {
	return "TORTURE_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// elsewhere are the variables that are no settings: a password, a farm's token and the
// URL of a farm that a worker joins.
var elsewhere = []string{PasswordVariable, "TORTURE_NATS_TOKEN", "TORTURE_JOIN"}

// ReadEnvironment lays the TORTURE_* variables over c, a password among them. An
// unknown one is an error.
func (c *Config) ReadEnvironment(environ []string) error {
	c.ReadPassword(environ)
	known := map[string]Setting{}
	for _, s := range Settings {
		known[s.Variable()] = s
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "TORTURE_") || value == "" || slices.Contains(elsewhere, name) {
			continue
		}
		s, ok := known[name]
		if !ok {
			return fmt.Errorf("unknown variable %s%s", name, DidYouMean(name, keysOf(known)))
		}
		if err := c.Apply(s, value, name); err != nil {
			return err
		}
	}
	return nil
}

// Environ is the process's environment.
func Environ() []string { return os.Environ() }

func text(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *at(c) = v; return nil }
}

func list(at func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*at(c) = nil
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*at(c) = append(*at(c), part)
			}
		}
		return nil
	}
}

func integer(at func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", v)
		}
		*at(c) = n
		return nil
	}
}

func float(at func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseFloat(strings.TrimSuffix(v, "/s"), 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", v)
		}
		*at(c) = n
		return nil
	}
}

func duration(at func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 250ms or 2s", v)
		}
		*at(c) = d
		return nil
	}
}

func dist(at func(*Config) *workload.Dist) func(*Config, string) error {
	return func(c *Config, v string) error { return at(c).UnmarshalText([]byte(v)) }
}

func flag(at func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
		*at(c) = b
		return nil
	}
}

// nonzero refuses what reads as 0 where that stands for "left out", and says what would
// be right.
func nonzero(set func(*Config, string) error, want string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if number := strings.TrimRight(v, "numsµh"); number != "" && strings.Trim(number, "+-0.") == "" {
			return fmt.Errorf("%q is none: %s", v, want)
		}
		return set(c, v)
	}
}

func fenced(c *Config, v string) error {
	c.Fenced = new(bool)
	return flag(func(*Config) *bool { return c.Fenced })(c, v)
}

func mode(c *Config, v string) error { c.Load.Mode = workload.Mode(v); return nil }

func plan(c *Config, v string) error { c.Faults = Faults{Plan: v}; return nil }

func seed(c *Config, v string) error {
	n, err := strconv.ParseUint(v, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is not a seed: a whole number, decimal or 0x…", v)
	}
	c.Seed = n
	return nil
}
