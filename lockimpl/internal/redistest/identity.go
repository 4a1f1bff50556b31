package redistest

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// An Identity is what an embedded server says of itself, as a redis-server
// does: the run id of its process, and of the history that it replicates.
type Identity struct {
	run, history atomic.Pointer[string]
	demoted      atomic.Bool
}

var identities sync.Map // *miniredis.Miniredis → *Identity

// Identify lets an embedded server that has been started, which knows neither
// section of INFO, answer INFO server and INFO replication. The same server
// keeps its identity.
func Identify(m *miniredis.Miniredis) *Identity {
	known, again := identities.LoadOrStore(m, &Identity{})
	id := known.(*Identity)
	if !again {
		id.Restart()
	}
	m.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		if id.demoted.Load() && strings.HasPrefix(strings.ToUpper(cmd), "EVAL") {
			c.WriteError("READONLY You can't write against a read only replica.")
			return true
		}
		if !strings.EqualFold(cmd, "INFO") || len(args) != 1 {
			return false
		}
		switch strings.ToLower(args[0]) {
		case "server":
			c.WriteBulk("# Server\r\nrun_id:" + *id.run.Load() + "\r\n")
		case "replication":
			c.WriteBulk("# Replication\r\nrole:master\r\nmaster_replid:" + *id.history.Load() + "\r\n")
		default:
			return false
		}
		return true
	})
	return id
}

// Forget drops what is known of a server that will not be used again.
func Forget(m *miniredis.Miniredis) { identities.Delete(m) }

// Restart lets the server go on as another process, with its data.
func (id *Identity) Restart() {
	run := random()
	id.run.Store(&run)
	id.Promote()
}

// Demote has the server run no script, as a replica runs none that writes.
func (id *Identity) Demote() { id.demoted.Store(true) }

// Promote lets the server go on as after a promotion: the same process, another
// history.
func (id *Identity) Promote() {
	id.demoted.Store(false)
	history := random()
	id.history.Store(&history)
}

func random() string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
