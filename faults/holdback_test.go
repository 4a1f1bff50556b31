package faults_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// slowLinks is a fault of links that takes its time until it is in force.
type slowLinks struct {
	faults.Fault
	faults.Params
	takes time.Duration
	miss  int // how many attempts find nobody to hit
}

func (*slowLinks) ImpairsLinks() {}
func (f *slowLinks) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	time.Sleep(f.takes)
	if f.miss--; f.miss >= 0 {
		return faults.Injection{}, faults.ErrMissed
	}
	return f.Fault.Inject(ctx, s, rng)
}

// A patientClient keeps what holds it back.
type patientClient struct {
	*faulttest.Client
	wait func()
}

func (c *patientClient) HoldBack(wait func()) { c.wait = wait }

// heldBack makes w's clients such that can be held back.
func heldBack(w *faulttest.World) (clients []*patientClient) {
	for i, c := range w.Clients {
		clients = append(clients, &patientClient{Client: c.(*faulttest.Client)})
		w.Clients[i] = clients[i]
	}
	return clients
}

// held has a client send something and returns how long it was held back before.
func (c *patientClient) held(send func()) time.Duration {
	c.wait = nil
	send()
	began := time.Now()
	if c.wait != nil {
		c.wait()
	}
	return time.Since(began)
}

// A fault of links that is locked to a request meets that very request: the client does
// not send it before the fault is in force. Nobody is held back for other faults, for
// longer than a tenth of a second, or for what has been sent already.
func TestRequestsWaitForTheirFault(t *testing.T) {
	const millisecond = time.Millisecond
	links := func(takes time.Duration) *slowLinks { return &slowLinks{Fault: faulttest.Plain("a"), takes: takes} }
	for name, c := range map[string]struct {
		when  faults.Trigger
		fault faults.Fault
		want  time.Duration
	}{
		"acquire":            {faults.Trigger{On: watch.AcquireSent}, links(7 * millisecond), 7 * millisecond},
		"release":            {faults.Trigger{On: watch.ReleaseSent}, links(7 * millisecond), 7 * millisecond},
		"extension":          {faults.Trigger{On: watch.RenewalSent}, links(7 * millisecond), 7 * millisecond},
		"late release":       {faults.Trigger{On: watch.LateRelease}, links(7 * millisecond), 7 * millisecond},
		"slow to begin":      {faults.Trigger{On: watch.AcquireSent}, links(time.Second), 100 * millisecond},
		"nobody to hit":      {faults.Trigger{On: watch.ReleaseSent}, &slowLinks{Fault: faulttest.Plain("a"), takes: 3 * millisecond, miss: 1}, 3 * millisecond},
		"after a while":      {faults.Trigger{On: watch.AcquireSent, Then: millisecond}, links(7 * millisecond), 0},
		"answered already":   {faults.Trigger{On: watch.AcquireReplied}, links(7 * millisecond), 0},
		"a fault of no link": {faults.Trigger{On: watch.AcquireSent}, faulttest.Plain("a"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 1)
				client := heldBack(w)[0]
				var longest time.Duration
				event := func(op history.Op) func() {
					return func() {
						w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: op, Key: "k", Owner: "c00"})
					}
				}
				w.Script(map[time.Duration]func(){
					1 * second: func() {
						for _, send := range []func(){event(history.Acquire), func() { w.Grant("k", "c00") }} {
							longest = max(longest, client.held(send))
						}
						time.Sleep(1500 * millisecond)
						for _, send := range []func(){event(history.Extend), event(history.Release)} {
							longest = max(longest, client.held(send))
						}
					},
				})
				ctx, cancel := context.WithTimeout(t.Context(), 20*second)
				defer cancel()
				if _, err := w.Run(ctx, faults.Step{When: c.when, Fault: c.fault, For: second}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * second) // let the script end inside the bubble
				synctest.Wait()
				if longest != c.want {
					t.Errorf("held back for %v, want %v", longest, c.want)
				}
			})
		})
	}
}

// One request alone waits for a fault, though another one comes before it is in force.
func TestOneRequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 2)
		clients := heldBack(w)
		var held time.Duration
		w.Script(map[time.Duration]func(){
			second: func() {
				held = clients[1].held(func() {
					for _, owner := range []string{"c01", "c00"} {
						w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: owner})
					}
				})
			},
		})
		links := &slowLinks{Fault: faulttest.Plain("a"), takes: 7 * time.Millisecond}
		if _, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.AcquireSent}, Fault: links, For: second}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(second) // let the script end inside the bubble
		synctest.Wait()
		if held != 7*time.Millisecond || clients[0].wait != nil {
			t.Errorf("the first one was held back for %v, the second one %t", held, clients[0].wait != nil)
		}
	})
}

// Nobody is held back for a step whose moment comes when the run ends.
func TestNobodyWaitsAtTheEnd(t *testing.T) {
	for i := range 40 { // either may be seen first
		synctest.Test(t, func(t *testing.T) {
			w := faulttest.New(1, 1)
			client, links := heldBack(w)[0], w.Tapped()
			on := []watch.Moment{watch.AcquireSent, faults.Command("SET", "")}[i%2]
			ctx, cancel := context.WithCancel(t.Context())
			var held time.Duration
			w.Script(map[time.Duration]func(){
				second: func() {
					cancel()
					sent := time.Now()
					client.held(func() {
						w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "c00"})
						links["c00→n1"].Pass(link.TapEvent{Client: "c00", Node: "n1", Time: time.Now(), Command: "SET", Key: "k"})
					})
					held = time.Since(sent)
				},
			})
			if _, err := w.Run(ctx, faults.Step{When: faults.Trigger{On: on}, Fault: &slowLinks{Fault: faulttest.Plain("a")}, For: second}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(second) // let the script end inside the bubble
			synctest.Wait()
			if held != 0 {
				t.Errorf("held back for %v", held)
			}
		})
	}
}

// A step that is to hit whoever takes a key passes by those who ask for one that
// somebody else holds, has not been seen to give back, or asks for too. Whoever was granted a key has taken it.
func TestTakerAsksForAFreeKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		ask := func(key, owner string) func() {
			return func() {
				w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: owner})
			}
		}
		w.Script(map[time.Duration]func(){
			1 * second: func() { w.Grant("k", "c00"); ask("wanted", "c01")() },
			2 * second: ask("k", "c01"),
			3 * second: func() { w.Release("k", "c00") }, // which is not answered
			4 * second: func() { ask("k", "c02")(); ask("wanted", "c02")() },
			5 * second: ask("free", "c02"),
		})
		taker := &slowLinks{Fault: faulttest.Plain("a"), Params: faults.Params{Client: faults.RoleTaker}}
		res, err := w.Run(t.Context(),
			faults.Step{When: faults.Trigger{After: 1500 * time.Millisecond, On: watch.AcquireSent}, Fault: taker, For: second},
			faults.Step{When: faults.Trigger{On: watch.AcquireReplied}, Fault: taker, For: second})
		if err != nil || res.Steps[0].Started != 5*second || res.Steps[1].Started != second {
			t.Errorf("started at %v and %v, want 5s and 1s (%v)", res.Steps[0].Started, res.Steps[1].Started, err)
		}
	})
}

// A step that is to hit whoever holds a key more than once passes by the acquires of keys that
// their clients do not hold, and by releases that leave nothing held. A lease that is over is
// not held. At the moment to which the step turns, anybody will do.
func TestNestedOfAMoment(t *testing.T) {
	for name, x := range map[string]struct {
		when faults.Trigger
		want time.Duration
	}{
		"asks again":               {faults.Trigger{On: watch.AcquireSent}, 3 * second},
		"is granted it again":      {faults.Trigger{On: watch.AcquireReplied}, 3 * second},
		"gives back one of two":    {faults.Trigger{On: watch.ReleaseSent}, 3500 * time.Millisecond},
		"nobody asks again":        {faults.Trigger{After: 4 * second, On: watch.AcquireSent}, 0},
		"anybody asks, after that": {faults.Trigger{After: 3200 * time.Millisecond, On: watch.AcquireSent, Within: second, Else: watch.AcquireSent}, 7 * second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 2)
				w.Script(map[time.Duration]func(){
					500 * time.Millisecond:  func() { w.Grant("k0", "c00"); w.Grant("k1", "c01") },
					1 * second:              func() { w.Release("k0", "c00"); w.Grant("k2", "c00") },
					2800 * time.Millisecond: func() { w.Grant("k1", "c01") },
					3 * second:              func() { w.Grant("k2", "c00"); w.Grant("k2", "c00") },
					3500 * time.Millisecond: func() { w.Return("k1", "c01"); w.Return("k2", "c00") },
					3700 * time.Millisecond: func() { w.Return("k2", "c00") },
					7 * second:              func() { w.Grant("k3", "c00") },
				})
				ctx, cancel := context.WithTimeout(t.Context(), 20*second)
				defer cancel()
				nested := &slowLinks{Fault: faulttest.Plain("a"), Params: faults.Params{Client: faults.RoleNested}}
				res, err := w.Run(ctx, faults.Step{When: x.when, Fault: nested, For: second})
				if err != nil || res.Steps[0].Started != x.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, x.want, err)
				}
			})
		})
	}
}

// A step that is to hit a reader passes by the moments of writers, and of who reads alone, whatever its fault is.
func TestReaderOfAMoment(t *testing.T) {
	for on, want := range map[watch.Moment]time.Duration{watch.AcquireSent: 2 * second, watch.AcquireReplied: 2 * second, watch.ReleaseSent: 4 * second} {
		synctest.Test(t, func(t *testing.T) {
			w := faulttest.New(1, 3)
			w.Script(map[time.Duration]func(){
				1 * second: func() { w.Grant("k0", "c00"); w.GrantToRead("k1", "c02") },
				2 * second: func() { w.GrantToRead("k1", "c01") },
				3 * second: func() { w.Release("k0", "c00") },
				4 * second: func() { w.Release("k1", "c01") },
			})
			reader := faults.Params{Client: faults.RoleReader}
			res, err := w.Run(t.Context(),
				faults.Step{When: faults.Trigger{On: on}, Fault: fault("pause-client", reader), For: second},
				faults.Step{When: faults.Trigger{On: on}, Fault: &slowLinks{Fault: faulttest.Plain("a"), Params: reader}, For: second})
			if err != nil || res.Steps[0].Started != want || res.Steps[1].Started != want || res.Steps[0].Target == nil || !slices.Equal(res.Steps[0].Target.Clients, []string{"c01"}) {
				t.Errorf("%s: started at %v against %v, want %v against c01 (%v)", on, res.Steps[0].Started, res.Steps[0].Target, want, err)
			}
		})
	}
}

// At the moment at which a lease is given back, its holder is who gives it back, and he
// is wanted when somebody else asks for the key.
func TestHolderOfARelease(t *testing.T) {
	for name, c := range map[string]struct {
		role string
		asks bool
		want time.Duration
	}{
		"holder":                    {faults.RoleHolder, false, second},
		"wanted":                    {faults.RoleWanted, true, second},
		"wanted, and nobody asks":   {faults.RoleWanted, false, 2 * second},
		"wanted, others were asked": {faults.RoleAny, false, second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 3)
				ask := func(key string) {
					w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: "c02"})
				}
				w.Grant("k0", "c00")
				w.Grant("k1", "c01")
				w.Script(map[time.Duration]func(){
					second / 2: func() {
						ask("k1")
						if c.asks {
							ask("k0")
						}
					},
					1 * second: func() { w.Release("k0", "c00") },
					2 * second: func() { w.Release("k1", "c01") },
				})
				res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.ReleaseSent}, Fault: fault("pause-client", faults.Params{Client: c.role}), For: second})
				if err != nil || res.Steps[0].Started != c.want {
					t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, c.want, err)
				}
			})
		})
	}
}

// Near the end of the load a step takes any holder rather than nobody.
func TestWantedNearTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		w.Load = 10 * second
		w.Grant("k0", "c00")
		w.Grant("k1", "c01")
		w.Script(map[time.Duration]func(){
			8400 * time.Millisecond: func() { w.Release("k0", "c00") },
			8600 * time.Millisecond: func() { w.Release("k1", "c01") },
		})
		res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.ReleaseSent}, Fault: fault("pause-client", faults.Params{Client: faults.RoleWanted}), For: second})
		if want := 8600 * time.Millisecond; err != nil || res.Steps[0].Started != want {
			t.Errorf("started at %v, want %v (%v)", res.Steps[0].Started, want, err)
		}
	})
}

// However late a step's moment comes first, it looks for somebody who is wanted from then on for a TTL.
func TestWantedIsLookedForFromItsMomentOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		late := 3 * w.TTL
		w.Grant("k0", "c00")
		w.Grant("k1", "c01")
		w.Script(map[time.Duration]func(){
			late / 2: func() {
				w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: "k1", Owner: "c02"})
			},
			late:           func() { w.Release("k0", "c00") },
			late + w.TTL/2: func() { w.Release("k1", "c01") },
		})
		res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.ReleaseSent}, Fault: fault("pause-client", faults.Params{Client: faults.RoleWanted}), For: second})
		if err != nil || res.Steps[0].Started != late+w.TTL/2 {
			t.Errorf("started at %v, want when the wanted key is given back, at %v (%v)", res.Steps[0].Started, late+w.TTL/2, err)
		}
	})
}
