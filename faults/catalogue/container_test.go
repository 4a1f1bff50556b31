package catalogue

import (
	"errors"
	"os"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// containerRig runs on servers in containers.
func containerRig(t *testing.T, nodes, clients int) *rig {
	if err := testbed.CanContain(t.Context(), ""); err != nil {
		if os.Getenv("LOCKTORTURE_WITHOUT") == "docker" {
			t.Skip(err)
		}
		faulttest.Missing(t, err)
	}
	bed, err := testbed.StartContainer(t.Context(), testbed.ContainerConfig{Nodes: nodes, Persist: true})
	if err != nil {
		t.Fatal(err)
	}
	return rigOn(t, bed, clients, link.NewEmbedded())
}

// What kills, stops and empties a process does it to a container, one after the
// other on one node.
func TestNodeFaultsOnContainers(t *testing.T) {
	r := containerRig(t, 1, 1)
	r.TTL = 300 * time.Millisecond
	n := r.Node("n1")
	for _, c := range []struct{ fault, begins, ends, after string }{
		{"kill", "n1 killed: container", "n1 back with data", "v"},
		{"kill-empty", "n1 killed: container", "n1 back empty", "<nil>"},
		{"pause-node", "paused", "runs again", "v"},
		{"flushall", " keys, then 0", "", "<nil>"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			r.Put(t, n, "k", "v")
			knock := func() { r.knock(t, "c00", "n1") }
			f := r.inject(t, c.fault, faults.Params{Node: "n1"}, knock)
			knock()
			if c.ends == "" {
				f.healed(t, c.begins)
			} else {
				f.healed(t, c.begins, c.ends)
			}
			if got := r.Get(t, n, "k"); got != c.after {
				t.Errorf("it remembers %s, want %s", got, c.after)
			}
			rdb := r.Raw("c00", "n1")
			if err := errors.Join(faulttest.Set(t, rdb, 5*time.Second, "k2", "v"), rdb.Close()); err != nil {
				t.Errorf("through its link: %v", err)
			}
		})
	}
}
