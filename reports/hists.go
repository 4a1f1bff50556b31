package reports

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/HdrHistogram/hdrhistogram-go"

	"locktorture/reports/stats"
)

// writeHists writes every series over all phases as a percentile table
// (.hgrm, in milliseconds), and all of them per phase into one histogram log.
func writeHists(dir string, r *Run) error {
	for _, series := range stats.AllSeries {
		all := r.measured().HistAll(series)
		if all == nil {
			continue
		}
		var table bytes.Buffer
		if _, err := all.PercentilesPrint(&table, 5, 1e6); err != nil {
			return fmt.Errorf("write histogram %s: %w", series, err)
		}
		if err := WriteFile(filepath.Join(dir, string(series)+".hgrm"), table.Bytes()); err != nil {
			return err
		}
	}
	log, err := r.histLog()
	if err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return WriteFile(filepath.Join(dir, "latency.hlog"), log)
}

// histLog is the main phase as one interval, with a histogram for each series
// and phase, told apart by their tags.
func (r *Run) histLog() ([]byte, error) {
	var log bytes.Buffer
	m, began := r.measured(), int64(0)
	if !r.Header.Began.IsZero() {
		began = r.Header.Began.UnixMilli()
	}
	w := hdrhistogram.NewHistogramLogWriter(&log)
	errs := []error{w.OutputLogFormatVersion(), w.OutputStartTime(began), w.OutputLegend()}
	for _, series := range stats.AllSeries {
		for _, phase := range stats.Phases {
			h := m.Hist(series, phase)
			if h == nil {
				continue
			}
			h.SetTag(string(series) + "-" + phase.String())
			h.SetStartTimeMs(began + m.From.Milliseconds())
			h.SetEndTimeMs(began + m.To.Milliseconds())
			errs = append(errs, w.OutputIntervalHistogram(h))
		}
	}
	return log.Bytes(), errors.Join(errs...)
}
