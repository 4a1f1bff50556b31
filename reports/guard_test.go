package reports

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/reports/internal/sample"
)

func TestHandlerFollowsNoLinkOutOfTheFolder(t *testing.T) {
	base := t.TempDir()
	runs, secret := filepath.Join(base, "runs"), filepath.Join(base, "secret")
	if err := os.MkdirAll(filepath.Join(runs, "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{secret: "hunter2", filepath.Join(runs, "one", "a.txt"): "inside", filepath.Join(base, "run.json"): `{"lock":"hunter2"}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"absolute": secret, "relative": "../secret", "up": "..", "one/deep": "../../secret", "chain": "one/deep", "one/run.json": "../../run.json", "latest": "one",
	} {
		if err := os.Symlink(to, filepath.Join(runs, link)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]int{
		"/one/a.txt": 200, "/latest/a.txt": 200, "/absolute": 404, "/relative": 404, "/up/secret": 404, "/up/": 404, "/one/deep": 404, "/chain": 404,
		"/../secret": 404, "/one/../../secret": 404, "/..%2fsecret": 404, "/one/run.json": 404,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
		Handler(runs, "").ServeHTTP(w, r)
		if code := w.Code; code != want && !(want == 404 && (code == 301 || code == 307)) {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
		if strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: shows what is outside", path)
		}
	}
	if body := get(t, runs, "/", http.StatusOK); strings.Contains(body, "hunter2") {
		t.Errorf("the listing shows what is outside:\n%s", body)
	}
}

func TestGuard(t *testing.T) {
	runs := t.TempDir()
	h := Guard(Handler(runs, ""), "10.1.2.3", "runs.example")
	for host, want := range map[string]int{
		"localhost:8099": 200, "LOCALHOST": 200, "localhost.": 200, "a.localhost:1": 200, "127.0.0.1:8099": 200, "127.1.2.3": 200, "[::1]:8099": 200,
		"10.1.2.3:8099": 200, "runs.example": 200, "evil.example": 421, "evil.example:8099": 421, "10.1.2.4": 421, "": 421, "localhost.evil.example": 421,
		"127.0.0.1.evil.example": 421, "0.0.0.0:8099": 421,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy"} {
			if w.Header().Get(name) == "" {
				t.Errorf("host %q: no %s", host, name)
			}
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/x/"+pictureFolder+"/window-1-k.html", nil)
	h.ServeHTTP(w, r)
	if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "sandbox allow-scripts;") || strings.Contains(p, "allow-same-origin") {
		t.Errorf("a page with a script may do: %s", p)
	}
}

// The policy lets a report be what it is: nothing in it needs more.
func TestReportNeedsNoMoreThanItsPolicy(t *testing.T) {
	dir := written(t, run(t, sample.Failing))
	page := read(t, dir, ReportFile)
	for _, no := range []string{"<script", "<iframe", "<object", "<embed", "<form", "<base", "<link", " onclick", " onload", "javascript:"} {
		if strings.Contains(page, no) {
			t.Errorf("%s holds %s, which %s forbids", ReportFile, no, reportPolicy)
		}
	}
}
