package hunt

import (
	"slices"
	"testing"

	"locktorture/cmd/torture/internal/catalogue"
)

// TestCommands: a lock is asked for its own commands, so that no step waits for one
// that it never sends.
func TestCommands(t *testing.T) {
	for lock, want := range map[string]struct{ sends, never []string }{
		"redlock":          {[]string{"EVALSHA"}, []string{"SETNX", "DEL", "HELLO"}},
		"setnx-expire":     {[]string{"SETNX", "PEXPIRE", "DEL"}, []string{"EVALSHA"}},
		"getset-timestamp": {[]string{"GET", "SETNX"}, []string{"EVALSHA"}},
	} {
		base, err := Base()
		if err != nil {
			t.Fatal(err)
		}
		base.Lock = lock
		l, err := catalogue.Builtin().Find(lock)
		if err != nil {
			t.Fatal(err)
		}
		got := commandsOf(t.Context(), l, base)
		for _, c := range want.sends {
			if !slices.Contains(got, c) {
				t.Errorf("%s: %v, without %s", lock, got, c)
			}
		}
		for _, c := range want.never {
			if slices.Contains(got, c) {
				t.Errorf("%s: %v, with %s", lock, got, c)
			}
		}
	}
}
