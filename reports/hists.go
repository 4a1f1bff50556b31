package reports

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/HdrHistogram/hdrhistogram-go"

	"locktorture/reports/stats"
)

// writeHists writes every series over all phases as a percentile table
// (.hgrm, in milliseconds), and all of them per phase into one histogram log.
func writeHists(dir string, r *Run) error {
	m := r.measured()
	var log bytes.Buffer
	w := hdrhistogram.NewHistogramLogWriter(&log)
	began := r.Header.Began.UnixMilli()
	if r.Header.Began.IsZero() {
		began = 0
	}
	for _, step := range []error{w.OutputLogFormatVersion(), w.OutputStartTime(began), w.OutputLegend()} {
		if step != nil {
			return fmt.Errorf("write histograms: %w", step)
		}
	}
	for _, series := range stats.AllSeries {
		all := m.HistAll(series)
		if all == nil {
			continue
		}
		var table bytes.Buffer
		if _, err := all.PercentilesPrint(&table, 5, 1e6); err != nil {
			return fmt.Errorf("write histogram %s: %w", series, err)
		}
		if err := writeFile(filepath.Join(dir, string(series)+".hgrm"), table.Bytes()); err != nil {
			return err
		}
		for _, phase := range stats.Phases {
			h := m.Hist(series, phase)
			if h == nil {
				continue
			}
			h.SetTag(string(series) + "-" + phase.String())
			h.SetStartTimeMs(began)
			h.SetEndTimeMs(began + m.Duration.Milliseconds())
			if err := w.OutputIntervalHistogram(h); err != nil {
				return fmt.Errorf("write histogram log: %w", err)
			}
		}
	}
	return writeFile(filepath.Join(dir, "latency.hlog"), log.Bytes())
}
