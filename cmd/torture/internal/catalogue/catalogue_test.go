package catalogue

import (
	"os"
	"strings"
	"testing"
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
