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
	"strings"

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
	Grants, Duration, Trouble string
}

// Handler shows the runs below runsDir: a listing, newest first, and every
// file of their directories, but for what a link leads to outside of runsDir.
func Handler(runsDir string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		entries, err := List(runsDir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var rows []indexRow
		for _, e := range slices.Backward(entries) {
			if within(folder(runsDir), e) {
				rows = append(rows, index(e))
			}
		}
		var page bytes.Buffer
		if err := indexTemplate.Execute(&page, map[string]any{"Style": template.CSS(pageStyle), "Runs": rows, "Dir": runsDir}); err != nil {
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

// within reports whether what is known of a run stands in files of the folder.
func within(f folder, e Entry) bool {
	for _, name := range []string{MetaFile, ResultsFile} {
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
		Verdict: cmp.Or(string(e.Verdict), "incomplete"), Class: strings.ToLower(string(e.Verdict)),
	}
	if e.Err != nil {
		row.Trouble = e.Err.Error()
	}
	if e.Complete() {
		row.Report = "/" + url.PathEscape(name) + "/" + ReportFile
		row.Grants, row.Duration = unit.Count(e.Grants), unit.Span(e.Duration)
	}
	return row
}
