package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
	"locktorture/reports/slo"
)

// attempts is how often a run is played that its judge cannot judge by time,
// because this machine was too busy.
const attempts = 3

// A Player plays one run.
type Player func(ctx context.Context, c config.Config) (*reports.Run, error)

// Exhibit plays t against row's lock and against its twin, and judges the row.
// Whatever goes wrong is in the row.
func (row *GalleryRow) Exhibit(ctx context.Context, t Trial, seed uint64, play Player) {
	var found [2][]string
	for i, lock := range []string{row.Lock, row.Twin} {
		c, err := t.Config(lock, seed)
		if err == nil {
			found[i], err = convict(ctx, c, play)
		}
		if err != nil {
			row.Outcome, row.Why = CellVoid, fmt.Sprintf("%s: %v", lock, err)
			return
		}
	}
	row.Judge(found[0], found[1])
}

// convict plays c until its run can be judged, and returns what it proves.
func convict(ctx context.Context, c config.Config, play Player) ([]string, error) {
	why := ""
	for range attempts {
		r, err := play(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case len(r.Harness) > 0:
			return nil, errors.New(r.Harness[0])
		case r.Interrupted:
			return nil, errors.New("interrupted")
		}
		if why = voided(r); why == "" {
			return Convicted(r), bit(r)
		}
	}
	return nil, fmt.Errorf("%d runs could not be judged: %s", attempts, why)
}

// voided says why r's judge had to leave a rule out, or "".
func voided(r *reports.Run) string {
	for _, f := range r.Report.Inconclusive {
		if slices.Contains([]string{"V4", "V5", "V7"}, f.ID) {
			return f.Text
		}
	}
	return ""
}

// bit demands that some fault of r had an effect, if there were any at all.
func bit(r *reports.Run) error {
	if r.Meta.Faults == 0 {
		return nil
	}
	for _, f := range r.Stats.Faults {
		if f.Bit {
			return nil
		}
	}
	return errors.New("no fault had any effect")
}

// Convicted returns the ids of what r proves, sorted: violations, breaches, and
// Missed for an objective.
func Convicted(r *reports.Run) []string {
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
