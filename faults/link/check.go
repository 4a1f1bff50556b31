package link

import (
	"context"
	"fmt"
	"strings"
)

// Check asks a toxiproxy server in another process whether it still carries
// every link of f. Links of this process's own cannot be taken from it.
func Check(ctx context.Context, f Fabric) error {
	all, ok := f.(*fabric)
	if !ok {
		return nil
	}
	r, ok := all.backend.(*remote)
	if !ok {
		return nil
	}
	all.mu.Lock()
	want, closed := len(all.links), all.closed
	all.mu.Unlock()
	if closed {
		return nil
	}
	return guard(ctx, "toxiproxy at "+r.c.API, func(context.Context) error { return r.check(want) })
}

func (r *remote) check(want int) error {
	proxies, err := r.client.Proxies()
	if err != nil {
		return fmt.Errorf("it does not answer any more: %w", err)
	}
	have := 0
	for name := range proxies {
		if strings.HasPrefix(name, r.prefix()) {
			have++
		}
	}
	if have < want {
		return fmt.Errorf("%d of this run's %d proxies are left: somebody else has restarted it or removed them", have, want)
	}
	return nil
}
