package link

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
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

// scanned feeds stream to a scanner in pieces and returns what it saw.
func scanned(requests bool, stream string, piece func() int) []string {
	var saw []string
	s := scanner{requests: requests}
	s.whole = func(first byte, nothing bool, words [][]byte) {
		saw = append(saw, fmt.Sprintf("%c %t %s", first, nothing, words))
	}
	for rest := []byte(stream); len(rest) > 0; {
		n := min(piece(), len(rest))
		s.feed(rest[:n])
		rest = rest[n:]
	}
	if s.blind {
		saw = append(saw, "blind")
	}
	return saw
}

func TestScanner(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name     string
		requests bool
		stream   string
		want     []string
	}{
		{"commands", true, command("SET", "k", "v") + command("PING"), []string{"* false [SET k v]", "* false [PING]"}},
		{"words are bounded", true, command("SET", long, "a", "b", "c", "d"), []string{"* false [SET " + long[:maxWord] + " a b]"}},
		{"binary payload", true, command("SET", "k\r\n*1\r\n", "\r\n"), []string{"* false [SET k\r\n*1\r\n \r\n]"}},
		{"inline", true, "PING\r\nset k v\n\r\n", []string{"* false [PING]", "* false [set k v]"}},
		{"empty command", true, "*0\r\n" + command("PING"), []string{"* true []", "* false [PING]"}},
		{"scalars", false, "+OK\r\n-ERR x\r\n:1\r\n_\r\n#t\r\n,1.5\r\n", []string{"+ false []", "- false []", ": false []", "_ true []", "# false []", ", false []"}},
		{"nulls", false, "$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n", []string{"$ true []", "* true []", "* true []", "$ false []"}},
		{"nested", false, "*2\r\n*2\r\n:1\r\n$-1\r\n%1\r\n+a\r\n*0\r\n:5\r\n", []string{"* false []", ": false []"}},
		{"push and attribute", false, ">2\r\n+message\r\n$1\r\nx\r\n|1\r\n+a\r\n+b\r\n:1\r\n", []string{"> false []", "| false []"}},
		{"not RESP", false, "HTTP/1.1 200 OK\r\n", []string{"blind"}},
		{"streamed string", false, "$?\r\n", []string{"blind"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, piece := range []func() int{
				func() int { return len(c.stream) },
				func() int { return 1 },
				func() int { return 1 + rng.IntN(9) },
			} {
				if got := scanned(c.requests, c.stream, piece); strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("saw %q, want %q", got, c.want)
				}
			}
		})
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(true, command("EVAL", "return 1", "0"))
	f.Add(false, "*2\r\n:1\r\n$3\r\nabc\r\n")
	f.Fuzz(func(t *testing.T, requests bool, stream string) {
		whole := scanned(requests, stream, func() int { return len(stream) })
		bytewise := scanned(requests, stream, func() int { return 1 })
		if strings.Join(whole, "|") != strings.Join(bytewise, "|") {
			t.Errorf("in one piece %q, bytewise %q", whole, bytewise)
		}
	})
}
