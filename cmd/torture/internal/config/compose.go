package config

import (
	"cmp"
	"fmt"
)

// What docker-compose.yml publishes on loopback: the masters and the store, the
// HTTP interface of its toxiproxy, and the ports on which that may listen.
const (
	composeMasters   = 5
	composeStorePort = 16370 // the masters' follow
	composeProxy     = "127.0.0.1:18474"

	ComposeFirstPort = 18500
	ComposeLastPort  = 18599
)

// ComposeDefaults fills in where the servers of docker-compose.yml are, as
// somebody beside Docker sees them.
func (c *Config) ComposeDefaults() {
	if len(c.Redis) == 0 {
		for i := range composeMasters {
			c.Redis = append(c.Redis, fmt.Sprintf("127.0.0.1:%d", composeStorePort+1+i))
		}
	}
	c.Store = cmp.Or(c.Store, fmt.Sprintf("127.0.0.1:%d", composeStorePort))
	c.Proxy = cmp.Or(c.Proxy, composeProxy)
	c.Persist = false // those servers keep nothing
}

// ComposeUpstreams are the addresses of the masters, then of the store, on the
// network of docker-compose.yml.
func ComposeUpstreams() []string {
	var all []string
	for i := range composeMasters {
		all = append(all, fmt.Sprintf("n%d:6379", i+1))
	}
	return append(all, "store:6379")
}

// validateCompose checks what testbed compose alone can and cannot take.
func (c *Config) validateCompose() error {
	if c.Testbed != "compose" {
		if c.Proxy != "" {
			return fmt.Errorf("toxiproxy is %s, but testbed %s brings links of its own: --testbed compose uses a server", c.Proxy, c.Testbed)
		}
		return nil
	}
	ports := ComposeLastPort - ComposeFirstPort + 1
	switch {
	case len(c.Redis) != composeMasters:
		return fmt.Errorf("testbed compose has %d masters, not %d", composeMasters, len(c.Redis))
	case c.Clients*(composeMasters+1) > ports:
		return fmt.Errorf("clients is %d: testbed compose publishes %d ports for links, enough for %d clients", c.Clients, ports, ports/(composeMasters+1))
	}
	return nil
}
