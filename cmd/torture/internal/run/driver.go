package run

import (
	"context"
	"errors"
	"sync"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A driver makes the clients of a run act: those of this process, or those of workers.
type driver interface {
	// phase plays one phase and records that it began and what it came to.
	phase(ctx context.Context, name string, cfg workload.Config, rec *history.Recorder) error

	// clients are they as faults see them, and link is what joins one to a node.
	clients() []faults.Client
	link(client, node string) link.Link

	// heal resets every link of theirs, whatever the nemesis has left.
	heal(ctx context.Context) error

	// disconnect ends every client.
	disconnect(ctx context.Context) error
}

// A localDriver drives the clients of this process.
type localDriver struct{ *environment }

func (h localDriver) phase(ctx context.Context, name string, cfg workload.Config, rec *history.Recorder) error {
	if name == history.PhaseFinal {
		return workload.RunFinal(ctx, cfg, h.contenders(), rec)
	}
	return workload.Run(ctx, cfg, h.contenders(), rec)
}

func (h localDriver) contenders() []*workload.Client {
	var all []*workload.Client
	for _, c := range h.environment.clients {
		all = append(all, c.Client)
	}
	return all
}

func (h localDriver) clients() []faults.Client {
	var all []faults.Client
	for _, c := range h.environment.clients {
		all = append(all, c)
	}
	return all
}

func (h localDriver) link(client, node string) link.Link { return h.links[client][node] }

func (h localDriver) heal(ctx context.Context) error { return h.fabric.Reset(ctx) }

func (h localDriver) disconnect(context.Context) error {
	errs := make([]error, len(h.environment.clients)+1)
	var wg sync.WaitGroup
	for i, c := range h.environment.clients {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Go(func() { errs[len(errs)-1] = h.closeProbe() }) // beside them: a child may take its time to leave
	wg.Wait()
	return errors.Join(errs...)
}
