//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestScenarioIsNoPipe: one that nobody writes would be waited for without end.
func TestScenarioIsNoPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := new(Config).ReadFile(path); err == nil || !strings.Contains(err.Error(), path+" is a pipe or a socket") {
		t.Errorf("read a pipe: %v", err)
	}
}
