package catalogue

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
)

// cancelledClient has one operation under way at a time.
type cancelledClient struct {
	*faulttest.Client
	mu     sync.Mutex
	cancel context.CancelFunc
}

func (c *cancelledClient) Cancel() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel == nil {
		return 0
	}
	c.cancel()
	c.cancel = nil
	return 1
}

// do runs one operation.
func (c *cancelledClient) do(ctx context.Context, op func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	err := op(ctx)
	c.mu.Lock()
	c.cancel = nil
	c.mu.Unlock()
	return err
}

func cancellable(clients []faults.Client, i int) *cancelledClient {
	c := &cancelledClient{Client: clients[i].(*faulttest.Client)}
	clients[i] = c
	return c
}

// A client that goes on until its context ends is stopped by the fault, having
// written before, and is left alone after the heal.
func TestCancelContext(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		c, rdb := cancellable(r.Clients, 0), r.Dial(t, "c00", "n1")
		f := r.inject(t, "cancel-context", faults.Params{Client: "c00"})
		err := c.do(t.Context(), func(ctx context.Context) error {
			rdb.Incr(t.Context(), "count") // however early it is cancelled, the client has asked for something by then
			for ctx.Err() == nil {
				rdb.Incr(ctx, "count")
			}
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("under cancellation: %v", err)
		}
		f.healed(t, "operations of c00 cancelled under way")
		err = c.do(t.Context(), func(ctx context.Context) error { return rdb.Set(ctx, "k", "v", 0).Err() })
		if err != nil || r.Get(t, r.Node("n1"), "k") != "v" {
			t.Errorf("SET after the heal: %v", err)
		}
	})
}

// The points are drawn from the seed; a client that has nothing under way
// proves nothing.
func TestCancelContextVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 2)
		busy, idle := cancellable(w.Clients, 0), cancellable(w.Clients, 1)
		e := All()["cancel-context"]
		var wg sync.WaitGroup
		ended := 0
		stop, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			for stop.Err() == nil {
				if busy.do(stop, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }); stop.Err() == nil {
					ended++
				}
			}
		})
		res, err := w.Run(t.Context(),
			faults.Step{For: second, Fault: e.New(faults.Params{Client: busy.Name()})},
			faults.Step{For: second, Fault: e.New(faults.Params{Client: idle.Name()})})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		wg.Wait()
		if said := strings.Join(res.Steps[0].Receipts, " "); !res.Steps[0].TookEffect || ended < 10 {
			t.Errorf("%d operations ended: %q", ended, said)
		}
		if res.Steps[1].TookEffect {
			t.Errorf("a receipt for an idle client: %q", res.Steps[1].Receipts)
		}
	})
}

func TestCancelContextUnsupported(t *testing.T) {
	w := faulttest.New(1, 1)
	f := All()["cancel-context"].New(faults.Params{})
	if err := f.Supports(w.Target); err == nil || !strings.Contains(err.Error(), "c00 is none") {
		t.Error(err)
	}
	cancellable(w.Clients, 0)
	if err := f.Supports(w.Target); err != nil {
		t.Error(err)
	}
}
