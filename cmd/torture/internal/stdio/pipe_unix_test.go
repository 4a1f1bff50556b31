//go:build unix

package stdio

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that somebody writes is read; one that nobody opens to write is given up.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("text"), 0) }()
	if text, err := io.ReadAll(&Pipe{Name: path, Wait: time.Hour}); string(text) != "text" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(&Pipe{Name: path, Wait: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "nobody opened the pipe") {
		t.Errorf("nobody writes: %v", err)
	}
	both, err := os.OpenFile(path, os.O_RDWR, 0) // lets the one who still waits go on
	if err != nil {
		t.Fatal(err)
	}
	both.Close()
}
