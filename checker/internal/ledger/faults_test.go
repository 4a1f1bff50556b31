package ledger

import (
	"testing"

	"locktorture/workload/history"
)

func TestTargetWords(t *testing.T) {
	for raw, want := range map[string]string{
		`{"clients":["c07"],"key":"k1"}`:           "c07 / key k1",
		`{"clients":[0],"nodes":["n1","n2"]}`:      "0 / n1, n2",
		`{"clients":["a","b","c","d"],"nodes":[]}`: "4 clients",
		`"n3"`:        "n3",
		`{"shard":7}`: "shard 7",
	} {
		target, err := history.ParseTarget([]byte(raw))
		if got := targetWords(target); got != want || err != nil {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}
