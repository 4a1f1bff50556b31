package link

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A recording keeps the events of a tap as short lines.
type recording struct {
	mu    sync.Mutex
	lines []string
}

func (r *recording) report(e TapEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := fmt.Sprintf("%d.%d %s %s", e.Conn, e.Request, e.Command, e.Key)
	if e.Script != "" {
		line += " script " + e.Script[:6]
	}
	if e.Reply {
		line += fmt.Sprintf(" → error %t, nothing %t", e.Error, e.Nothing)
	}
	r.lines = append(r.lines, line)
}

func (r *recording) want(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("tap reported\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestTap(t *testing.T) {
	const script = "return redis.call('GET', KEYS[1])"
	sum := sha1.Sum([]byte(script))
	digest := hex.EncodeToString(sum[:])
	r := newRig(t, NewEmbedded())
	conn := r.dial()
	var rec recording
	stop := r.link.Tap(rec.report)
	conn.send(t, "set", "k", "v", "NX")
	conn.want(t, "+OK")
	conn.send(t, "SET", "k", "v", "NX")
	conn.want(t, "$-1")
	conn.send(t, "LPUSH", "k", "v")
	conn.want(t, "-WRONGTYPE Operation against a key holding the wrong kind of value")
	conn.send(t, "AUTH", "secret")
	conn.want(t, "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	conn.send(t, "EVAL", script, "1", "missing")
	conn.want(t, "$-1")
	conn.send(t, "EVALSHA", digest, "1", "missing")
	conn.want(t, "$-1")
	stop()
	conn.send(t, "PING")
	conn.want(t, "+PONG")
	rec.want(t,
		"1.2 SET k", "1.2 SET k → error false, nothing false",
		"1.3 SET k", "1.3 SET k → error false, nothing true",
		"1.4 LPUSH k", "1.4 LPUSH k → error true, nothing false",
		"1.5 AUTH ", "1.5 AUTH  → error true, nothing false",
		"1.6 EVAL missing script "+digest[:6], "1.6 EVAL missing script "+digest[:6]+" → error false, nothing true",
		"1.7 EVALSHA missing script "+digest[:6], "1.7 EVALSHA missing script "+digest[:6]+" → error false, nothing true",
	)
}

func TestTapCanLockAFaultToACommand(t *testing.T) {
	r := newRig(t, NewEmbedded())
	conn := r.dial()
	var a *applied
	stop := r.link.Tap(func(e TapEvent) {
		if e.Command == "SET" && !e.Reply && a == nil {
			a = r.impair(Impairment{Kind: RequestLost})
		}
	})
	defer stop()
	conn.send(t, "SET", "k", "v")
	conn.wantSilence(t)
	r.heal(a)
	conn.wantEnd(t)
	if r.applied("k") {
		t.Error("the request passed before the fault that it triggered")
	}
}
