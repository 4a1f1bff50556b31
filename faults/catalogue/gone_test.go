package catalogue

import (
	"context"
	"errors"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// goneFabric opens links of which those of some clients went with whoever had them.
type goneFabric struct {
	link.Fabric
	gone map[string]bool
}

func (f goneFabric) Open(ctx context.Context, client, node, upstream string) (link.Link, error) {
	l, err := f.Fabric.Open(ctx, client, node, upstream)
	if err == nil && f.gone[client] {
		return goneLink{l}, nil
	}
	return l, err
}

type goneLink struct{ link.Link }

func (goneLink) Impair(context.Context, link.Impairment) (link.Applied, error) {
	return nil, faults.ErrMissed
}

// A fault of several clients' links hits those that are there; where none is, it hit nobody.
func TestLinksThatAreGone(t *testing.T) {
	t.Parallel()
	start := func(gone map[string]bool) *rig {
		bed, err := testbed.StartEmbedded(t.Context(), testbed.EmbeddedConfig{Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return rigOn(t, bed, 2, goneFabric{link.NewEmbedded(), gone})
	}
	r := start(map[string]bool{"c01": true})
	rdb := r.Dial(t, "c00", "n1")
	f := r.inject(t, "latency", faults.Params{Client: faults.RoleAll, Node: "n1", Delay: 20 * time.Millisecond})
	if err := faulttest.Set(t, rdb, faulttest.Late, "k", "v"); err != nil {
		t.Error(err)
	}
	f.healed(t, "delayed")
	r = start(map[string]bool{"c00": true, "c01": true})
	entry := All()["latency"]
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	res, err := r.Run(ctx, faults.Step{For: time.Millisecond, Fault: entry.New(faults.Params{Client: faults.RoleAll, Node: "n1", Delay: 20 * time.Millisecond}.Or(entry.Default))})
	if len(res.Steps) > 0 && res.Steps[0].TookEffect || err != nil && !errors.Is(err, faults.ErrMissed) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody's link was there: %+v, %v", res.Steps, err)
	}
}
