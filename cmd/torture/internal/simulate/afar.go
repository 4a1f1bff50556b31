package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/search"
	"locktorture/workload/history"
)

// RoundKind is the kind of tasks that PlayRound plays.
const RoundKind = "round"

// ahead is how many rounds are drawn before the first of them has been taken in. It is
// the same however many workers there are: with it, a seed draws the same rounds on
// any farm, whatever befalls it.
const ahead = 64

// A virtualRound is a task: a round of a lock in virtual time.
type virtualRound struct {
	Lock  string       `json:"lock"`
	Nodes int          `json:"nodes"`
	Round search.Round `json:"round"`
}

// A playedRound is what a worker saw of a round.
type playedRound struct {
	Report  RoundReport    `json:"told"`
	Outcome search.Outcome `json:"outcome"`
}

// PlayRound plays the rounds that a simulation lays out. It is called in a process of
// its own, one round at a time.
func PlayRound(locks catalogue.Locks) farm.Player {
	return func(ctx context.Context, t farm.Task, _ string) farm.Answer {
		var v virtualRound
		err := json.Unmarshal(t.Body, &v)
		var lock catalogue.Lock
		if err == nil {
			lock, err = locks.Find(v.Lock)
		}
		p := &Player{Lock: lock, Nodes: v.Nodes, Hung: func(r search.Round) {
			fmt.Fprintf(os.Stderr, "the round of seed %d does not end: something in the lock never waits, and virtual time stands still\n", r.Seed)
			os.Exit(exitHarness)
		}}
		if err == nil {
			err = p.Supports()
		}
		if err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		res := p.Play(ctx, v.Round)
		body, err := json.Marshal(playedRound{reportOf(0, res), res.Outcome})
		if err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		return farm.Answer{Body: body}
	}
}

// A drawnRound is a round under way.
type drawnRound struct {
	number int
	round  search.Round
	of     *search.Search
	seen   chan playedRound
}

// An explorer draws the rounds of a job and has the workers of a farm play them.
type explorer struct {
	player    *Player
	job       Job
	farm      *farm.Coordinator
	onRound   func(RoundReport) // called with rounds, in their order
	onFinding func(Found)       // called with findings, shrunk, as they come
	began     time.Time

	search *search.Search
	drawn  int
	known  map[string]bool // kinds of findings
	cells  map[string]bool
	ended  bool

	making sync.WaitGroup // findings small

	mu    sync.Mutex
	plays map[uint64]int // of rounds beside the search, by their hash
	err   error
}

// ExploreAfar is Explore on the workers of a farm. Rounds are drawn by one search and
// taken in in their order, so that a seed and a number of rounds give the same findings
// on any farm. What an earlier session of the same job has played is taken from the
// farm. tell is told of each round, show of each kind of finding once it is small, or as
// it is where time is up; neither while the other is. The error says that the farm can
// play nothing more: the job can be gone on with.
func (p *Player) ExploreAfar(ctx context.Context, j Job, c *farm.Coordinator, tell func(RoundReport), show func(Found)) error {
	var one sync.Mutex
	e := &explorer{player: p, job: j, farm: c, onRound: func(t RoundReport) {
		one.Lock()
		defer one.Unlock()
		tell(t)
	}, onFinding: func(f Found) {
		one.Lock()
		defer one.Unlock()
		show(f)
	}, began: time.Now(), known: map[string]bool{}, cells: map[string]bool{}, plays: map[uint64]int{}}
	if j.Budget > 0 {
		bounded, cancel := context.WithTimeout(ctx, j.Budget+afterBudget)
		defer cancel()
		ctx = bounded
	}
	e.explore(ctx)
	e.making.Wait()
	return e.failure()
}

// explore plays the rounds of the job and takes them in.
func (e *explorer) explore(ctx context.Context) {
	small := ctx // for which findings are made small: rounds that nobody needs are called off before
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var open []*drawnRound
	for {
		for len(open) < ahead && e.continues(ctx) {
			d := e.draw()
			open = append(open, d)
			all.Go(func() { d.seen <- e.play(ctx, d.round, fmt.Sprintf("r%06d", d.number)) })
		}
		if len(open) == 0 || e.ended {
			return
		}
		s := <-open[0].seen
		if ctx.Err() != nil || e.failure() != nil {
			return
		}
		e.record(small, open[0], s)
		open = open[1:]
	}
}

// afterBudget is how much longer than its budget a simulation waits for rounds that
// workers have.
const afterBudget = 15 * time.Second

func (e *explorer) continues(ctx context.Context) bool {
	j := e.job
	return ctx.Err() == nil && !e.ended && e.failure() == nil && (j.Rounds == 0 || e.drawn < j.Rounds) && (j.Budget == 0 || time.Since(e.began) < j.Budget)
}

func (e *explorer) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

func (e *explorer) draw() *drawnRound {
	if e.drawn%epoch == 0 {
		e.search = search.New(e.player.space(e.job), e.job.Seed+uint64(e.drawn), search.Log{})
	}
	e.drawn++
	return &drawnRound{number: e.drawn, round: draw(e.search), of: e.search, seen: make(chan playedRound, 1)}
}

// play has a worker play a round.
func (e *explorer) play(ctx context.Context, r search.Round, id string) (s playedRound) {
	body, err := json.Marshal(virtualRound{e.job.Lock, e.job.Nodes, r})
	var result farm.Result
	if err == nil {
		result, err = e.farm.Do(ctx, farm.Task{ID: id, Kind: RoundKind, Needs: farm.Virtual, Body: body})
	}
	switch {
	case err != nil && ctx.Err() == nil:
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.err == nil {
			e.err = fmt.Errorf("the farm: %w", err)
		}
		fallthrough
	case err != nil:
		s.Outcome.Void = history.OneLine(err.Error())
	case result.Trouble != "":
		s.Outcome.Void = result.Trouble
	default:
		if err := json.Unmarshal(result.Body, &s); err != nil {
			s.Outcome.Void = history.OneLine(err.Error())
		}
	}
	s.Report.Void = s.Outcome.Void
	return s
}

// record records the outcome of a round in the search, and reports it. Rounds are recorded in
// the order in which they were drawn.
func (e *explorer) record(ctx context.Context, d *drawnRound, s playedRound) {
	d.of.Record(d.round, s.Outcome)
	t := s.Report
	t.Round = d.number
	for _, c := range s.Outcome.Cells {
		if !e.cells[c] {
			e.cells[c] = true
			t.Cells = append(t.Cells, c)
		}
	}
	e.onRound(t)
	for _, f := range s.Outcome.Findings {
		if key := f.ID + "|" + f.Blame; !e.known[key] {
			e.known[key] = true
			e.ended = e.job.First
			e.making.Go(func() { e.onFinding(e.found(ctx, f, d, t.Hash)) })
		}
	}
}

// found makes the round that shows a finding small.
func (e *explorer) found(ctx context.Context, f search.Finding, d *drawnRound, hash string) Found {
	out := Found{Finding: f, After: time.Since(e.began), Number: d.number, First: d.round, Hash: hash}
	s := &search.Shrinker{Executor: remoteExecutor{e}, Jobs: ahead, Least: 1, Plays: 1, Proofs: proofs, Trials: shrinkTrials}
	if small, ok := s.Shrink(ctx, d.round, f); ok && small.Again > 0 {
		out.Small = &small
		last := e.again(ctx, small.Round)
		out.Hash = last.Report.Hash
		out.updateFrom(last.Outcome)
	}
	return out
}

// again has a round played beside the search. Its task's name is that of the round and
// of how often it was played: another session gives it the same.
func (e *explorer) again(ctx context.Context, r search.Round) playedRound {
	raw, err := json.Marshal(r)
	if err != nil {
		return playedRound{Outcome: search.Outcome{Void: history.OneLine(err.Error())}}
	}
	hash := fnv.New64a()
	_, _ = hash.Write(raw) // never fails
	key := hash.Sum64()
	e.mu.Lock()
	e.plays[key]++
	n := e.plays[key]
	e.mu.Unlock()
	return e.play(ctx, r, fmt.Sprintf("s%016x-%d", key, n))
}

// remoteExecutor lets a shrinker have the workers of a farm play.
type remoteExecutor struct{ *explorer }

// Fits implements search.Executor.
func (a remoteExecutor) Fits(r search.Round) error { return a.player.Fits(r) }

// Play implements search.Executor.
func (a remoteExecutor) Play(ctx context.Context, r search.Round) search.Outcome {
	return a.again(ctx, r).Outcome
}
