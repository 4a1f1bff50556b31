package workload_test

import (
	"context"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// silent is a locker that never answers, and says so when it is given up.
type silent struct {
	lockimpl.Locker
	asked chan<- struct{}
}

func (l silent) Acquire(ctx context.Context, _ string, _ time.Duration) (lockimpl.Lease, error) {
	l.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A cancelled operation is of unknown outcome, its process is retired, and the
// client lives on.
func TestCancel(t *testing.T) {
	r := newRig(t, 1)
	c := r.clients[0]
	asked := make(chan struct{})
	connect := c.Connect
	c.Connect = func(ctx context.Context) (*workload.Conn, error) {
		conn, err := connect(ctx)
		conn.Locker = silent{conn.Locker, asked}
		return conn, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	cfg := load()
	cfg.Timeout = time.Hour
	events := record(t, func(rec *history.Recorder) {
		if n := c.Cancel(); n != 0 {
			t.Errorf("%d operations of a client that has not begun", n)
		}
		done := make(chan error)
		go func() { done <- workload.Run(ctx, cfg, r.clients, rec) }()
		for range 2 {
			<-asked
			if n := c.Cancel(); n != 1 {
				t.Errorf("%d operations cancelled, want 1", n)
			}
		}
		<-asked
		cancel()
		c.Cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	processes := map[int]bool{}
	for _, e := range events {
		if e.Op == history.Acquire && e.Kind == history.Info {
			processes[e.Process] = true
		}
	}
	if len(processes) != 3 {
		t.Errorf("unknown outcomes of %d processes, want 3", len(processes))
	}
}
