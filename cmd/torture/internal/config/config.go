// Package config resolves what a run is made of: built-in defaults, below a
// strict YAML scenario file, below TORTURE_* variables, below flags.
package config

import (
	"fmt"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// A Config is one run, fully resolved and printable.
type Config struct {
	Scenario string   `yaml:"scenario" json:"scenario"`
	Lock     string   `yaml:"lock" json:"lock"`
	Testbed  string   `yaml:"testbed" json:"testbed"`                 // one of Testbeds
	Redis    []string `yaml:"redis,omitempty" json:"redis,omitempty"` // without passwords, once reconciled
	Store    string   `yaml:"store,omitempty" json:"store,omitempty"`
	Prefix   string   `yaml:"prefix,omitempty" json:"prefix,omitempty"` // in the name of every key that is written to them; empty: they must be empty

	// How given servers are spoken to; their passwords are in secrets.
	PasswordFile  string `yaml:"redis_password_file,omitempty" json:"redis_password_file,omitempty"`
	TLSCA         string `yaml:"tls_ca,omitempty" json:"tls_ca,omitempty"`
	TLSCert       string `yaml:"tls_cert,omitempty" json:"tls_cert,omitempty"`
	TLSKey        string `yaml:"tls_key,omitempty" json:"tls_key,omitempty"`
	TLSServerName string `yaml:"tls_server_name,omitempty" json:"tls_server_name,omitempty"`

	MinReplicas int `yaml:"min_replicas,omitempty" json:"min_replicas,omitempty"` // sentinel: min-replicas-to-write of the servers

	Image    string        `yaml:"redis_image,omitempty" json:"redis_image,omitempty"` // container: the servers' image; empty: testbed.DefaultImage. sentinel, cluster: empty is none
	Proxy    string        `yaml:"toxiproxy,omitempty" json:"toxiproxy,omitempty"`     // compose: host:port of toxiproxy's HTTP interface
	OwnRedis bool          `yaml:"i_own_this_redis,omitempty" json:"i_own_this_redis,omitempty"`
	Nodes    int           `yaml:"nodes" json:"nodes"` // 0: what the lock is made for
	Persist  bool          `yaml:"persist" json:"persist"`
	Clients  int           `yaml:"clients" json:"clients"`
	TTL      time.Duration `yaml:"ttl" json:"ttl"`
	Load     Load          `yaml:"load" json:"load"`
	Duration time.Duration `yaml:"duration" json:"duration"`
	Final    time.Duration `yaml:"final" json:"final"` // healthy phase at the end; 0: derived from the TTL
	Fenced   *bool         `yaml:"fenced,omitempty" json:"fenced,omitempty"`
	Faults   Faults        `yaml:"faults" json:"faults"`

	Floors    map[string]int `yaml:"floors" json:"floors,omitempty"`       // evidence that a pass demands
	PerMinute map[string]int `yaml:"floors_per_minute,omitempty" json:"-"` // the same for a minute of the main phase; scaled into Floors
	Expected  []string       `yaml:"expected,omitempty" json:"expected,omitempty"`
	Accept    []string       `yaml:"accept,omitempty" json:"accept,omitempty"` // anomaly ids that are listed and make no FAIL
	Bounds    Bounds         `yaml:"bounds,omitempty" json:"bounds,omitzero"`
	Sometimes []string       `yaml:"sometimes,omitempty" json:"sometimes,omitempty"` // moments that a pass must have reached: checker.Moments
	SLO       []string       `yaml:"slo" json:"slo,omitempty"`
	Seed      uint64         `yaml:"seed,omitempty" json:"seed"` // 0: drawn
	Out       string         `yaml:"out,omitempty" json:"out"`

	origins origins
	secrets secrets
}

// Bounds are what the scenario demands beyond safety; what is zero is not demanded. The first
// three are of the service: missing one is a breach. The others the lock promises, in place of
// what the catalogue knows of it: missing one is a violation.
type Bounds struct {
	Wait         time.Duration `yaml:"wait,omitempty" json:"wait,omitempty"`                 // longest wait for a grant while no fault is in force (L3)
	Recovery     time.Duration `yaml:"recovery,omitempty" json:"recovery,omitempty"`         // longest time from a heal to the next grant (L4)
	Availability int           `yaml:"availability,omitempty" json:"availability,omitempty"` // percent of acquires with a definite answer, in each phase (L6)

	Loss  time.Duration `yaml:"loss,omitempty" json:"loss,omitempty"`   // by when after its lease's end a holder is told (S11)
	Undo  time.Duration `yaml:"undo,omitempty" json:"undo,omitempty"`   // by when what a failed attempt took, and a released lease, are gone from the nodes (L8)
	Wake  time.Duration `yaml:"wake,omitempty" json:"wake,omitempty"`   // by when who waits for a key that is free has it (L2)
	Woken time.Duration `yaml:"woken,omitempty" json:"woken,omitempty"` // by when who waits for a key while it is given back has it (L2)
}

// spans are the bounds that are times, by their names in a history's header.
func (b Bounds) spans() map[string]time.Duration {
	return map[string]time.Duration{
		history.BoundWait: b.Wait, history.BoundRecovery: b.Recovery,
		history.BoundLoss: b.Loss, history.BoundUndo: b.Undo, history.BoundWake: b.Wake, history.BoundWoken: b.Woken,
	}
}

// AddTo enters the bounds into those of a history's header.
func (b Bounds) AddTo(header map[string]int64) {
	for name, span := range b.spans() {
		if span > 0 {
			header[name] = span.Nanoseconds()
		}
	}
	if b.Availability > 0 {
		header[history.BoundAvailability] = int64(b.Availability)
	}
}

// Load is the shape of the contention.
type Load struct {
	Keys     int           `yaml:"keys" json:"keys"`
	Skew     float64       `yaml:"skew" json:"skew,omitempty"` // 0 uniform; else Zipf's exponent, not 1
	Rate     float64       `yaml:"rate" json:"rate,omitempty"` // arrivals/s; 0 is a closed loop
	Hold     workload.Dist `yaml:"hold" json:"hold"`
	Think    workload.Dist `yaml:"think,omitempty" json:"think"`
	Writes   int           `yaml:"writes" json:"writes"`
	Wait     time.Duration `yaml:"wait" json:"wait,omitempty"`
	Patience time.Duration `yaml:"patience" json:"patience,omitempty"`
	Timeout  time.Duration `yaml:"timeout" json:"timeout,omitempty"` // of one operation, waiting apart; 0: half a TTL, at most 1s
	LongHold float64       `yaml:"long_hold" json:"long_hold,omitempty"`
	Extend   float64       `yaml:"extend" json:"extend,omitempty"`
	Mode     workload.Mode `yaml:"mode" json:"mode"`
	Readers  float64       `yaml:"readers" json:"readers,omitempty"`
	Renew    bool          `yaml:"renew" json:"renew,omitempty"`
}

// Printable is c as a scenario file would say it, with what would be ignored left
// out.
func (c Config) Printable() Config {
	if c.Load.Rate > 0 {
		c.Load.Think = workload.Dist{}
	}
	c.PerMinute = nil // they are in Floors, scaled
	return c
}

// String says the load in words, as the banner shows it.
func (l Load) String() string {
	if l.Rate > 0 {
		return fmt.Sprintf("open loop %g/s, latency from intended start", l.Rate)
	}
	return fmt.Sprintf("closed loop, think %v", l.Think)
}
