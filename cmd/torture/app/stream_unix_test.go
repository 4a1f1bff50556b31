//go:build unix

package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNamedPipe reads a pipe as standard input is read: once, and no longer
// than --check-timeout, even when nobody ever opens it to write.
func TestNamedPipe(t *testing.T) {
	text, err := os.ReadFile("../../../checker/testdata/example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history.pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := newCheck()
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(args)
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, text, 0) }()
	if out, err := check("--explain", "M-1", path); !strings.Contains(out, "VERDICT FAIL exit 1") || !strings.Contains(out, "in short") {
		t.Errorf("judged %q, %v", out, err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	out, err := check("--check-timeout", "100ms", path)
	if err == nil || !strings.Contains(err.Error(), path+": no header came within 100ms") {
		t.Errorf("judged %q, %v", out, err)
	}
	both, err := os.OpenFile(path, os.O_RDWR, 0) // lets the one who still waits go on
	if err != nil {
		t.Fatal(err)
	}
	both.Close()
}
