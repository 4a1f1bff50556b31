package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl/gallery"
)

// The outcomes of a row.
const (
	CellOK      = "ok"        // the lock shows what it must, its twin none of it
	CellMissing = "MISSING"   // the lock does not show it
	CellAccused = "ACCUSED"   // its twin shows some of it
	CellVoid    = "VOID"      // a run ended without an answer
	CellUntried = "not tried" // nothing here can bring it about
)

// A GalleryRow is one recipe on trial.
type GalleryRow struct {
	Lock     string            `json:"lock"`
	Faults   string            `json:"faults,omitempty"`
	Expected []string          `json:"expected"`
	Found    []string          `json:"found"`      // everything that the lock was convicted of
	Twin     string            `json:"twin"`       // the lock that does without the flaw …
	Accused  []string          `json:"twin_found"` // … and what it shows of Expected
	Untried  map[string]string `json:"untried,omitempty"`
	Outcome  string            `json:"outcome"`
	Why      string            `json:"why,omitempty"` // of an outcome other than ok
	Command  string            `json:"command,omitempty"`
}

// NewGalleryRow states what the trial of a recipe must show.
func NewGalleryRow(r gallery.Recipe, trials map[string]Trial, seed uint64) GalleryRow {
	row := GalleryRow{Lock: r.ID, Twin: r.CorrectedBy, Expected: []string{}, Found: []string{}, Accused: []string{}}
	t, exists := trials[r.ID]
	if !exists {
		row.Outcome, row.Why = CellUntried, "no trial is laid out for it"
		return row
	}
	row.Faults, row.Untried = t.Faults, t.Untried
	for _, id := range slices.Concat(r.Expected, t.Also) {
		if t.Untried[id] == "" {
			row.Expected = append(row.Expected, id)
		}
	}
	row.Command = t.Command(r.ID, seed)
	if len(row.Expected) == 0 {
		row.Outcome, row.Why = CellUntried, "nothing that it is known for can be shown"
	}
	return row
}

// Judge compares what the lock and its twin were convicted of with what must
// be. Ids that are untried count for nothing here: see Complete.
func (row *GalleryRow) Judge(found, twin []string) {
	row.Found = found
	row.Accused = slices.DeleteFunc(slices.Clone(twin), func(id string) bool { return !slices.Contains(row.Expected, id) })
	var missing []string
	for _, id := range row.Expected {
		if !slices.Contains(found, id) {
			missing = append(missing, id)
		}
	}
	switch {
	case len(row.Accused) > 0:
		row.Outcome, row.Why = CellAccused, row.Twin+" shows "+strings.Join(row.Accused, " ")
	case len(missing) > 0:
		row.Outcome, row.Why = CellMissing, "not found: "+strings.Join(missing, " ")
	default:
		row.Outcome = CellOK
	}
}

// Complete says whether the row is as stated, with nothing left untried.
func (row *GalleryRow) Complete() bool { return row.Outcome == CellOK && len(row.Untried) == 0 }

// settings are the trial's flags by name, in the order of a command.
func (t Trial) settings(lock string, seed uint64) [][2]string {
	all := [][2]string{
		{"lock", lock}, {"faults", t.Faults}, {"ttl", cmp.Or(t.TTL, trialTTL).String()},
		{"duration", cmp.Or(t.Length, trialLength).String()},
	}
	for word := range strings.FieldsSeq(t.Load) {
		name, value, _ := strings.Cut(word, "=")
		all = append(all, [2]string{name, value})
	}
	return append(all, [2]string{"seed", strconv.FormatUint(seed, 10)})
}

// Command is what a person types to play the trial against lock.
func (t Trial) Command(lock string, seed uint64) string {
	words := []string{"torture run " + trialBase}
	for _, s := range t.settings(lock, seed) {
		word := "--" + s[0] + "=" + s[1]
		if strings.ContainsAny(word, " <>") {
			word = "'" + word + "'"
		}
		words = append(words, word)
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
