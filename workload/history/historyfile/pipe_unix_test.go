//go:build unix

package historyfile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpensFilesOnly refuses a pipe, which may never be written, also in a directory.
func TestOpensFilesOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{path, dir} {
		if _, _, err := Open(at, nil); err == nil || !strings.Contains(err.Error(), path+" is no file, but p") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
