package conn

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// A client of a cluster sends a command where it is redirected, and never twice to
// whoever may have executed it.
func TestClusterSendsOnce(t *testing.T) {
	there, here := miniredis.RunT(t), miniredis.RunT(t)
	var elsewhere, cut atomic.Bool
	var sets atomic.Int64
	slots := func(c *server.Peer, cmd string, args ...string) bool { // all of them are here, whoever is asked
		if cmd != "CLUSTER" || !strings.EqualFold(args[0], "SLOTS") {
			return false
		}
		host, port, _ := strings.Cut(here.Addr(), ":")
		c.WriteLen(1)
		c.WriteLen(3)
		c.WriteInt(0)
		c.WriteInt(16383)
		c.WriteLen(3)
		c.WriteBulk(host)
		c.WriteInt(atoi(port))
		c.WriteBulk("id")
		return true
	}
	there.Server().SetPreHook(slots)
	here.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		switch {
		case cmd == "SET" && elsewhere.Load():
			c.WriteError("MOVED 12539 " + there.Addr())
		case cmd == "SET" && cut.Load():
			sets.Add(1)
			c.Close() // it may have been executed
		default:
			return slots(c, cmd, args...)
		}
		return true
	})
	rdb := Universal(lockimpl.Node{Name: "cluster", Cluster: []string{here.Addr()}})
	t.Cleanup(func() { _ = rdb.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	elsewhere.Store(true)
	if err := rdb.SetNX(ctx, "k", "v", time.Minute).Err(); err != nil || !there.Exists("k") {
		t.Errorf("a command that was redirected: %v", err)
	}
	elsewhere.Store(false)
	cut.Store(true)
	if err := rdb.SetNX(ctx, "k", "v", time.Minute).Err(); err == nil || sets.Load() != 1 {
		t.Errorf("a command whose reply was lost was sent %d times: %v", sets.Load(), err)
	}
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error { return p.SetNX(ctx, "k", "v", time.Minute).Err() })
	if err == nil || sets.Load() != 2 {
		t.Errorf("one in a pipeline was sent %d times: %v", sets.Load()-1, err)
	}
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}
