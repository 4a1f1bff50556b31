package run

import (
	"context"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/link"
)

// newFabric returns the links of a run: its own, or those of a toxiproxy server
// beside the nodes, freed of what a run that died has left there.
func newFabric(ctx context.Context, cfg config.Config) (link.Fabric, error) {
	if cfg.Proxy == "" {
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
