package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadFileLength takes a scenario file as long as one may be, and refuses one
// that is longer without reading it to its end.
func TestReadFileLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.yaml")
	setting := "lock: redlock\n#"
	full := setting + strings.Repeat("x", maxFile-len(setting))
	for _, test := range []struct {
		name, text, want string
	}{
		{"as long as may be", full, ""},
		{"longer", full + "x", "longer than 1048576 bytes"},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := new(Config).ReadFile(path)
		if got := err != nil; got != (test.want != "") || got && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	// A file without an end.
	if _, err := os.Stat("/dev/zero"); err != nil {
		return
	}
	if err := new(Config).ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a file without an end: %v", err)
	}
}
