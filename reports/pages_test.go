package reports

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
	"locktorture/reports/pagetest"
)

// Every outcome has a page that reads well, and so has the listing of them all.
func TestPagesInABrowser(t *testing.T) {
	runs, nights := t.TempDir(), t.TempDir()
	for i := range 3 {
		n := &Night{Schema: Schema, Began: meta().Began.Add(time.Duration(24*i) * time.Hour), Verdict: checker.Fail,
			Cells: []NightCell{cell("redlock", "standard", UnderTest, checker.Pass), cell("mine", "standard", UnderTest, checker.Fail, "S1")}}
		if err := AppendTrend(nights, n); err != nil {
			t.Fatal(err)
		}
	}
	var pages []pagetest.Page
	for i, c := range []struct {
		name   string
		shape  sample.Shape
		change func(r *Run)
	}{
		{"pass", sample.Passing, func(r *Run) { r.Report.Verdict = checker.Pass }},
		{"fail", sample.Failing, func(*Run) {}},
		{"inconclusive", sample.Shape{Clients: 2, Duration: 3 * time.Second}, func(r *Run) {
			r.Interrupted = true
			r.Report.Inconclusive = []checker.Finding{{ID: "V2", Text: "the fault flush did not show on n1, n2 and n3"}}
		}},
		{"empty", sample.Shape{Duration: time.Second}, func(*Run) {}},
		{"harness error", sample.Shape{Clients: 1, Duration: 2 * time.Second}, func(r *Run) {
			r.Harness = []string{"start n3: exec: \"redis-server\": a long reason that says which file was not there: /a/path/without/any/place/to/break/it/at/all/that/goes/on/and/on/and/on"}
		}},
	} {
		r := run(t, c.shape)
		c.change(r)
		r.Meta.Began = r.Meta.Began.Add(time.Duration(i) * time.Hour)
		dir := filepath.Join(runs, DirName(r.Meta))
		if err := WriteMeta(dir, r.Meta); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, r); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, pagetest.File(t, c.name, filepath.Join(dir, ReportFile)))
	}
	pages = append(pages, compared(t))
	served := httptest.NewServer(Handler(runs, nights))
	defer served.Close()
	pagetest.Check(t, append(pages, pagetest.Page{Name: "serve", URL: served.URL + "/"})...)
}

// compared is the page of two runs side by side.
func compared(t *testing.T) pagetest.Page {
	a, b := run(t, sample.Passing), run(t, sample.Failing)
	a.Report.Verdict, b.Meta.Seed = checker.Pass, 7
	b.Meta.Config = []byte(`{"ttl":250000000,"load":{"keys":8,"skew":1.1}}`)
	var page bytes.Buffer
	if err := Compare(a, b).Page(&page); err != nil {
		t.Fatal(err)
	}
	return pagetest.HTML(t, "compare runs", page.Bytes())
}
