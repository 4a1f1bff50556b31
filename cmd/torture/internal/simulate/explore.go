package simulate

import (
	"context"
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/search"
	"locktorture/workload/history"
)

// A Job is what one worker explores.
type Job struct {
	Lock   string        `json:"lock"`
	Nodes  int           `json:"nodes"`
	Seed   uint64        `json:"seed"`
	Rounds int           `json:"rounds"` // at most; 0: until the budget is spent
	Budget time.Duration `json:"budget_ns"`
	Beyond bool          `json:"beyond"`
	Fenced *bool         `json:"fenced,omitempty"` // whether the store compares tokens; nil: as the lock's page says
	First  bool          `json:"first"`            // end with the first finding
	Scout  bool          `json:"scout"`            // leave what is found as large as it is, and tell of the first few rounds that show each kind

	Counts []string `json:"counts,omitempty"` // ids of findings that count; empty: all do
	Twin   string   `json:"twin,omitempty"`   // lock that must not show them in the same round; empty: none is asked
	Random bool     `json:"random,omitempty"` // see search.Space.Random
	Shrink *Found   `json:"shrink,omitempty"` // make this small, in place of a search

	Exhaust *Exhaustion `json:"exhaust,omitempty"` // try all orders of messages, in place of a search
}

// player returns who plays the job's rounds.
func (j Job) player(locks catalogue.Locks) (*Player, error) {
	lock, err := locks.Find(j.Lock)
	if err != nil {
		return nil, err
	}
	p := &Player{Lock: lock, Nodes: j.Nodes, Fenced: j.Fenced}
	if len(j.Counts) > 0 {
		p.Counts = func(id string) bool { return slices.Contains(j.Counts, id) }
	}
	if j.Twin != "" {
		twin, err := locks.Find(j.Twin)
		if err != nil {
			return nil, err
		}
		p.Twin = &Player{Lock: twin, Nodes: p.Masters(), Fenced: j.Fenced}
	}
	return p, nil
}

// scouted is how many rounds a scout tells of for each kind of finding.
const scouted = 3

// A RoundReport is what a worker reports of one round.
type RoundReport struct {
	Round     int           `json:"round"` // from 1
	Hash      string        `json:"hash,omitempty"`
	Virtual   time.Duration `json:"virtual_ns"`
	Took      time.Duration `json:"took_ns"`
	CPU       time.Duration `json:"cpu_ns,omitempty"` // processor time of the whole process so far; 0 where nobody tells
	Attempts  int           `json:"attempts"`
	Grants    int           `json:"grants"`
	Handovers int           `json:"handovers"`
	Faulted   int           `json:"faulted_handovers"`
	Cells     []string      `json:"cells,omitempty"` // that no earlier round of the worker had reached
	Void      string        `json:"void,omitempty"`
	Found     []Found       `json:"found,omitempty"`
	Tried     *Tried        `json:"tried,omitempty"` // of an exhaustion, which tells of nothing else
}

// A Found is a finding and the smallest round that shows it.
type Found struct {
	search.Finding
	After  time.Duration  `json:"after_ns"` // of real time, of its worker
	Number int            `json:"number"`   // of the round that showed it first, of its worker
	First  search.Round   `json:"found_in"`
	Small  *search.Shrink `json:"shrunk,omitempty"` // nil where shrinking was cut short
	Events int            `json:"events,omitempty"` // of the smallest round: its steps, and what the proof rests on
	Hash   string         `json:"hash"`             // of the smallest round's history, else of the first's
}

// updateFrom replaces the finding by the one in a play of its smallest round, where it may be of
// other clients, at another time.
func (f *Found) updateFrom(o search.Outcome) {
	if i := slices.IndexFunc(o.Findings, f.Same); i >= 0 {
		f.Finding = o.Findings[i]
	}
}

// Smallest is the smallest round that shows the finding.
func (f *Found) Smallest() search.Round {
	if f.Small != nil {
		return f.Small.Round
	}
	return f.First
}

const (
	leastThink   = 10 * time.Millisecond // between two attempts: contention is cheap to have, and costs most of the time
	mostClients  = 5
	longestMain  = 3 * time.Second
	epoch        = 400 // rounds after which a search begins anew, so that its memory stays small
	shrinkTrials = 120
)

// space is what the rounds of a job are drawn from.
func (p *Player) space(j Job) search.Space {
	s := p.Space(j.Beyond)
	s.Clients, s.Keys, s.Longest, s.Random = mostClients, 4, longestMain, j.Random
	return s
}

// draw is the next round of a search, with pauses of leastThink at least.
func draw(s *search.Search) search.Round {
	r := s.Next()
	r.Load.Think.Mean = max(r.Load.Think.Mean, leastThink)
	return r
}

// Explore plays rounds until the job is done or ctx ends, and says what each
// showed. What is found is made small at once.
func (p *Player) Explore(ctx context.Context, j Job, tell func(RoundReport)) {
	began := time.Now()
	space := p.space(j)
	var s *search.Search
	known := map[string]int{} // rounds, by kind of finding
	cells := map[string]bool{}
	for n := 1; ctx.Err() == nil && (j.Rounds == 0 || n <= j.Rounds) && (j.Budget == 0 || time.Since(began) < j.Budget); n++ {
		if (n-1)%epoch == 0 {
			s = search.New(space, j.Seed+uint64(n-1), search.Log{})
		}
		r := draw(s)
		res := p.Play(ctx, r)
		s.Record(r, res.Outcome)
		t := reportOf(n, res)
		for _, c := range res.Outcome.Cells {
			if !cells[c] {
				cells[c] = true
				t.Cells = append(t.Cells, c)
			}
		}
		for _, f := range p.own(ctx, r, res.Outcome.Findings) {
			key := f.ID + "|" + f.Blame
			found := Found{Finding: f, After: time.Since(began), Number: n, First: r, Hash: res.Hash}
			switch known[key]++; {
			case j.Scout && known[key] <= scouted:
				t.Found = append(t.Found, found)
			case !j.Scout && known[key] == 1:
				t.Found = append(t.Found, p.shrunk(ctx, found))
			}
		}
		t.CPU = processorTime()
		tell(t)
		if j.First && len(t.Found) > 0 {
			return
		}
	}
}

func reportOf(n int, res Result) RoundReport {
	e := res.Report.Evidence
	return RoundReport{
		Round: n, Hash: res.Hash, Virtual: res.Virtual, Took: res.Took, Attempts: res.Attempts, Grants: res.Grants,
		Handovers: e.Handovers, Faulted: e.FaultedHandovers, Void: res.Outcome.Void,
	}
}

// shrunk makes the round that shows a finding small.
func (p *Player) shrunk(ctx context.Context, f Found) Found {
	s := &search.Shrinker{Executor: executor{p}, Jobs: 1, Least: 1, Plays: 1, Proofs: proofs, Trials: shrinkTrials}
	if small, ok := s.Shrink(ctx, f.First, f.Finding); ok && small.Again > 0 {
		res := p.Play(ctx, small.Round)
		f.Small, f.Hash, f.Events = &small, res.Hash, small.Round.Count()
		f.updateFrom(res.Outcome)
		if i := slices.IndexFunc(res.Report.Violations, func(v checker.Finding) bool { return v.ID == f.ID && v.Blame == f.Blame }); i >= 0 {
			f.Events += len(res.Report.Violations[i].Witness)
		}
	}
	return f
}

// proofs is how often the smallest round is played again.
const proofs = 10

// An executor lets a search play rounds.
type executor struct{ *Player }

// Play implements search.Executor.
func (e executor) Play(ctx context.Context, r search.Round) search.Outcome {
	if err := ctx.Err(); err != nil {
		return search.Outcome{Void: history.OneLine(err.Error())}
	}
	o := e.Player.Play(ctx, r).Outcome
	o.Findings = e.own(ctx, r, o.Findings)
	return o
}
