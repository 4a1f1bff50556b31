package catalogue

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	for id, want := range map[string]string{
		"single": "", "exec:" + os.Args[0] + " -x": "",
		"singel": "did you mean", "exec:": "names no command", "exec:/nonexistent/wrapper": "/nonexistent/wrapper",
	} {
		l, err := Builtin().Find(id)
		if want == "" && (err != nil || l.ID != id) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: lock %q, error %v", id, l.ID, err)
		}
	}
}

// A lock promises what its own configuration lets it keep: a waiter that nobody wakes may
// ask again after a minute where that is its patience, and a time-out of ten seconds is one
// of the undo, too.
func TestPromisesFollowTheConfiguration(t *testing.T) {
	const ttl = 2 * time.Second
	for id, want := range map[string][2]time.Duration{
		"redlock":             {time.Second, time.Second},
		"no-wake-up":          {time.Second, 500*time.Millisecond + time.Minute},
		"no-wake-up-twin":     {time.Second, 500*time.Millisecond + time.Minute},
		"validity-fresh-twin": {20 * time.Second, 10*time.Second + 500*time.Millisecond},
	} {
		l, err := Builtin().Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if undo, wake := l.UndoWithin(ttl), l.WakeWithin(ttl); undo != want[0] || wake != want[1] {
			t.Errorf("%s undoes within %v and wakes within %v, want %v and %v", id, undo, wake, want[0], want[1])
		}
	}
}
