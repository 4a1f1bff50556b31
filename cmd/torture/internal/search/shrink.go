package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/workload"
)

// A Shrink is what became of an attempt to make a round small.
type Shrink struct {
	Round  Round  `json:"round"`
	Again  int    `json:"again"`         // of Of plays of Round so many showed the finding
	Of     int    `json:"of"`            //
	Trials int    `json:"trials"`        // plays it took, those included
	Before Size   `json:"before"`        // of the round that showed it first
	After  Size   `json:"after"`         // of Round
	Run    string `json:"run,omitempty"` // record of a play of Round that showed it
}

// A Size is how large a round is.
type Size struct {
	Steps    int           `json:"steps"`
	Clients  int           `json:"clients"`
	Keys     int           `json:"keys"`
	Duration time.Duration `json:"duration_ns"`
}

// SizeOf measures a round.
func SizeOf(r Round) Size { return Size{r.Count(), r.Clients, r.Load.Keys, r.Duration} }

// A Shrinker makes rounds small that show a finding, by delta debugging (Zeller &
// Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002): it
// takes away what can be taken away, halves of the steps first, while the finding
// shows. Since timing differs from play to play, a smaller round counts as showing
// it when at least Least of Plays do.
type Shrinker struct {
	Executor Executor
	Jobs     int // plays at once; 0: 1
	Least    int // 0: 3
	Plays    int // 0: 4
	Proofs   int // plays of the smallest round, at the end; 0: 10
	Trials   int // plays at most, Proofs apart; 0: 90

	Limit time.Duration // for making smaller, proofs apart; 0: none

	trials int
	steps  int    // of the round that is made small
	run    string // record of the last play that showed the finding
}

const (
	defaultLeast  = 3
	defaultPlays  = 4
	defaultProofs = 10
	defaultTrials = 90

	// reliable is the share of the proofs that makes a small round good enough to be
	// handed on.
	reliable = 0.8
)

// Shrink makes the round in which f was found small. ok is false when that round
// does not show f often enough to tell what it needs, or ctx has ended: Again and
// Of say how often it did.
func (s *Shrinker) Shrink(ctx context.Context, r Round, f Finding) (small Shrink, ok bool) {
	s.defaults()
	small = Shrink{Round: r, Before: SizeOf(r)}
	defer func() { small.Trials, small.After, small.Run = s.trials, SizeOf(small.Round), s.run }()
	work := ctx
	if s.Limit > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeout(ctx, s.Limit)
		defer cancel()
	}
	start := expanded(r)
	s.steps = start.Count()
	cut, isCut := s.first(work, start, f)
	if !isCut {
		small.Again, small.Of = s.prove(ctx, r, f, s.Plays)
		return small, false
	}
	stages := []Round{start, cut}
	if c, ok := s.firstOf(work, f, leaps(cut, f)); ok {
		cut = c
		stages = append(stages, cut)
	}
	for smaller := true; smaller && work.Err() == nil; {
		next := s.pass(work, cut, f)
		smaller = SizeOf(next) != SizeOf(cut)
		cut = next
		stages = append(stages, cut)
	}
	small.Round, small.Again, small.Of = s.best(ctx, stages, f)
	return small, small.Of > 0
}

// first is the round to begin with, without what came after the proof, and with more
// chances in each play where it needs them. One that shows f now and then will do: it
// may show it more often with less in its way.
func (s *Shrinker) first(ctx context.Context, start Round, f Finding) (Round, bool) {
	rounds := []Round{untilProof(start, f), start, pressed(start), repeated(start)}
	if r, ok := s.firstOf(ctx, f, rounds); ok {
		return r, true
	}
	return s.firstIn(ctx, f, []Round{start, repeated(start)}, 1)
}

func (s *Shrinker) defaults() {
	set := func(n *int, otherwise int) {
		if *n == 0 {
			*n = otherwise
		}
	}
	set(&s.Jobs, 1)
	set(&s.Least, defaultLeast)
	set(&s.Plays, defaultPlays)
	set(&s.Proofs, defaultProofs)
	set(&s.Trials, defaultTrials)
}

// pass tries every way of making r smaller once. Less time is worth less than a round
// that shows f for certain: it must do so in all plays.
func (s *Shrinker) pass(ctx context.Context, r Round, f Finding) Round {
	try := func(rounds []Round, least int) {
		if c, ok := s.firstIn(ctx, f, rounds, least); ok {
			r = c
		}
	}
	try(fewerClients(r), s.Least)
	try(fewerKeys(r), s.Least)
	r = s.fewerSteps(ctx, r, f)
	try(withoutEnds(r), s.Least)
	try(plainerLoad(r), s.Least)
	try(oneSimplerLoad(r), s.Least)
	try(shorter(r), s.Plays)
	return r
}

// fewerSteps is ddmin: subsets first, then complements, in ever finer parts.
func (s *Shrinker) fewerSteps(ctx context.Context, r Round, f Finding) Round {
	with := func(keep func(i int) bool) Round {
		c := r.clone()
		c.Steps = nil
		for i, x := range r.Steps {
			if keep(i) {
				c.Steps = append(c.Steps, x)
			}
		}
		c.Steps = withoutOrphans(c.Steps)
		return c
	}
	for parts := 2; len(r.Steps) > 0 && ctx.Err() == nil; {
		n := len(r.Steps)
		parts = min(parts, n)
		part := func(i int) int { return i * parts / n }
		var candidates []Round
		if n == 1 || parts == 2 {
			candidates = append(candidates, with(func(int) bool { return false }))
		}
		for p := range parts {
			candidates = append(candidates, with(func(i int) bool { return part(i) == p }))
		}
		for p := range parts {
			if parts > 2 {
				candidates = append(candidates, with(func(i int) bool { return part(i) != p }))
			}
		}
		candidates = slices.DeleteFunc(candidates, func(c Round) bool { return len(c.Steps) >= n })
		c, ok := s.firstOf(ctx, f, candidates)
		switch {
		case ok:
			r, parts = c, 2
		case parts >= n:
			return r
		default:
			parts *= 2
		}
	}
	return r
}

// leaps make everything small at once, the smallest first. What a finding needs was
// mostly in force shortly before its proof.
func leaps(r Round, f Finding) (all []Round) {
	last := near(r, f)
	for _, to := range []struct {
		steps         []faults.Spec
		clients, keys int
	}{
		{nil, 2, leastKeys(r)}, {last, 2, leastKeys(r)}, {last, 3, leastKeys(r)}, {last, r.Clients / 2, r.Load.Keys / 2}, {r.Steps, r.Clients / 2, r.Load.Keys / 2},
	} {
		c := r.clone()
		c.Steps = slices.Clone(to.steps)
		c.Clients, c.Load.Keys = min(r.Clients, max(1, to.clients)), min(r.Load.Keys, max(leastKeys(r), to.keys))
		if SizeOf(c) != SizeOf(r) {
			all = append(all, c, pressed(c))
		}
	}
	return all
}

// near are the steps that were in force within two leases before f's proof.
func near(r Round, f Finding) (steps []faults.Spec) {
	if f.At == 0 {
		return r.Steps
	}
	for _, x := range r.Steps {
		if x.At <= f.At && x.At+max(0, x.Then)+x.For+2*r.TTL >= f.At {
			steps = append(steps, x)
		}
	}
	return withoutOrphans(steps)
}

// pressed is r with more going on in it: no pauses between two attempts of a client,
// and where time is all that is needed, more of that. It is as large as r.
func pressed(r Round) Round {
	c := r.clone()
	c.Load.Think = workload.Fixed(min(r.Load.Think.Mean, time.Millisecond))
	if len(r.Steps) == 0 {
		c.Duration = max(r.Duration, min(2*r.Duration, longestPressed))
	}
	return c
}

// longestPressed bounds how long a round becomes that needs nothing but time.
const longestPressed = 10 * time.Second

func fewerClients(r Round) (all []Round) {
	for _, n := range fewer(r.Clients, 1) {
		c := r.clone()
		c.Clients = n
		all = append(all, c, pressed(c))
	}
	return all
}

func fewerKeys(r Round) (all []Round) {
	for _, n := range fewer(r.Load.Keys, leastKeys(r)) {
		c := r.clone()
		c.Load.Keys = n
		all = append(all, c, pressed(c))
	}
	return all
}

// leastKeys is how many keys the round's mode needs.
func leastKeys(r Round) int {
	if r.Load.Mode == workload.ModeMulti {
		return 2
	}
	return 1
}

// fewer are smaller numbers than n, in order: the least and those after it, of which
// one is mostly enough, then larger ones in ever smaller steps.
func fewer(n, least int) []int {
	all := []int{least, least + 1, least + 2, n / 4, n / 2, n - n/4, n - 1}
	all = slices.DeleteFunc(all, func(m int) bool { return m < least || m >= n })
	slices.Sort(all)
	return slices.Compact(all)
}

// plainerLoad leaves out of the load all that can be left out, or half of it.
func plainerLoad(r Round) []Round {
	all, modes := r, r
	all.Load = plain(r.Load)
	modes.Load = plain(r.Load)
	modes.Load.Mode, modes.Load.Readers = r.Load.Mode, r.Load.Readers
	times := all
	times.Load.Wait, times.Load.Timeout, times.Load.Renew, times.Load.LongHold = r.Load.Wait, r.Load.Timeout, r.Load.Renew, r.Load.LongHold
	return differing(r, all, modes, times)
}

// oneSimplerLoad leaves out one thing of the load.
func oneSimplerLoad(r Round) []Round {
	waits, times, extends, renews := r, r, r, r
	waits.Load.Wait = 0
	times.Load.Timeout = 0
	extends.Load.Extend = 0
	renews.Load.Renew, renews.Load.LongHold = false, 0
	return differing(r, renews, waits, times, extends)
}

// withoutEnds is r whose steps last their whole length, where moments ended some earlier.
func withoutEnds(r Round) []Round {
	c, ended := r.clone(), false
	for i := range c.Steps {
		ended = ended || c.Steps[i].Until != ""
		c.Steps[i].Until = ""
	}
	if !ended {
		return nil
	}
	return []Round{c}
}

func differing(r Round, all ...Round) []Round {
	return slices.DeleteFunc(all, func(c Round) bool { return c.Load == r.Load })
}

// shorter ends earlier, while its steps have room.
func shorter(r Round) (all []Round) {
	least := time.Second
	for _, x := range r.Steps {
		least = max(least, x.At+max(0, x.Then)+x.For+10*time.Millisecond)
	}
	for _, f := range []float64{0.5, 0.75} {
		c := r
		c.Duration = max(least, share(r.Duration, f))
		if c.Duration < r.Duration*9/10 {
			all = append(all, c)
		}
	}
	if c := earlier(r); c.Duration < r.Duration*9/10 {
		all = append(all, c)
	}
	return all
}

// warmUp is how long a round lasts before its first step, at least.
const warmUp = 200 * time.Millisecond

// earlier is r without most of the time before its first step.
func earlier(r Round) Round {
	if len(r.Steps) == 0 {
		return r
	}
	c := r.clone()
	by := slices.MinFunc(r.Steps, func(a, b faults.Spec) int { return cmp.Compare(a.At, b.At) }).At - warmUp
	if by <= 0 {
		return r
	}
	for i := range c.Steps {
		c.Steps[i].At -= by
	}
	c.Duration -= by
	return c
}

// expanded writes a repeated step out, so that each can be left out by itself.
func expanded(r Round) Round {
	c := r.clone()
	c.Origin, c.Steps = Shrunk, nil
	for _, x := range r.Steps {
		times, every := max(1, x.Times), x.Every
		x.Times, x.Every = 0, 0
		for range times {
			c.Steps = append(c.Steps, x)
			x.At += every
		}
	}
	return c
}

// untilProof ends soon after the proof: what comes later cannot have caused it.
func untilProof(r Round, f Finding) Round {
	end := (f.At + r.TTL).Round(100 * time.Millisecond)
	if f.At == 0 || end >= r.Duration {
		return r
	}
	c := r.clone()
	c.Duration = end
	c.Steps = slices.DeleteFunc(c.Steps, func(x faults.Spec) bool { return x.At > f.At })
	for i, x := range c.Steps {
		c.Steps[i] = fit(x, c)
	}
	return c
}

// repeated gives a round that shows its finding too rarely a second chance in each
// play: all its steps come twice.
func repeated(r Round) Round {
	c := r.clone()
	c.Duration = 2 * r.Duration
	for _, x := range r.Steps {
		if x.At += r.Duration; !bound(x) && x.By == "" { // a name is bound once
			c.Steps = append(c.Steps, x)
		}
	}
	return c
}
