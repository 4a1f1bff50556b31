// Package hunt searches, on real Redis and within a time budget, for what breaks a lock: it
// plays the rounds that package search draws, shrinks its findings, and writes them such that
// they can be looked at and played again.
package hunt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults/testbed"
	"locktorture/workload/history/coverage"
)

// A Config says what to hunt for, and for how long.
type Config struct {
	Lock    catalogue.Lock
	Base    config.Config // testbed, nodes, lock; rounds are laid over it
	Budget  time.Duration
	Seed    uint64
	Jobs    int      // rounds at once, at most
	Beyond  bool     // also faults that break what correct locks rest on
	Forgets bool     // also faults that make a single master forget, which few locks are made for
	Without []string // faults that are not drawn
	Accept  []string // ids of anomalies that do not make the hunt a FAIL
	Dir     string   // where everything is written
	Play    Player

	// Farm has its workers play the rounds, Jobs of them handed out at once; nil: this
	// machine does.
	Farm *farm.Coordinator
	part string // begins the ids of the hunt's tasks, where the farm's job is more than this hunt

	// Rounds ends the hunt after so many, over all sessions; 0: only the time does.
	Rounds int

	// Until ends the hunt with the first finding whose id it is true for, without
	// making anything small; nil: only the time does.
	Until func(id string) bool

	// Scouts are how many processes of this program first play rounds in virtual time,
	// where the lock can live in that. What they find is played on real servers before
	// anything else, and only what it shows there counts. 0: none does.
	Scouts int

	// Log receives a line for each thing that happens; nil: nobody does.
	Log func(line string)

	Version, Commit, Command string

	stalled, calm func()        // are told of rounds that the machine was too busy for whatever the hunt did, and of others; nil: nobody is
	shortest      time.Duration // lease that the machine could judge when somebody looked last; 0: nobody has
}

const (
	// roundsDir, in a hunt's directory, holds the records of the rounds that are kept.
	roundsDir = "rounds"

	// saveEvery is how often what is known is written down at most.
	saveEvery = 2 * time.Second

	// shrinkShare is the share of a hunt that findings like ones that are small already
	// may take; shrinkLimit that of the budget for which one finding is made smaller,
	// and shrinkLeast how long at least, while there is time.
	shrinkShare = 0.3
	shrinkLimit = 0.25
	shrinkLeast = time.Minute

	// proofShare is the share of the time left that is kept, while a finding is made
	// smaller, for playing what came of it again.
	proofShare = 0.4
)

// A Hunt is one hunt under way.
type Hunt struct {
	cfg     Config
	base    config.Config
	exec    *executor
	search  *search.Search
	limiter *limiter
	began   time.Time
	before  time.Duration // that earlier sessions took

	reachable []string // cells, by the faults that are drawn

	mu        sync.Mutex
	report    Report
	cells     map[string]bool // that count for the lock
	known     map[string]bool // keys of findings whose record is kept
	matched   bool            // Until was true
	shrinking *search.Found
	scouting  bool
	shrunkFor time.Duration
	rounds    int           // of this session
	drawn     int           // of all sessions, those under way too
	adopted   []farm.Task   // rounds of an earlier session that the log lacks
	lostFarm  bool          // the farm can play nothing more
	usual     time.Duration // that a round takes, about
	saved     time.Time
	troubles  []string // of our own
}

// Base is the scenario over which rounds of a hunt of a lock are laid.
func Base() (config.Config, error) {
	c, err := config.Base("calm")
	c.Scenario = "hunt"
	c.Floors, c.PerMinute, c.Faults = map[string]int{}, nil, config.Faults{Plan: "none"}
	return c, err
}

// New prepares a hunt; with an earlier report it resumes that one.
func New(ctx context.Context, c Config, earlier *Report) (*Hunt, error) {
	h := &Hunt{cfg: c, base: c.Base, limiter: newLimiter(c.Jobs), known: map[string]bool{}}
	h.limiter.ttl = max(h.limiter.ttl, c.shortest)
	if h.cfg.Log == nil {
		h.cfg.Log = func(string) {}
	}
	if h.cfg.stalled == nil {
		h.cfg.stalled, h.cfg.calm = func() {}, func() {}
	}
	kind, _, err := testbed.Choose(ctx, testbed.Config{Kind: c.Base.Testbed, Persist: true})
	if err != nil {
		return nil, fmt.Errorf("choose servers: %w", err)
	}
	h.base.Testbed, h.base.Out = kind, filepath.Join(c.Dir, roundsDir)
	h.exec = &executor{lock: c.Lock, base: h.base, play: c.Play, keep: h.isNew, stalled: h.stalls, counts: h.addCells, until: c.Until}
	space, leftOut := h.space(ctx)
	h.report = Report{
		Schema: 1, Version: c.Version, Commit: c.Commit, Command: c.Command, Lock: catalogue.HideSecrets(c.Base.Lock), Nodes: c.Lock.Masters(h.base), Testbed: kind,
		Seed: c.Seed, Jobs: c.Jobs, Beyond: c.Beyond, Without: c.Without, Fenced: c.Base.Fenced, Accept: c.Accept, MostRounds: c.Rounds, LeftOut: leftOut, Began: time.Now(),
	}
	h.reachable, h.cells = possible(space.Faults), map[string]bool{}
	var log search.Log
	if earlier != nil {
		log = earlier.Log
		h.before, h.report.Began = earlier.Took, earlier.Began
		for _, c := range earlier.Cells {
			h.cells[c] = true
		}
		for _, f := range log.Found {
			h.known[f.Key()] = true
		}
	}
	h.search = search.New(space, c.Seed, log)
	h.drawn, h.began = len(log.Rounds), time.Now()
	if c.Farm != nil {
		if err := h.openFarm(ctx, log); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(h.base.Out, 0o700); err != nil {
		return nil, err
	}
	return h, h.Report().Save(c.Dir) // a hunt that is killed before its first round can be gone on with
}

// addCells notes which cells count for the lock.
func (h *Hunt) addCells(all []coverage.Count) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range all {
		h.cells[c.Cell.String()] = true
	}
}

// stalls notes a round for which the machine was too busy. Where the hunt cannot play less at
// once any more, whoever runs it must.
func (h *Hunt) stalls() {
	if !h.limiter.tighten() {
		h.cfg.stalled()
	}
}

// isNew reports whether any finding is one that no record shows yet.
func (h *Hunt) isNew(found []search.Finding) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(found, func(f search.Finding) bool { return !h.known[f.Key()] })
}

// Run hunts until the time is up, ctx ends, or Until is met, and returns what is
// known then. Rounds under way when the time is up are played to their end.
func (h *Hunt) Run(ctx context.Context) *Report {
	h.began = time.Now()
	h.scout(ctx)
	for h.continues(ctx) {
		h.playRounds(ctx)
		if f := h.toShrink(); f != nil && h.left() > 0 && ctx.Err() == nil {
			h.shrink(ctx, f)
		}
	}
	r := h.Report()
	r.Interrupted = ctx.Err() != nil
	r.Judge()
	return r
}

func (h *Hunt) left() time.Duration { return h.cfg.Budget - time.Since(h.began) }

// continues reports whether there is time for another round, and a reason for one. There is always
// time for one.
func (h *Hunt) continues(ctx context.Context) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return ctx.Err() == nil && !h.matched && !h.lostFarm && (h.rounds == 0 || h.left() > h.usual) && (h.cfg.Rounds == 0 || h.drawn < h.cfg.Rounds)
}

// playRounds plays rounds, several at once, until there is a finding to shrink, or the hunt
// ends.
func (h *Hunt) playRounds(ctx context.Context) {
	var all sync.WaitGroup
	for range h.cfg.Jobs {
		all.Go(func() {
			for h.limiter.acquire(ctx) {
				if !h.continues(ctx) || h.toShrink() != nil {
					h.limiter.release()
					return
				}
				h.playRound(ctx)
				h.limiter.release()
			}
		})
	}
	all.Wait()
}

// count counts a round that is about to be played; false: there were enough.
func (h *Hunt) count() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cfg.Rounds > 0 && h.drawn >= h.cfg.Rounds {
		return false
	}
	h.rounds++
	h.drawn++
	return true
}

func (h *Hunt) playRound(ctx context.Context) {
	if !h.count() {
		return
	}
	r, o := h.nextRound(ctx)
	if o.Void == calledOff {
		return // by its user, or by the hunt's end: it was no round
	}
	if o.Void == "" {
		h.limiter.noteCalm()
		h.cfg.calm()
	}
	p, fresh := h.search.Record(r, o)
	if o.Void != "" {
		h.cfg.Log(fmt.Sprintf("round %d  says nothing: %s", p.Number, o.Void))
	}
	h.mu.Lock()
	if h.usual = (3*h.usual + o.Took) / 4; p.Number == 1 {
		h.usual = o.Took
	}
	for _, f := range fresh {
		h.known[f.Key()] = true
		h.matched = h.matched || h.cfg.Until != nil && h.cfg.Until(f.ID)
	}
	h.mu.Unlock()
	for _, f := range fresh {
		h.cfg.Log(fmt.Sprintf("round %d  found  %s", p.Number, describe(f.Finding)))
	}
	h.save(len(fresh) > 0)
}

// toShrink chooses the finding that is shrunk next: the first of its kind at once, others of
// the kind only while little time went into those.
func (h *Hunt) toShrink() *search.Found {
	if h.cfg.Until != nil {
		return nil
	}
	log := h.search.Log()
	settled := func(f *search.Found) bool {
		return slices.ContainsFunc(log.Found, func(g *search.Found) bool { return g.Small != nil && f.Same(g.Finding) })
	}
	var like *search.Found
	for _, f := range log.Found {
		switch {
		case f.Small != nil || slices.Contains(h.cfg.Accept, f.ID):
		case !settled(f):
			return f
		case like == nil:
			like = f
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if like != nil && h.shrunkFor < time.Duration(shrinkShare*float64(time.Since(h.began))) {
		return like
	}
	return nil
}

// shrink makes a finding small, and keeps a record of the small round.
func (h *Hunt) shrink(ctx context.Context, f *search.Found) {
	began := time.Now()
	h.setShrinking(f)
	defer h.setShrinking(nil)
	bounded, cancel := context.WithTimeout(ctx, h.left())
	defer cancel()
	quiet := *h.exec
	quiet.keep = func([]search.Finding) bool { return false }
	quiet.farm = h.exec.farm.forTrials(h.cfg.part+"s"+nuid.Next()+"-", nil)
	quiet.until = func(id string) bool { return id == f.ID }
	limit := max(shrinkLeast, time.Duration(shrinkLimit*float64(h.cfg.Budget)))
	s := search.Shrinker{Executor: &quiet, Jobs: h.cfg.Jobs, Limit: min(limit, time.Duration((1-proofShare)*float64(h.left())))}
	small, ok := s.Shrink(bounded, f.Round, f.Finding)
	if bounded.Err() != nil && small.Of == 0 {
		return // the time was up: it is as it was
	}
	if ok {
		small.Run = h.record(bounded, small.Round, f.Finding)
	}
	h.search.Settle(f.Key(), &small)
	h.mu.Lock()
	h.shrunkFor += time.Since(began)
	h.mu.Unlock()
	h.cfg.Log(fmt.Sprintf("%s  %s", f.ID, shrunkWords(&small)))
	h.save(true)
}

// recordPlays is how often a small round is played for a record of its finding.
const recordPlays = 3

// record plays a round until it shows a finding, and returns where that play's
// record lies; empty: it did not.
func (h *Hunt) record(ctx context.Context, r search.Round, f search.Finding) string {
	once := *h.exec
	once.farm = h.exec.farm.forTrials(h.cfg.part+"w"+nuid.Next()+"-", func() []string { return nil })
	once.keep = func(found []search.Finding) bool { return slices.ContainsFunc(found, f.Same) }
	for range recordPlays {
		if o := once.Play(ctx, r); o.Run != "" || ctx.Err() != nil {
			return o.Run
		}
	}
	return ""
}

func (h *Hunt) setShrinking(f *search.Found) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shrinking = f
}

// Report is what is known so far.
func (h *Hunt) Report() *Report {
	log := h.search.Log()
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.report
	r.Cells = slices.DeleteFunc(slices.Clone(h.reachable), func(c string) bool { return !h.cells[c] })
	r.Log, r.Sums, r.Took, r.Troubles = log, log.Sums(), h.before+time.Since(h.began).Round(time.Millisecond), slices.Clone(h.troubles)
	return &r
}

// save writes what is known, at once or when that was not done for a while.
func (h *Hunt) save(now bool) {
	h.mu.Lock()
	due := now || time.Since(h.saved) >= saveEvery
	if due {
		h.saved = time.Now()
	}
	h.mu.Unlock()
	if !due {
		return
	}
	if err := h.Report().Save(h.cfg.Dir); err != nil {
		h.mu.Lock()
		h.troubles = append(h.troubles, err.Error())
		h.mu.Unlock()
	}
}
