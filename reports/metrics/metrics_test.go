package metrics

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/stats"
)

func snapshot() stats.Snapshot {
	return stats.Snapshot{
		Outcomes: stats.Outcomes{Acquired: 7, Unknown: 2}, P99: 250 * time.Millisecond, Keys: 8, Held: 3, Faults: 2,
		Active: []stats.Active{{Name: "kill", Target: "n1"}, {Name: "kill", Target: "n1"}}, Found: checker.Live{DoubleGrants: 1}, Grants: map[string]int64{"w1": 5},
	}
}

func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestExposition(t *testing.T) {
	h, err := Handler(snapshot, map[string]string{"lock": "redlock", "scenario": "standard"})
	if err != nil {
		t.Fatal(err)
	}
	text := scrape(t, h)
	for _, want := range []string{
		`torture_acquire_attempts_total{lock="redlock",outcome="acquired",scenario="standard"} 7`,
		`torture_acquire_latency_seconds{lock="redlock",quantile="0.99",scenario="standard"} 0.25`,
		`torture_fault_active{fault="kill",lock="redlock",scenario="standard",target="n1"} 1`,
		`torture_alarms_total{kind="double_grant",lock="redlock",scenario="standard"} 1`,
		`torture_worker_grants_total{lock="redlock",scenario="standard",worker="w1"} 5`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("lacks %s in\n%s", want, text)
		}
	}
}

// TestNoAlarmsBeforeAnybodyLooks: while nobody judges, there is no count of findings.
func TestNoAlarmsBeforeAnybodyLooks(t *testing.T) {
	h, err := Handler(func() stats.Snapshot { return stats.Snapshot{Later: true} }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := scrape(t, h); strings.Contains(text, "torture_alarms_total") || !strings.Contains(text, "torture_keys") {
		t.Error(text)
	}
}

func TestDashboardAsksForWhatIsThere(t *testing.T) {
	if !json.Valid(Dashboard) {
		t.Fatal("no JSON")
	}
	h, err := Handler(snapshot, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := scrape(t, h)
	offered := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+)`).FindAllStringSubmatch(text, -1) {
		offered[m[1]] = true
	}
	asked := map[string]bool{}
	for _, name := range regexp.MustCompile(`torture_\w+`).FindAllString(string(Dashboard), -1) {
		asked[name] = true
		if !offered[name] {
			t.Errorf("the dashboard asks for %s, which is not there", name)
		}
	}
	for name := range offered {
		if !asked[name] {
			t.Errorf("the dashboard leaves %s out", name)
		}
	}
}

func TestServe(t *testing.T) {
	h, err := Handler(snapshot, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, h) }()
	res, err := http.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if err != nil || !strings.Contains(string(body), "torture_keys_held 3") {
		t.Errorf("%s, %v", body, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
