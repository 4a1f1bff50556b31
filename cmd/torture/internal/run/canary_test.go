package run

import (
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

// TestCanaryVerdict shows that only a proved double grant counts as caught, and
// that a run whose canary was missed is inconclusive.
func TestCanaryVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		second string // when the second client is granted the key
		caught bool
		word   string
		want   checker.Verdict
	}{
		{"granted twice", "3ms", true, "caught", checker.Pass},
		{"granted in turn", "21ms", false, "missed", checker.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := history.Parse(`header ttl 10ms
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms b invoke acquire k
				` + c.second + ` b ok acquire k until 30ms
				40ms nemesis ok phase end`)
			if err != nil {
				t.Fatal(err)
			}
			got := canaryVerdict(checker.Check(t.Context(), h, checker.Options{}), time.Second)
			if got.Caught != c.caught {
				t.Errorf("caught %t, want %t", got.Caught, c.caught)
			}
			run, err := history.Parse(`header ttl 10ms
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				40ms nemesis ok phase end`)
			if err != nil {
				t.Fatal(err)
			}
			run.Events[len(run.Events)-1].Note = "canary " + c.word + ": " + got.String()
			if r := checker.Check(t.Context(), run, checker.Options{}); r.Verdict != c.want {
				t.Errorf("%s, want %s: %v", r.Verdict, c.want, r.Inconclusive)
			}
		})
	}
}
