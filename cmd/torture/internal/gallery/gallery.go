// Package gallery puts locks on trial: each is played under the load and the
// faults that show its flaw, and so is the lock that corrects it.
package gallery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/plan"
	"locktorture/reports/story"
	"locktorture/workload/history/printable"
)

// The outcomes of a row.
const (
	OK      = "ok"        // the lock shows what is expected of it, the corrected lock none of it
	Missing = "MISSING"   // the lock does not show it
	Accused = "ACCUSED"   // the corrected lock shows some of it
	Void    = "VOID"      // a run ended without an answer
	Untried = "not tried" // nothing here can bring it about
)

// A Row is one lock on trial beside its control, the lock that corrects its
// flaw.
type Row struct {
	Lock           string             `json:"lock"`
	About          string             `json:"about"`
	Category       catalogue.Category `json:"category"`
	Faults         string             `json:"faults,omitempty"`
	Load           string             `json:"load,omitempty"`
	Expected       []string           `json:"expected"`       // laid down beforehand
	Any            bool               `json:"any,omitempty"`  // one of Expected is enough
	Found          []string           `json:"found"`          // everything that is proved of the lock
	Proofs         []Proof            `json:"proofs"`         // one for each of Expected that was found
	Control        string             `json:"control"`        // the lock that corrects the flaw
	Accused        []string           `json:"control_found"`  // what the control shows of Expected
	Rounds         int                `json:"rounds"`         // how often both were played, each time on the next seed
	Runs           []string           `json:"runs,omitempty"` // run directories, the control's too
	Untried        map[string]string  `json:"untried,omitempty"`
	Outcome        string             `json:"outcome"`
	Why            string             `json:"why,omitempty"` // of an outcome other than ok
	Command        string             `json:"command,omitempty"`
	ControlCommand string             `json:"control_command,omitempty"` // plays the control
}

// A Proof is the first witness of one anomaly.
type Proof struct {
	ID         string        `json:"id"`
	Name       string        `json:"name"`
	Text       string        `json:"text"`
	Witness    []int         `json:"witness,omitempty"` // indices into the run's history
	Run        string        `json:"run"`               // its directory
	Command    string        `json:"command"`           // plays it again
	After      time.Duration `json:"after_ns"`          // from the run's beginning to the last of Witness
	Operations int           `json:"operations"`        // begun by clients until then
	Story      *story.Story  `json:"-"`                 // nil where there is no witness: an objective missed
	SVG        []byte        `json:"-"`
}

// NewRow lays down what the trial of a lock must show.
func NewRow(l catalogue.Lock, trials map[string]Trial, seed uint64) Row {
	row := Row{
		Lock: l.ID, About: l.About, Category: l.Category, Control: l.CorrectedBy, Any: l.AnyExpected,
		Expected: []string{}, Found: []string{}, Accused: []string{}, Proofs: []Proof{},
	}
	t, exists := trials[l.ID]
	if !exists {
		row.Outcome, row.Why = Untried, "no trial is laid out for it"
		return row
	}
	row.Faults, row.Load, row.Untried = t.faultsFor(l.ID), t.Load, t.Untried
	expected := t.Shows
	if expected == nil {
		expected = slices.Concat(l.Expected, t.Also)
	}
	for _, id := range expected {
		if t.Untried[id] == "" {
			row.Expected = append(row.Expected, id)
		}
	}
	row.Command, row.ControlCommand = t.Command(l.ID, seed), t.ofControl().Command(l.CorrectedBy, seed)
	if len(row.Expected) == 0 {
		row.Outcome, row.Why = Untried, "nothing that it is known for can be shown on real servers"
	}
	return row
}

// Judge compares what is proved of the lock and of its control with what is
// expected. Ids that are untried count for nothing.
func (row *Row) Judge(found, control []string) {
	row.Found = found
	row.Accused = slices.DeleteFunc(slices.Clone(control), func(id string) bool { return !slices.Contains(row.Expected, id) })
	missing := slices.DeleteFunc(slices.Clone(row.Expected), func(id string) bool { return slices.Contains(found, id) })
	if row.Any && len(missing) < len(row.Expected) {
		missing = nil
	}
	switch {
	case len(row.Accused) > 0:
		row.Outcome, row.Why = Accused, row.Control+" shows "+strings.Join(row.Accused, " ")
	case len(missing) > 0:
		row.Outcome, row.Why = Missing, "not found: "+strings.Join(missing, " ")
	default:
		row.Outcome, row.Why = OK, ""
	}
}

// AsExpected says whether the row came out as expected; that something cannot be
// tried is part of the expectation.
func (row *Row) AsExpected() bool {
	return row.Outcome == OK || row.Outcome == Untried && len(row.Untried) > 0
}

// locks are those of the trials.
var locks = catalogue.Builtin()

// faultsFor are the faults that lock is played under: those of clocks only when it
// reads them.
func (t Trial) faultsFor(lock string) string {
	switch {
	case t.Clocks == "" || locks[lock].WithClock == nil:
		return t.Faults
	case t.Faults == "none":
		return t.Clocks
	}
	return t.Faults + "," + t.Clocks
}

// FaultNames are the trial's faults, each once, without how they are aimed.
func (t Trial) FaultNames() []string {
	specs, err := plan.Parse(strings.Trim(strings.TrimPrefix(t.Faults, "none")+","+t.Clocks, ","))
	if err != nil {
		return []string{t.Faults}
	}
	var names []string
	for _, s := range specs {
		if !slices.Contains(names, s.Fault) {
			names = append(names, s.Fault)
		}
	}
	return names
}

// settings are the trial's flags by name, in the order of a command.
func (t Trial) settings(lock string, seed uint64) [][2]string {
	all := [][2]string{
		{"lock", lock}, {"faults", t.faultsFor(lock)}, {"ttl", cmp.Or(t.TTL, trialTTL).String()},
		{"duration", cmp.Or(t.Length, TrialLength).String()},
	}
	for word := range strings.FieldsSeq(t.Load) {
		name, value, _ := strings.Cut(word, "=")
		all = append(all, [2]string{name, value})
	}
	return append(all, [2]string{"seed", strconv.FormatUint(seed, 10)})
}

// ofControl is the trial as the control is put to it.
func (t Trial) ofControl() Trial {
	if t.Control != nil {
		return *t.Control
	}
	return t
}

// Command is what a person types to play the trial against lock.
func (t Trial) Command(lock string, seed uint64) string {
	words := []string{"torture run " + trialBase}
	for _, s := range t.settings(lock, seed) {
		words = append(words, printable.Shell("--"+s[0]+"="+s[1]))
	}
	return strings.Join(words, " ")
}

// trialBase is the built-in scenario over which trials are laid.
const trialBase = "calm"

// Config is the scenario that Command plays.
func (t Trial) Config(lock string, seed uint64) (config.Config, error) {
	c, err := config.Base(trialBase)
	if err != nil {
		return c, err
	}
	for _, s := range t.settings(lock, seed) {
		at := slices.IndexFunc(config.Settings, func(k config.Setting) bool { return k.Name == s[0] })
		if at < 0 {
			return c, fmt.Errorf("trial of %s: setting %q does not exist", lock, s[0])
		}
		if err := config.Settings[at].Set(&c, s[1]); err != nil {
			return c, fmt.Errorf("trial of %s: %s: %w", lock, s[0], err)
		}
	}
	return c, c.Validate()
}
