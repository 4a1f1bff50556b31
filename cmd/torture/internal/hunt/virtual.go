package hunt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/workload/history"
)

// A Virtual looks for the flaws of the catalogue's locks in virtual time, without the
// schedules that are known to show them.
//
// A finding counts when the lock that corrects the flaw does not show it in the very same
// round. That is why faults may be drawn against a flawed lock that break what correct locks
// rest on: what they alone do, both show.
type Virtual struct {
	Locks  catalogue.Locks
	Only   []string      // ids; empty: every category, and the locks that correct them
	Budget time.Duration // of real time for all flaws together, making small apart; the locks that must stay clean have as much
	Seeds  int           // rounds of each lock at most; 0: as many as the budget allows
	Seed   uint64
	Jobs   int  // locks at once
	Random bool // look for each flaw a second time, with rounds that are drawn at random alone
	Large  bool // leave what is found as large as it is
	Out    string

	// Explore does a job, in a process of its own or here.
	Explore func(ctx context.Context, j simulate.Job, tell func(simulate.RoundReport)) error

	Log func(line string) // of what happens on the way; nil tells nobody

	mu sync.Mutex // of Say
}

// Found, beside those of a BlindRow, is the outcome of a VirtualRow whose flaw was found.
const Found = "found"

// A VirtualRow is the result for one lock.
type VirtualRow struct {
	Lock      string             `json:"lock"`
	Category  catalogue.Category `json:"category"`
	Corrected bool               `json:"corrected,omitempty"` // it must stay clean
	Stated    []string           `json:"stated"`              // as in a BlindRow
	Outcome   string             `json:"outcome"`
	Why       string             `json:"why,omitempty"`
	Look      `json:"guided"`
	Random    *Look           `json:"random,omitempty"` // with rounds that are drawn at random alone
	Finding   *simulate.Found `json:"finding,omitempty"`
	File      string          `json:"file,omitempty"` // plays it again

	twin string
}

// A Look is the cost of one search for a flaw.
type Look struct {
	ID    string        `json:"id,omitempty"` // of what was found; empty: nothing was
	Seeds int           `json:"seeds"`        // rounds that were played until then
	Real  time.Duration `json:"real_ns"`      // of this lock's own searches, until then
	CPU   time.Duration `json:"cpu_ns"`       // processor time of its processes until then
	Void  int           `json:"void,omitempty"`
}

// OK reports whether the row is as it should be.
func (r *VirtualRow) OK() bool {
	return r.Outcome == Found || r.Outcome == Clean || r.Outcome == NotTried
}

// Chosen lists the rows that there will be.
func (v *Virtual) Chosen() ([]*VirtualRow, error) {
	blind, err := (&Blind{Locks: v.Locks, Only: v.Only}).Chosen()
	if err != nil {
		return nil, err
	}
	var rows []*VirtualRow
	for _, b := range blind {
		l := v.Locks[b.Lock]
		row := &VirtualRow{Lock: b.Lock, Category: b.Category, Corrected: b.Corrected, Stated: b.Stated}
		switch err := (&simulate.Player{Lock: l}).Supports(); {
		case b.Outcome != "" && len(b.Stated) == 0: // what servers cannot show may live here
			row.Outcome, row.Why = b.Outcome, b.Why
		case err != nil:
			row.Outcome, row.Why = NotTried, err.Error()
		}
		if !b.Corrected {
			row.twin = v.twin(l)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// twin is the lock that corrects l, where that lives in virtual time.
func (v *Virtual) twin(l catalogue.Lock) string {
	twin, ok := v.Locks[l.CorrectedBy]
	if !ok || (&simulate.Player{Lock: twin, Nodes: (&simulate.Player{Lock: l}).Masters()}).Supports() != nil {
		return ""
	}
	return l.CorrectedBy
}

// Rows plays the rows until ctx ends, and returns them all.
func (v *Virtual) Rows(ctx context.Context) ([]*VirtualRow, error) {
	rows, err := v.Chosen()
	if err != nil {
		return nil, err
	}
	open := func(corrected bool) (some []*VirtualRow) {
		for _, r := range rows {
			if r.Outcome == "" && r.Corrected == corrected {
				some = append(some, r)
			}
		}
		return some
	}
	flawed, corrected := open(false), open(true)
	v.logf("%d flaws to look for, %d locks that must stay clean", len(flawed), len(corrected))
	v.search(ctx, flawed, v.Seeds, v.guided)
	most := v.Seeds
	for _, r := range flawed {
		most = max(most, r.Seeds)
	}
	v.makeSmall(ctx, flawed)
	if v.Random {
		for _, r := range flawed {
			r.Random = &Look{}
		}
		v.search(ctx, flawed, v.Seeds, v.random)
	}
	v.search(ctx, corrected, most, v.guided)
	for _, r := range rows {
		if r.Outcome == "" {
			r.conclude(ctx)
		}
	}
	return rows, v.writeFindings(rows)
}

// logf hands a line to Log.
func (v *Virtual) logf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Log != nil {
		v.Log(fmt.Sprintf(format, args...))
	}
}

// conclude sets the outcome of a row.
func (r *VirtualRow) conclude(ctx context.Context) {
	switch {
	case r.ID != "" && r.Corrected:
		r.Outcome = Accused
	case r.ID != "":
		r.Outcome = Found
	case ctx.Err() != nil:
		r.Outcome, r.Why = NoAnswer, "interrupted"
	case r.Seeds == 0:
		r.Outcome, r.Why = NoAnswer, "the time was up before its turn"
	case r.Seeds == r.Void:
		r.Outcome = NoAnswer
	case r.Corrected:
		r.Outcome = Clean
	default:
		r.Outcome = NotFound
	}
}

// guided and random are the two ways to look for a flaw.
func (v *Virtual) guided(r *VirtualRow) (*Look, simulate.Job) { return &r.Look, v.job(r) }

func (v *Virtual) random(r *VirtualRow) (*Look, simulate.Job) {
	j := v.job(r)
	j.Random = true
	return r.Random, j
}

func (v *Virtual) job(r *VirtualRow) simulate.Job {
	return simulate.Job{Lock: r.Lock, Seed: v.Seed, First: true, Scout: true, Beyond: !r.Corrected, Counts: r.Stated, Twin: r.twin}
}

// firstSlice is how many rounds of each lock are played before the first lock gets more.
const firstSlice = 8

// search has the rows played by turns, each turn twice as long as the one before and
// with seeds of its own, until each has shown something or has played so many rounds
// (0: any number), or the budget is spent. Which rounds are played depends on the seed
// alone: a slower machine plays fewer of them.
func (v *Virtual) search(ctx context.Context, rows []*VirtualRow, most int, way func(*VirtualRow) (*Look, simulate.Job)) {
	ctx, cancel := context.WithTimeout(ctx, v.Budget)
	defer cancel()
	open := slices.Clone(rows)
	for turn := 0; len(open) > 0 && ctx.Err() == nil; turn++ {
		v.forEach(open, func(r *VirtualRow) {
			look, job := way(r)
			job.Rounds, job.Seed = firstSlice<<turn, job.Seed+uint64(turn)<<20
			if most > 0 {
				job.Rounds = min(job.Rounds, most-look.Seeds)
			}
			if ctx.Err() == nil && job.Rounds > 0 {
				v.searchOnce(ctx, r, look, job)
			}
		})
		open = slices.DeleteFunc(open, func(r *VirtualRow) bool {
			look, _ := way(r)
			return look.ID != "" || most > 0 && look.Seeds >= most
		})
	}
}

// forEach calls do for every row, for several at once.
func (v *Virtual) forEach(rows []*VirtualRow, do func(*VirtualRow)) {
	turn := make(chan struct{}, v.Jobs)
	var all sync.WaitGroup
	for _, r := range rows {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			do(r)
		})
	}
	all.Wait()
}

// searchOnce plays one job of a row.
func (v *Virtual) searchOnce(ctx context.Context, r *VirtualRow, look *Look, job simulate.Job) {
	began := time.Now()
	var used time.Duration
	err := v.Explore(ctx, job, func(t simulate.RoundReport) {
		look.Seeds++
		used = t.CPU
		if t.Void != "" {
			look.Void++
			r.Why = t.Void
		}
		if len(t.Found) > 0 && look.ID == "" {
			look.ID = t.Found[0].ID
			v.logf("%s: %s in round %d", r.Lock, look.ID, look.Seeds)
			if look == &r.Look {
				r.Finding = &t.Found[0]
			}
		}
	})
	look.Real += time.Since(began)
	look.CPU += used
	if err != nil && ctx.Err() == nil && look.ID == "" {
		look.Seeds++ // the round that ended the process
		look.Void++
		r.Why = history.OneLine(err.Error())
	}
}

// makeSmall shrinks the findings.
func (v *Virtual) makeSmall(ctx context.Context, rows []*VirtualRow) {
	v.forEach(rows, func(r *VirtualRow) {
		if r.Finding == nil || v.Large {
			return
		}
		job := v.job(r)
		job.Shrink = r.Finding
		err := v.Explore(ctx, job, func(t simulate.RoundReport) { r.Finding = &t.Found[0] })
		if err != nil {
			r.Why = "not made small: " + history.OneLine(err.Error())
		}
	})
}

// writeFindings writes a file for each finding.
func (v *Virtual) writeFindings(rows []*VirtualRow) error {
	for _, r := range rows {
		if r.Finding == nil {
			continue
		}
		if err := os.MkdirAll(v.Out, 0o700); err != nil {
			return fmt.Errorf("keep findings: %w", err)
		}
		r.File = filepath.Join(v.Out, r.Lock+"-"+r.Finding.ID+".json")
		p := &simulate.Player{Lock: v.Locks[r.Lock]}
		if err := simulate.ReplayOf(r.Lock, p.Masters(), r.Finding).Write(r.File); err != nil {
			return err
		}
	}
	return nil
}
