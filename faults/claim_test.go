package faults_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
	"locktorture/workload/history"
)

// A node whose heal fails at first is nobody else's until it is mended.
func TestClaimOutlastsAFailedHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 0)
		tries := 0
		stubborn := faulttest.Fault("stubborn", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			if err := s.Claim("n1"); err != nil {
				return faults.Injection{}, err
			}
			s.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) {
				if tries++; tries == 1 {
					return "", testbed.ErrDown
				}
				return "mended", nil
			})
			return faults.Injection{Receipt: "took effect"}, nil
		})
		next := faulttest.Fault("next", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			return faults.Injection{Receipt: "took effect"}, s.Claim("n1")
		})
		res, err := w.Run(t.Context(), faults.Step{Fault: stubborn, For: second}, faults.Step{When: faults.Trigger{After: second / 2}, Fault: next})
		if err != nil {
			t.Fatal(err)
		}
		mended := res.Steps[0].Ended
		if tries != 2 || mended < second || res.Steps[1].Started < mended || res.Steps[1].Started > mended+10*time.Millisecond {
			t.Errorf("mended at the try number %d at %v; n1 was another fault's from %v on", tries, mended, res.Steps[1].Started)
		}
	})
}

// What a fault that is over at once had taken is another one's right after.
func TestInstantFaultLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 1)
		takes := func(name string, instant bool) faults.Fault {
			return faulttest.Fault(name, func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
				return faults.Injection{Receipt: "took effect", Instant: instant}, s.Claim("n1")
			})
		}
		res, err := w.Run(t.Context(), faults.Step{Fault: takes("flush", true)}, faults.Step{When: faults.Trigger{After: second}, Fault: takes("next", false)})
		if err != nil || res.Steps[1].Started != second {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// sinkFunc is a sink made of a function.
type sinkFunc func(*history.Event)

func (f sinkFunc) Event(e *history.Event) { f(e) }

// What a fault has claimed is another one's only once its end is recorded: in the history the second begins after the
// first has ended, however close they are.
func TestClaimOutlastsTheRecordOfTheEnd(t *testing.T) {
	for name, instant := range map[string]bool{"healed": false, "over at once": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := faulttest.New(1, 1)
				var scope *faults.Scope
				ended := 0
				w.Rec.Attach(sinkFunc(func(e *history.Event) {
					if e.Process != history.Nemesis || e.Kind != history.OK || instant != (e.Op == history.Fault) {
						return
					}
					ended++
					if err := scope.Claim("n1"); !errors.Is(err, faults.ErrMissed) {
						t.Errorf("anybody may claim it before %v %v is recorded: %v", e.Kind, e.Op, err)
					}
				}))
				_, err := w.Run(t.Context(), faults.Step{For: second, Fault: faulttest.Fault("first", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
					scope = s
					return faults.Injection{Receipt: "took effect", Instant: instant}, s.Claim("n1")
				})})
				if err != nil || ended != 1 {
					t.Errorf("ended %d times, %v", ended, err)
				}
				if err := scope.Claim("n1"); err != nil {
					t.Errorf("when all is over: %v", err)
				}
			})
		})
	}
}

// isFreeAfter reports whether anybody may claim n1 a minute after the run of a fault, a minute's at most, that injects so.
func isFreeAfter(t *testing.T, inject func(s *faults.Scope) (faults.Injection, error)) (free bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 1)
		var scope *faults.Scope
		f := faulttest.Fault("first", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			scope = s
			return inject(s)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _ = w.Run(ctx, faults.Step{Fault: f, For: second}) // what went wrong is not asked here
		time.Sleep(time.Minute)
		synctest.Wait()
		free = scope.Claim("n1") == nil
	})
	return free
}

// What stays broken stays claimed: where a heal fails at every try, be it the fault's own, nobody else has the node. A heal
// that was given up as hung lets go when it ends after all.
func TestClaimsOfWhatWentWrong(t *testing.T) {
	broken := &faults.BrokenError{Broken: "n1 is down", ByHand: "by hand", Err: context.DeadlineExceeded}
	for name, c := range map[string]struct {
		inject func(s *faults.Scope) (faults.Injection, error)
		free   bool // wanted a minute later
	}{
		"a heal fails": {func(s *faults.Scope) (faults.Injection, error) {
			s.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) { return "", context.DeadlineExceeded })
			return faults.Injection{Receipt: "took effect"}, nil
		}, false},
		"its own heal fails": {func(*faults.Scope) (faults.Injection, error) {
			return faults.Injection{Receipt: "took effect", Heal: func(context.Context) (string, error) { return "", broken }}, nil
		}, false},
		"its own heal": {func(*faults.Scope) (faults.Injection, error) {
			return faults.Injection{Receipt: "took effect", Heal: func(context.Context) (string, error) { return "healed", nil }}, nil
		}, true},
		"a heal hangs": {func(s *faults.Scope) (faults.Injection, error) {
			s.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) { time.Sleep(40 * time.Second); return "", nil })
			return faults.Injection{Receipt: "took effect"}, nil
		}, true},
		"the injection fails": {func(*faults.Scope) (faults.Injection, error) { return faults.Injection{}, testbed.ErrDown }, true},
		"the injection fails, and its heal": {func(s *faults.Scope) (faults.Injection, error) {
			s.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) { return "", context.DeadlineExceeded })
			return faults.Injection{}, testbed.ErrDown
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			free := isFreeAfter(t, func(s *faults.Scope) (faults.Injection, error) {
				if err := s.Claim("n1"); err != nil {
					return faults.Injection{}, err
				}
				return c.inject(s)
			})
			if free != c.free {
				t.Errorf("n1 is free: %t, want %t", free, c.free)
			}
		})
	}
}

// An injection that was given up as hung keeps nothing that it claims later; one that missed gives back what it had.
func TestClaimsOfWhoCameTooLate(t *testing.T) {
	for name, inject := range map[string]func(s *faults.Scope) error{
		"hung":   func(s *faults.Scope) error { time.Sleep(30 * time.Second); return s.Claim("n1") },
		"missed": func(s *faults.Scope) error { return errors.Join(s.Claim("n1"), faults.ErrMissed) },
	} {
		t.Run(name, func(t *testing.T) {
			if !isFreeAfter(t, func(s *faults.Scope) (faults.Injection, error) { return faults.Injection{}, inject(s) }) {
				t.Error("n1 is claimed for ever")
			}
		})
	}
}

// Links that nothing passes are another fault's when the one that had them is over.
func TestReservedLinksAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 1)
		links := []faults.LinkID{{Client: "c00", Node: "n1"}}
		reserves := faulttest.Fault("cut", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			return faults.Injection{Receipt: "took effect"}, s.ReserveLinks(links)
		})
		res, err := w.Run(t.Context(), faults.Step{Fault: reserves, For: second}, faults.Step{When: faults.Trigger{After: 2 * second}, Fault: reserves, For: second})
		if err != nil || res.Steps[1].Started != 2*second {
			t.Errorf("%+v, %v", res.Steps[1], err)
		}
	})
}
