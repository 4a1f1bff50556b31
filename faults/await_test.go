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
	"locktorture/faults/link"
	"locktorture/faults/watch"
	"locktorture/workload/history"
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
		"just before early ones":  {faults.Trigger{After: 23900 * time.Millisecond, On: watch.RenewalDue, Then: -second / 50}, 24620*time.Millisecond + third - second/50},
		"expiry of a renewed one": {faults.Trigger{After: 20 * second, On: watch.Expiry}, 22500 * time.Millisecond},
		"renewed a little early":  {faults.Trigger{After: 23900 * time.Millisecond, On: watch.Expiry}, 26620 * time.Millisecond},
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

// Of several leases the one is waited for whose moment comes first; a later grant of another is no renewal of it, and
// a client that a fault has stopped has no moments, whatever it is answered meanwhile.
func TestFirstOfSeveralLeases(t *testing.T) {
	third := 2 * second / 3
	for name, c := range map[string]struct {
		after  time.Duration
		paused bool // c00 is, from before its renewal falls due
		want   time.Duration
	}{
		"granted meanwhile":     {0, false, second + third},
		"granted already":       {1620 * time.Millisecond, false, second + third},
		"the first one's stops": {0, true, 1600*time.Millisecond + third},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 2)
				w.Script(map[time.Duration]func(){
					1 * second: func() { w.Grant("k0", "c00") },
					1590 * time.Millisecond: func() {
						if c.paused {
							w.Extend("k0", "c00")
						}
					},
					1600 * time.Millisecond: func() { w.Grant("k1", "c01") },
				})
				steps := []faults.Step{{When: faults.Trigger{After: c.after, On: watch.RenewalDue}, Fault: faulttest.Plain("a")}}
				if c.paused {
					steps = append(steps, faults.Step{When: faults.Trigger{After: 1200 * time.Millisecond}, Fault: fault("pause-client", faults.Params{Client: "c00"}), For: 5 * second})
				}
				if res, err := w.Run(t.Context(), steps...); err != nil || res.Steps[0].Started != c.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, c.want, err)
				}
			})
		})
	}
}

// A client that another fault has stopped has no moments, unless it is asked for by name.
func TestMomentsOfStoppedClients(t *testing.T) {
	for by, want := range map[string]time.Duration{"": 2 * second, "c00": second} {
		synctest.Test(t, func(t *testing.T) {
			w := faulttest.New(5, 2)
			w.Script(map[time.Duration]func(){second: func() { w.Grant("k0", "c00") }, 2 * second: func() { w.Grant("k1", "c01") }})
			res, err := w.Run(t.Context(),
				faults.Step{When: faults.Trigger{On: watch.AcquireReplied, By: by}, Fault: faulttest.Plain("a")},
				faults.Step{Fault: fault("pause-client", faults.Params{Client: "c00"}), For: 5 * second})
			if err != nil || res.Steps[0].Started != want {
				t.Errorf("by %q: started at %v, want %v (%v)", by, res.Steps[0].Started, want, err)
			}
		})
	}
}

// A release is late when less than a third is left of a lease, counted from its last extension.
func TestLateRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		w.Script(map[time.Duration]func(){
			2 * second:              func() { w.Release("k0", "c00") }, // which it does not hold
			3 * second:              func() { w.Grant("k1", "c00") },
			4200 * time.Millisecond: func() { w.Release("k1", "c00") }, // with two fifths left
			5 * second:              func() { w.Grant("k2", "c00") },
			6 * second:              func() { w.Extend("k2", "c00") },
			7 * second:              func() { w.Release("k2", "c00") },
			8 * second:              func() { w.Grant("k3", "c00") },
			9400 * time.Millisecond: func() { w.Release("k3", "c00") }, // with three tenths left
		})
		res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.LateRelease}, Fault: faulttest.Plain("a")})
		if want := 9400 * time.Millisecond; err != nil || res.Steps[0].Started != want {
			t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, want, err)
		}
	})
}

// Between two steps of an operation a fault of links is in force at the second request, any other fault at the answer to
// the first: of an operation of the same client that is still under way. What is no step does not count.
func TestMidwayOfAnOperation(t *testing.T) {
	for name, c := range map[string]struct {
		fault faults.Fault
		want  time.Duration
	}{
		"links":  {&slowLinks{Fault: faulttest.Plain("a"), takes: time.Millisecond}, 9*second + time.Millisecond},
		"others": {faulttest.Plain("a"), 8 * second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 2)
				links := w.Tapped()
				passes := func(client string, request uint64, command, key string, reply bool) func() {
					return func() {
						links[client+"→n1"].Pass(link.TapEvent{Client: client, Node: "n1", Time: time.Now(), Conn: 1, Request: request, Command: command, Key: key, Reply: reply})
					}
				}
				invoke := func(process int, kind history.Kind, key string) {
					w.Rec.Append(history.Event{Process: process, Kind: kind, Op: history.Acquire, Key: key, Owner: "c00"})
				}
				gaveUp, asksAgain := w.Rec.NewProcess(), w.Rec.NewProcess()
				w.Script(map[time.Duration]func(){
					1 * second:              func() { invoke(gaveUp, history.Invoke, "k0") },
					1500 * time.Millisecond: passes("c01", 1, "SET", "k0", false), // which is asked for by c00 alone
					2 * second:              passes("c01", 1, "SET", "k0", true),
					2500 * time.Millisecond: passes("c01", 2, "EXPIRE", "k0", false),
					3 * second:              passes("c00", 1, "SUBSCRIBE", "freed", false),
					3500 * time.Millisecond: passes("c00", 1, "SUBSCRIBE", "freed", true),
					4 * second:              passes("c00", 2, "SETNX", "k0", false),
					5 * second:              func() { invoke(gaveUp, history.Info, "k0"); invoke(asksAgain, history.Invoke, "k1") },
					6 * second:              passes("c00", 2, "SETNX", "k0", true), // too late
					7 * second:              passes("c00", 3, "SETNX", "k1", false),
					8 * second:              passes("c00", 3, "SETNX", "k1", true),
					9 * second:              passes("c00", 4, "EXPIRE", "k1", false),
				})
				res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.AcquireMidway}, Fault: c.fault, For: second})
				if err != nil || res.Steps[0].Started != c.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, c.want, err)
				}
				time.Sleep(10 * second) // let the script end inside the bubble
			})
		})
	}
}

// A client waits at a tapped command until the fault is in force, or the run ends, and not for longer than a tenth of a
// second; who sends something else, or is not named, does not.
func TestTappedCommandsWait(t *testing.T) {
	const millisecond = time.Millisecond
	for name, c := range map[string]struct {
		when  faults.Trigger
		takes time.Duration // until the fault is in force
		ends  time.Duration // when the run ends
		want  time.Duration
	}{
		"until it is in force":  {faults.Trigger{On: faults.Command("SET", "n1")}, 7 * millisecond, 5 * second, 7 * millisecond},
		"for a tenth at most":   {faults.Trigger{On: faults.Command("SET", "")}, second, 5 * second, 100 * millisecond},
		"a pause, and the end":  {faults.Trigger{On: faults.Command("SET", "n1"), Then: second}, 0, second + 5*millisecond, 5 * millisecond},
		"a reply":               {faults.Trigger{On: faults.Reply("SET", "n1")}, 7 * millisecond, 2 * second, 0},
		"another node":          {faults.Trigger{On: faults.Command("SET", "n2")}, 7 * millisecond, 2 * second, 0},
		"another client's":      {faults.Trigger{On: faults.Command("SET", "n1"), By: "c01"}, 7 * millisecond, 2 * second, 0},
		"another one's command": {faults.Trigger{On: faults.Command("GET", "n1")}, 7 * millisecond, 2 * second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(2, 2)
				links := w.Tapped()
				var held time.Duration
				w.Script(map[time.Duration]func(){
					second: func() {
						sent := time.Now()
						links["c00→n1"].Pass(link.TapEvent{Client: "c00", Node: "n1", Time: sent, Conn: 1, Request: 1, Command: "SET", Key: "k0"})
						held = time.Since(sent)
					},
				})
				ctx, cancel := context.WithTimeout(t.Context(), c.ends)
				defer cancel()
				if _, err := w.Run(ctx, faults.Step{When: c.when, Fault: &slowLinks{Fault: faulttest.Plain("a"), takes: c.takes}, For: second}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(second) // let the script end inside the bubble
				synctest.Wait()
				if held != c.want || links["c00→n1"].Listened() {
					t.Errorf("waited for %v, want %v; somebody listens still %t", held, c.want, links["c00→n1"].Listened())
				}
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
