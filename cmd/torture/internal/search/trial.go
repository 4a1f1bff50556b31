package search

import (
	"context"
	"sync"
)

// voidPlays is how often a play that says nothing is tried again.
const voidPlays = 2

// firstOf returns the first of some rounds, in their order, that shows f in Least
// of Plays.
func (s *Shrinker) firstOf(ctx context.Context, f Finding, rounds []Round) (Round, bool) {
	return s.firstIn(ctx, f, rounds, s.Least)
}

// firstIn returns the first of some rounds, in their order, that shows f in so many
// of Plays. Rounds that cannot be played, and those after the one that is
// returned, need not be played to their end.
func (s *Shrinker) firstIn(ctx context.Context, f Finding, rounds []Round, least int) (Round, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &trial{s: s, f: f, least: least, stop: make([]context.CancelFunc, len(rounds)), shown: make([]int, len(rounds)), missed: make([]int, len(rounds)), first: len(rounds)}
	contexts := make([]context.Context, len(rounds))
	for i := range rounds {
		contexts[i], t.stop[i] = context.WithCancel(ctx)
	}
	type play struct{ round int }
	plays := make(chan play)
	var all sync.WaitGroup
	for range s.Jobs {
		all.Go(func() {
			for p := range plays {
				if t.open(p.round) {
					t.note(p.round, s.play(contexts[p.round], rounds[p.round], f))
				}
			}
		})
	}
	for i, r := range rounds {
		if s.Executor.Fits(r) != nil {
			continue
		}
		for range s.Plays {
			plays <- play{i}
		}
	}
	close(plays)
	all.Wait()
	for _, stop := range t.stop {
		stop()
	}
	if s.trials += t.plays; t.run != "" {
		s.run = t.run
	}
	if t.first < len(rounds) && ctx.Err() == nil {
		return rounds[t.first], true
	}
	return Round{}, false
}

// A trial is the state of firstOf.
type trial struct {
	s     *Shrinker
	f     Finding
	least int
	stop  []context.CancelFunc // by round

	mu     sync.Mutex
	shown  []int // plays, by round
	missed []int
	first  int // of those that have shown it often enough
	plays  int
	run    string
}

// open reports whether a round is worth another play.
func (t *trial) open(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return i < t.first && t.missed[i] <= t.s.Plays-t.least && t.s.trials+t.plays < t.s.Trials
}

// note counts a play, and calls off those that it makes needless.
func (t *trial) note(i int, p played) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plays += p.plays
	switch {
	case !p.shown:
		if t.missed[i]++; t.missed[i] > t.s.Plays-t.least {
			t.stop[i]()
		}
		return
	case p.run != "":
		t.run = p.run
	}
	if t.shown[i]++; t.shown[i] >= t.least && i < t.first {
		t.first = i
		for _, stop := range t.stop[i:] {
			stop()
		}
	}
}

// A played is what one play showed, of however many it took.
type played struct {
	shown bool
	plays int
	run   string
}

// play plays a round until a play says something.
func (s *Shrinker) play(ctx context.Context, r Round, f Finding) (p played) {
	for range 1 + voidPlays {
		if ctx.Err() != nil {
			return p
		}
		o := s.Executor.Play(ctx, r)
		p.plays++
		if o.Void == "" {
			p.shown, p.run = o.shows(f), o.Run
			return p
		}
	}
	return p
}

// prove counts in how many of so many plays a round shows f. It ends early when that
// cannot be reliable any more.
func (s *Shrinker) prove(ctx context.Context, r Round, f Finding, plays int) (again, of int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	todo := make(chan struct{}, plays)
	for range plays {
		todo <- struct{}{}
	}
	close(todo)
	for range s.Jobs {
		all.Go(func() {
			for range todo {
				mu.Lock()
				hopeless := float64(of-again) > (1-reliable)*float64(plays)
				mu.Unlock()
				if hopeless {
					continue
				}
				p := s.play(ctx, r, f)
				mu.Lock()
				if s.trials += p.plays; p.plays > 0 {
					of++
				}
				if p.shown {
					again++
					if p.run != "" {
						s.run = p.run
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return again, of
}

// best is the smallest of the stages, each smaller than the one before, that shows
// f reliably, as it is or with more chances in each play; where none does, the one
// that shows it most often.
func (s *Shrinker) best(ctx context.Context, stages []Round, f Finding) (best Round, again, of int) {
	for i := len(stages) - 1; i >= 0 && (of == 0 || ctx.Err() == nil); i-- {
		for _, r := range s.chances(stages[i]) {
			k, n := s.prove(ctx, r, f, s.Proofs)
			if n > 0 && (of == 0 || k*of > again*n) {
				best, again, of = r, k, n
			}
			if of > 0 && float64(again) >= reliable*float64(of) {
				return best, again, of
			}
		}
	}
	if of == 0 {
		best = stages[len(stages)-1]
	}
	return best, again, of
}

// chances are r, and rounds as large that give its finding more chances in each play:
// these first where they cost time alone, for what was tried often and cut whenever it
// showed the finding is shorter than is good for it.
func (s *Shrinker) chances(r Round) (all []Round) {
	rounds := []Round{r, pressed(r), repeated(r)}
	if len(r.Steps) == 0 {
		rounds[0], rounds[1] = rounds[1], rounds[0]
	}
	for _, c := range rounds {
		if (c.Count() <= r.Count() || c.Count() <= s.steps/2) && s.Executor.Fits(c) == nil {
			all = append(all, c)
		}
	}
	return all
}
