package history_test

import (
	"slices"
	"strings"
	"testing"

	"locktorture/workload/history"
)

// A field that is none is ignored and named, with the one that it may be meant to be.
func TestUnknownFieldsAreNamed(t *testing.T) {
	for fields, want := range map[string][]string{
		``:                            nil,
		`,"ttl_ns":5,"fenced":true`:   nil,
		`,"TTL_NS":5`:                 nil, // encoding/json takes it
		`,"fencd":true`:               {`"fencd" (did you mean "fenced"?)`},
		`,"ttl":5,"later":{"fenc":1}`: {`"later"`, `"ttl" (did you mean "ttl_ns"?)`},
		`,"a\u001b[2J":1`:             {`"a\x1b[2J"`},
		`,"a1":1,"a2":1,"a3":1,"a4":1,"a5":1,"a6":1,"a7":1`: {`"a1"`, `"a2"`, `"a3"`, `"a4"`, `"a5"`, "and 2 more"},
	} {
		r, err := history.NewReader(strings.NewReader(`{"type":"history","version":1` + fields + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.UnknownFields(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
}
