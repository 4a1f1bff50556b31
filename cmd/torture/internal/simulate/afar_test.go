package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/farm/farmtest"
)

func TestMain(m *testing.M) {
	farmtest.Main(m, map[string]farm.Player{RoundKind: PlayRound(catalogue.Builtin())}, func(string, string) error { return errors.New("nobody coordinates here") })
}

// explored is what a job came to on a farm: its rounds in order, and why one is void.
func explored(ctx context.Context, t *testing.T, url, dir string, told func(rounds int)) (rounds []string) {
	t.Helper()
	c, err := farmtest.Open(ctx, url, dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &Player{Lock: catalogue.Builtin()["single"]}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err = p.ExploreAfar(ctx, Job{Lock: "single", Seed: 3, Rounds: 16}, c, func(r RoundReport) {
		rounds = append(rounds, fmt.Sprintf("%d%s", r.Round, r.Void))
		told(len(rounds))
	}, func(f Found) { t.Errorf("found %+v", f) })
	if err != nil {
		t.Error(err)
	}
	if err := c.Close(context.WithoutCancel(ctx), ctx.Err() == nil); err != nil {
		t.Error(err)
	}
	return rounds
}

// TestExploreAfar takes as long as a task stays with a worker that is no more: the same
// seed has the same rounds, each once, on an undisturbed farm, and on one whose worker was
// killed, and whose coordinator began a second session. Their histories are not compared:
// on a starved machine Go's scheduler takes the processor from a goroutine after 10 ms,
// also when it did not run for as long, and another one that is ready at the same virtual
// instant goes first.
func TestExploreAfar(t *testing.T) {
	url := farmtest.Address(t)
	victim := farmtest.Worker(t, url, farm.Virtual)
	farmtest.Worker(t, url, farm.Virtual)
	calm := explored(t.Context(), t, url, t.TempDir(), func(int) {})
	if len(calm) != 16 {
		t.Fatalf("%v", calm)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	explored(ctx, t, url, dir, func(rounds int) {
		if rounds == 3 {
			farmtest.Kill(t, victim)
		}
		if rounds == 6 {
			cancel()
		}
	})
	if rough := explored(t.Context(), t, url, dir, func(int) {}); !slices.Equal(rough, calm) {
		t.Errorf("undisturbed %v\ndisturbed   %v", calm, rough)
	}
}
