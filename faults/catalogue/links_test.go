package catalogue

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// rigs are the testbeds on which a directed test runs.
var rigs = map[string]func(t *testing.T, nodes, clients int) *rig{"embedded": embeddedRig, "process": processRig}

// onEach runs a directed test on every testbed that can suffer the fault.
func onEach(t *testing.T, nodes, clients int, test func(t *testing.T, r *rig)) {
	for name, start := range rigs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, nodes, clients))
		})
	}
}

// What a SET through an impaired link comes to: for its client, at the node while
// the fault lasts, and after the heal.
func TestLinks(t *testing.T) {
	const lost, applied = "<nil>", "v"
	for name, c := range map[string]struct {
		fails         bool
		during, after string
		receipt       string
	}{
		"latency":            {during: applied, after: applied, receipt: "delayed"},
		"latency-heavy-tail": {during: applied, after: applied, receipt: "delayed"},
		"bandwidth":          {fails: true, during: lost, after: applied, receipt: "slowed down"},
		"cut":                {fails: true, during: lost, after: lost, receipt: "dials refused"},
		"request-lost":       {fails: true, during: lost, after: lost, receipt: "dropped"},
		"response-lost":      {fails: true, during: applied, after: applied, receipt: "dropped"},
		"fast-lost-reply":    {fails: true, during: applied, after: applied, receipt: "executed without a reply"},
		"stall":              {fails: true, during: lost, after: applied, receipt: "held"},
		"zombie":             {fails: true, during: lost, after: applied, receipt: "held"},
		"slow-reply":         {fails: true, during: applied, after: applied, receipt: "held"},
		"one-way":            {fails: true, during: applied, after: applied, receipt: "dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 1, 1, func(t *testing.T, r *rig) {
				rdb := r.Dial(t, "c00", "n1")
				p := faults.Params{Client: "c00", Node: "n1", Delay: 20 * time.Millisecond}
				if name == "bandwidth" {
					p.Rate = 1
				}
				f := r.inject(t, name, p)
				within := faulttest.Late
				if c.fails && name != "cut" && name != "fast-lost-reply" { // whose connection is closed
					within = faulttest.Soon
				}
				began := time.Now()
				if err := faulttest.Set(t, rdb, within, "k", "v"); (err != nil) != c.fails {
					t.Errorf("SET: %v", err)
				}
				if took := time.Since(began); strings.HasPrefix(name, "latency") && took < 20*time.Millisecond {
					t.Errorf("a delay of 20 ms each way took %v", took)
				}
				if name == "cut" { // the first may have gone out before the client heard of the cut; this one has to dial
					if faulttest.Set(t, rdb, within, "k", "v") == nil {
						t.Error("a dial through a cut is answered")
					}
				}
				r.await(t, r.Node("n1"), "k", c.during)
				f.healed(t, c.receipt)
				r.await(t, r.Node("n1"), "k", c.after)
				if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), faulttest.Late, "k2", "v"); err != nil {
					t.Errorf("SET after the heal: %v", err)
				}
			})
		})
	}
}

// await waits until a node stores what it should.
func (r *rig) await(t *testing.T, n testbed.Node, key, want string) {
	t.Helper()
	var got string
	for range 500 {
		if got = r.Get(t, n, key); got == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s stores %s under %s, want %s", n.Name(), got, key, want)
}

// Partitions cut off whom they say, and nobody else.
func TestPartitions(t *testing.T) {
	type reach map[string]bool // "c00→n1"
	for name, c := range map[string]struct {
		p       faults.Params
		blocked reach
	}{
		"partition-client": {faults.Params{Client: "c01"}, reach{"c01→n1": true, "c01→n2": true, "c01→n3": true}},
		"partition-node":   {faults.Params{Node: "n2"}, reach{"c00→n2": true, "c01→n2": true}},
		"one-way":          {faults.Params{Client: "c00", Node: "n2"}, reach{"c00→n2": true}},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 3, 2, func(t *testing.T, r *rig) {
				open := map[string]*redis.Client{}
				for l := range c.blocked {
					client, node, _ := strings.Cut(l, "→")
					open[l] = r.Dial(t, client, node)
				}
				f := r.inject(t, name, c.p)
				for l, rdb := range open {
					if faulttest.Set(t, rdb, faulttest.Soon, "open", "v") == nil {
						t.Errorf("%s: an open connection is answered", l)
					}
				}
				for _, client := range []string{"c00", "c01"} {
					for _, n := range r.Testbed.Nodes() {
						r.checkLink(t, client, n.Name(), c.blocked[client+"→"+n.Name()])
					}
				}
				f.healed(t, "dropped")
				r.checkLink(t, "c01", "n2", false)
			})
		})
	}
}

func (r *rig) checkLink(t *testing.T, client, node string, blocked bool) {
	t.Helper()
	rdb := r.Raw(client, node)
	defer rdb.Close()
	within := faulttest.Late
	if blocked {
		within = faulttest.Soon
	}
	if err := faulttest.Set(t, rdb, within, client, "v"); (err != nil) != blocked {
		t.Errorf("%s→%s: SET says %v", client, node, err)
	}
}

// The link to the store is one like any other: a lost reply leaves the write
// there, a delayed one arrives after the heal.
func TestStoreLink(t *testing.T) {
	for name, during := range map[string]string{"store-reply-lost": "v", "store-write-delayed": "<nil>"} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 1, 1, func(t *testing.T, r *rig) {
				rdb := r.Dial(t, "c00", faults.StoreNode)
				f := r.inject(t, name, faults.Params{Client: "c00"})
				if err := faulttest.Set(t, rdb, faulttest.Soon, "row", "v"); err == nil {
					t.Error("the write is answered")
				}
				r.await(t, r.Testbed.Store(), "row", during)
				f.healed(t, "c00→store")
				r.await(t, r.Testbed.Store(), "row", "v")
			})
		})
	}
}

// The shapes show every client as many nodes as they say, and whom they show
// which node is drawn.
func TestShapes(t *testing.T) {
	for name, want := range map[string][]int{"halves": {1, 2}, "ring": {2, 2}, "split-vote": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 3, 2, func(t *testing.T, r *rig) {
				f := r.inject(t, name, faults.Params{})
				var got []int
				for _, c := range r.Clients {
					got = append(got, r.sees(t, c.Name()))
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("the clients see %v nodes, want %v", got, want)
				}
				f.healed(t, "dials unanswered")
				for _, c := range r.Clients {
					for _, n := range r.Testbed.Nodes() {
						r.checkLink(t, c.Name(), n.Name(), false)
					}
				}
			})
		})
	}
}

// sees counts the nodes that answer the client.
func (r *rig) sees(t *testing.T, client string) (nodes int) {
	for _, n := range r.Testbed.Nodes() {
		rdb := r.Raw(client, n.Name())
		if faulttest.Set(t, rdb, time.Second, client, "v") == nil {
			nodes++
		}
		_ = rdb.Close()
	}
	return nodes
}

func TestFlapping(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		r.TTL = second
		f := r.inject(t, "flapping", faults.Params{Client: "c00", Node: "n1"})
		rdb := r.Raw("c00", "n1")
		defer rdb.Close()
		worked, failed := 0, 0
		for worked < 5 || failed < 5 {
			if t.Context().Err() != nil {
				t.Fatalf("%d worked, %d failed", worked, failed)
			}
			if faulttest.Set(t, rdb, faulttest.Soon, "k", "v") == nil {
				worked++
			} else {
				failed++
			}
		}
		f.healed(t, "cuts of", "on c00→n1")
		r.checkLink(t, "c00", "n1", false)
	})
}

// A reset closes the connection that was open, and the next one works.
func TestReset(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		rdb := r.Dial(t, "c00", "n1")
		before := r.Link("c00", "n1").Traffic().Conns
		f := r.inject(t, "reset", faults.Params{Client: "c00", Node: "n1"})
		_ = faulttest.Set(t, rdb, faulttest.Late, "k", "v") // may find the dead connection
		f.healed(t, "1 connections closed")
		if err := faulttest.Set(t, rdb, faulttest.Late, "k", "v"); err != nil {
			t.Errorf("a new connection: %v", err)
		}
		if after := r.Link("c00", "n1").Traffic().Conns; after <= before {
			t.Errorf("%d connections opened before the reset, %d in all", before, after)
		}
	})
}
