package history

import (
	"reflect"
	"testing"
)

// target reads a target that is known to be one.
func target(text string) *Target {
	t, err := ParseTarget([]byte(text))
	if err != nil {
		panic(err)
	}
	return t
}

// TestTarget: what a file says of a target is written again as it stands, and the
// names in it are found whatever their form.
func TestTarget(t *testing.T) {
	for text, want := range map[string]Target{
		`{"clients":["c01"],"nodes":["n1","n2"],"key":"k","direction":"request"}`: {Clients: []string{"c01"}, Nodes: []string{"n1", "n2"}, Key: "k", Direction: "request"},
		`{"clients":[0,1]}`:         {Clients: []string{"0", "1"}},
		`{"client":"c1","node":3}`:  {Clients: []string{"c1"}, Nodes: []string{"3"}},
		`{"shard":7}`:               {},
		`"n3"`:                      {},
		`{}`:                        {},
		`{"key":{"a":1},"nodes":7}`: {Nodes: []string{"7"}},
	} {
		got, err := ParseTarget([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.source = text
		if !reflect.DeepEqual(*got, want) || got.String() != text {
			t.Errorf("%s: read %+v, written %s", text, got, got)
		}
	}
	if got := (&Target{Clients: []string{"c01"}, Key: "k"}).String(); got != `{"clients":["c01"],"key":"k"}` {
		t.Errorf("made: %s", got)
	}
	if named := NamedTarget(`a "b"`); named.Name() != `a "b"` || named.String() != `"a \"b\""` {
		t.Errorf("named %q, %s", named.Name(), named)
	}
	if none := (*Target)(nil); none.String() != "" || none.Name() != "" {
		t.Errorf("none: %s", none)
	}
	for _, text := range []string{``, `7`, `[1]`, `null`, `{"a":`, "\"\xff\"", "{\"a\":\"\xff\"}"} {
		if got, err := ParseTarget([]byte(text)); err == nil {
			t.Errorf("%q is taken for the target %+v", text, got)
		}
	}
}
