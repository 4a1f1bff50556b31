package gallery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
	"locktorture/reports/slo"
)

// attempts is how often a run is played that its judge cannot judge by time,
// because this machine was too busy.
const attempts = 4

// A Player plays one run among others; again, when it was played before and the
// machine was too busy to judge it by time.
type Player func(ctx context.Context, c config.Config, again bool) (*reports.Run, error)

// Rounds is how often a row is played at most: what a trial does not show on
// one seed it may show on the next, and its control is played as often.
const Rounds = 3

// Play plays t against row's lock and against its control, on seed and, while
// something is missing, on the seeds that follow, and judges the row. Whatever
// goes wrong is in the row.
func (row *Row) Play(ctx context.Context, t Trial, seed uint64, play Player) {
	var found, control []string
	for row.Rounds < Rounds {
		row.Rounds++
		var convictions [2]conviction
		var all sync.WaitGroup
		for i, lock := range []string{row.Lock, row.Control} {
			all.Go(func() { convictions[i] = row.convict(ctx, t, lock, seed, play) })
		}
		all.Wait()
		for _, s := range convictions {
			row.Runs = append(row.Runs, s.runs...)
			if s.err != nil {
				row.Outcome, row.Why = Void, fmt.Sprintf("%s: %v", s.lock, s.err)
				return
			}
		}
		row.Proofs = addProofs(row.Proofs, convictions[0].proofs)
		found, control = merge(found, convictions[0].ids), merge(control, convictions[1].ids)
		if row.Judge(found, control); row.Outcome != Missing {
			return
		}
		seed++
	}
}

// addProofs adds to proofs those of more whose anomalies it has no proof of.
func addProofs(proofs, more []Proof) []Proof {
	return append(proofs, slices.DeleteFunc(more, func(p Proof) bool {
		return slices.ContainsFunc(proofs, func(q Proof) bool { return p.ID == q.ID })
	})...)
}

func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// A conviction is what one lock was convicted of.
type conviction struct {
	lock   string
	ids    []string
	proofs []Proof
	runs   []string
	err    error
}

// convict plays the trial against lock until its run can be judged. What an
// earlier run proved stands, whatever else its judge had to leave open.
func (row *Row) convict(ctx context.Context, t Trial, lock string, seed uint64, play Player) (s conviction) {
	s.lock = lock
	if lock == row.Control {
		t = t.ofControl()
	}
	c, err := t.Config(lock, seed)
	if err != nil {
		s.err = err
		return s
	}
	why := ""
	for try := range attempts {
		r, err := play(ctx, c, try > 0)
		if s.err = noAnswer(r, err); s.err != nil {
			return s
		}
		if s.err = s.add(r, row.Expected, t.Command(lock, seed)); s.err != nil {
			return s
		}
		why = notJudged(r)
		if why == "" && lock == row.Lock && try < attempts-1 {
			why = row.undecided(r, s.ids)
		}
		if why == "" {
			s.err = tookEffect(r)
			return s
		}
	}
	s.err = fmt.Errorf("%d runs could not be judged: %s", attempts, why)
	return s
}

// add takes in what r proves, with proofs of the expected ids.
func (s *conviction) add(r *reports.Run, expected []string, command string) error {
	s.runs = append(s.runs, r.Dir)
	s.ids = merge(s.ids, Proved(r))
	proofs, err := ProofsOf(r, expected, command)
	s.proofs = addProofs(s.proofs, proofs)
	return err
}

var errInterrupted = errors.New("interrupted")

// noAnswer is why a run says nothing.
func noAnswer(r *reports.Run, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	case len(r.Troubles()) > 0:
		return errors.New(r.Troubles()[0])
	case r.Interrupted:
		return errInterrupted
	}
	return nil
}

// notJudged says why r's judge had to leave a rule out, or "".
func notJudged(r *reports.Run) string {
	for _, f := range r.Report.Inconclusive {
		if slices.Contains([]string{"V4", "V5", "V7"}, f.ID) {
			return f.Text
		}
	}
	return ""
}

// undecided says which of the row's anomalies r's judge saw and no run has proved
// yet, as where the machine was too busy to tell when, or "".
func (row *Row) undecided(r *reports.Run, proved []string) string {
	for _, f := range r.Report.Suspicious {
		if slices.Contains(row.Expected, f.ID) && !slices.Contains(proved, f.ID) {
			return f.Text
		}
	}
	return ""
}

// tookEffect demands that some fault of r had an effect, if there were any at all.
func tookEffect(r *reports.Run) error {
	if r.Meta.Faults == 0 {
		return nil
	}
	for _, f := range r.Stats.Faults {
		if f.TookEffect {
			return nil
		}
	}
	return errors.New("no fault had any effect")
}

// Proved returns the ids of what r proves, sorted: violations, breaches, and
// Missed for an objective.
func Proved(r *reports.Run) []string {
	ids := []string{}
	for _, f := range slices.Concat(r.Report.Violations, r.Report.Breaches) {
		ids = append(ids, f.ID)
	}
	if !slo.Met(r.SLOs) {
		ids = append(ids, Missed)
	}
	slices.SortFunc(ids, strings.Compare)
	return slices.Compact(ids)
}
