package testbed

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// startIdentified starts a server that says who it is. Until it can, it answers
// as one that is loading its data.
func startIdentified(m *miniredis.Miniredis, addr, id string) error {
	m.SetError("LOADING miniredis is starting")
	if err := m.StartAddr(addr); err != nil {
		return err
	}
	m.Server().SetPreHook(identified(id))
	return nil
}

func newIdentity() string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// identified lets a miniredis answer the sections of INFO by which a lock
// tells one server from another; miniredis itself knows neither.
func identified(id string) server.Hook {
	return func(c *server.Peer, cmd string, args ...string) bool {
		if !strings.EqualFold(cmd, "INFO") || len(args) != 1 {
			return false
		}
		switch strings.ToLower(args[0]) {
		case "server":
			c.WriteBulk("# Server\r\nrun_id:" + id + "\r\n")
		case "replication":
			c.WriteBulk("# Replication\r\nrole:master\r\nmaster_replid:" + id + "\r\n")
		default:
			return false
		}
		return true
	}
}
