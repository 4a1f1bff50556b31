package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/reports/internal/sample"
)

func TestRunsFolder(t *testing.T) {
	runs := t.TempDir()
	var dirs []string
	for i := range 3 {
		m := meta()
		m.Began = m.Began.Add(time.Duration(i) * time.Hour)
		dir := filepath.Join(runs, DirName(m))
		dirs = append(dirs, dir)
		if err := WriteMeta(dir, m); err != nil {
			t.Fatal(err)
		}
		if err := Link(dir); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, sample.Shape{Clients: 1, Duration: 2 * time.Second})
	if err := writeJSON(filepath.Join(dirs[1], ResultsFile), r.results()); err != nil {
		t.Fatal(err)
	}
	all, err := List(runs)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for i, e := range all {
		if e.Dir != dirs[i] || e.Complete() != (i == 1) {
			t.Errorf("run %d: %+v", i, e)
		}
	}
	for name, want := range map[string]string{
		"": dirs[2], "latest": dirs[2], "-1": dirs[2], "-3": dirs[0], dirs[1]: dirs[1], filepath.Base(dirs[0]): dirs[0],
	} {
		if got, err := Resolve(runs, name); err != nil || got != want {
			t.Errorf("Resolve(%q) = %s, %v; want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"-4", "nothing", "0"} {
		if got, err := Resolve(runs, name); err == nil {
			t.Errorf("Resolve(%q) = %s, want an error", name, got)
		}
	}
}

func TestDirName(t *testing.T) {
	m := meta()
	if got := DirName(m); got != "20261121T142501Z-standard-9f3c21" {
		t.Error(got)
	}
	m.Scenario = "../../etc/x y"
	if got := DirName(m); strings.ContainsAny(got, "/. ") {
		t.Error(got)
	}
}

func TestLinkSparesWhatIsNoLink(t *testing.T) {
	runs := t.TempDir()
	if err := os.Mkdir(filepath.Join(runs, Latest), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Link(filepath.Join(runs, "a")); err == nil {
		t.Error("a directory named latest was replaced")
	}
}

func TestSummaryStaysSmall(t *testing.T) {
	r := run(t, sample.Failing)
	r.Report.Notes = slices.Repeat([]string{strings.Repeat("ä long note ", 100)}, 2000)
	if s := r.Summary(); len(s) > maxSummary || !strings.HasSuffix(s, "…\n") {
		t.Errorf("%d bytes", len(s))
	}
	path := filepath.Join(t.TempDir(), "step.md")
	for range 2 {
		if err := AppendSummary(path, run(t, sample.Shape{Duration: time.Second})); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(read(t, path), "## VERDICT"); n != 2 {
		t.Errorf("%d summaries, want 2", n)
	}
}

func TestAnnotations(t *testing.T) {
	r := run(t, sample.Failing)
	r.Harness = []string{"a\nb", "c", "d", "e", "f"}
	all := r.Annotations()
	if len(all) != maxAnnotations {
		t.Fatalf("%d annotations", len(all))
	}
	for _, a := range all {
		if !strings.HasPrefix(a, "::error title=") || strings.Contains(a, "\n") {
			t.Errorf("%q", a)
		}
	}
}
