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
	const draws = 400 // for each key
	for _, c := range []struct {
		keys   int
		shared bool
		want   []int // keys of readers
	}{{12, true, []int{4, 5}}, {12, false, nil}, {8, true, []int{3}}, {4, true, nil}, {1, true, nil}} {
		p := &phase{name: history.PhaseFinal, can: abilities{shared: c.shared}, cfg: Config{Keys: c.keys, TTL: time.Second, Mode: ModeMixed}}
		rng := rand.New(rand.NewPCG(1, 2))
		var readers []int
		asked := map[string]int{}
		for range draws {
			for key := range c.keys {
				a := p.mix(rng, key)
				asked[a.keys[0]]++
				if mine := p.cfg.Key(key) == a.keys[0]; len(a.keys) != 1 || !mine && a.mode == history.Exclusive {
					t.Errorf("%d keys: key %d is asked for as %q in mode %v", c.keys, key, a.keys, a.mode)
				} else if mine && a.mode == history.Shared && !slices.Contains(readers, key) {
					readers = append(readers, key)
				}
				if (a.mode == history.Shared) != (a.use.how == ModeRW) {
					t.Errorf("%d keys: key %d in mode %v by %v", c.keys, key, a.mode, a.use.how)
				}
			}
		}
		slices.Sort(readers)
		for key := range c.keys { // what keeps writers out must not run out for want of readers
			crowd := len(c.want) > 0 && key == c.want[len(c.want)-1]
			if often := asked[p.cfg.Key(key)] > draws*c.keys/3; often != crowd && c.keys > 4 {
				t.Errorf("%d keys, shared %t: key %d is asked for %d times", c.keys, c.shared, key, asked[p.cfg.Key(key)])
			}
		}
		if !slices.Equal(readers, c.want) {
			t.Errorf("%d keys, shared %t: readers ask for %v, want %v", c.keys, c.shared, readers, c.want)
		}
	}
}

// The last common key is asked for in bursts, and by nobody for longer than a lease between them.
func TestTheLastCommonKeyIsAskedForInBursts(t *testing.T) {
	const ttl = time.Second
	for _, c := range []struct{ keys, bursts int }{{1, -1}, {2, -1}, {4, -1}, {8, 5}, {12, 8}} {
		synctest.Test(t, func(t *testing.T) {
			p := &phase{
				name: history.PhaseMain, began: time.Now(), can: abilities{multi: true, shared: true, reentrant: true, fair: true},
				cfg: Config{Keys: c.keys, TTL: ttl, Mode: ModeMixed, Hold: Dist{Min: time.Millisecond, Max: time.Millisecond}},
			}
			rng := rand.New(rand.NewPCG(1, 2))
			asked := map[string][8]int{} // by second
			for now := range 8000 {
				for _, key := range p.mix(rng, now%c.keys).keys {
					n := asked[key]
					n[now/1000]++
					asked[key] = n
				}
				time.Sleep(time.Millisecond)
			}
			for key := range c.keys {
				n := asked[p.cfg.Key(key)]
				for second, n := range n {
					if rests := key == c.bursts && second%4 > 0; rests != (n == 0) {
						t.Errorf("%d keys: k%d is asked for %d times in second %d", c.keys, key, n, second)
					}
				}
			}
		})
	}
}

// Most readers of the library ask for its last key, beside writers; some ask for each of the others, and some
// of these hold on beyond the TTL.
func TestMostReadersAskForOneKey(t *testing.T) {
	p := &phase{name: history.PhaseMain, can: abilities{shared: true}, cfg: Config{Keys: 12, TTL: time.Second, Mode: ModeMixed}}
	rng := rand.New(rand.NewPCG(1, 2))
	reads, writes, stay := map[string]int{}, map[string]int{}, map[string]int{}
	for n := range 30000 {
		a := p.mix(rng, 3+n%3) // the library's
		if a.mode == history.Shared {
			reads[a.keys[0]]++
			if a.use.long && a.use.hold > p.cfg.TTL {
				stay[a.keys[0]]++
			}
		} else {
			writes[a.keys[0]]++
		}
	}
	for _, key := range []string{"k3", "k4"} {
		if crowd := reads["k5"]; reads[key] < 1000 || crowd < 5*reads[key] || writes[key] < 1000 {
			t.Errorf("%d ask for %s, and %d for k5, to read; %d to write", reads[key], key, crowd, writes[key])
		}
		if stay[key] < reads[key]/20 || stay[key] > reads[key]/5 {
			t.Errorf("%d of %d readers of %s hold on", stay[key], reads[key], key)
		}
	}
	if writes["k5"] < 1000 {
		t.Errorf("%d ask for k5 to write", writes["k5"])
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
		first         bool
		stays         bool
	}{
		"late":                 {took: ttl / 4, promise: ttl / 2, stays: true},
		"late, without a word": {took: ttl / 4, stays: true},
		"at once":              {took: ttl / 100, promise: ttl},
		"after a wait":         {took: ttl / 4, promise: ttl / 2, use: use{wait: ttl}},
		"the first, who waits": {took: ttl / 4, promise: ttl / 2, use: use{wait: ttl}, first: true, stays: true},
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
					s := &section{worker: w, use: c.use, parts: []part{{lease: promise{until: until}, asked: time.Now().Add(-c.took)}}}
					s.outstay(arrival{use: c.use, first: c.first})
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

// Who waits for long for an answer waits for that of an extension too, and nobody waits less.
func TestSteadyClientsWaitForAnExtension(t *testing.T) {
	const configured = time.Second
	for _, c := range []struct {
		own  time.Duration
		op   history.Op
		want time.Duration
	}{
		{3 * time.Second, history.Extend, 3 * time.Second}, {3 * time.Second, history.Release, configured},
		{time.Second / 4, history.Extend, configured}, {0, history.Extend, configured},
	} {
		s := &section{worker: &worker{phase: &phase{cfg: Config{Timeout: configured}}}, use: use{timeout: c.own}}
		if got := s.timeout(c.op); got != c.want {
			t.Errorf("%s of one who waits %v: %v, want %v", c.op, c.own, got, c.want)
		}
	}
}

// A promise is a lease of which only its end is known.
type promise struct {
	lockimpl.Lease
	until time.Time
}

func (p promise) ValidUntil() time.Time { return p.until }
func (promise) Fence() uint64           { return 0 }

// A hold that nothing can keep ends within its lease.
func TestAHoldThatNothingExtendsEndsWithinItsLease(t *testing.T) {
	const ttl = time.Second
	for _, c := range []struct {
		extendless bool
		lease      lockimpl.Lease
		long       bool
	}{{false, stuck{}, true}, {true, stuck{}, false}, {true, renewing{}, true}} {
		p := &phase{name: history.PhaseMain, can: abilities{extendless: c.extendless}, cfg: Config{Keys: 5, TTL: ttl, Mode: ModeMixed}}
		s := &section{worker: &worker{phase: p}, use: use{long: true, hold: 2 * ttl}, parts: []part{{lease: c.lease}}}
		if hold, long := s.plan(); long != c.long || (hold < ttl) == c.long {
			t.Errorf("extendless %t, %T: held for %v, beyond the lease %t", c.extendless, c.lease, hold, long)
		}
	}
}

// A stuck lease cannot be renewed; a renewing one renews itself.
type (
	stuck    struct{ lockimpl.Lease }
	renewing struct{ lockimpl.Lease }
)

func (renewing) Renew(func(lockimpl.Renewal)) {}
