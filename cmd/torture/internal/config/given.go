package config

import (
	"slices"

	"locktorture/faults/testbed"
)

// GivenSettings are those of Settings that say where servers are that run already,
// and how they are spoken to. bench and capacity have them too.
func GivenSettings() (all []Setting) {
	names := []string{"redis", "prefix", "redis-password-file", "tls-ca", "tls-cert", "tls-key", "tls-server-name", "i-own-this-redis"}
	for _, s := range Settings {
		if slices.Contains(names, s.Name) {
			all = append(all, s)
		}
	}
	return all
}

// HidePasswords takes the passwords out of the URLs of c's servers; c still knows
// them.
func (c *Config) HidePasswords() { c.hidePasswords() }

// ValidateGiven names the first of GivenSettings that cannot work.
func (c *Config) ValidateGiven() error {
	if err := c.addresses(); err != nil {
		return err
	}
	return c.validateServers()
}

// External is the testbed of the servers that c gives. It reads the files that c
// names.
func (c *Config) External() (e testbed.ExternalConfig, err error) {
	e = testbed.ExternalConfig{OwnThisRedis: c.OwnRedis, Prefix: c.Prefix}
	e.Masters, e.Store, err = c.Servers()
	return e, err
}
