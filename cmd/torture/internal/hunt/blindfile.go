package hunt

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"locktorture/reports"
	"locktorture/workload/history/printable"
)

// BlindFile, in its directory, is what a blind selftest knows.
const BlindFile = "blind.json"

// A BlindRecord is the settings of a blind selftest and the rows that are done: what another
// session needs to resume it.
type BlindRecord struct {
	Schema  int           `json:"schema"` // 1
	Version string        `json:"version"`
	Commit  string        `json:"commit,omitempty"`
	Began   time.Time     `json:"began"`
	Host    string        `json:"host,omitempty"`
	Budget  time.Duration `json:"budget_ns"`
	Plain   time.Duration `json:"plain_ns"`
	Seed    uint64        `json:"seed"`
	Only    []string      `json:"only,omitempty"`
	BlindSums
	Rows []BlindRow `json:"rows"`
}

// Save writes the record into dir, whole or not at all.
func (r *BlindRecord) Save(dir string) error {
	r.BlindSums = SumBlind(r.Rows)
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", BlindFile, err)
	}
	return reports.WriteFile(filepath.Join(dir, BlindFile), append(printable.JSON(raw), '\n'))
}

// LoadBlind reads the record in dir.
func LoadBlind(dir string) (*BlindRecord, error) {
	raw, err := os.ReadFile(filepath.Join(dir, BlindFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no blind selftest: it has no %s", dir, BlindFile)
	}
	if err != nil {
		return nil, err
	}
	var r BlindRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, BlindFile), err)
	}
	if r.Schema != 1 {
		return nil, fmt.Errorf("%s has schema %d: this version reads schema 1", filepath.Join(dir, BlindFile), r.Schema)
	}
	return &r, nil
}

// AppendTrend appends the record to a file, one line each, for comparisons with later ones.
func (r *BlindRecord) AppendTrend(path string) error {
	short := *r
	short.Rows = append([]BlindRow(nil), r.Rows...)
	for i := range short.Rows {
		short.Rows[i].Run, short.Rows[i].Command = "", ""
	}
	short.BlindSums = SumBlind(short.Rows)
	line, err := json.Marshal(short)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the trend: %w", err)
	}
	// A line that a crash cut short must not swallow this one: it may lack its end.
	_, err = fmt.Fprintf(f, "\n%s\n", printable.JSON(line))
	return errors.Join(err, f.Close())
}
