package reports

import (
	"path/filepath"
	"strings"
	"testing"

	"locktorture/checker"
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
