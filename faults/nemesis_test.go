package faults_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

func TestStepsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		res, err := w.Run(t.Context(),
			faults.Step{When: faults.Trigger{After: second}, For: 3 * second, Fault: faulttest.Plain("a")},
			faults.Step{When: faults.Trigger{After: 2 * second}, For: second, Fault: faulttest.Plain("b")})
		if err != nil {
			t.Fatal(err)
		}
		w.WantStory(t,
			"1s invoke fault a", "1s ok fault a", "2s invoke fault b", "2s ok fault b",
			"3s invoke heal b", "3s ok heal b", "4s invoke heal a", "4s ok heal a")
		if res.Planned() != 2 || res.Started() != 2 || res.TookEffect() != 2 || res.Healed() != 2 {
			t.Errorf("result %+v", res)
		}
		if got := res.Steps[0]; !slices.Equal(got.Receipts, []string{"a bit", "a healed"}) || got.Started != second || got.Ended != 4*second {
			t.Errorf("step a: %+v", got)
		}
		if e := w.Events.Events[0]; e.Target.String() != `{"nodes":["a"]}` {
			t.Errorf("target %s", e.Target)
		}
	})
}

func TestMomentNeverCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 5*second)
		defer cancel()
		res, err := w.Run(ctx,
			faults.Step{When: faults.Trigger{On: watch.ReleaseSent, Within: second}, Fault: faulttest.Plain("a")},
			faults.Step{When: faults.Trigger{After: 9 * second}, Fault: faulttest.Plain("late")})
		if err != nil {
			t.Fatal(err)
		}
		w.WantStory(t, "1s invoke fault a", "1s fail fault a", "5s invoke fault late", "5s fail fault late")
		if got := w.Events.Events[1].Err; got != "moment never came" {
			t.Errorf("err %q", got)
		}
		if res.Started() != 0 || res.TookEffect() != 0 || res.Healed() != 0 {
			t.Errorf("result %+v", res)
		}
	})
}

// A step whose moment does not come in time turns to another one.
func TestStepTurnsToAnotherMoment(t *testing.T) {
	for name, c := range map[string]struct {
		when faults.Trigger
		want string
	}{
		"neither came before": {faults.Trigger{On: watch.RenewalDue, Within: second, Else: watch.AcquireReplied}, "2s invoke fault a"},
		"the first came":      {faults.Trigger{On: watch.AcquireReplied, Within: 3 * second, Else: watch.ReleaseSent}, "2s invoke fault a"},
		"of the same client":  {faults.Trigger{On: watch.RenewalDue, By: "c01", Within: second, Else: watch.AcquireReplied}, "4s invoke fault a"},
		"in time, not later":  {faults.Trigger{On: watch.ReleaseSent, Within: second, Else: watch.AcquireReplied}, "2s invoke fault a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 2)
				w.Script(map[time.Duration]func(){
					2 * second: func() { w.Grant("k0", "c00#1") },
					3 * second: func() { w.Release("k0", "c00#1") },
					4 * second: func() { w.Grant("k0", "c01#1") },
				})
				if _, err := w.Run(t.Context(), faults.Step{When: c.when, Fault: faulttest.Plain("a")}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(40 * second) // let the script end inside the bubble
				synctest.Wait()
				if got := w.Story()[0]; got != c.want {
					t.Errorf("began with %q, want %q", got, c.want)
				}
			})
		})
	}
}

// A step that cannot wait for its moment, as where no link can be tapped, says so, and does not turn to another one in silence.
func TestStepThatCannotWaitDoesNotTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 1)
		w.Link = func(string, string) link.Link { return nil }
		w.Script(map[time.Duration]func(){2 * second: func() { w.Grant("k0", "c00") }})
		when := faults.Trigger{On: faults.Command("SET", "n1"), Within: 5 * second, Else: watch.AcquireReplied}
		res, err := w.Run(t.Context(), faults.Step{When: when, Fault: faulttest.Plain("a")})
		if err == nil || !strings.Contains(err.Error(), "cannot be tapped") || res.Steps[0].Err != "the link c00→n1 cannot be tapped" {
			t.Errorf("%+v, %v", res.Steps[0], err)
		}
		time.Sleep(3 * second) // let the script end inside the bubble
		synctest.Wait()
		w.WantStory(t, "0s invoke fault a", "0s fail fault a")
	})
}

// A step that lasts until a moment is healed at that moment of another client with the key of its own,
// under a lease that was granted meanwhile, and after its length where that does not come.
func TestStepLastsUntil(t *testing.T) {
	for name, c := range map[string]struct {
		until watch.Moment
		want  string
	}{
		"no moment is named":    {"", "9s invoke heal a"},
		"granted to another":    {watch.AcquireReplied, "4s invoke heal a"},
		"given back by another": {watch.ReleaseReplied, "6s invoke heal a"},
		"a moment of nobody":    {watch.RenewalSent, "9s invoke heal a"},
		"at work alone":         {watch.InSection, "8s invoke heal a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 3)
				w.TTL = 20 * second
				w.Script(map[time.Duration]func(){
					second / 5: func() { w.GrantToRead("k0", "c02#1") },
					1 * second: func() { w.GrantToRead("k0", "c00#1") },
					2 * second: func() { w.Grant("k1", "c01#1"); w.Return("k1", "c01#1") },
					3 * second: func() { w.Return("k0", "c00#1"); w.GrantToRead("k0", "c00#1") },
					4 * second: func() { w.GrantToRead("k0", "c01#1") },
					5 * second: func() { w.Return("k0", "c02#1") },                         // that it had before the fault
					6 * second: func() { w.Wrote("k0", "c01#1"); w.Return("k0", "c01#1") }, // beside c00
					7 * second: func() { w.Return("k0", "c00#1") },
					8 * second: func() { w.Grant("k0", "c02#2"); w.Wrote("k0", "c02#2") },
				})
				when := faults.Trigger{After: second / 2, On: watch.AcquireReplied}
				step := faults.Step{When: when, For: 8 * second, Until: c.until, Fault: faulttest.Plain("a")}
				if _, err := w.Run(t.Context(), step); err != nil {
					t.Fatal(err)
				}
				time.Sleep(40 * second) // let the script end inside the bubble
				synctest.Wait()
				if got := w.Story()[2]; got != c.want {
					t.Errorf("healed with %q, want %q", got, c.want)
				}
				want := "for 8s"
				if c.until != "" {
					want += ", or until " + string(c.until)
				}
				if got := w.Events.Events[slices.IndexFunc(w.Events.Events, func(e history.Event) bool { return e.Op == history.Fault })].Note; got != want {
					t.Errorf("noted as %q, want %q", got, want)
				}
			})
		})
	}
}

// The moment that ends a step is another client's than its victim's, whosever moment it began at, and the step is over a
// while after it, whether it affected anything or not.
func TestStepLastsUntilAnotherThanItsVictim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 2)
		f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.Begin(faults.Hit{Clients: []string{"c01"}})
			return faults.Injection{TookEffect: func() bool { return false }}, nil
		})
		w.Script(map[time.Duration]func(){
			1 * second: func() { w.Grant("k0", "c00"); w.Return("k0", "c00") },
			2 * second: func() { w.Grant("k0", "c01"); w.Return("k0", "c01") },
			3 * second: func() { w.Grant("k0", "c00") },
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*second) // until then another victim is waited for
		defer cancel()
		when := faults.Trigger{On: watch.AcquireReplied, By: "c00"}
		if _, err := w.Run(ctx, faults.Step{When: when, For: 8 * second, Until: watch.AcquireReplied, Lag: second / 4, Fault: f}); err != nil {
			t.Fatal(err)
		}
		if got, want := w.Story()[2], "3.25s invoke heal a"; got != want {
			t.Errorf("healed with %q, want %q", got, want)
		}
	})
}

// A step does not wait so long for its moment that the load is over before another one comes,
// and does not turn to that one before it is due itself.
func TestStepTurnsToAnotherMomentInTime(t *testing.T) {
	for after, want := range map[time.Duration]string{second: "4s invoke fault a", 17 * second / 4: "4.5s invoke fault a"} {
		synctest.Test(t, func(t *testing.T) {
			w := faulttest.New(5, 1)
			w.Target.TTL, w.Target.Load = 2*second, 5*second
			w.Script(map[time.Duration]func(){
				4 * second:     func() { w.Grant("k0", "c00#1") },
				9 * second / 2: func() { w.Grant("k1", "c00#1") },
			})
			step := faults.Step{When: faults.Trigger{After: after, On: watch.RenewalDue, Within: 20 * second, Else: watch.AcquireReplied}, For: second / 2, Fault: faulttest.Plain("a")}
			if _, err := w.Run(t.Context(), step); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40 * second) // let the script end inside the bubble
			synctest.Wait()
			if got := w.Story()[0]; got != want {
				t.Errorf("due at %v, it began with %q, want %q", after, got, want)
			}
		})
	}
}

// A step that hurt nobody tries another victim, thrice at most, and says in whose
// place it comes.
func TestAnotherVictim(t *testing.T) {
	for name, c := range map[string]struct {
		takesEffect int // the attempt that bites; 0: none
		clients     []string
		want        []string
	}{
		"the first":           {1, []string{"c00"}, []string{"ok"}},
		"the second":          {2, []string{"c00"}, []string{"info", "ok"}},
		"none":                {0, []string{"c00"}, []string{"info", "info", "info"}},
		"everybody was asked": {0, []string{"c00", "c01"}, []string{"info"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 2)
				n := 0
				f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
					n++
					s.Begin(faults.Hit{Clients: c.clients})
					if n == c.takesEffect {
						return faults.Injection{Receipt: "took effect"}, nil
					}
					return faults.Injection{}, nil
				})
				w.Script(map[time.Duration]func(){0: func() { w.Grant("k0", "c00#1") }})
				res, err := w.Run(t.Context(), faults.Step{For: second, Fault: f})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				before := -1
				for _, e := range w.Events.Events {
					switch {
					case e.Op == history.Fault && e.Kind == history.Invoke:
						if e.HasAll(history.HasOf) != (before >= 0) || before >= 0 && e.Of != before {
							t.Errorf("event %d comes in place of %d, want %d", e.Index, e.Of, before)
						}
						before = e.Index
					case e.Op == history.Fault:
						got = append(got, e.Kind.String())
					}
				}
				if !slices.Equal(got, c.want) || (res.TookEffect() == 1) != (c.takesEffect > 0) {
					t.Errorf("%v, effects %d, want %v", got, res.TookEffect(), c.want)
				}
			})
		})
	}
}

// No other victim is tried where there is none, or where another step waits for this one.
func TestNoOtherVictim(t *testing.T) {
	for name, c := range map[string]struct {
		clients int
		role    string
		want    int
	}{
		"several clients": {2, "c00", 3},
		"one client":      {1, "c00", 1},
		"it has a name":   {2, "c00 as victim", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, c.clients)
				tries := 0
				f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
					tries++
					found, err := s.PickClients(c.role, rng)
					s.Begin(faults.Hit{Clients: phrase.Names(found)})
					return faults.Injection{TookEffect: func() bool { return false }}, err
				})
				if _, err := w.Run(t.Context(), faults.Step{For: second, Fault: f}); err != nil || tries != c.want {
					t.Errorf("%d tries, want %d (%v)", tries, c.want, err)
				}
			})
		})
	}
}

// No other victim is tried once there is no time to hurt it: the wait for the first
// one's impact is cut short, and a moment that comes too late is let pass.
func TestAnotherVictimInTime(t *testing.T) {
	for name, c := range map[string]struct {
		load time.Duration
		when faults.Trigger
		want []time.Duration // when attempts began, roughly
	}{
		"no end is known":           {0, faults.Trigger{}, []time.Duration{0, 3 * second, 6 * second}},
		"the last wait is shorter":  {6 * second, faults.Trigger{}, []time.Duration{0, 3 * second, 4500 * time.Millisecond}},
		"the wait is cut short":     {3 * second, faults.Trigger{}, []time.Duration{0, 1500 * time.Millisecond}},
		"there is time for one":     {1500 * time.Millisecond, faults.Trigger{}, []time.Duration{0}},
		"the moment comes too late": {4 * second, faults.Trigger{On: watch.AcquireReplied}, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 2)
				w.Target.Load, w.Target.TTL = c.load, second
				var began []time.Duration
				start := time.Now()
				f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
					began = append(began, time.Since(start))
					s.Begin(faults.Hit{Clients: []string{"c00"}})
					return faults.Injection{TookEffect: func() bool { return false }}, nil
				})
				w.Script(map[time.Duration]func(){
					100 * time.Millisecond:  func() { w.Grant("k0", "c01#1") },
					3600 * time.Millisecond: func() { w.Grant("k0", "c01#1") },
				})
				res, err := w.Run(t.Context(), faults.Step{When: c.when, For: second, Fault: f})
				if err != nil || res.TookEffect() != 0 {
					t.Fatalf("effects %d: %v", res.TookEffect(), err)
				}
				if !slices.EqualFunc(began, c.want, func(a, b time.Duration) bool { return (a - b).Abs() < 500*time.Millisecond }) {
					t.Errorf("attempts at %v, want %v", began, c.want)
				}
				if took := time.Since(start); c.load > 0 && took > c.load+time.Millisecond {
					t.Errorf("over at %v, after a load of %v", took, c.load)
				}
			})
		})
	}
}

// A fault that has affected nothing is kept in force for two TTLs more, or its own length again, and while the load
// lasts: half the time that is left where another victim may be tried. What it affects meanwhile is seen soon.
func TestFaultWaitsForItsImpact(t *testing.T) {
	nodes, client := faults.Hit{Nodes: []string{"n1"}}, faults.Hit{Clients: []string{"c00"}}
	for name, c := range map[string]struct {
		hit     faults.Hit
		length  time.Duration
		load    time.Duration
		affects time.Duration // when it affects something
		want    time.Duration // when it is healed
	}{
		"two TTLs":               {nodes, second, 0, time.Hour, 5 * second},
		"its own length":         {nodes, 6 * second, 0, time.Hour, 12 * second},
		"while the load lasts":   {nodes, second, 4 * second, time.Hour, 4 * second},
		"no other victim":        {nodes, second, 6 * second, time.Hour, 5 * second},
		"another victim":         {client, second, 6 * second, time.Hour, 3 * second},
		"too late for another":   {client, 4 * second, 6 * second, time.Hour, 6 * second},
		"it affects something":   {nodes, second, 0, 3050 * time.Millisecond, 3100 * time.Millisecond},
		"it has affected enough": {nodes, second, 0, second / 2, second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 2)
				w.Load = c.load
				start := time.Now()
				f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
					s.Begin(c.hit)
					return faults.Injection{Receipt: "x", TookEffect: func() bool { return time.Since(start) >= c.affects }}, nil
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := w.Run(ctx, faults.Step{For: c.length, Fault: f}); err != nil {
					t.Fatal(err)
				}
				healed := w.Events.Events[slices.IndexFunc(w.Events.Events, func(e history.Event) bool { return e.Op == history.Heal })].Time
				if healed < c.want || healed > c.want+100*time.Millisecond {
					t.Errorf("healed at %v, want %v", healed, c.want)
				}
			})
		})
	}
}

// Where no client does anything, nothing is affected, whatever the fault says of itself.
func TestNothingIsAffectedWhereNobodyIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.Idle(1, 1)
		if _, err := w.Run(t.Context(), faults.Step{For: second, Fault: faulttest.Plain("a")}); err != nil {
			t.Fatal(err)
		}
		w.WantStory(t, "0s invoke fault a", "0s info fault a", "5s invoke heal a", "5s info heal a")
	})
}

func TestHealOnCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := w.Run(ctx, faults.Step{When: faults.Trigger{After: second}, For: time.Hour, Fault: faulttest.Plain("a")}); err != nil {
			t.Fatal(err) // plain's heal fails on a cancelled context
		}
		w.WantStory(t, "1s invoke fault a", "1s ok fault a", "1.5s invoke heal a", "1.5s ok heal a")
	})
}

// A halfway fault hurts two things and then fails in its own way.
func halfway(healed *[]string, end func() error) faults.Fault {
	return faulttest.Fault("half", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
		s.Begin(faults.Hit{})
		for _, what := range []string{"first", "second"} {
			s.OnHeal(what, "by hand", func(context.Context) (string, error) {
				*healed = append(*healed, what)
				return "", nil
			})
		}
		return faults.Injection{}, end()
	})
}

func TestInjectFailsHalfway(t *testing.T) {
	for name, end := range map[string]func() error{
		"error": func() error { return errors.New("boom") },
		"panic": func() error { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(5, 1)
				var healed []string
				res, err := w.Run(t.Context(), faults.Step{Fault: halfway(&healed, end), For: second}, faults.Step{Fault: faulttest.Plain("b")})
				if err == nil || !strings.Contains(err.Error(), "boom") {
					t.Errorf("error %v", err)
				}
				if !slices.Equal(healed, []string{"second", "first"}) {
					t.Errorf("healed %v", healed)
				}
				if e := w.Events.Events; !slices.ContainsFunc(e, func(e history.Event) bool {
					return e.Fault == "half" && e.Kind == history.Fail && strings.Contains(e.Err, "boom") && !strings.Contains(e.Err, "\n")
				}) {
					t.Errorf("no failed fault in %v", w.Story())
				}
				if res.Healed() != 1 || res.TookEffect() != 1 {
					t.Errorf("result %+v", res)
				}
			})
		})
	}
}

func TestHealFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		n := w.Testbed.Nodes()[2].(*faulttest.Node)
		n.Fail = errors.New("port taken")
		f := fault("kill", faults.Params{Node: "n3"})
		res, err := w.Run(t.Context(), faults.Step{Fault: f, For: second}, faults.Step{When: faults.Trigger{After: second / 2}, Fault: faulttest.Plain("b"), For: second})
		if err == nil {
			t.Fatal("a failed heal is no error")
		}
		for _, want := range []string{"n3 is down", "port taken", "by hand", "start a redis-server"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		var broken *faults.BrokenError
		if !errors.As(err, &broken) || broken.Broken != "n3 is down" {
			t.Errorf("broken: %+v", broken)
		}
		w.WantStory(t, "0s invoke fault kill", "0s ok fault kill", "500ms invoke fault b", "500ms ok fault b",
			"1s invoke heal kill", "1.4s fail heal kill", "1.5s invoke heal b", "1.5s ok heal b")
		if res.Steps[0].Healed || !res.Steps[1].Healed {
			t.Errorf("result %+v", res)
		}
	})
}

func TestHealPanicsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		tries := 0
		f := faulttest.Fault("shy", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.OnHeal("shy", "wait", func(context.Context) (string, error) {
				if tries++; tries == 1 {
					panic("not yet")
				}
				return "took effect", nil
			})
			return faults.Injection{Target: "x"}, nil
		})
		if _, err := w.Run(t.Context(), faults.Step{Fault: f}); err != nil {
			t.Fatal(err)
		}
		w.WantStory(t, "0s invoke fault shy", "0s info fault shy", "0s invoke heal shy", "200ms ok heal shy")
	})
}

func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		release := make(chan struct{})
		heal := faulttest.Fault("stuck-heal", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.OnHeal("toxic on c01→n2", "restart it", func(context.Context) (string, error) { <-release; return "", nil })
			return faults.Injection{Target: "x", Receipt: "took effect"}, nil
		})
		inject := faulttest.Fault("stuck-inject", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.Begin(faults.Hit{Nodes: []string{"n1"}})
			<-release
			return faults.Injection{}, nil
		})
		_, err := w.Run(t.Context(), faults.Step{Fault: inject}, faults.Step{When: faults.Trigger{After: 30 * second}, Fault: heal}, faults.Step{When: faults.Trigger{After: 90 * second}, Fault: faulttest.Plain("b")})
		close(release)
		if err == nil || !strings.Contains(err.Error(), "inject stuck-inject: hung for 22s") || !strings.Contains(err.Error(), "toxic on c01→n2: hung for 24s (by hand: restart it)") {
			t.Errorf("error %v", err)
		}
		w.WantStory(t, "0s invoke fault stuck-inject", "22s fail fault stuck-inject", "30s invoke fault stuck-heal", "30s ok fault stuck-heal",
			"30s invoke heal stuck-heal", "54s fail heal stuck-heal", "1m30s invoke fault b", "1m30s ok fault b", "1m30s invoke heal b", "1m30s ok heal b")
	})
}

func TestNoReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		f := faulttest.Fault("mute", func(context.Context, *faults.Scope, *rand.Rand) (faults.Injection, error) {
			return faults.Injection{Target: "x", Heal: func(context.Context) (string, error) { return "", nil }, TookEffect: func() bool { return false }}, nil
		})
		res, err := w.Run(t.Context(), faults.Step{Fault: f, For: second}, faults.Step{When: faults.Trigger{After: 6 * second}, Fault: faulttest.Fault("flush", func(context.Context, *faults.Scope, *rand.Rand) (faults.Injection, error) {
			return faults.Injection{Target: "n1", Receipt: "DBSIZE 0", Instant: true}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		w.WantStory(t, "0s invoke fault mute", "0s info fault mute", "5s invoke heal mute", "5s info heal mute", "6s invoke fault flush", "6s ok fault flush")
		if res.Steps[0].TookEffect || !res.Steps[0].Healed || !res.Steps[1].TookEffect || !res.Steps[1].Healed {
			t.Errorf("result %+v", res)
		}
		if e := w.Events.Events; !e[4].Instant || !e[5].Instant || e[0].Instant {
			t.Error("instant faults are marked")
		}
	})
}
