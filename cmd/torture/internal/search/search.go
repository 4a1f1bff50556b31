package search

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	firstSwarm = 12  // rounds that are drawn from scratch before anything is bred
	firstPlain = 4   // rounds before the first that follows a pattern, or has steps of the standard plan
	swarmShare = 0.7 // of the rounds after that, which are still drawn from scratch
	crossShare = 0.15

	patternStream = 1 << 63 // of draws, beside those that are numbered by rounds

	// nearer is how much smaller than ever a near miss must be to count as new
	// ground.
	nearer = 0.9

	// recordWeight is added to the weight of a round for each near miss that it holds
	// the record of.
	recordWeight = 0.5
)

// A Search decides which round is next, and what the ones before it were worth. It
// may be used by several goroutines.
type Search struct {
	space Space

	mu     sync.Mutex
	rng    *rand.Rand
	log    Log
	seen   map[string]int // in how many rounds, by species
	near   map[string]float64
	record map[string]int // the number of the round that was nearest, by the name of the miss
	chosen map[int]int    // how often a corpus round was bred from, by its number
	moment weights

	patterned int // the turn of the patterns: goes on by one with each round that follows one

	suggested []suggestion
	turn      int // rounds since the search began, for taking turns
}

// A suggestion is a round that somebody else has seen to show a finding.
type suggestion struct {
	round Round
	shows Finding
	plays int // still to come
}

// suggestedPlays is how often a suggestion is played: what shows elsewhere shows in
// part of the plays.
const suggestedPlays = 2

// A Log is all that a search knows: it can be stored, and continued.
type Log struct {
	Rounds []Played `json:"rounds"`
	Found  []*Found `json:"found"`
}

// A Played is a round with what it showed.
type Played struct {
	Number int `json:"number"` // from 1
	Round
	Outcome Outcome `json:"outcome"`
	New     int     `json:"new,omitempty"`  // cells and states that no earlier round had reached
	Near    int     `json:"near,omitempty"` // near misses nearer than ever
}

// Corpus reports whether the round is worth breeding from.
func (p Played) Corpus() bool { return p.Outcome.Void == "" && p.New+p.Near > 0 }

// A Found is a distinct finding, and what became of it.
type Found struct {
	Finding
	Number int     `json:"round"` // that showed it first
	Round  Round   `json:"found_in"`
	Run    string  `json:"run,omitempty"` // where that round's record lies
	Rounds int     `json:"rounds"`        // how many showed it
	Small  *Shrink `json:"shrunk,omitempty"`
}

// New starts a search in a space. It goes on where log left off.
func New(space Space, seed uint64, log Log) *Search {
	s := &Search{
		space: space.withDefaults(), rng: rand.New(rand.NewPCG(seed, uint64(len(log.Rounds)))),
		seen: map[string]int{}, near: map[string]float64{}, record: map[string]int{}, chosen: map[int]int{}, moment: weights{},
	}
	// Many short searches with seeds of their own must not all begin with the same patterns and the same choices.
	s.patterned = rand.New(rand.NewPCG(seed, patternStream)).IntN(1 << 16)
	for _, p := range log.Rounds {
		s.learn(&p)
		if p.Origin == Patterned {
			s.patterned++
		}
	}
	s.log = log
	return s
}

// Next draws the next round.
func (s *Search) Next() Round {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next()
}

// Suggest has a round played soon that shows f elsewhere, unless f has been found by
// then.
func (s *Search) Suggest(r Round, f Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Origin = Scouted
	s.suggested = append(s.suggested, suggestion{r, f, suggestedPlays})
}

// suggestion takes the next round out of those that were suggested. Two of three
// rounds are, while there are any. The caller holds mu.
func (s *Search) suggestion() (r Round, ok bool) {
	s.suggested = slices.DeleteFunc(s.suggested, func(x suggestion) bool {
		return slices.ContainsFunc(s.log.Found, func(f *Found) bool { return f.Same(x.shows) })
	})
	if s.turn++; s.turn%3 == 0 || len(s.suggested) == 0 {
		return r, false
	}
	first := s.suggested[0]
	s.suggested = s.suggested[1:]
	if first.plays--; first.plays > 0 {
		s.suggested = append(s.suggested, first)
	}
	return first.round, true
}

// next draws a round. The caller holds mu.
func (s *Search) next() Round {
	if r, ok := s.suggestion(); ok {
		return r
	}
	if s.space.Random {
		return s.space.swarm(s.rng, weights{})
	}
	corpus := s.corpus()
	dice := s.rng.Float64()
	switch {
	case len(s.log.Rounds) < firstSwarm || len(corpus) == 0 || dice < swarmShare:
		return s.fresh()
	case dice < swarmShare+crossShare && len(corpus) > 1:
		return s.space.cross(s.breed(corpus).Round, s.breed(corpus).Round, s.rng)
	}
	return s.space.mutant(s.breed(corpus).Round, s.rng, s.moment)
}

// fresh draws a round that is bred from none. Patterns and steps of the standard plan come in after the
// first rounds: what breaks by itself needs none. The caller holds mu.
func (s *Search) fresh() Round {
	ways := 2
	if len(s.log.Rounds) >= firstPlain {
		ways = 5
	}
	switch s.rng.IntN(ways) {
	case 0:
		return s.space.aimed(s.rng, func(cell string) int { return s.seen["cell "+cell] })
	case 1:
		return s.space.swarm(s.rng, s.moment)
	case 2, 3:
		if r, ok := s.space.standard(s.rng); ok {
			return r
		}
	}
	s.patterned++
	return s.space.patterned(s.rng, s.patterned)
}

// corpus are the rounds worth breeding from. The caller holds mu.
func (s *Search) corpus() []Played {
	var all []Played
	for _, p := range s.log.Rounds {
		if p.Corpus() {
			all = append(all, p)
		}
	}
	return all
}

// breed chooses a round of the corpus: the rarer what it reached, and the less it
// was chosen before, the likelier; one that is nearest to an anomaly stays likely,
// for a search climbs best from where it is highest. The caller holds mu.
func (s *Search) breed(corpus []Played) Played {
	of := make([]float64, len(corpus))
	for i, p := range corpus {
		of[i] = float64(p.Near)
		for _, name := range p.Outcome.species() {
			of[i] += 1 / float64(s.seen[name])
		}
		of[i] /= float64(1 + s.chosen[p.Number])
		for _, number := range s.record {
			if number == p.Number {
				of[i] += recordWeight
			}
		}
	}
	p := corpus[draw(s.rng, of)]
	s.chosen[p.Number]++
	return p
}

// Record takes in what a round showed. It returns the round with its worth, and
// the findings that no earlier round had shown.
func (s *Search) Record(r Round, o Outcome) (Played, []*Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Played{Number: len(s.log.Rounds) + 1, Round: r, Outcome: o}
	s.learn(&p)
	var fresh []*Found
	if o.Void == "" {
		fresh = s.find(p)
	}
	s.log.Rounds = append(s.log.Rounds, p)
	return p, fresh
}

// learn counts what a round reached, and how much of that is new. A void round
// teaches nothing. The caller holds mu, or the only reference.
func (s *Search) learn(p *Played) {
	if p.Outcome.Void != "" {
		return
	}
	p.New, p.Near = 0, 0
	for _, name := range p.Outcome.species() {
		if s.seen[name]++; s.seen[name] == 1 {
			p.New++
		}
	}
	for name, miss := range p.Outcome.Near {
		if best, known := s.near[name]; !known || miss < nearer*best {
			s.near[name], s.record[name] = miss, p.Number
			p.Near++
		}
	}
	s.moment.note(p.Outcome.Fired)
}

// find counts the round's findings and returns those that are new. The caller
// holds mu.
func (s *Search) find(p Played) (fresh []*Found) {
	counted := map[string]bool{}
	for _, f := range p.Outcome.Findings {
		if counted[f.Key()] {
			continue
		}
		counted[f.Key()] = true
		if i := slices.IndexFunc(s.log.Found, func(k *Found) bool { return k.Key() == f.Key() }); i >= 0 {
			s.log.Found[i].Rounds++
			continue
		}
		found := &Found{Finding: f, Number: p.Number, Round: p.Round, Run: p.Outcome.Run, Rounds: 1}
		s.log.Found, fresh = append(s.log.Found, found), append(fresh, found)
	}
	return fresh
}

// Settle notes what became of the finding with a key.
func (s *Search) Settle(key string, small *Shrink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.log.Found {
		if f.Key() == key {
			f.Small = small
		}
	}
}

// Log returns a copy of all that is known, to be stored or shown.
func (s *Search) Log() Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := Log{Rounds: slices.Clone(s.log.Rounds)}
	for _, f := range s.log.Found {
		one := *f
		log.Found = append(log.Found, &one)
	}
	return log
}

// Sums are the figures of a search so far.
type Sums struct {
	Rounds     int           `json:"rounds"` // that say something
	Void       int           `json:"void"`   // that say nothing
	Corpus     int           `json:"corpus"`
	Cells      int           `json:"cells"`
	States     int           `json:"states"`
	Operations int           `json:"operations"`
	Played     time.Duration `json:"played_ns"` // all rounds together

	Quiet   int     `json:"quiet_rounds"`    // since the last one that reached a new cell or state
	Unseen  float64 `json:"unseen_estimate"` // cells and states that are yet to be seen
	NextNew float64 `json:"next_is_new"`     // chance that what the next round reaches is new
}

// Sums adds the figures up.
func (l Log) Sums() (t Sums) {
	rounds := map[string]int{}
	cells, states := map[string]bool{}, map[string]bool{}
	for _, p := range l.Rounds {
		t.Operations += p.Outcome.Operations
		t.Played += p.Outcome.Took
		if p.Outcome.Void != "" {
			t.Void++
			continue
		}
		t.Rounds++
		t.Quiet++
		if p.New > 0 {
			t.Quiet = 0
		}
		if p.Corpus() {
			t.Corpus++
		}
		for _, name := range p.Outcome.species() {
			rounds[name]++
		}
		for _, c := range p.Outcome.Cells {
			cells[c] = true
		}
		for _, c := range p.Outcome.States {
			states[c] = true
		}
	}
	t.Cells, t.States = len(cells), len(states)
	t.Unseen, t.NextNew = unseen(t.Rounds, rounds)
	return t
}
