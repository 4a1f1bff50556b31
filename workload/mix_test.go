package workload

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// Of the arrivals of a mixed load some hold a long key until little is left of its lease,
// with an extension at the end or without, and some wait longer for an answer than a
// lease lasts. In the final phase none does.
func TestMixedLoadDrawsLateHoldersAndPatientClients(t *testing.T) {
	const ttl, arrivals = 2 * time.Second, 4000
	draw := func(name string) (late, extended, patient int) {
		p := &phase{name: name, cfg: Config{Keys: 12, TTL: ttl, Mode: ModeMixed, Hold: Dist{Shape: Constant, Mean: 20 * time.Millisecond}}}
		rng := rand.New(rand.NewPCG(1, 2))
		for range arrivals {
			a := p.mix(rng, rng.IntN(p.cfg.Keys))
			if left := ttl - a.use.hold; !a.use.long && 0 < left && left < ttl/lateLeast {
				late++
				if a.use.last {
					extended++
				}
			}
			if a.use.timeout > ttl {
				patient++
			}
		}
		return late, extended, patient
	}
	late, extended, patient := draw(history.PhaseMain)
	if late < arrivals/500 || extended < late/4 || extended > late*3/4 {
		t.Errorf("of %d arrivals %d hold until little is left, %d of them to extend", arrivals, late, extended)
	}
	if patient < arrivals/5 || patient > arrivals/2 {
		t.Errorf("%d of %d wait longer than a lease lasts", patient, arrivals)
	}
	if late, _, patient := draw(history.PhaseFinal); late+patient > 0 {
		t.Errorf("in the final phase %d hold on and %d wait for long", late, patient)
	}
}

// lateLeast is the share of a lease that is left, at most, when a late holder ends it,
// to the precision of this test.
const lateLeast = 3

// In the final phase each key is asked for in one way: by readers some of those that readers
// share, by writers all others. A lock without readers has writers alone.
func TestFinalPhaseOfAMixedLoadAsksEachKeyInOneWay(t *testing.T) {
	for _, c := range []struct {
		keys   int
		shared bool
		want   []int // keys of readers
	}{{12, true, []int{4, 5}}, {12, false, nil}, {8, true, []int{3}}, {4, true, nil}, {1, true, nil}} {
		p := &phase{name: history.PhaseFinal, can: abilities{shared: c.shared}, cfg: Config{Keys: c.keys, TTL: time.Second, Mode: ModeMixed}}
		rng := rand.New(rand.NewPCG(1, 2))
		var readers []int
		for key := range c.keys {
			a := p.mix(rng, key)
			if len(a.keys) != 1 || a.keys[0] != p.cfg.Key(key) {
				t.Errorf("%d keys: key %d is asked for as %q", c.keys, key, a.keys)
			}
			if a.mode == history.Shared {
				readers = append(readers, key)
			}
			if (a.mode == history.Shared) != (a.use.how == ModeRW) {
				t.Errorf("%d keys: key %d in mode %v by %v", c.keys, key, a.mode, a.use.how)
			}
		}
		if !slices.Equal(readers, c.want) {
			t.Errorf("%d keys, shared %t: readers ask for %v, want %v", c.keys, c.shared, readers, c.want)
		}
	}
}

// Some of those whose single try was answered late stay until little is left of the promise,
// and nobody else does.
func TestWhoWasAnsweredLateMayStayToTheEnd(t *testing.T) {
	const ttl, arrivals = 2 * time.Second, 400
	for name, c := range map[string]struct {
		took, promise time.Duration // 0: none is promised
		phase         string
		mode          Mode
		use           use
		stays         bool
	}{
		"late":                 {took: ttl / 4, promise: ttl / 2, stays: true},
		"late, without a word": {took: ttl / 4, stays: true},
		"at once":              {took: ttl / 100, promise: ttl},
		"after a wait":         {took: ttl / 4, promise: ttl / 2, use: use{wait: ttl}},
		"for long anyhow":      {took: ttl / 4, promise: ttl / 2, use: use{long: true}},
		"in the final phase":   {took: ttl / 4, promise: ttl / 2, phase: history.PhaseFinal},
		"of another load":      {took: ttl / 4, promise: ttl / 2, mode: ModeExclusive},
		"over":                 {took: 2 * ttl, promise: -ttl},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{phase: &phase{name: or(c.phase, history.PhaseMain), cfg: Config{Mode: or(c.mode, ModeMixed), TTL: ttl}}, rng: rand.New(rand.NewPCG(1, 2))}
				var until time.Time
				left := ttl - c.took - ttl/20
				if c.promise != 0 {
					until, left = time.Now().Add(c.promise), c.promise-ttl/20
				}
				stay := 0
				for range arrivals {
					s := &section{worker: w, use: c.use, parts: []part{{lease: promise{until: until}}}}
					s.outstay(arrival{use: c.use}, time.Now().Add(-c.took))
					switch s.use.hold {
					case 0:
					case left:
						stay++
					default:
						t.Fatalf("stays for %v, want %v", s.use.hold, left)
					}
				}
				if c.stays != (stay > 0) || stay > arrivals*2/3 {
					t.Errorf("%d of %d stay", stay, arrivals)
				}
			})
		})
	}
}

// A promise is a lease of which only its end is known.
type promise struct {
	lockimpl.Lease
	until time.Time
}

func (p promise) ValidUntil() time.Time { return p.until }
