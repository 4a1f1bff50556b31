package reports

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
	"locktorture/reports/stats"
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

// A run that is under way is listed with how it goes, and the page asks again by itself;
// one that has said nothing for long is incomplete.
func TestHandlerShowsHowARunGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, sample.Shape{Clients: 1, Duration: 2 * time.Second})
		dir := filepath.Join(t.TempDir(), DirName(r.Meta))
		if err := WriteMeta(dir, r.Meta); err != nil {
			t.Fatal(err)
		}
		snapshot := func() stats.Snapshot {
			return stats.Snapshot{
				At: 23 * time.Second, Outcomes: stats.Outcomes{Acquired: 1412}, P99: 12 * time.Millisecond, Faults: 3,
				Active: []stats.Active{{Name: "kill", Target: "n2"}}, Found: checker.Live{Violations: 2, FirstHit: "S1 <on> hot"},
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go WriteLive(ctx, dir, time.Minute, snapshot)
		time.Sleep(liveEvery + time.Millisecond)
		body := get(t, filepath.Dir(dir), "/", http.StatusOK)
		for _, want := range []string{"under way", "23.0 s of 60.0 s", "1 412 grants", "acquire p99 12", "in force: kill n2", "2 violations, the first: S1 &lt;on&gt; hot", `http-equiv="refresh"`} {
			if !strings.Contains(strings.ReplaceAll(body, "\u202f", " "), want) {
				t.Errorf("the listing does not say %q:\n%s", want, body)
			}
		}
		live, err := os.ReadFile(filepath.Join(dir, LiveFile))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		if _, err := os.Stat(filepath.Join(dir, LiveFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s outlives the run: %v", LiveFile, err)
		}

		if err := os.WriteFile(filepath.Join(dir, LiveFile), live, 0o600); err != nil { // its process was killed
			t.Fatal(err)
		}
		time.Sleep(liveFor + time.Second)
		if body := get(t, filepath.Dir(dir), "/", http.StatusOK); strings.Contains(body, "under way") || strings.Contains(body, "refresh") || !strings.Contains(body, "incomplete") {
			t.Errorf("a run that has long said nothing is under way:\n%s", body)
		}
	})
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
