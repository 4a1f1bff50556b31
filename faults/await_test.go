package faults

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/workload/history"
)

// script records events at their times, beside a run.
func (w *world) script(steps map[time.Duration]func()) {
	for at, do := range steps {
		time.AfterFunc(at, do)
	}
}

func TestPhaseLock(t *testing.T) {
	grants := func(w *world) map[time.Duration]func() {
		return map[time.Duration]func(){
			1 * second:               func() { w.grant("k1", "c00#1") },
			1050 * time.Millisecond:  func() { w.wrote("k1", "c00#1"); w.wrote("k1", "c00#1") },
			1100 * time.Millisecond:  func() { w.release("k1", "c00#1") },
			2 * second:               func() { w.grant("k2", "c01#1") },
			10 * second:              func() { w.release("k2", "c01#1") },
			20 * second:              func() { w.grant("k1", "c02#1") },
			20500 * time.Millisecond: func() { w.extend("k1", "c02#1") },
			29 * second:              func() { w.release("k1", "c02#1") },
		}
	}
	third := 2 * second / 3
	for name, c := range map[string]struct {
		when Trigger
		want time.Duration
	}{
		"at a time":               {Trigger{After: 3 * second}, 3 * second},
		"first grant":             {Trigger{On: AcquireReplied}, second},
		"grant of another client": {Trigger{On: AcquireReplied, By: "c01"}, 2 * second},
		"grant after a time":      {Trigger{After: 1500 * time.Millisecond, On: AcquireReplied, Then: second / 4}, 2250 * time.Millisecond},
		"first write":             {Trigger{On: InSection}, 1050 * time.Millisecond},
		"request":                 {Trigger{After: 3 * second, On: AcquireSent}, 20 * second},
		"release":                 {Trigger{On: ReleaseSent}, 1100 * time.Millisecond},
		"renewal sent":            {Trigger{On: RenewalSent}, 20500 * time.Millisecond},
		"renewal due":             {Trigger{On: RenewalDue}, 2*second + third}, // k1's lease is released before its own
		"renewal due again":       {Trigger{After: 20 * second, On: RenewalDue}, 20500*time.Millisecond + third},
		"before expiry":           {Trigger{On: Expiry, Then: -second / 4}, 3750 * time.Millisecond},
		"after expiry":            {Trigger{On: Expiry, Then: second / 4}, 4250 * time.Millisecond},
		"expiry of a renewed one": {Trigger{After: 20 * second, On: Expiry}, 22500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(5, 3)
				w.script(grants(w))
				res, err := w.run(t.Context(), Step{When: c.when, Fault: plain("a")})
				if err != nil || res.Steps[0].Started != c.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, c.want, err)
				}
				time.Sleep(40 * second) // let the script end inside the bubble
			})
		})
	}
}

func (w *world) wrote(key, owner string) {
	e := history.Event{Process: w.rec.NewProcess(), Kind: history.Invoke, Op: history.Write, Key: key, Owner: owner}
	w.rec.Append(e)
	e.Kind = history.OK
	w.rec.Append(e)
}

func (w *world) extend(key, owner string) {
	e := history.Event{Process: w.rec.NewProcess(), Kind: history.Invoke, Op: history.Extend, Key: key, Owner: owner}
	w.rec.Append(e)
	e.Kind, e.Has, e.ValidUntil = history.OK, history.HasValidUntil, w.rec.Since(time.Now())+w.TTL
	w.rec.Append(e)
}

// One victim is bound by a first step, and later steps find it again.
func TestBoundVictim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 8)
		w.script(map[time.Duration]func(){
			1 * second: func() {
				for _, c := range w.Clients {
					w.grant("k-"+c.Name(), c.Name()+"#1")
				}
			},
		})
		res, err := w.run(t.Context(),
			Step{Fault: pauseClient{Params{Client: "any as victim"}}, For: second / 2},
			Step{When: Trigger{On: AcquireReplied, By: "victim"}, Fault: pauseClient{Params{Client: "victim as asleep"}}, For: 3 * second},
			Step{When: Trigger{On: Bound, By: "asleep"}, Fault: kill{Params: Params{Client: "asleep", Node: RoleSwing}, name: "kill"}, For: second})
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
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 2)
		w.script(map[time.Duration]func(){
			1 * second: func() { w.grant("k", "c00"); w.release("k", "c00") },
			2 * second: func() { w.grant("k", "c01") },
		})
		res, err := w.run(t.Context(), Step{When: Trigger{On: AcquireReplied}, Fault: pauseClient{Params{Client: RoleHolder}}, For: 3 * second})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Steps[0].Target.String(); got != `{"clients":["c01"],"key":"k"}` {
			t.Errorf("target %s", got)
		}
		w.wantStory(t, "2s invoke fault pause-client", "2s info fault pause-client", "5s invoke heal pause-client", "5s ok heal pause-client")
		if got := w.Clients[1].(*fakeClient).deeds(); !slices.Equal(got, []string{"paused", "resumed"}) {
			t.Errorf("deeds %v", got)
		}
	})
}

// A released lease is not outlived, however long the client stands still.
func TestPauseThatDidNotHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 1)
		w.grant("k", "c00")
		w.script(map[time.Duration]func(){second: func() { w.release("k", "c00") }})
		res, err := w.run(t.Context(), Step{Fault: pauseClient{Params{Client: RoleHolder}}, For: 3 * second})
		if err != nil || res.Bit() != 0 {
			t.Errorf("%+v, %v", res, err)
		}
		w.wantStory(t, "0s invoke fault pause-client", "0s info fault pause-client", "3s invoke heal pause-client", "3s info heal pause-client")
	})
}

func TestCrashHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 1)
		w.grant("k", "c00")
		res, err := w.run(t.Context(), Step{Fault: crashClient{Params{Client: RoleHolder}}, For: second})
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
