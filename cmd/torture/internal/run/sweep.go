package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// Sweep clears away what runs that were killed have left: servers and shared
// memory of the runs below the folder runs, containers, and, when api is not
// empty, proxies with their toxics in the toxiproxy server there. It says what
// it did, one line each. What belongs to a run that is alive stays, but for
// the proxies: one run at a time uses a toxiproxy server.
func Sweep(ctx context.Context, runs, api string) ([]string, error) {
	var did []string
	var errs []error
	dirs, _ := filepath.Glob(filepath.Join(runs, "*", NodesDir)) // the pattern is well-formed
	for _, dir := range dirs {
		some, err := testbed.Sweep(ctx, dir)
		did, errs = append(did, some...), append(errs, err)
	}
	if testbed.CanContain(ctx, "") == nil {
		some, err := testbed.SweepContainers(ctx)
		did, errs = append(did, some...), append(errs, err)
	}
	if api != "" {
		proxies, err := link.Sweep(ctx, remote(api))
		for _, name := range proxies {
			did = append(did, fmt.Sprintf("removed proxy %s of toxiproxy at %s", name, api))
		}
		errs = append(errs, err)
	}
	return did, errors.Join(errs...)
}

// newFabric returns the links of a run: its own, or those of a toxiproxy server
// beside the nodes, freed of what a run that died has left there.
func newFabric(ctx context.Context, cfg config.Config, pace *link.Pace) (link.Fabric, error) {
	switch {
	case cfg.Proxy == "" && pace != nil:
		return link.NewPaced(cfg.Seed, *pace), nil
	case cfg.Proxy == "":
		return link.NewEmbedded(), nil
	}
	c := remote(cfg.Proxy)
	if _, err := link.Sweep(ctx, c); err != nil {
		return nil, err
	}
	return link.NewRemote(c), nil
}

func remote(api string) link.RemoteConfig {
	return link.RemoteConfig{
		API: api, RunID: "compose", Bind: "0.0.0.0",
		FirstPort: config.ComposeFirstPort, LastPort: config.ComposeLastPort,
	}
}
