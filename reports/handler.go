package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"locktorture/reports/unit"
)

//go:embed runs.html
var indexText string

var indexTemplate = template.Must(template.New("runs").Parse(indexText))

// An indexRow is one run in the listing.
type indexRow struct {
	Name, Report              string // Report is empty when there is none
	Verdict, Class            string
	Scenario, Lock, Seed      string
	Began                     string
	Grants, Duration, Trouble string
	Evidence                  []string // hand-overs, those under a fault, take-overs, fence saves
	Live                      string   // how it goes; empty when it is over
}

// A choice is one field by which the listing is filtered.
type choice struct {
	Name, Chosen string
	Values       []string
}

// Handler shows the runs below runsDir: a listing, newest first, which the query
// filters by lock, scenario and verdict; the trend of the nights in a folder of its own,
// where there is one; and every file of the run directories, but for what a link leads
// to outside of runsDir.
func Handler(runsDir, nights string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		entries, err := List(runsDir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		choices := []choice{{Name: "lock"}, {Name: "scenario"}, {Name: "verdict"}}
		for i := range choices {
			choices[i].Chosen = r.URL.Query().Get(choices[i].Name)
		}
		var rows []indexRow
		underWay := false
		for _, e := range slices.Backward(entries) {
			if !within(folder(runsDir), e) {
				continue
			}
			if row := index(e); listed(choices, row) {
				rows, underWay = append(rows, row), underWay || row.Live != ""
			}
		}
		trend, err := trendOf(nights)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var page bytes.Buffer
		if err := indexTemplate.Execute(&page, map[string]any{"Style": template.CSS(pageStyle), "Runs": rows, "Dir": runsDir, "All": len(entries), "Choices": choices, "Trend": trend, "UnderWay": underWay}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = page.WriteTo(w) // a reader may leave
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }) // browsers ask
	mux.Handle("GET /", http.FileServerFS(folder(runsDir)))
	return mux
}

// listed adds the row's values to the choices, and reports whether it passes all of
// them.
func listed(choices []choice, row indexRow) bool {
	passes := true
	for i, value := range []string{row.Lock, row.Scenario, row.Verdict} {
		c := &choices[i]
		if at, known := slices.BinarySearch(c.Values, value); !known {
			c.Values = slices.Insert(c.Values, at, value)
		}
		passes = passes && (c.Chosen == "" || c.Chosen == value)
	}
	return passes
}

// within reports whether what is known of a run stands in files of the folder.
func within(f folder, e Entry) bool {
	for _, name := range []string{MetaFile, ResultsFile, LiveFile} {
		path := filepath.Join(e.Dir, name)
		if _, err := os.Lstat(path); err != nil {
			continue // it is not there
		}
		file, err := f.Open(filepath.ToSlash(filepath.Join(filepath.Base(e.Dir), name)))
		if err != nil {
			return false
		}
		_ = file.Close() // nothing was read
	}
	return true
}

func index(e Entry) indexRow {
	name := filepath.Base(e.Dir)
	row := indexRow{
		Name: name, Scenario: e.Meta.Scenario, Lock: e.Meta.Lock, Seed: unit.Seed(e.Meta.Seed),
		Verdict: cmp.Or(string(e.Verdict), "incomplete"), Class: Class(e.Verdict),
	}
	if !e.Meta.Began.IsZero() {
		row.Began = e.Meta.Began.UTC().Format("2006-01-02 15:04:05")
	}
	if e.Err != nil {
		row.Trouble = e.Err.Error()
	}
	if e.Live != nil {
		row.Verdict, row.Class, row.Live = "under way", "live", e.Live.Words()
		row.Grants, row.Duration = unit.Count(e.Live.Grants), unit.Span(e.Live.At)
	}
	if e.Complete() {
		row.Report = "/" + url.PathEscape(name) + "/" + ReportFile
		row.Grants, row.Duration = unit.Count(e.Grants), unit.Span(e.Duration)
		for _, n := range []int{e.Evidence.Handovers, e.Evidence.FaultedHandovers, e.Evidence.Takeovers, e.Evidence.FenceSaves} {
			row.Evidence = append(row.Evidence, unit.Count(n))
		}
	}
	return row
}
