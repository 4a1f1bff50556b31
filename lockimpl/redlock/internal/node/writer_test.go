package node

import "testing"

// What a client knows of a node's record stands in for the node's own look at it only where it
// allows the token and the lease: else the node is named alone, and looks.
func TestRecordIsWrittenOnlyWhereItAllowsWhatIsAsked(t *testing.T) {
	const text = "server 100 200 5000"
	for name, c := range map[string]struct {
		known      string
		token, ttl int64
		want       string
	}{
		"allowed":                 {text, 150, 1000, text},
		"the least and the most":  {text, 101, 5000, text},
		"the highest token":       {text, 200, 5000, text},
		"at the floor":            {text, 100, 1000, "server"},
		"above the mark":          {text, 201, 1000, "server"},
		"longer than it grants":   {text, 150, 5001, "server"},
		"of another server":       {"other 100 200 5000", 150, 1000, "server"},
		"nothing is known":        {"", 150, 1000, "server"},
		"what is known is broken": {"server 100 200", 150, 1000, "server"},
	} {
		run := "server"
		w := Writer{run: &run, record: parseRecord(c.known), values: true}
		w.Record(c.token, c.ttl)
		if got := w.args[len(w.args)-1]; got != c.want || !w.named {
			t.Errorf("%s: wrote %q, want %q", name, got, c.want)
		}
	}
}
