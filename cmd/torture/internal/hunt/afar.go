package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

// ScenarioKind is the kind of tasks that PlayScenario plays.
const ScenarioKind = "scenario"

// roundPrefix begins the ids of the rounds that a hunt draws; what is played to make
// findings small has others.
const roundPrefix = "r"

// afterBudget is how much longer than its budget a hunt waits for rounds that workers
// have.
const afterBudget = time.Minute

// A scenario is a task: one run, and which anomalies to look for in it.
type scenario struct {
	Config config.Config `json:"config"`
	Steps  []faults.Spec `json:"steps,omitempty"` // of whose moments the outcome tells
	Round  *search.Round `json:"round,omitempty"` // that the scenario was made of, for the next session
	Until  []string      `json:"until,omitempty"` // ids of anomalies that end the run; empty: none
	Record bool          `json:"record"`          // of a finding that is not known
	Known  []string      `json:"known,omitempty"` // keys of findings
}

// A played is a worker's result of a scenario.
type played struct {
	Outcome search.Outcome `json:"outcome"`
	Cells   []string       `json:"cells"` // that count for the lock
}

// A farmPlayer has the workers of a farm play rounds for an executor.
type farmPlayer struct {
	farm  *farm.Coordinator
	next  func() string   // id of the next task
	known func() []string // keys of findings of which no further record is wanted; nil: of none is
	cells func([]string)  // receives cells that count for the lock
	log   func(string)    // receives lines for people
	lost  func(error)     // receives why the farm can play nothing more
	lease *longest        // the shortest lease that all workers can judge
}

// longest is the longest of the durations that the workers reported last.
type longest struct {
	mu sync.Mutex
	of map[string]time.Duration
}

func (l *longest) note(worker string, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[worker] = d
}

func (l *longest) is() (d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.of {
		d = max(d, one)
	}
	return d
}

// numbered returns a generator of task ids that counts up from a number.
func numbered(prefix string, from int64) func() string {
	var n atomic.Int64
	n.Store(from)
	return func() string { return fmt.Sprintf("%s%06d", prefix, n.Add(1)) }
}

func newFarmPlayer(c *farm.Coordinator, next func() string, say func(string), lost func(error)) *farmPlayer {
	return &farmPlayer{farm: c, next: next, cells: func([]string) {}, log: say, lost: lost, lease: &longest{of: map[string]time.Duration{}}}
}

// forTrials plays what is played beside the hunt's rounds. Records of it are wanted if known
// is set, except of the findings whose keys known lists.
func (f *farmPlayer) forTrials(prefix string, known func() []string) *farmPlayer {
	if f == nil {
		return nil
	}
	trials := *f
	trials.next, trials.known = numbered(prefix, 0), known
	return &trials
}

// play has a worker play a scenario, as e would.
func (f *farmPlayer) play(ctx context.Context, e *executor, s scenario, id string) search.Outcome {
	began := time.Now()
	for _, one := range anomaly.IDs() {
		if e.until != nil && e.until(one) {
			s.Until = append(s.Until, one)
		}
	}
	if f.known != nil {
		s.Record, s.Known = true, f.known()
	}
	body, err := json.Marshal(s)
	if err != nil {
		return search.Outcome{Void: history.OneLine(err.Error()), Took: time.Since(began)}
	}
	r, err := f.farm.Do(ctx, farm.Task{ID: id, Kind: ScenarioKind, Needs: s.Config.Testbed, Body: body})
	if err != nil {
		if ctx.Err() == nil {
			f.lost(err)
		}
		return search.Outcome{Void: calledOff}
	}
	return f.outcome(ctx, e, r)
}

// outcome is a worker's result, with its record where that is wanted.
func (f *farmPlayer) outcome(ctx context.Context, e *executor, r farm.Result) search.Outcome {
	p := played{Outcome: search.Outcome{Void: r.Trouble}}
	if r.Trouble == "" {
		if err := json.Unmarshal(r.Body, &p); err != nil {
			p.Outcome.Void = "a result that cannot be read: " + history.OneLine(err.Error())
		}
	}
	f.lease.note(r.Worker, r.Load.Lease)
	o := p.Outcome
	o.Task, o.Worker, o.Run = r.Task.ID, r.Worker, ""
	if o.Void != "" {
		return o
	}
	f.cells(p.Cells)
	if e.keep(o.Findings) && r.Record != "" {
		dir := filepath.Join(e.base.Out, r.Record)
		if err := f.farm.Fetch(ctx, r, dir); err == nil {
			o.Run = dir
		} else {
			f.log("no record of " + r.Task.ID + ": " + history.OneLine(err.Error()))
		}
	}
	return o
}

// PlayScenario plays the tasks of a hunt or a blind selftest. Locks in child processes are
// commands that the coordinator chooses: exec allows them.
func PlayScenario(locks catalogue.Locks, play Player, exec bool) farm.Player {
	return func(ctx context.Context, t farm.Task, dir string) farm.Answer {
		var s scenario
		err := json.Unmarshal(t.Body, &s)
		if err == nil && strings.HasPrefix(s.Config.Lock, "exec:") && !exec {
			err = errors.New("the lock is a command of the coordinator's choice, which this worker runs only with --allow-exec")
		}
		var lock catalogue.Lock
		if err == nil {
			lock, err = locks.Find(s.Config.Lock)
		}
		if err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		s.Config.Out = dir
		return s.playHere(ctx, lock, play, dir)
	}
}

// playHere plays the scenario on this machine.
func (s scenario) playHere(ctx context.Context, lock catalogue.Lock, play Player, dir string) farm.Answer {
	var a farm.Answer
	var p played
	e := &executor{
		lock: lock, base: s.Config, play: play, stalled: func() { a.Load.Busy = true },
		keep: func(found []search.Finding) bool {
			return s.Record && slices.ContainsFunc(found, func(f search.Finding) bool { return !slices.Contains(s.Known, f.Key()) })
		},
		counts: func(all []coverage.Count) {
			for _, c := range all {
				p.Cells = append(p.Cells, c.Cell.String())
			}
		},
	}
	if len(s.Until) > 0 {
		e.until = func(id string) bool { return slices.Contains(s.Until, id) }
	}
	p.Outcome = e.playConfig(ctx, s.Config, s.Steps)
	a.Load.Calm = p.Outcome.Void == ""
	if p.Outcome.Run != "" {
		if a.Record, _ = filepath.Rel(dir, p.Outcome.Run); !filepath.IsLocal(a.Record) {
			a.Record = ""
		}
		p.Outcome.Run = ""
	}
	body, err := json.Marshal(p)
	if err != nil {
		return farm.Answer{Trouble: history.OneLine(err.Error())}
	}
	a.Body = body
	return a
}

// A Gate limits the rounds of a machine on which a worker plays: farm.Gate.
type Gate struct{ limiter *limiter }

// NewGate returns the gate of a worker that plays at most n tasks at once.
func NewGate(n int) *Gate { return &Gate{newLimiter(n)} }

// Acquire implements farm.Gate.
func (g *Gate) Acquire(ctx context.Context) bool { return g.limiter.acquire(ctx) }

// Release implements farm.Gate.
func (g *Gate) Release() { g.limiter.release() }

// Note implements farm.Gate.
func (g *Gate) Note(l farm.Load) farm.Load {
	switch {
	case l.Busy:
		g.limiter.tighten()
	case l.Calm:
		g.limiter.noteCalm()
	}
	l.Lease = g.limiter.shortest()
	return l
}

// openFarm prepares the hunt for the farm, and takes over the rounds of an earlier
// session that its log lacks: those that a worker has played since, and those that are
// still to be played.
func (h *Hunt) openFarm(ctx context.Context, log search.Log) error {
	h.limiter.openAll()
	last := int64(0)
	defer func() {
		h.exec.farm = newFarmPlayer(h.cfg.Farm, numbered(h.cfg.part+roundPrefix, last), h.cfg.Log, h.loseFarm)
		h.exec.farm.known, h.exec.farm.cells = h.knownKeys, h.addCellNames
	}()
	if h.cfg.part != "" {
		return nil // its rounds begin anew with each session
	}
	recorded := map[string]bool{}
	number := func(id string) {
		var n int64
		if _, err := fmt.Sscanf(id, roundPrefix+"%d", &n); err == nil {
			last = max(last, n)
		}
	}
	for _, p := range log.Rounds {
		recorded[p.Outcome.Task] = true
		number(p.Outcome.Task)
	}
	isRound := func(t farm.Task) bool { return t.Kind == ScenarioKind && strings.HasPrefix(t.ID, roundPrefix) }
	tasks := h.cfg.Farm.Pending()
	for _, r := range h.cfg.Farm.Results() {
		tasks = append(tasks, r.Task)
	}
	for _, t := range tasks {
		number(t.ID)
		if isRound(t) && !recorded[t.ID] {
			h.adopted = append(h.adopted, t)
		}
	}
	return h.cfg.Farm.Forget(ctx, func(t farm.Task) bool { return !isRound(t) || recorded[t.ID] })
}

// takeOver returns the next round of an earlier session.
func (h *Hunt) takeOver() (t farm.Task, r search.Round, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.adopted) > 0 {
		t, h.adopted = h.adopted[0], h.adopted[1:]
		var s scenario
		if json.Unmarshal(t.Body, &s) == nil && s.Round != nil {
			return t, *s.Round, true
		}
	}
	return t, r, false
}

// nextRound draws a round, or takes one of an earlier session, and plays it.
func (h *Hunt) nextRound(ctx context.Context) (search.Round, search.Outcome) {
	if h.exec.farm == nil {
		r := h.search.Next()
		return r, h.exec.Play(ctx, r)
	}
	ctx, cancel := context.WithTimeout(ctx, max(h.left(), 0)+afterBudget)
	defer cancel()
	t, r, adopted := h.takeOver()
	id := t.ID
	if !adopted {
		r, id = h.search.Next(), h.exec.farm.next()
	}
	return r, h.exec.playAfar(ctx, r, id)
}

// playAfar has a worker play a round under an id of its own.
func (e *executor) playAfar(ctx context.Context, r search.Round, id string) search.Outcome {
	return e.farm.play(ctx, e, scenario{Config: r.Over(e.base), Steps: r.Steps, Round: &r}, id)
}

func (h *Hunt) knownKeys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]string, 0, len(h.known))
	for key := range h.known {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

func (h *Hunt) addCellNames(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		h.cells[name] = true
	}
}

// loseFarm ends the hunt because of the farm; it can be resumed.
func (h *Hunt) loseFarm(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.lostFarm {
		h.lostFarm = true
		h.troubles = append(h.troubles, "the farm: "+history.OneLine(err.Error()))
	}
}

// LostFarm reports whether the hunt ended because the farm could play nothing more: what the
// farm has of the hunt stays there, for the next session.
func (h *Hunt) LostFarm() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lostFarm
}

// shortest is the shortest lease that every machine that plays can judge.
func (h *Hunt) shortest() time.Duration {
	d := h.limiter.shortest()
	if h.exec.farm != nil {
		d = max(d, h.exec.farm.lease.is())
	}
	return d
}
