package faults_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/watch"
)

const second = time.Second

// fault returns one of the catalogue, told p.
func fault(name string, p faults.Params) faults.Fault { return catalogue.All()[name].New(p) }

func TestPhaseLock(t *testing.T) {
	grants := func(w *faulttest.World) map[time.Duration]func() {
		return map[time.Duration]func(){
			1 * second:               func() { w.Grant("k1", "c00#1") },
			1050 * time.Millisecond:  func() { w.Wrote("k1", "c00#1"); w.Wrote("k1", "c00#1") },
			1100 * time.Millisecond:  func() { w.Release("k1", "c00#1") },
			2 * second:               func() { w.Grant("k2", "c01#1") },
			10 * second:              func() { w.Return("k2", "c01#1") },
			20 * second:              func() { w.Grant("k1", "c02#1") },
			20500 * time.Millisecond: func() { w.Extend("k1", "c02#1") },
			24 * second:              func() { w.Extend("k1", "c02#1") },
			24620 * time.Millisecond: func() { w.Extend("k1", "c02#1") },
			29 * second:              func() { w.Release("k1", "c02#1") },
		}
	}
	third := 2 * second / 3
	for name, c := range map[string]struct {
		when faults.Trigger
		want time.Duration
	}{
		"at a time":               {faults.Trigger{After: 3 * second}, 3 * second},
		"first grant":             {faults.Trigger{On: watch.AcquireReplied}, second},
		"grant of another client": {faults.Trigger{On: watch.AcquireReplied, By: "c01"}, 2 * second},
		"grant after a time":      {faults.Trigger{After: 1500 * time.Millisecond, On: watch.AcquireReplied, Then: second / 4}, 2250 * time.Millisecond},
		"first write":             {faults.Trigger{On: watch.InSection}, 1050 * time.Millisecond},
		"request":                 {faults.Trigger{After: 3 * second, On: watch.AcquireSent}, 20 * second},
		"release":                 {faults.Trigger{On: watch.ReleaseSent}, 1100 * time.Millisecond},
		"renewal sent":            {faults.Trigger{On: watch.RenewalSent}, 20500 * time.Millisecond},
		"late renewal":            {faults.Trigger{On: watch.LateRenewal}, 24 * second},     // the one before came after a quarter of the TTL
		"late release":            {faults.Trigger{On: watch.LateRelease}, 10 * second},     // the one before came after a twentieth
		"renewal due":             {faults.Trigger{On: watch.RenewalDue}, 2*second + third}, // k1's lease is released before its own
		"renewal due again":       {faults.Trigger{After: 20 * second, On: watch.RenewalDue}, 20500*time.Millisecond + third},
		"of an extended lease":    {faults.Trigger{On: watch.NextRenewalDue}, 20500*time.Millisecond + third}, // k1's and k2's of before were never extended
		"a while before it":       {faults.Trigger{On: watch.NextRenewalDue, Then: -second / 4}, 20250*time.Millisecond + third},
		"extended a little early": {faults.Trigger{After: 23900 * time.Millisecond, On: watch.NextRenewalDue}, 24620 * time.Millisecond},
		"given back":              {faults.Trigger{On: watch.ReleaseReplied}, 10 * second},                                           // the one before was never answered,
		"renewal a little early":  {faults.Trigger{After: 23900 * time.Millisecond, On: watch.RenewalDue}, 24620 * time.Millisecond}, // 47 ms before it was thought due
		"early, and a pause":      {faults.Trigger{After: 23900 * time.Millisecond, On: watch.RenewalDue, Then: second / 4}, 24870 * time.Millisecond},
		"before an early one":     {faults.Trigger{After: 23900 * time.Millisecond, On: watch.RenewalDue, Then: -second / 4}, 24*second + third - second/4},
		"before expiry":           {faults.Trigger{On: watch.Expiry, Then: -second / 4}, 3750 * time.Millisecond},
		"after expiry":            {faults.Trigger{On: watch.Expiry, Then: second / 4}, 4250 * time.Millisecond},
		"expiry of a renewed one": {faults.Trigger{After: 20 * second, On: watch.Expiry}, 22500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 3)
				w.Script(grants(w))
				res, err := w.Run(t.Context(), faults.Step{When: c.when, Fault: faulttest.Plain("a")})
				if err != nil || res.Steps[0].Started != c.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, c.want, err)
				}
				time.Sleep(40 * second) // let the script end inside the bubble
			})
		})
	}
}

// One victim is bound by a first step, and later steps find it again.
func TestBoundVictim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 8)
		w.Script(map[time.Duration]func(){
			1 * second: func() {
				for _, c := range w.Clients {
					w.Grant("k-"+c.Name(), c.Name()+"#1")
				}
			},
		})
		res, err := w.Run(t.Context(),
			faults.Step{Fault: fault("pause-client", faults.Params{Client: "any as victim"}), For: second / 2},
			faults.Step{When: faults.Trigger{On: watch.AcquireReplied, By: "victim"}, Fault: fault("pause-client", faults.Params{Client: "victim as asleep"}), For: 3 * second},
			faults.Step{When: faults.Trigger{On: faults.Bound, By: "asleep"}, Fault: fault("kill", faults.Params{Client: "asleep", Node: faults.RoleSwing}), For: second})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := res.Steps[0].Target.String(), res.Steps[1].Target.String(); !strings.HasPrefix(b, strings.TrimSuffix(a, "}")) {
			t.Errorf("another victim: %s, then %s", a, b)
		}
		if res.Steps[1].Started != second || res.Steps[2].Started != second {
			t.Errorf("result %+v", res)
		}
		if got := res.Steps[1].Receipts; len(got) != 1 || !strings.Contains(got[0], "outlived its lease by 1s") {
			t.Errorf("receipts %q", got)
		}
	})
}

// A holder that has let go before the pause reached it is not counted: the
// next one is hit.
func TestPauseMissesAndTriesAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the nemesis does not come between the grant and the release
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 2)
		w.Script(map[time.Duration]func(){
			1 * second: func() { w.Grant("k", "c00"); w.Release("k", "c00") },
			2 * second: func() { w.Grant("k", "c01") },
		})
		res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.AcquireReplied}, Fault: fault("pause-client", faults.Params{Client: faults.RoleHolder}), For: 3 * second})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Steps[0].Target.String(); got != `{"clients":["c01"],"key":"k"}` {
			t.Errorf("target %s", got)
		}
		w.WantStory(t, "2s invoke fault pause-client", "2s info fault pause-client", "5s invoke heal pause-client", "5s ok heal pause-client")
		if got := w.Clients[1].(*faulttest.Client).Deeds(); !slices.Equal(got, []string{"paused", "resumed"}) {
			t.Errorf("deeds %v", got)
		}
	})
}

// A released lease is not outlived, however long the client stands still.
func TestPauseThatDidNotHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		w.Grant("k", "c00")
		w.Script(map[time.Duration]func(){second: func() { w.Release("k", "c00") }})
		ctx, cancel := context.WithTimeout(t.Context(), 10*second) // until then another victim is waited for
		defer cancel()
		res, err := w.Run(ctx, faults.Step{Fault: fault("pause-client", faults.Params{Client: faults.RoleHolder}), For: 3 * second})
		if err != nil || res.TookEffect() != 0 {
			t.Errorf("%+v, %v", res, err)
		}
		w.WantStory(t, "0s invoke fault pause-client", "0s info fault pause-client", "3s invoke heal pause-client", "3s info heal pause-client")
	})
}

func TestCrashHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		w.Grant("k", "c00")
		res, err := w.Run(t.Context(), faults.Step{Fault: fault("crash-client", faults.Params{Client: faults.RoleHolder}), For: second})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Steps[0].Receipts; len(got) != 2 || !strings.Contains(got[0], "holding k for 2s more") || !strings.Contains(got[1], "new owner") {
			t.Errorf("receipts %q", got)
		}
		if h := w.Watch.Holders(); len(h) != 0 {
			t.Errorf("a dead owner holds: %+v", h)
		}
	})
}
