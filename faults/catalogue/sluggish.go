package catalogue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

// probeKey never exists: a DEL of it is a write that changes nothing.
const probeKey = "locktorture-probe"

// pauseLength is for how long one CLIENT PAUSE holds the writes. It ends by
// itself then, should nobody be left to heal it; until the heal it is renewed.
const pauseLength = 10 * time.Second

// pauseWrites is CLIENT PAUSE: the server holds every write, and answers reads.
// Each call is for length, and is renewed by another one well before it ends.
func pauseWrites(length time.Duration) func(context.Context, *faults.Scope, faults.Params, testbed.Node) (string, error) {
	return func(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
		s.OnHeal(n.Name()+" holds every write", "redis-cli CLIENT UNPAUSE on "+n.Addr(), func(ctx context.Context) (string, error) {
			if err := tell(ctx, n, "CLIENT", "UNPAUSE"); err != nil {
				return "", err
			}
			_, err := testbed.Do(ctx, n, "DEL", probeKey)
			return "", err
		})
		p := &writePause{n: n, length: length}
		if err := p.renew(ctx); err != nil {
			return "", err
		}
		s.Background(n.Name()+" holds every write", p.keep, func() string { return p.held() })
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := testbed.Do(short, n, "DEL", probeKey); err == nil {
			return "", errors.New("a write is answered in spite of CLIENT PAUSE")
		}
		return "CLIENT PAUSE: a write is not answered", nil
	}
}

// A writePause is a CLIENT PAUSE that is renewed.
type writePause struct {
	n      testbed.Node
	length time.Duration
	until  time.Time // it holds at least until then
	began  time.Time
	calls  int
}

// renew has the pause last for its length from here on.
func (p *writePause) renew(ctx context.Context) error {
	asked := time.Now()
	if p.calls > 0 && asked.After(p.until) {
		return fmt.Errorf("CLIENT PAUSE of %s ended by itself %v before it was renewed", p.n.Name(), asked.Sub(p.until))
	}
	if err := tell(ctx, p.n, "CLIENT", "PAUSE", fmt.Sprint(p.length.Milliseconds()), "WRITE"); err != nil {
		return err
	}
	if p.calls++; p.calls == 1 {
		p.began = asked
	}
	p.until = asked.Add(p.length)
	return nil
}

// keep renews the pause until ctx ends. A pause that has ended meanwhile is an
// error: it was not in force all the time that it is recorded as.
func (p *writePause) keep(ctx context.Context) error {
	for wait.For(ctx, p.length/4) {
		if err := p.renew(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	if late := time.Since(p.until); late > 0 {
		return fmt.Errorf("CLIENT PAUSE of %s ended by itself %v before its heal", p.n.Name(), late)
	}
	return nil
}

func (p *writePause) held() string {
	return fmt.Sprintf("%s held every write for %v (CLIENT PAUSE ×%d)", p.n.Name(), phrase.Round(time.Since(p.began)), p.calls)
}

// busyScript runs a script that never ends. The server answers BUSY to
// everybody until it is killed.
func busyScript(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	if _, err := configure(ctx, s, n, "busy-reply-threshold", "10"); err != nil {
		return "", err
	}
	s.Background(n.Name()+" runs an endless script", func(ctx context.Context) error {
		_, err := testbed.Do(ctx, n, "EVAL", "while true do end", "0")
		if err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "killed")) {
			return nil
		}
		return err
	}, func() string { return "" })
	s.OnHeal(n.Name()+" runs an endless script", "redis-cli SCRIPT KILL on "+n.Addr(), func(ctx context.Context) (string, error) {
		if err := tell(ctx, n, "SCRIPT", "KILL"); err != nil && !strings.Contains(err.Error(), "NOTBUSY") {
			return "", err
		}
		_, err := testbed.Do(ctx, n, "PING")
		return "", err
	})
	for wait.For(ctx, 5*time.Millisecond) {
		_, err := testbed.Do(ctx, n, "PING")
		if err != nil && strings.Contains(err.Error(), "BUSY") {
			return "PING is answered BUSY", nil
		}
	}
	return "", ctx.Err()
}

// spin keeps the server busy for about ARGV[1] microseconds.
const spin = `
local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
local began = now()
for i = 1, 1000000 do
  if now() - began >= tonumber(ARGV[1]) then return i end
end
return 0`

// slowNode keeps a server busy most of the time: each command waits for the
// others' work.
func slowNode(_ context.Context, s *faults.Scope, p faults.Params, n testbed.Node) (string, error) {
	burst := p.Delay
	if burst == 0 {
		burst = max(s.TTL/100, time.Millisecond)
	}
	var bursts atomic.Int64
	s.Background(n.Name()+" is kept busy", func(ctx context.Context) error {
		for wait.For(ctx, burst/4) {
			_, err := testbed.Do(ctx, n, "EVAL", spin, "0", fmt.Sprint(burst.Microseconds()))
			if err != nil && ctx.Err() == nil {
				return err
			}
			bursts.Add(1)
		}
		return nil
	}, func() string {
		if bursts.Load() == 0 {
			return ""
		}
		return fmt.Sprintf("%s was busy %d times for %v", n.Name(), bursts.Load(), burst)
	})
	return "", nil
}

// demote makes a node the replica of nobody: it serves reads and refuses
// writes.
func demote(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	s.OnHeal(n.Name()+" is a replica", "redis-cli REPLICAOF NO ONE on "+n.Addr(), func(ctx context.Context) (string, error) {
		return "", tell(ctx, n, "REPLICAOF", "NO", "ONE")
	})
	if err := tell(ctx, n, "REPLICAOF", "127.0.0.1", "1"); err != nil {
		return "", err
	}
	_, err := testbed.Do(ctx, n, "DEL", probeKey)
	if err == nil || !strings.Contains(err.Error(), "READONLY") {
		return "", fmt.Errorf("write to a demoted node: want READONLY, got %v", err)
	}
	return "", refused(ctx, s, n, "READONLY")
}
