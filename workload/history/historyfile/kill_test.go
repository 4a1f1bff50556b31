package historyfile

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const childVariable = "HISTORYFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		recordForever(path)
	}
	os.Exit(m.Run())
}

// recordForever writes 100 events and then waits to be killed.
func recordForever(path string) {
	f, err := Create(path, testHeader)
	if err != nil {
		panic(err)
	}
	for i := range 100 {
		e := event(i)
		f.Event(&e)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3) // the parent died first
}

// TestSurvivesKill kills a process that records, and reads what it left.
func TestSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+path)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 400 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the child wrote no frame of events")
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended with %v, want killed", err)
	}
	if events, truncated := readFile(t, path); len(events) != 100 || !truncated {
		t.Errorf("the file has %d events, truncated %v; want 100, truncated", len(events), truncated)
	}
}
