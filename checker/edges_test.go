package checker_test

import (
	"fmt"
	"testing"

	"locktorture/checker"
	"locktorture/workload/history"
)

// edges are histories at which the rules and the reference judge once differed,
// shrunk, and what is right.
var edges = []struct {
	name       string
	history    string
	violations string
}{
	{"a write behind a grant that the history tells of late", `header ttl 11ms drift 1ms
		 8ms c1 invoke acquire k owner a
		12ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 1`, `[]`},
	{"a write before a grant that the history tells of late", `header ttl 11ms drift 1ms
		 5ms c1 invoke acquire k owner a
		 6ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 1`, `[S8]`},
	{"a write within the clocks' uncertainty before its owner's grant", `header ttl 11ms epsilon 3ms
		 5ms c1 invoke acquire k owner a
		 6ms c0 invoke write k owner a value a3
		 7ms c1 ok acquire k owner a
		 8ms c0 ok write k owner a value a3 seq 1`, `[]`},
	{"a write behind a release, and a later grant that is told late", `header ttl 11ms drift 1ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 10ms
		 4ms c0 invoke release k owner a
		 8ms c1 invoke acquire k owner a
		11ms c0 ok release k owner a
		12ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 2`, `[]`},
}

// TestEdges judges each of them by the rules, by Porcupine and by the reference.
func TestEdges(t *testing.T) {
	for _, c := range edges {
		t.Run(c.name, func(t *testing.T) {
			h, err := history.Parse(c.history)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := disagreements(t, h); len(wrong) > 0 {
				t.Error(wrong)
			}
			var got []string
			for _, f := range checker.Check(t.Context(), h, checker.Options{}).Violations {
				got = append(got, f.ID)
			}
			if fmt.Sprint(got) != c.violations {
				t.Errorf("violations %v, want %s", got, c.violations)
			}
		})
	}
}
