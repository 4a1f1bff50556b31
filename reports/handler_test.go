package reports

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/reports/internal/sample"
)

// The listing names every run with its verdict, and its files are served.
func TestHandler(t *testing.T) {
	r := run(t, sample.Shape{Clients: 1, Duration: 2 * time.Second})
	dir := filepath.Join(t.TempDir(), DirName(r.Meta))
	runs, report := filepath.Dir(dir), "/"+filepath.Base(dir)+"/"+ReportFile
	if err := WriteMeta(dir, r.Meta); err != nil {
		t.Fatal(err)
	}
	if body := get(t, runs, "/", http.StatusOK); !strings.Contains(body, "incomplete") {
		t.Errorf("a run without results is not called incomplete:\n%s", body)
	}
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	if body := get(t, runs, "/", http.StatusOK); !strings.Contains(body, `href="`+report+`"`) || !strings.Contains(body, string(r.Verdict())) {
		t.Errorf("the listing lacks the report or its verdict:\n%s", body)
	}
	if body := get(t, runs, "/?lock="+r.Meta.Lock+"&verdict="+url.QueryEscape(string(r.Verdict())), http.StatusOK); !strings.Contains(body, report) || !strings.Contains(body, "2026-11-21 14:25:01") {
		t.Errorf("a run that is asked for is not listed with its time:\n%s", body)
	}
	for _, other := range []string{"lock=another", "scenario=another", "verdict=HARNESS+ERROR"} {
		if body := get(t, runs, "/?"+other, http.StatusOK); strings.Contains(body, report) || !strings.Contains(body, "None of 1 is like that") {
			t.Errorf("%s: what is not asked for is listed:\n%s", other, body)
		}
	}
	if body := get(t, runs, "/?lock=%3Cscript%3E", http.StatusOK); strings.Contains(body, "<script>") {
		t.Error("a query writes into the page")
	}
	if body := get(t, runs, report, http.StatusOK); !strings.Contains(body, "VERDICT") {
		t.Error("the report is not served")
	}
	get(t, runs, "/no-such-run", http.StatusNotFound)
	get(t, filepath.Join(runs, "no such folder"), "/", http.StatusInternalServerError)
}

func get(t *testing.T, runs, path string, want int) string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(runs, "").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if w.Code != want {
		t.Errorf("GET %s: %d, want %d", path, w.Code, want)
	}
	return w.Body.String()
}
