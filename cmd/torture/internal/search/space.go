package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/watch"
	"locktorture/workload"
)

// A Space is what rounds are drawn from.
type Space struct {
	Faults  []string        // names in the catalogue
	Moments []watch.Moment  // to which steps may be locked, commands and replies among them
	Modes   []workload.Mode // that the lock can serve; empty: the mixed one alone
	Nodes   int             // masters
	Elected bool            // the masters have replicas that may be promoted in their place
	TTLs    []time.Duration // lease lengths, in order; empty: from 400 ms to 2 s
	Settles time.Duration   // how long the lock takes, by its own word, to clear up behind an operation that failed; 0: nobody says
	Clients int             // at most; 0: 12
	Keys    int             // at most; 0: 8
	Longest time.Duration   // main phase of a round at most, but for patterns that take 16 leases; 0: 5 s

	// Random draws every round from scratch, aimed at nothing and bred from none: what a
	// search that is guided is compared with.
	Random bool

	// Shortest is the shortest lease that makes sense just now, where the machine is
	// busy; nil: any does.
	Shortest func() time.Duration

	// Model is a target that stands for that of a round: the steps of the standard plan are drawn for it. Nil: none are.
	Model func(r Round) *faults.Target

	// Fits says why a round cannot be played. Steps that do not fit are drawn anew
	// or left out.
	Fits func(r Round) error
}

const (
	defaultClients = 12
	defaultKeys    = 8
	defaultLongest = 5 * time.Second
)

// withDefaults fills in what was left open.
func (s Space) withDefaults() Space {
	if len(s.TTLs) == 0 {
		s.TTLs = []time.Duration{400 * time.Millisecond, 700 * time.Millisecond, time.Second, 2 * time.Second}
	}
	if len(s.Modes) == 0 {
		s.Modes = []workload.Mode{workload.ModeMixed}
	}
	if len(s.Moments) == 0 {
		s.Moments = faults.KeyMoments()
	}
	if s.Clients == 0 {
		s.Clients = defaultClients
	}
	if s.Keys == 0 {
		s.Keys = defaultKeys
	}
	if s.Longest == 0 {
		s.Longest = defaultLongest
	}
	return s
}

// A profile is one round's own vocabulary: the faults and moments that exist for
// it. A swarm's strength is in what its members leave out.
type profile struct {
	faults  []string
	moments []watch.Moment
	steps   int

	// A calm round has few and short steps, and none of them late: what an operation
	// leaves behind that failed under a fault can be told from what is under way only
	// when all is well again for a while.
	calm bool
}

const (
	mostFaults = 4  // kinds in one round
	mostSteps  = 10 // in one round: each has its own share of a few seconds
)

// profile draws a round's vocabulary. Moments that never come, as weights tell, are
// drawn less.
func (s *Space) profile(rng *rand.Rand, weights weights) profile {
	p := profile{steps: 1 + rng.IntN(mostSteps)}
	if p.calm = rng.IntN(3) == 0; p.calm {
		p.steps = 1 + rng.IntN(2)
	}
	for range 1 + rng.IntN(mostFaults) {
		if f := pick(rng, s.Faults); !slices.Contains(p.faults, f) {
			p.faults = append(p.faults, f)
		}
	}
	for range 1 + rng.IntN(3) {
		p.moments = append(p.moments, weights.moment(rng, s.Moments))
	}
	return p
}

// swarm draws a round from scratch.
func (s *Space) swarm(rng *rand.Rand, weights weights) Round {
	r := Round{Seed: drawSeed(rng), Origin: Swarm}
	s.drawShape(&r, rng)
	p := s.profile(rng, weights)
	if rng.IntN(12) == 0 || len(p.faults) == 0 {
		return r // contention alone
	}
	for range drawsPerStep * p.steps {
		if r.Steps = append(r.Steps, s.steps(r, p, rng)...); len(r.Steps) < p.steps {
			continue
		}
		if r = s.fitted(r); len(r.Steps) >= p.steps {
			break
		}
	}
	return s.fitted(r)
}

// drawsPerStep bounds how often a step is drawn until one fits.
const drawsPerStep = 4

// drawSeed draws a seed that is short enough to be typed.
func drawSeed(rng *rand.Rand) uint64 { return rng.Uint64()&0xffffff | 1 }

// drawShape draws clients, times and load.
func (s *Space) drawShape(r *Round, rng *rand.Rand) {
	r.TTL = s.drawTTL(rng)
	r.Duration = min(s.Longest, leastLength)
	s.lengthen(r)
	for dimension := range dimensions {
		s.drawDimension(r, dimension, rng)
	}
}

// drawTTL draws a lease length. Half of the leases outlast by far what the lock takes
// to clear up: what it should have cleared up and did not would otherwise be gone
// with its lease before anybody can tell.
func (s *Space) drawTTL(rng *rand.Rand) time.Duration {
	long := slices.DeleteFunc(slices.Clone(s.TTLs), func(ttl time.Duration) bool { return ttl < outlasts*s.Settles })
	if s.Settles > 0 && len(long) > 0 && rng.IntN(2) == 0 {
		return pick(rng, long)
	}
	return pick(rng, s.TTLs)
}

// outlasts is how many times as long as clearing up a lease must be to show what was
// left behind.
const outlasts = 2

// leastLength is how long the main phase of a drawn round is at least.
const leastLength = 3 * time.Second

// lengthen gives a round the next longer lease that makes sense, and time for some
// of them one after another.
func (s *Space) lengthen(r *Round) {
	least := time.Duration(0)
	if s.Shortest != nil {
		least = s.Shortest()
	}
	for _, ttl := range s.TTLs {
		if r.TTL < least && ttl > r.TTL {
			r.TTL = ttl
		}
	}
	r.Duration = min(s.Longest, max(r.Duration, 5*r.TTL)).Round(time.Millisecond)
}

// dimensions are how many independent choices a load is; see drawDimension.
const dimensions = 9

// drawDimension draws one of the choices that make up the round's load.
func (s *Space) drawDimension(r *Round, which int, rng *rand.Rand) {
	l := &r.Load
	switch which {
	case 0:
		r.Clients = min(s.Clients, pick(rng, []int{2, 3, 4, 4, 6, 8, 12}))
	case 1:
		l.Keys = min(s.Keys, pick(rng, []int{1, 1, 1, 2, 4, 8}))
	case 2: // mostly short; some outlast their lease
		of := pick(rng, []float64{0.01, 0.03, 0.03, 0.1, 0.1, 0.3, 0.9, 1.7, 3})
		l.Hold = workload.Fixed(min(max(5*time.Millisecond, share(r.TTL, of)), r.Duration/2))
	case 3:
		l.Think = workload.Fixed(pick(rng, []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 120 * time.Millisecond}))
	case 4:
		l.Wait = share(r.TTL, pick(rng, []float64{0, 0, 0.3, 1, 3}))
	case 5:
		l.Timeout = share(r.TTL, pick(rng, []float64{0, 0, 0.1, 0.3, 1, 3}))
	case 6:
		l.Renew = rng.IntN(2) == 0
		l.LongHold = pick(rng, []float64{0, 0, 0.05, 0.4})
	case 7:
		l.Extend, l.Writes = pick(rng, []float64{0, 0, 0.1, 0.5}), writes
	case 8:
		l.Mode, l.Readers = pick(rng, s.Modes), 0
		if l.Mode == workload.ModeRW {
			l.Readers = pick(rng, []float64{0.3, 0.5, 0.7})
		}
	}
	if l.Mode == workload.ModeMulti {
		l.Keys = max(2, l.Keys)
	}
}

// writes under each lease: two in a row show an interleaving, one more a loss between.
const writes = 3

// share is a part of a duration, to the millisecond.
func share(of time.Duration, f float64) time.Duration {
	return time.Duration(f * float64(of)).Round(time.Millisecond)
}

// steps draws one step, or two of which the second is aimed at whom the first one
// hit: most flaws need a client in trouble and something that follows from it.
func (s *Space) steps(r Round, p profile, rng *rand.Rand) []faults.Spec {
	first := s.step(r, p, rng)
	if rng.IntN(4) > 0 || first.Times > 1 || !takes(first.Fault, "client") || bound(first) {
		return []faults.Spec{first}
	}
	// Names must differ within a round: a name that is bound twice means both.
	name := victim(rng)
	first.Client = faults.JoinRole(orAny(first.Client), name)
	second := s.step(r, p, rng)
	second.At, second.By, second.Times, second.Every, second.Until = first.At, name, 0, 0, ""
	if rng.IntN(2) == 0 {
		second.On = faults.Bound
	} else {
		second.On = pick(rng, faults.KeyMoments())
	}
	if !second.On.Foreseen() {
		second.Then = max(0, second.Then)
	}
	if takes(second.Fault, "client") {
		second.Client = name
	}
	return []faults.Spec{first, second}
}

// victim draws a name for whom a step hits.
func victim(rng *rand.Rand) string { return "victim" + string(rune('A'+rng.IntN(26))) }

func bound(s faults.Spec) bool {
	_, name := faults.SplitRole(s.Client, "")
	return name != ""
}

func orAny(role string) string {
	if role == "" {
		return faults.RoleHolder
	}
	return role
}

// step draws one step of the profile's faults.
func (s *Space) step(r Round, p profile, rng *rand.Rand) faults.Spec {
	spec := faults.Spec{Fault: pick(rng, p.faults)}
	for setting := range settings {
		s.drawSetting(&spec, setting, r, p.moments, rng)
	}
	if p.calm {
		spec.Times, spec.Every = 0, 0
		spec.For = share(r.TTL, pick(rng, []float64{0.08, 0.15, 0.25, 0.35}))
		spec.At = max(time.Millisecond, share(r.Duration, 0.03+0.4*rng.Float64()))
	}
	return spec
}

// settings are how many independent choices a step is; see drawSetting.
const settings = 6

// drawSetting draws one of the choices that make up a step.
func (s *Space) drawSetting(x *faults.Spec, which int, r Round, moments []watch.Moment, rng *rand.Rand) {
	switch which {
	case 0: // when
		x.At = max(time.Millisecond, share(r.Duration, 0.03+0.7*rng.Float64()))
	case 1: // how long
		x.For = share(r.TTL, pick(rng, []float64{0, 0, 0.15, 0.35, 0.6, 0.9, 1.1, 1.6, 2.5}))
	case 2: // at which moment
		x.On, x.By, x.Then, x.Within, x.Else, x.Until = "", "", 0, 0, "", ""
		if rng.IntN(5) > 0 {
			x.On = pick(rng, moments)
		}
		if rng.IntN(5) == 0 {
			x.On = faults.AtTime
		}
		switch {
		case x.On.Foreseen():
			x.Then = share(r.TTL, pick(rng, []float64{0, -0.04, -0.08, -0.15, 0.1}))
		case x.On != "" && x.On != faults.AtTime:
			x.Then = share(r.TTL, pick(rng, []float64{0, 0, 0, 0, 0.1, 0.4, 0.9}))
		}
		if rng.IntN(8) == 0 && canEnd(*x, r.TTL) {
			x.Until = pick(rng, ends)
		}
	case 3: // whom
		if takes(x.Fault, "client") {
			x.Client = pick(rng, s.roles(r))
		}
		if takes(x.Fault, "node") {
			x.Node = s.node(x.On, rng)
		}
	case 4: // how often
		x.Times, x.Every = 0, 0
		if rng.IntN(2) == 0 {
			x.Times = 2 + rng.IntN(4)
			x.Every = max(50*time.Millisecond, share(r.TTL, pick(rng, []float64{0.3, 0.7, 1, 1.5, 2})))
		}
	case 5: // how hard
		x.Delay, x.Jump = 0, 0
		if takes(x.Fault, "delay") && rng.IntN(3) > 0 {
			x.Delay = share(r.TTL, pick(rng, []float64{0.02, 0.06, 0.2, 0.5, 1.1}))
		}
		if takes(x.Fault, "jump") && rng.IntN(3) > 0 {
			x.Jump = share(r.TTL, pick(rng, []float64{-2, -0.7, 0.3, 0.7, 1.2, 3}))
		}
	}
}

// ends are the moments of the next client at which a step may be healed: what it held back, or
// kept from a client, meets another one's lease there.
var ends = []watch.Moment{watch.ReleaseReplied, watch.ReleaseReplied, watch.AcquireReplied, watch.InSection, watch.ReleaseSent}

// canEnd reports whether a step can be healed at a moment: it lasts, and is locked to a lease's
// moment, whose key is meant.
func canEnd(x faults.Spec, ttl time.Duration) bool {
	return length(x, ttl) > 0 && faults.HasKey(x.On)
}

// length is how long a step lasts: by default as long as its fault chooses.
func length(x faults.Spec, ttl time.Duration) time.Duration {
	if e := entries[x.Fault]; x.For == 0 && e.For != nil {
		return e.For(ttl)
	}
	return x.For
}

// roles are those of clients that a step of the round may hit, one that is to be hit more often
// more than once.
func (s *Space) roles(r Round) []string {
	all := []string{"", faults.RoleHolder, faults.RoleHolder, faults.RoleWanted, faults.RoleAny, faults.RoleTaker, faults.RoleWaiter, faults.RoleAll}
	if s.has(r, workload.ModeRW) {
		all = append(all, faults.RoleReader, faults.RoleWriter)
	}
	if s.has(r, workload.ModeReentrant) {
		all = append(all, faults.RoleNested)
	}
	return all
}

// has reports whether a round has a mode, alone or among others.
func (s *Space) has(r Round, m workload.Mode) bool {
	return r.Load.Mode == m || r.Load.Mode == workload.ModeMixed && slices.Contains(s.Modes, m)
}

// node draws a role of nodes, or the name of one.
func (s *Space) node(on watch.Moment, rng *rand.Rand) string {
	if faults.Tapped(on) && rng.IntN(2) == 0 {
		return faults.RoleThat
	}
	switch {
	case s.Elected:
		return pick(rng, []string{"", faults.RoleMaster, faults.RoleAll})
	case s.Nodes < 3:
		return pick(rng, []string{"", faults.RoleAll})
	}
	return pick(rng, []string{"", faults.RoleAny, faults.RoleAll, faults.RoleMinority, faults.RoleMajority, faults.RoleSwing, "n1"})
}

// takes reports whether a fault can be told something.
func takes(fault, setting string) bool {
	e := entries[fault]
	if e.New == nil {
		return false
	}
	f, ok := e.New(e.Default).(faults.Settable)
	return ok && slices.Contains(f.Settings(), setting)
}

// entries are the catalogue's faults by name.
var entries = catalogue.All()

// fitted bends each step into the round's length, and leaves out what cannot be
// played.
func (s *Space) fitted(r Round) Round {
	var kept []faults.Spec
	for _, x := range r.Steps {
		if x = fit(x, r); s.plays(r, append(slices.Clone(kept), x)) {
			kept = append(kept, x)
		}
	}
	r.Steps = withoutOrphans(kept)
	return r
}

func (s *Space) plays(r Round, steps []faults.Spec) bool {
	r.Steps = steps
	return s.Fits == nil || s.Fits(r) == nil
}

// fit bends a step's times until it ends within the round.
func fit(x faults.Spec, r Round) faults.Spec {
	x.For = min(length(x, r.TTL), r.Duration/2).Round(time.Millisecond)
	if x.Delay > 0 && x.For > 0 && x.Delay >= x.For {
		x.Delay = max(time.Millisecond, (x.For / 2).Round(time.Millisecond))
	}
	room := r.Duration - x.For - max(0, x.Then) - time.Millisecond
	x.At = max(time.Millisecond, min(x.At, room))
	for x.Times > 1 && x.At+time.Duration(x.Times-1)*x.Every > room {
		x.Times--
	}
	if x.Times <= 1 {
		x.Times, x.Every = 0, 0
	}
	return x
}

// withoutOrphans leaves out steps that wait for a name that nobody binds any more.
func withoutOrphans(steps []faults.Spec) []faults.Spec {
	names := map[string]bool{}
	for _, x := range steps {
		for _, text := range []string{x.Client, x.Node} {
			if _, name := faults.SplitRole(text, ""); name != "" {
				names[name] = true
			}
		}
	}
	isOrphan := func(x faults.Spec) bool {
		role, _ := faults.SplitRole(x.Client, "")
		return x.By != "" && !names[x.By] || isName(role) && !names[role]
	}
	return slices.DeleteFunc(slices.Clone(steps), isOrphan)
}

// isName reports whether a text is a name that steps bind, as steps draws them.
func isName(text string) bool { return len(text) == len("victimA") && text[:6] == "victim" }

// forgetting are the faults after which a node that is started again has lost what it
// had granted.
var forgetting = []string{"kill-empty", "power-loss", "failover"}

// Forgets reports whether a fault has a node that is started again lose what it had
// granted. A lock over several masters, or one that keeps such a node out, must live
// with it; with a single master nothing does.
func Forgets(fault string) bool { return slices.Contains(forgetting, fault) }

// FaultNames are the catalogue's faults that keep, in order.
func FaultNames(keep func(catalogue.Entry) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(entries)), func(name string) bool { return !keep(entries[name]) })
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

// plain is a load from which nothing can be left out.
func plain(l config.Load) config.Load {
	return config.Load{Keys: l.Keys, Hold: l.Hold, Think: l.Think, Writes: writes, Mode: workload.ModeExclusive}
}
