package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
)

// A run that ended before anything was measured has its artefacts all the same.
func TestWriteWithoutMeasurements(t *testing.T) {
	for name, r := range map[string]*Run{
		"a run without an operation": {Meta: meta(), Report: checker.Report{Verdict: checker.Inconclusive}}, "nothing at all": {},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := Write(dir, r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if page := read(t, filepath.Join(dir, ReportFile)); !strings.Contains(page, "INCONCLUSIVE") || !strings.Contains(page, "0 events") {
			t.Errorf("%s: the page does not say that nothing was measured", name)
		}
	}
}

// A report does not grow with the time that a run took: that of two hours is below 2 MB.
func TestReportOfTwoHoursIsSmall(t *testing.T) {
	const times = 120 // of a minute
	h := sample.History(sample.Failing)
	h.Header.TTL, h.Header.Drift = h.Header.TTL*times, h.Header.Drift*times
	for i := range h.Events {
		e := &h.Events[i]
		e.Time, e.ValidUntil = e.Time*times, e.ValidUntil*times
	}
	r := &Run{Meta: meta(), Report: sample.Report(h)}
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(written(t, r), ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(2_000_000); info.Size() > most {
		t.Errorf("%d bytes: want at most %d", info.Size(), most)
	}
	t.Logf("%d bytes of %d events", info.Size(), len(h.Events))
}

// Of nothing there are no figures: no index, no quantile and no wait of 0.
func TestPageOfNothingShowsNoFigures(t *testing.T) {
	page := read(t, written(t, run(t, sample.Shape{Duration: time.Second})), ReportFile)
	for _, none := range []string{"0.000", "max 0", "median 0", "wait 0", "wait was 0", "<td>0\u00a0ms"} {
		if strings.Contains(page, none) {
			t.Errorf("it has %q", none)
		}
	}
}
