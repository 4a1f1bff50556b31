package workload_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// onGrant calls act once, in a goroutine of its own, when owner is granted a
// key.
func onGrant(rec *history.Recorder, wg *sync.WaitGroup, owner string, act func()) {
	var once sync.Once
	rec.Attach(history.SinkFunc(func(e *history.Event) {
		if e.Op == history.Acquire && e.Kind == history.OK && e.Owner == owner {
			once.Do(func() { wg.Go(act) })
		}
	}))
}

// The holder dies: it releases nothing, says nothing more, and its key is
// another's only after the lease has run out. It comes back as somebody else.
func TestCrashedHolderIsSilent(t *testing.T) {
	r := newRig(t, 2)
	cfg := load()
	cfg.Keys, cfg.TTL = 1, time.Second
	watch, stopped, _ := r.stopBeforeWrite(0) // so that it dies with the key in its hands
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	silentFrom := -1
	events := record(t, func(rec *history.Recorder) {
		rec.Attach(history.SinkFunc(watch))
		onGrant(rec, &wg, "a", func() {
			<-stopped
			receipt, err := r.clients[0].Crash(ctx)
			if err != nil || receipt != "a gone, its connections severed, holding k0" {
				t.Errorf("crash: %q, %v", receipt, err)
			}
			silentFrom = rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase})
			if receipt, err = r.clients[0].Restart(ctx); err != nil || receipt != "a.1 started" {
				t.Errorf("restart: %q, %v", receipt, err)
			}
		})
		onGrant(rec, &wg, "a.1", cancel)
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	})
	var grantedA, nextGrant time.Duration
	for i, e := range events {
		switch {
		case e.Owner == "a" && i > silentFrom:
			t.Errorf("the dead speaks: %+v", e)
		case e.Owner == "a" && e.Op == history.Release:
			t.Errorf("the dead released: %+v", e)
		case e.Op == history.Acquire && e.Kind == history.OK && e.Owner == "a":
			grantedA = e.Time
		case e.Op == history.Acquire && e.Kind == history.OK && grantedA > 0 && nextGrant == 0:
			nextGrant = e.Time
		}
	}
	if nextGrant-grantedA < cfg.TTL/2 {
		t.Errorf("taken over %v after the grant of a lease of %v", nextGrant-grantedA, cfg.TTL)
	}
}

// A client that dies within an operation leaves it unknown, and its process
// is not used again; that holds for a client that is stopped at a gate, and
// for one whose library waits without end.
func TestCrashWithinAnOperation(t *testing.T) {
	r := newRig(t, 1)
	connect := r.clients[0].Connect
	r.clients[0].Connect = func(ctx context.Context) (*workload.Conn, error) {
		conn, err := connect(ctx)
		conn.Locker = deaf{conn.Locker}
		return conn, err
	}
	cfg := load()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	events := record(t, func(rec *history.Recorder) {
		var once sync.Once
		rec.Attach(history.SinkFunc(func(e *history.Event) {
			if e.Op == history.Acquire {
				once.Do(func() {
					wg.Go(func() {
						defer cancel()
						if _, err := r.clients[0].Crash(ctx); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}))
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	})
	var ops []history.Event
	for _, e := range events {
		if e.Op == history.Acquire {
			ops = append(ops, e)
		}
	}
	if len(ops) != 2 || ops[1].Kind != history.Info || !strings.HasPrefix(ops[1].Err, "client crashed") {
		t.Errorf("operations %+v", ops)
	}
}

// deaf is a locker that never gets an answer, and when it gives up claims that
// nothing was taken.
type deaf struct{ lockimpl.Locker }

func (deaf) Acquire(ctx context.Context, _ string, _ time.Duration) (lockimpl.Lease, error) {
	<-ctx.Done()
	return nil, lockimpl.ErrHeld
}

func TestCrashOfAStoppedClient(t *testing.T) {
	r := newRig(t, 1)
	stopped := make(chan struct{})
	r.clients[0].Pause = func(ctx context.Context) error {
		close(stopped)
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	record(t, func(rec *history.Recorder) {
		var wg sync.WaitGroup
		wg.Go(func() {
			<-stopped
			if _, err := r.clients[0].Crash(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		})
		cfg := load()
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	})
}

// Crashes between phases, twice, without a restart, of a client that cannot.
func TestCrashOutsidePhases(t *testing.T) {
	r := newRig(t, 2)
	c, ctx, cfg := r.clients[0], t.Context(), load()
	cfg.Duration = 50 * time.Millisecond
	if _, err := c.Crash(ctx); err == nil {
		t.Error("crashed before it lived")
	}
	record(t, func(rec *history.Recorder) {
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		if receipt, err := c.Crash(ctx); err != nil || receipt != "a gone, its connections severed" {
			t.Errorf("crash: %q, %v", receipt, err)
		}
		if _, err := c.Crash(ctx); err == nil {
			t.Error("crashed while down")
		}
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil { // with b alone
			t.Fatal(err)
		}
		if c.Owner() != "a" {
			t.Errorf("owner while down: %s", c.Owner())
		}
		if receipt, err := c.Restart(ctx); err != nil || receipt != "a.1 started" {
			t.Errorf("restart: %q, %v", receipt, err)
		}
		if _, err := c.Restart(ctx); err == nil {
			t.Error("restarted while up")
		}
		runUntil(t, rec, workload.RunFinal, cfg, r.clients, func(e *history.Event) bool {
			return e.Owner == "a.1" && e.Op == history.Release && e.Kind == history.OK
		})
	})
	immortal := &workload.Client{Name: "x", Connect: func(context.Context) (*workload.Conn, error) {
		return &workload.Conn{Locker: panicky{}, Close: func() error { return nil }}, nil
	}}
	record(t, func(rec *history.Recorder) {
		_ = workload.Run(ctx, cfg, []*workload.Client{immortal}, rec) // it panics, but it has lived
	})
	if _, err := immortal.Crash(ctx); err == nil {
		t.Error("crashed without its connections severed")
	}
}

func TestRestartThatCannotConnect(t *testing.T) {
	r := newRig(t, 1)
	c, ctx, cfg := r.clients[0], t.Context(), load()
	cfg.Duration = 30 * time.Millisecond
	connect := c.Connect
	record(t, func(rec *history.Recorder) {
		c.Connect = func(context.Context) (*workload.Conn, error) { return nil, errors.New("no road") }
		if err := workload.Run(ctx, cfg, r.clients, rec); err == nil {
			t.Fatal("ran without a connection")
		}
		c.Connect = connect
		if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Crash(ctx); err != nil {
			t.Fatal(err)
		}
		tries := 0
		inVain := func(last int, then func()) {
			tries = 0
			c.Connect = func(ctx context.Context) (*workload.Conn, error) {
				if tries++; tries == last {
					then()
				}
				return nil, errors.New("no road")
			}
		}
		limited, cancel := context.WithCancel(ctx)
		inVain(3, cancel)
		if _, err := c.Restart(limited); err == nil || !strings.Contains(err.Error(), "no road") || tries != 3 {
			t.Errorf("restarted without a connection, at try %d: %v", tries, err)
		}
		inVain(2, func() { c.Connect = connect }) // the servers are back
		if receipt, err := c.Restart(ctx); err != nil || receipt != "a.1 started" {
			t.Errorf("restart: %q, %v", receipt, err)
		}
	})
}
