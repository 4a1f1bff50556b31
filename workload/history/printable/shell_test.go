package printable

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell reads back what it was given.
func TestShell(t *testing.T) {
	for word, quoted := range map[string]bool{
		"--seed=7": false, "exec:/usr/bin/python3": false, "a@b:6379/0": false, "--hold=20ms,5%": false,
		"": true, "it's": true, "$HOME": true, "a b": true, "`id`": true, "{a,b}": true, "~": true, "#": true, "a\nb": true, `\`: true, "x*": true, "[a]": true, "ü": true,
	} {
		text := Shell(word)
		if strings.HasPrefix(text, "'") != quoted {
			t.Errorf("%q becomes %s", word, text)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+text).Output(); err != nil || string(out) != word {
			t.Errorf("%q becomes %s, which a shell reads as %q, %v", word, text, out, err)
		}
	}
}
