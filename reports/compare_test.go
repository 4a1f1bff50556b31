package reports

import (
	"encoding/json"
	"strings"
	"testing"

	"locktorture/reports/internal/sample"
)

func TestCompare(t *testing.T) {
	a, b := run(t, sample.Passing), run(t, sample.Failing)
	a.Meta.Config = json.RawMessage(`{"ttl":2000000000,"load":{"keys":8},"bounds":{"recovery":3000000000},"seed":1}`)
	b.Meta.Config = json.RawMessage(`{"ttl":250000000,"load":{"keys":8,"skew":1.1,"wait":1000000},"seed":2}`)
	b.Meta.Seed = 7
	c := Compare(a, b)
	if got, want := strings.Join(c.Settings, "; "), "bounds.recovery: 3s against unset; load.skew: unset against 1.1; load.wait: unset against 1ms; ttl: 2s against 250ms"; got != want {
		t.Errorf("settings %q, want %q", got, want)
	}
	var out strings.Builder
	if err := c.Text(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"A  PASS", "B  FAIL", "acquire p99", "Different seeds", "violations"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	same := Compare(a, a)
	for _, r := range same.Rows {
		if r.A != r.B || r.Change != "" && r.Change != "+0 %" {
			t.Errorf("a run differs from itself: %+v", r)
		}
	}
	if empty := Compare(&Run{}, &Run{}); len(empty.Rows) == 0 {
		t.Error("nothing to compare, and no rows")
	}
}
