package redistest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Identify lets an embedded server that has been started, which knows neither section of INFO,
// answer INFO server and INFO replication as a redis-server does, with the run id of its process
// and that of its history. The same server keeps both.
func Identify(m *miniredis.Miniredis) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%p", m))
	run, history := hex.EncodeToString(sum[:20]), hex.EncodeToString(sum[12:])
	m.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		if !strings.EqualFold(cmd, "INFO") || len(args) != 1 {
			return false
		}
		switch strings.ToLower(args[0]) {
		case "server":
			c.WriteBulk("# Server\r\nrun_id:" + run + "\r\n")
		case "replication":
			c.WriteBulk("# Replication\r\nrole:master\r\nmaster_replid:" + history + "\r\n")
		default:
			return false
		}
		return true
	})
}
