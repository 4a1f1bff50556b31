package catalogue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var serverPauseEntry = Entry{
	Name:     "server-pause",
	Wire:     "CLIENT PAUSE WRITE: the server holds every write and answers reads.",
	Survives: "As a stopped node: per-node time-outs. Held commands take effect late.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: server(serverFault{name: "server-pause", writes: true, commands: []string{"CLIENT"}, apply: pauseWrites(pauseLength)}),
}

// probeKey never exists: a DEL of it is a write that changes nothing.
const probeKey = "locktorture-probe"

// pauseLength is for how long one CLIENT PAUSE holds the writes. It is renewed until the heal,
// and ends by itself should nobody be left to heal it.
const pauseLength = 10 * time.Second

// pauseWrites is CLIENT PAUSE: the server holds every write, and answers reads.
func pauseWrites(length time.Duration) func(context.Context, *faults.Scope, faults.Params, testbed.Node) (string, error) {
	return func(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
		s.OnHeal(n.Name()+" holds every write", "redis-cli CLIENT UNPAUSE on "+n.Addr(), func(ctx context.Context) (string, error) {
			if err := administer(ctx, n, "CLIENT", "UNPAUSE"); err != nil {
				return "", err
			}
			if _, err := testbed.Do(ctx, n, "DEL", probeKey); err != nil && !testbed.Refuses(err) {
				return "", err
			}
			return "", nil // it is answered, if only with a no: the node may be a replica by now
		})
		p := &writePause{n: n, length: length}
		if err := p.renew(ctx); err != nil {
			return "", err
		}
		s.Background(n.Name()+" holds every write", p.renewUntilDone, func() string { return p.held() })
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		switch _, err := testbed.Do(short, n, "DEL", probeKey); {
		case err == nil:
			return "", errors.New("a write is answered in spite of CLIENT PAUSE")
		case testbed.Refuses(err):
			return "", fmt.Errorf("a write is answered in spite of CLIENT PAUSE: %w: %w", err, faults.ErrMissed)
		case short.Err() == nil:
			return "", err // for want of a connection, which says nothing of the pause
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
	if err := administer(ctx, p.n, "CLIENT", "PAUSE", fmt.Sprint(p.length.Milliseconds()), "WRITE"); err != nil {
		return err
	}
	if p.calls++; p.calls == 1 {
		p.began = asked
	}
	p.until = asked.Add(p.length)
	return nil
}

// renewUntilDone renews the pause until ctx ends. A pause that has ended meanwhile is an
// error: it was not in force all the time that it is recorded as.
func (p *writePause) renewUntilDone(ctx context.Context) error {
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
