package hunt

import (
	"context"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
)

// usual are the commands by which locks acquire and release keys: those that are assumed for a
// lock whose commands cannot be observed.
var usual = []string{"SET", "SETNX", "GET", "DEL", "EVAL", "EVALSHA", "EXEC"}

// listenLimit bounds the time for which a lock's commands are observed.
const listenLimit = 3 * time.Second

// commandsOf are the commands that a lock sends to nodes in memory: the moments of its own to
// which faults can be locked.
func commandsOf(ctx context.Context, l catalogue.Lock, c config.Config) []string {
	if l.Child { // which dials by itself
		return usual
	}
	ctx, cancel := context.WithTimeout(ctx, listenLimit)
	defer cancel()
	bed, err := testbed.StartEmbedded(ctx, testbed.EmbeddedConfig{Nodes: l.Masters(c)})
	if err != nil {
		return usual
	}
	defer bed.Close()
	factory := l.Factory(c)
	if l.WithClock != nil {
		factory = l.WithClock(time.Now)
	}
	if all := wiring.Commands(ctx, factory, bed.Nodes()); len(all) > 0 {
		return all
	}
	return usual
}
