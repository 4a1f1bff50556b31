package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// clockedClient is a client that stamps what it stores by its own wall clock.
type clockedClient struct {
	*faulttest.Client
	clock faults.WallClock
}

func (c *clockedClient) WallClock() (*faults.WallClock, error) { return &c.clock, nil }

func clocked(clients []faults.Client) []*clockedClient {
	var all []*clockedClient
	for i, c := range clients {
		all = append(all, &clockedClient{Client: c.(*faulttest.Client)})
		clients[i] = all[i]
	}
	return all
}

// A client whose clock is ahead takes a stamp for passed that is not, and one
// whose clock is right does not.
func TestClientClock(t *testing.T) {
	onEach(t, 1, 2, func(t *testing.T, r *rig) {
		clients := clocked(r.Clients)
		take := func(c *clockedClient, rdb *redis.Client) bool {
			now := c.clock.Now()
			end, err := rdb.Get(t.Context(), "k").Int64()
			if err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
			if end > now.UnixMilli() {
				return false
			}
			if err := rdb.Set(t.Context(), "k", now.Add(time.Minute).UnixMilli(), 0).Err(); err != nil {
				t.Fatal(err)
			}
			return true
		}
		a, b := r.Dial(t, "c00", "n1"), r.Dial(t, "c01", "n1")
		if !take(clients[0], a) || take(clients[1], b) {
			t.Fatal("c00's stamp does not keep c01 out")
		}
		f := r.inject(t, "client-clock", faults.Params{Client: "c01", Jump: time.Hour})
		if take(clients[0], a) || !take(clients[1], b) {
			t.Error("c01, an hour ahead, has not taken c00's lock")
		}
		f.healed(t, "c01 read its clock 1 times while it was 1h0m0s ahead")
		if off := clients[1].clock.Ahead(); off != 0 {
			t.Errorf("c01's clock is %v ahead after the heal", off)
		}
		if take(clients[0], a) {
			t.Error("c00 takes what c01 has stamped an hour ahead")
		}
	})
}

// Clocks that nobody reads hurt nobody, and no receipt says otherwise; moves of
// two faults on one client add up.
func TestClientClockVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		clients := clocked(w.Clients)
		seen := make(chan time.Duration, 1)
		time.AfterFunc(3*second, func() { seen <- time.Until(clients[2].clock.Now()) })
		e := All()["client-clock"]
		res, err := w.Run(t.Context(),
			faults.Step{For: 4 * second, Fault: e.New(faults.Params{Client: faults.RoleAll})},
			faults.Step{When: faults.Trigger{After: second}, For: 4 * second, Fault: e.New(faults.Params{Client: "c02", Jump: -time.Minute})},
			faults.Step{When: faults.Trigger{After: 10 * second}, For: second, Fault: e.New(faults.Params{Client: "c00"})})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := <-seen, 2*w.TTL+second-time.Minute; got != want {
			t.Errorf("c02's clock is %v ahead under both, want %v", got, want)
		}
		for i, want := range []string{"c02 read its clock 1 times while it was 5s ahead", "1m0s behind", ""} {
			if got := strings.Join(res.Steps[i].Receipts, "; "); !strings.Contains(got, want) || res.Steps[i].TookEffect != (want != "") {
				t.Errorf("step %d: took effect %v, %q, want %q", i, res.Steps[i].TookEffect, got, want)
			}
		}
		for _, c := range clients {
			if off := c.clock.Ahead(); off != 0 {
				t.Errorf("%s's clock is %v ahead after the heal", c.Name(), off)
			}
		}
	})
}

// Clocks that are stuck agree, for as long as the fault is in force and on top
// of how far each was off; a clock that is stuck already is left alone.
func TestClientClockStuckVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		clients := clocked(w.Clients)
		start, seen := time.Now(), make(chan []time.Duration, 3)
		for _, at := range []time.Duration{2, 3, 6} {
			time.AfterFunc(at*second, func() {
				var all []time.Duration
				for _, c := range clients {
					all = append(all, c.clock.Now().Sub(start.Round(0)))
				}
				seen <- all
			})
		}
		e := All()["client-clock-stuck"]
		res, err := w.Run(t.Context(),
			faults.Step{When: faults.Trigger{After: second}, For: 4 * second, Fault: e.New(faults.Params{Client: "c00,c01"})},
			faults.Step{When: faults.Trigger{After: second}, For: 4 * second, Fault: All()["client-clock"].New(faults.Params{Client: "c01", Jump: time.Minute})},
			faults.Step{When: faults.Trigger{After: 2 * second}, For: second, Fault: e.New(faults.Params{Client: "c01"})})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range [][]time.Duration{
			{second, second + time.Minute, 2 * second}, {second, second + time.Minute, 3 * second}, {6 * second, 6 * second, 6 * second},
		} {
			if got := <-seen; !slices.Equal(got, want) {
				t.Errorf("clocks show %v, want %v", got, want)
			}
		}
		if got := strings.Join(res.Steps[0].Receipts, "; "); !strings.Contains(got, "c00 read its clock 2 times while it was stuck") {
			t.Errorf("receipts %q", got)
		}
		if res.Steps[2].TookEffect {
			t.Error("a clock that was stuck already was stopped once more")
		}
	})
}

// Two clients that take their clock's time for their own mark store one and the
// same while their clocks stand still, and two marks before and after.
func TestClientClockStuck(t *testing.T) {
	onEach(t, 1, 2, func(t *testing.T, r *rig) {
		clients := clocked(r.Clients)
		a, b := r.Dial(t, "c00", "n1"), r.Dial(t, "c01", "n1")
		marks := func() int64 {
			for i, rdb := range []*redis.Client{a, b} {
				if err := rdb.SAdd(t.Context(), "marks", clients[i].clock.Now().UnixNano()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			n, err := testbed.Do(t.Context(), r.Node("n1"), "SCARD", "marks")
			if err != nil {
				t.Fatal(err)
			}
			return n.(int64)
		}
		if n := marks(); n != 2 {
			t.Fatalf("%d marks; want 2", n)
		}
		f := r.inject(t, "client-clock-stuck", faults.Params{Client: faults.RoleAll})
		if marks(); marks() != 3 {
			t.Error("clocks that stand still told more than one time")
		}
		f.healed(t, "c00 read its clock 2 times while it was stuck", "c01 read its clock 2 times")
		if n := marks(); n != 5 {
			t.Errorf("%d marks after the heal; want 5", n)
		}
	})
}

// A client without a wall clock cannot suffer it.
func TestClientClockUnsupported(t *testing.T) {
	w := faulttest.New(1, 1)
	for _, name := range []string{"client-clock", "client-clock-stuck"} {
		err := All()[name].New(faults.Params{}).Supports(w.Target)
		if err == nil || !strings.Contains(err.Error(), "c00 has none") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
