package reports

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
)

func meta() Meta {
	return Meta{
		Version: "0.1.0", Argv: []string{"torture", "run", "standard"}, Scenario: "standard", Lock: "redlock",
		Testbed: Testbed{Name: "process", Version: "redis 7.0.15"}, Config: json.RawMessage(`{"ttl":"2s"}`),
		Seed: 0x9f3c21, SLO: []string{"acquire.p99<5s", "error<50%"}, Host: Host{CPUs: 2, OS: "linux", Arch: "amd64", Go: "go1.26"},
		Began: time.Date(2026, 11, 21, 14, 25, 1, 0, time.UTC),
	}
}

func run(t *testing.T, s sample.Shape) *Run {
	t.Helper()
	h := sample.History(s)
	r := &Run{Meta: meta(), Report: sample.Report(h)}
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, r *Run) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if keep := os.Getenv("REPORT_DIR"); keep != "" {
		dir = filepath.Join(keep, filepath.Base(t.Name()))
	}
	if err := WriteMeta(dir, r.Meta); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestWriteAndLoad(t *testing.T) {
	for name, shape := range map[string]sample.Shape{"failing": sample.Failing, "empty": {Duration: time.Second}} {
		t.Run(name, func(t *testing.T) {
			r := run(t, shape)
			dir := written(t, r)
			back, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if back.Verdict() != r.Verdict() || !reflect.DeepEqual(back.results(), mustRead(t, dir, back)) {
				t.Errorf("results differ after a round trip")
			}
			if got, want := len(back.Stories), len(r.Stories); got != want || want > 0 && !reflect.DeepEqual(back.Stories[0].Steps, r.Stories[0].Steps) {
				t.Errorf("%d stories, want %d", got, want)
			}
			page := read(t, dir, ReportFile)
			for _, want := range []string{"VERDICT " + string(r.Verdict()), "<svg", "<desc>", "What this does not prove", "torture replay"} {
				if !strings.Contains(page, want) {
					t.Errorf("%s lacks %q", ReportFile, want)
				}
			}
			for _, no := range []string{"<script", "http://", "https://", "@import", "url("} {
				if rest := strings.ReplaceAll(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), "http://www.w3.org/1999/xlink", ""); strings.Contains(rest, no) {
					t.Errorf("%s holds %q: it must need neither network nor script", ReportFile, no)
				}
			}
		})
	}
}

// mustRead reads results.json and puts beside it what it does not hold.
func mustRead(t *testing.T, dir string, r *Run) Results {
	t.Helper()
	res, err := ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	res.Measured = r.Stats
	return res
}

func TestJUnit(t *testing.T) {
	var suites junitSuites
	r := run(t, sample.Failing)
	r.Report.Inconclusive = []checker.Finding{{ID: "V2", Text: "flush had no effect"}}
	r.Meta.SLO = []string{"acquire.p99<1us"}
	if err := r.Finish(r.Stats); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(r.junit(), &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suite
	if s.Name != "standard" || s.Failures != 2 || s.Errors != 1 || s.Tests != len(s.Cases) {
		t.Errorf("suite %q: %d tests, %d failures, %d errors", s.Name, s.Tests, s.Failures, s.Errors)
	}
	if c := s.Cases[0]; c.Name != "exclusion" || c.Failure == nil || !strings.Contains(c.Failure.Text, "token 4117") {
		t.Errorf("first case %+v: want the witness as text", c)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *Run)
		want   checker.Verdict
	}{
		{"pass", func(*Run) {}, checker.Pass},
		{"slo", func(r *Run) { r.SLOs[0].OK = false }, checker.SLOBreach},
		{"interrupted", func(r *Run) { r.Interrupted = true; r.SLOs[0].OK = false }, checker.Inconclusive},
		{"harness", func(r *Run) { r.Harness = []string{"n3 did not start"}; r.Interrupted = true }, checker.HarnessError},
		{"fail", func(r *Run) { r.Report.Verdict = checker.Fail; r.Harness = []string{"x"} }, checker.Fail},
		{"nothing judged", func(r *Run) { r.Report.Verdict = "" }, checker.Inconclusive},
	} {
		r := run(t, sample.Shape{Clients: 2, Duration: 3 * time.Second})
		c.change(r)
		if got := r.Verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestIncompleteRun(t *testing.T) {
	dir := t.TempDir()
	if err := WriteMeta(filepath.Join(dir, "a"), meta()); err != nil {
		t.Fatal(err)
	}
	r, err := Load(filepath.Join(dir, "a"))
	if !errors.Is(err, ErrIncomplete) || r == nil || r.Meta.Seed != 0x9f3c21 {
		t.Errorf("Load: %+v, %v", r, err)
	}
	if _, err := Load(filepath.Join(dir, "b")); err == nil || errors.Is(err, ErrIncomplete) {
		t.Errorf("Load of nothing: %v", err)
	}
}

func TestHostileNames(t *testing.T) {
	h := sample.History(sample.Failing)
	for i := range h.Events {
		if h.Events[i].Key == "k3" {
			h.Events[i].Key = "<script>alert(1)</script>"
		}
	}
	rep := sample.Report(sample.History(sample.Failing))
	rep.Violations[0].Key = "<script>alert(1)</script>"
	rep.Violations[0].Text = "<img src=x> | `x`"
	r := &Run{Meta: meta(), Report: rep}
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	figures, errs := drawAll(r)
	page, err := r.page(figures)
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), "<img") || strings.Contains(string(page), "<script") {
		t.Error("the page takes a name for markup")
	}
	if strings.Contains(r.Summary(), "<img") {
		t.Error("the summary takes a text for markup")
	}
}
