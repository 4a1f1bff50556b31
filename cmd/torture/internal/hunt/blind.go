package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults/testbed"
	"locktorture/reports/stats"
	"locktorture/workload/history"
)

// A Blind looks for the flaws of the catalogue's locks without the schedules that
// are known to show them: first by the plain run, then by a hunt.
type Blind struct {
	Locks  catalogue.Locks
	Only   []string      // ids; empty: every category, and the locks that correct them
	Budget time.Duration // for each lock, run and hunt together
	Plain  time.Duration // main phase of the plain run
	Seed   uint64
	Jobs   int        // locks at once, at most
	Done   []BlindRow // of an earlier session, which are not played again
	Out    string
	Play   Player
	Farm   *farm.Coordinator // has its workers play; nil: this machine does
	Scouts int               // processes that play in virtual time for a hunt: see Config.Scouts
	Log    func(line string) // of what happens on the way; nil tells nobody
	Row    func(BlindRow)    // is told of each row, one at a time

	lost     error        // why the farm can play nothing more; guarded by mu
	mu       sync.Mutex   //
	shortest atomic.Int64 // lease that the machine could judge, as the last hunt left it
}

// blindRounds is how many rounds of one lock's hunt are under way at once, at most.
const blindRounds = 2

// The outcomes of a BlindRow.
const (
	ByRun    = "run"       // the plain run showed the flaw
	ByHunt   = "hunt"      // the hunt did
	NotFound = "NOT FOUND" // neither did
	Clean    = "clean"     // a corrected lock of which nothing was found
	Accused  = "ACCUSED"   // one of which something was
	NotTried = "not tried" // nothing is stated that could be shown here
	NoAnswer = "VOID"      // nothing that was played says anything
)

// A BlindRow is the result for one lock.
type BlindRow struct {
	Lock       string             `json:"lock"`
	Category   catalogue.Category `json:"category"`
	Corrected  bool               `json:"corrected,omitempty"` // it must stay clean
	Stated     []string           `json:"stated"`              // ids of which one is enough; of a corrected lock those that it must not show, none: any
	Outcome    string             `json:"outcome"`             // ByRun and so on
	Why        string             `json:"why,omitempty"`
	ID         string             `json:"id,omitempty"` // of what was found
	Took       time.Duration      `json:"took_ns"`      // until it was found, or all of it
	Operations int                `json:"operations"`   // begun by clients in that time
	Rounds     int                `json:"rounds"`       // of the hunt
	Run        string             `json:"run,omitempty"`
	Command    string             `json:"command,omitempty"`
}

// OK reports whether the row is as it should be.
func (r BlindRow) OK() bool {
	return slices.Contains([]string{ByRun, ByHunt, Clean, NotTried}, r.Outcome)
}

// unfencedAll are the anomalies that every lock without fencing shows under a paused client.
var unfencedAll = []string{"S3", "S3z"}

// stated are the flaws that a lock is known for, without those that every lock of its kind has,
// if there are others.
func stated(l catalogue.Lock) []string {
	other := slices.DeleteFunc(slices.Clone(l.Expected), func(id string) bool { return slices.Contains(unfencedAll, id) })
	if l.Fences || len(other) == 0 {
		return l.Expected
	}
	return other
}

// Chosen lists the rows that there will be: locks with a stated flaw, then those
// that correct them and the full locks.
func (b *Blind) Chosen() ([]BlindRow, error) {
	var rows []BlindRow
	var controls []string
	for _, category := range []catalogue.Category{catalogue.Recipes, catalogue.Mutants, catalogue.Libraries} {
		for _, l := range b.Locks.In(category) {
			rows = append(rows, b.flawed(l))
			controls = append(controls, l.CorrectedBy)
		}
	}
	for _, l := range b.Locks.In(catalogue.Full) {
		controls = append(controls, l.ID)
	}
	slices.Sort(controls)
	for _, id := range slices.Compact(controls) {
		if id != "" {
			rows = append(rows, b.corrected(b.Locks[id]))
		}
	}
	if len(b.Only) == 0 {
		return rows, nil
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Lock)
	}
	for _, id := range b.Only {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("--only: lock %q is in no category, and corrects none%s", id, config.DidYouMean(id, ids))
		}
	}
	return slices.DeleteFunc(rows, func(r BlindRow) bool { return !slices.Contains(b.Only, r.Lock) }), nil
}

func (b *Blind) flawed(l catalogue.Lock) BlindRow {
	row := BlindRow{Lock: l.ID, Category: l.Category, Stated: stated(l)}
	untried := gallery.Trials[l.ID].Untried
	open := slices.DeleteFunc(slices.Clone(row.Stated), func(id string) bool { return untried[id] != "" })
	switch {
	case len(row.Stated) == 0:
		row.Outcome, row.Why = NotTried, "its flaw shows in figures, not as an anomaly"
	case len(open) == 0:
		row.Outcome, row.Why = NotTried, untried[row.Stated[0]]
	}
	return row
}

// corrected is the row of a lock that must stay clean (a recipe that corrects
// another one has a flaw of its own, and a row for each): of everything, where it is
// fenced, and otherwise of what it corrects and has not itself: no lock of its kind is clean
// of the rest.
func (b *Blind) corrected(l catalogue.Lock) BlindRow {
	row := BlindRow{Lock: l.ID, Category: l.Category, Corrected: true}
	if l.Fences {
		return row
	}
	for _, of := range b.Locks {
		if of.CorrectedBy == l.ID {
			row.Stated = append(row.Stated, stated(of)...)
		}
	}
	row.Stated = slices.DeleteFunc(row.Stated, func(id string) bool { return slices.Contains(l.Expected, id) })
	slices.Sort(row.Stated)
	if row.Stated = slices.Compact(row.Stated); len(row.Stated) == 0 {
		row.Outcome, row.Why = NotTried, "it has the flaw of the lock that it corrects, only more seldom"
	}
	return row
}

// Rows plays the rows that are open, several at once as the machine bears it, until
// ctx ends, and returns those that are done, in their order. A row that was under way
// when ctx ended is done only if its flaw had been found.
func (b *Blind) Rows(ctx context.Context) ([]BlindRow, error) {
	rows, err := b.Chosen()
	if err != nil {
		return nil, err
	}
	if b.Log == nil {
		b.Log = func(string) {}
	}
	limit := newLimiter(b.Jobs)
	if b.Farm != nil {
		limit.openAll()
		if err := b.Farm.Forget(ctx, func(farm.Task) bool { return true }); err != nil {
			return nil, err // of rows that are begun anew
		}
	}
	var told sync.Mutex
	var all sync.WaitGroup
	for i := range rows {
		row := &rows[i]
		if b.isDone(row) {
			continue
		}
		if !limit.acquire(ctx) {
			break
		}
		all.Go(func() {
			defer limit.release()
			if row.Outcome == "" {
				b.row(ctx, row, limit)
			}
			if row.Outcome != "" {
				told.Lock()
				defer told.Unlock()
				b.Row(*row)
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(rows, func(r BlindRow) bool { return r.Outcome == "" }), b.failure()
}

// isDone takes over an earlier session's result for a row, if there is one.
func (b *Blind) isDone(row *BlindRow) bool {
	i := slices.IndexFunc(b.Done, func(d BlindRow) bool { return d.Lock == row.Lock && d.Corrected == row.Corrected })
	if i < 0 {
		return false
	}
	*row = b.Done[i]
	return true
}

// row plays one lock. A round under way when its time is up ends late.
func (b *Blind) row(ctx context.Context, row *BlindRow, limit *limiter) {
	l := b.Locks[row.Lock]
	wanted := func(id string) bool { return len(row.Stated) == 0 || slices.Contains(row.Stated, id) }
	began := time.Now()
	said, err := b.plain(ctx, l, row, wanted, limit)
	outcome := ByRun
	if row.ID == "" && ctx.Err() == nil && b.failure() == nil {
		hunted, huntErr := b.hunt(ctx, l, row, wanted, limit, b.Budget-time.Since(began))
		said, err, outcome = said || hunted, cmp.Or(err, huntErr), ByHunt
	}
	found := row.ID != ""
	switch {
	case found && row.Corrected:
		outcome = Accused
	case found:
	case ctx.Err() != nil || b.failure() != nil:
		return // it was not played to its end
	case !said:
		outcome, row.Why = NoAnswer, "nothing that was played says anything"
	case row.Corrected:
		outcome = Clean
	default:
		outcome = NotFound
	}
	row.Outcome = outcome
	if err != nil && !found {
		row.Why = history.OneLine(err.Error())
	}
	if !found {
		row.Took = time.Since(began).Round(100 * time.Millisecond)
	}
}

// plain plays the standard scenario until the flaw is seen, and reports whether that is a
// result. If what was seen turns out to be refuted, it plays the whole run.
func (b *Blind) plain(ctx context.Context, l catalogue.Lock, row *BlindRow, wanted func(id string) bool, limit *limiter) (said bool, err error) {
	c, err := config.Base("standard")
	if err != nil {
		return false, err
	}
	c.Lock, c.Duration, c.Seed, c.Out, c.Testbed = l.ID, b.Plain, b.Seed, b.Out, bedOf(l, c.Testbed)
	shows := func(f search.Finding) bool { return wanted(f.ID) }
	e := &executor{
		lock: l, base: c, play: b.Play, stalled: func() { limit.tighten() }, counts: ignoreCells, until: wanted,
		keep: func(all []search.Finding) bool { return slices.ContainsFunc(all, shows) },
	}
	if b.Farm != nil {
		if e.base.Testbed, _, err = testbed.Choose(ctx, testbed.Config{Kind: c.Testbed, Persist: true}); err != nil {
			return false, fmt.Errorf("choose servers: %w", err)
		}
		c.Testbed = e.base.Testbed
		e.farm = newFarmPlayer(b.Farm, numbered(row.part()+"plain", 0), b.Log, b.loseFarm)
		e.farm.known = func() []string { return nil }
	}
	o := e.playConfig(ctx, c, nil)
	if o.Void != "" && ctx.Err() == nil {
		b.Log(l.ID + ": the plain run, ended as soon as something was seen, says nothing: " + o.Void)
		row.Operations += o.Operations
		e.until = nil
		o = e.playConfig(ctx, c, nil)
	}
	if i := slices.IndexFunc(o.Findings, shows); i >= 0 {
		f := o.Findings[i]
		row.ID, row.Took, row.Run = f.ID, cmp.Or(f.At, o.Took), o.Run
		row.Operations += cmp.Or(f.Operations, o.Operations)
		row.Command = fmt.Sprintf("torture run --lock=%s --duration=%v --seed=%d", l.ID, c.Duration, c.Seed)
		return true, nil
	}
	row.Operations += o.Operations
	return o.Void == "", nil
}

// hunt hunts for the rest of the row's time, and reports whether that is a result.
func (b *Blind) hunt(ctx context.Context, l catalogue.Lock, row *BlindRow, wanted func(id string) bool, limit *limiter, left time.Duration) (said bool, err error) {
	before := b.Budget - left
	base, err := Base()
	if err != nil {
		return false, err
	}
	base.Lock, base.Testbed = l.ID, bedOf(l, base.Testbed)
	folder := "hunt-" + l.ID
	if row.Corrected {
		folder += "-corrected"
	}
	// A single master that forgets is the flaw of some recipes, and beyond what those can do that correct others.
	forgets := !row.Corrected
	h, err := New(ctx, Config{
		Farm: b.Farm, part: row.part(),
		Lock: l, Base: base, Budget: left, Seed: b.Seed, Jobs: min(b.Jobs, blindRounds), Scouts: b.Scouts, Dir: filepath.Join(b.Out, folder), Play: b.Play,
		Forgets: forgets, Until: wanted, Log: func(line string) { b.Log(l.ID + ": " + line) }, stalled: func() { limit.tighten() }, calm: limit.noteCalm, shortest: time.Duration(b.shortest.Load()),
	}, nil)
	if err != nil {
		return false, err
	}
	r := h.Run(ctx)
	if h.LostFarm() {
		b.loseFarm(errors.New(r.Troubles[0]))
	}
	b.shortest.Store(int64(h.limiter.shortest()))
	row.Rounds = len(r.Rounds)
	row.Operations += r.Sums.Operations
	if i := slices.IndexFunc(r.Found, func(f *search.Found) bool { return wanted(f.ID) }); i >= 0 {
		f := r.Found[i]
		row.ID, row.Took, row.Run, row.Command = f.ID, before+r.Took, f.Run, r.Play(f)
	}
	return r.Sums.Rounds > 0, r.Save(h.cfg.Dir)
}

// bedOf is the testbed for a lock: with replicas, for a lock that waits for them.
func bedOf(l catalogue.Lock, otherwise string) string {
	if l.Acknowledged {
		return testbed.KindSentinel
	}
	return otherwise
}

// part begins the ids of a row's tasks in a farm: another session has others.
func (r *BlindRow) part() string { return r.Lock + "-" + nuid.Next() + "-" }

// loseFarm ends all rows for the farm's sake.
func (b *Blind) loseFarm(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == nil {
		b.lost = fmt.Errorf("the farm: %w", err)
	}
}

func (b *Blind) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// BlindSums sums rows up.
type BlindSums struct {
	Flaws    int           `json:"flaws"` // that were looked for
	Runs     int           `json:"found_by_run"`
	Hunts    int           `json:"found_by_hunt"`
	Missed   []string      `json:"not_found"`
	Accused  []string      `json:"accused"`
	Void     []string      `json:"void"`
	NotTried []string      `json:"not_tried"`
	Controls int           `json:"clean"`
	Median   time.Duration `json:"median_ns"` // until found
	Slowest  time.Duration `json:"slowest_ns"`
}

// SumBlind sums rows up.
func SumBlind(rows []BlindRow) BlindSums {
	s := BlindSums{Missed: []string{}, Accused: []string{}, Void: []string{}, NotTried: []string{}}
	var times []time.Duration
	for _, r := range rows {
		switch r.Outcome {
		case ByRun, ByHunt:
			if times = append(times, r.Took); r.Outcome == ByRun {
				s.Runs++
			} else {
				s.Hunts++
			}
		case NotFound:
			s.Missed = append(s.Missed, r.Lock)
		case Clean:
			s.Controls++
		case Accused:
			s.Accused = append(s.Accused, r.Lock)
		case NoAnswer:
			s.Void = append(s.Void, r.Lock)
		case NotTried:
			s.NotTried = append(s.NotTried, r.Lock)
		}
	}
	if s.Flaws = len(times) + len(s.Missed); len(times) > 0 {
		s.Median, s.Slowest = stats.Median(times), slices.Max(times)
	}
	return s
}

// statedWords are a row's stated flaws in words.
func (r BlindRow) statedWords() string {
	if len(r.Stated) == 0 {
		return "nothing at all"
	}
	return strings.Join(r.Stated, " ")
}
