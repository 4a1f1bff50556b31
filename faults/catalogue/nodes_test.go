package catalogue

import (
	"strings"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

func TestKill(t *testing.T) {
	for name, after := range map[string]string{"kill": "v", "kill-empty": "<nil>"} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 3, 1, func(t *testing.T, r *rig) {
				n := r.Node("n2")
				r.Put(t, n, "k", "v")
				f := r.inject(t, name, faults.Params{Node: "n2"})
				if n.(testbed.Killer).Alive() {
					t.Error("n2 is alive")
				}
				if _, err := testbed.Do(t.Context(), n, "PING"); err == nil {
					t.Error("a killed node answers")
				}
				r.knock(t, "c00", "n2")
				f.healed(t, "n2 killed: ", "n2 back")
				if got := r.Get(t, n, "k"); got != after {
					t.Errorf("it remembers %s, want %s", got, after)
				}
			})
		})
	}
}

// A node that forgets is away until no lease of its can be alive.
func TestKillLate(t *testing.T) {
	onEach(t, 3, 1, func(t *testing.T, r *rig) {
		r.TTL = 300 * time.Millisecond
		n := r.Node("n2")
		r.Put(t, n, "k", "v")
		began := time.Now()
		e := All()["kill-late"]
		knocked := make(chan struct{})
		go func() {
			defer close(knocked)
			for r.Node("n2").(testbed.Killer).Alive() {
				time.Sleep(time.Millisecond)
			}
			r.knock(t, "c00", "n2")
		}()
		res, err := r.Run(t.Context(), faults.Step{Fault: e.New(faults.Params{Node: "n2"})})
		<-knocked
		if err != nil || !res.Steps[0].TookEffect || !res.Steps[0].Healed {
			t.Errorf("%+v, %v", res, err)
		}
		r.markShown("kill-late")
		if down := time.Since(began); down < r.TTL {
			t.Errorf("back after %v, while leases of %v may be alive", down, r.TTL)
		}
		if got := r.Get(t, n, "k"); got != "<nil>" {
			t.Errorf("it remembers %s", got)
		}
	})
}

// A run that ends early does not wait for the leases of a node that is to come
// back late.
func TestKillLateInterrupted(t *testing.T) {
	onEach(t, 3, 1, func(t *testing.T, r *rig) {
		r.TTL = time.Hour
		n := r.Node("n2")
		r.Put(t, n, "k", "v")
		want := "<nil>"
		if c, choosy := n.(testbed.Restarter); choosy && c.CanRestart(testbed.WithData) == nil {
			want = "v"
		}
		f := r.inject(t, "kill-late", faults.Params{Node: "n2"})
		r.knock(t, "c00", "n2")
		f.healed(t, "n2 killed: ", "n2 back")
		if got := r.Get(t, n, "k"); got != want {
			t.Errorf("it remembers %s, want %s", got, want)
		}
	})
}

// A node whose leases have run out by the time at which the run ends comes back empty all the same.
func TestKillLateInterruptedLate(t *testing.T) {
	onEach(t, 3, 1, func(t *testing.T, r *rig) {
		r.TTL = 20 * time.Millisecond
		n := r.Node("n2")
		for range 5 {
			r.Put(t, n, "k", "v")
			f := r.inject(t, "kill-late", faults.Params{Node: "n2"})
			r.knock(t, "c00", "n2")
			time.Sleep(2 * lateRestart(r.TTL)) // every lease that it had granted has run out
			f.healed(t, "n2 killed: ", "n2 back empty")
			if got := r.Get(t, n, "k"); got != "<nil>" {
				t.Fatalf("it remembers %s", got)
			}
		}
	})
}

func TestPauseNode(t *testing.T) {
	t.Parallel()
	r := processRig(t, 3, 1)
	rdb := r.Dial(t, "c00", "n1")
	f := r.inject(t, "pause-node", faults.Params{Node: "n1"})
	if err := faulttest.Set(t, rdb, faulttest.Soon, "k", "v"); err == nil {
		t.Error("a stopped node answers")
	}
	f.healed(t, "stopped", "runs again")
	r.await(t, r.Node("n1"), "k", "v") // what was sent meanwhile is applied
}

// A node that fails over has forgotten what was written after its replica had
// stopped listening.
func TestFailover(t *testing.T) {
	t.Parallel()
	r := processRig(t, 1, 1)
	n := r.Node("n1")
	r.Put(t, n, "before", "v")
	f := r.inject(t, "failover", faults.Params{Node: "n1"})
	r.Put(t, n, "since", "v")
	r.knock(t, "c00", "n1")
	f.healed(t, "n1: pid", "its replica", "1 changes lost")
	if before, since := r.Get(t, n, "before"), r.Get(t, n, "since"); before != "v" || since != "<nil>" {
		t.Errorf("the promoted replica has %s from before and %s since", before, since)
	}
	if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), faulttest.Late, "after", "v"); err != nil {
		t.Errorf("SET after the failover: %v", err)
	}
}

// A node that loses power forgets what it had not synced: what was written
// just before, and nothing that is older than a second or so, even when nothing
// was written since.
func TestPowerLoss(t *testing.T) {
	for name, c := range map[string]struct {
		rest  time.Duration // between the last write and the power loss
		young string
	}{
		"at once": {0, "<nil>"},
		"synced":  {2200 * time.Millisecond, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serverRig(t, testbed.ProcessConfig{Nodes: 1, Persist: true, Fsync: testbed.FsyncSecond}, 1)
			n := r.Node("n1")
			r.Put(t, n, "old", "v")
			time.Sleep(1100 * time.Millisecond) // the file is marked once a second
			r.Put(t, n, "young", "v")
			time.Sleep(c.rest)
			f := r.inject(t, "power-loss", faults.Params{Node: "n1"})
			r.knock(t, "c00", "n1")
			if c.rest == 0 {
				f.healed(t, "after power loss", "not yet synced")
			} else if res, err := f.wait(); err != nil || res.TookEffect || !res.Healed {
				t.Errorf("a power loss that lost nothing: %+v, %v", res, err)
			}
			if old, young := r.Get(t, n, "old"), r.Get(t, n, "young"); old != "v" || young != c.young {
				t.Errorf("the node has %s of old and %s of young", old, young)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	embedded := embeddedRig(t, 3, 1)
	bare := &faults.Target{Testbed: faulttest.Bed(faulttest.PlainNode("n1"))}
	for _, c := range []struct {
		t    *faults.Target
		name string
		want string
	}{
		{embedded.Target, "pause-node", "embedded testbed: n1 cannot be paused; process can"},
		{embedded.Target, "power-loss", "process"},
		{embedded.Target, "demote", "a process testbed does"},
		{embedded.Target, "busy-script", "a process testbed does"},
		{embedded.Target, "failover", "n1 cannot be replicated; process, sentinel and cluster can"},
		{embedded.Target, "failover-isolated", "sentinel has Redis Sentinel"},
		{bare, "kill", "fake testbed: n1 cannot be killed; process, container and embedded can"},
		{bare, "flushall", "fake testbed: n1 cannot be administered; process, container and embedded can"},
		{bare, "clock-jump", "process under libfaketime"},
		{bare, "latency", "needs links"},
		{bare, "pause-client", "needs clients"},
		{bare, "failover", "needs a link for the replica"},
	} {
		e := All()[c.name]
		if err := e.New(e.Default).Supports(c.t); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that says %q", c.name, err, c.want)
		}
	}
}

// Of a lock in another process the names of keys may be a guess.
func TestSwingOfALockWhoseKeysAreNotWhereTheyWereGuessed(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 3, 1)
	r.Put(t, r.Node("n2"), "another name", "owner")
	r.Grant("k", "c00")
	r.Inside(t, func(s *faults.Scope) {
		s.CutLink(faults.LinkID{Client: "c00", Node: "n1"})
		seen := map[string]bool{}
		for seed := range uint64(40) {
			nodes, err := s.PickNodes(t.Context(), faults.RoleSwing, nil, faulttest.Seeded(seed))
			if err != nil {
				t.Error(err)
				return
			}
			seen[nodes[0].Name()] = true
		}
		if len(seen) != 2 || seen["n1"] {
			t.Errorf("swing nodes: %v, want those whose links are open", seen)
		}
		r.Put(t, r.Node("n3"), "k", "owner")
		for seed := range uint64(10) {
			if nodes, err := s.PickNodes(t.Context(), faults.RoleSwing, nil, faulttest.Seeded(seed)); err != nil || nodes[0].Name() != "n3" {
				t.Errorf("once a key was found: swing node %v, %v", nodes, err)
			}
		}
	})
}

// The swing node is one of those that store the holder's key, and never one
// that the holder is cut off from.
func TestSwing(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 5, 2)
	for _, name := range []string{"n2", "n4", "n5"} {
		r.Put(t, r.Node(name), "k", "owner")
	}
	r.Grant("k", "c01")
	r.Inside(t, func(s *faults.Scope) {
		seen := map[string]bool{}
		for seed := range uint64(40) {
			nodes, err := s.PickNodes(t.Context(), faults.RoleSwing, nil, faulttest.Seeded(seed))
			if err != nil {
				t.Error(err)
				return
			}
			seen[nodes[0].Name()] = true
		}
		if len(seen) != 3 || seen["n1"] || seen["n3"] {
			t.Errorf("swing nodes: %v", seen)
		}
		s.CutLink(faults.LinkID{Client: "c01", Node: "n4"})
		if err := s.Claim("n5"); err != nil {
			t.Error(err)
			return
		}
		for seed := range uint64(10) {
			nodes, err := s.PickNodes(t.Context(), faults.RoleSwing, r.Clients[1:], faulttest.Seeded(seed))
			if err != nil || nodes[0].Name() != "n2" {
				t.Errorf("swing node: %v, %v", nodes, err)
			}
		}
		if _, err := s.PickNodes(t.Context(), faults.RoleSwing, r.Clients[:1], faulttest.Seeded(1)); err == nil || !strings.Contains(err.Error(), faults.ErrMissed.Error()) {
			t.Errorf("a client that holds nothing has no quorum: %v", err)
		}
	})
}
