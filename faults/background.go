package faults

import (
	"context"
	"sync"
)

// Background runs work until the heal, which ends its context and waits for
// it. receipt says afterwards what proves that it bit.
func (t *Target) Background(broken string, work func(ctx context.Context) error, receipt func() string) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { failed = work(ctx) })
	t.OnHeal(broken, "end the run: what does it ends with it", func(context.Context) (string, error) {
		cancel()
		wg.Wait()
		if failed != nil {
			return "", failed
		}
		return receipt(), nil
	})
}
