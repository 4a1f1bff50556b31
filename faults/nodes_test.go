package faults

import (
	"strings"
	"testing"
	"time"

	"locktorture/faults/testbed"
)

// put stores a key on a node, past every link.
func (r *rig) put(t *testing.T, n testbed.Node, key, value string) {
	t.Helper()
	if _, err := testbed.Do(t.Context(), n, "SET", key, value, "PX", "60000"); err != nil {
		t.Fatal(err)
	}
}

func TestKill(t *testing.T) {
	for name, after := range map[string]string{"kill": "v", "kill-empty": "<nil>", "kill-late": "<nil>"} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 3, 1, func(t *testing.T, r *rig) {
				r.TTL = 300 * time.Millisecond
				n := r.node("n2")
				r.put(t, n, "k", "v")
				began := time.Now()
				f := r.inject(t, name, Params{Node: "n2"})
				if n.(testbed.Killer).Alive() {
					t.Error("n2 is alive")
				}
				if _, err := testbed.Do(t.Context(), n, "PING"); err == nil {
					t.Error("a killed node answers")
				}
				f.healed(t, "n2 killed: ", "n2 back")
				if got := r.get(t, n, "k"); got != after {
					t.Errorf("it remembers %s, want %s", got, after)
				}
				if down := time.Since(began); name == "kill-late" && down < r.TTL {
					t.Errorf("back after %v, while leases of %v may be alive", down, r.TTL)
				}
			})
		})
	}
}

func TestPauseNode(t *testing.T) {
	t.Parallel()
	r := processRig(t, 3, 1)
	rdb := r.dial(t, "c00", "n1")
	f := r.inject(t, "pause-node", Params{Node: "n1"})
	if err := set(t, rdb, "k", "v"); err == nil {
		t.Error("a stopped node answers")
	}
	f.healed(t, "stopped", "runs again")
	r.await(t, r.node("n1"), "k", "v") // what was sent meanwhile is applied
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 3, 1)
	for name, want := range map[string]string{"pause-node": "embedded testbed: n1 cannot be paused; process and container can"} {
		e := Catalogue()[name]
		if err := e.New(e.Default).Supports(r.Target); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// The swing node is one of those that store the holder's key, and never one
// that the holder is cut off from.
func TestSwing(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 5, 2)
	for _, name := range []string{"n2", "n4", "n5"} {
		r.put(t, r.node(name), "k", "owner")
	}
	r.grant("k", "c01")
	seen := map[string]bool{}
	for seed := range uint64(40) {
		nodes, err := r.PickNodes(t.Context(), RoleSwing, nil, seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		seen[nodes[0].Name()] = true
	}
	if len(seen) != 3 || seen["n1"] || seen["n3"] {
		t.Errorf("swing nodes: %v", seen)
	}
	r.Target.shared().cut("c01", "n4", 1)
	r.Target.shared().take("n5")
	for seed := range uint64(10) {
		nodes, err := r.PickNodes(t.Context(), RoleSwing, r.Clients[1:], seeded(seed))
		if err != nil || nodes[0].Name() != "n2" {
			t.Errorf("swing node: %v, %v", nodes, err)
		}
	}
	if _, err := r.PickNodes(t.Context(), RoleSwing, r.Clients[:1], seeded(1)); err == nil || !strings.Contains(err.Error(), ErrMissed.Error()) {
		t.Errorf("a client that holds nothing has no quorum: %v", err)
	}
}
