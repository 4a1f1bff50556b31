package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A command that wrote nothing leaves nothing; what somebody wrote, and what was there
// before, stays.
func TestAFolderThatStaysEmptyIsTakenAway(t *testing.T) {
	was := t.TempDir()
	out := filepath.Join(was, "runs", "mine")
	discard, err := PrepareOut(out)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) > 0 {
		t.Fatalf("the folder is not there, or not empty: %v, %v", entries, err)
	}
	discard()
	if entries, err := os.ReadDir(was); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}

	if discard, err = PrepareOut(out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(out), "note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	discard()
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(out), "note")); err != nil {
		t.Errorf("a folder that holds something was taken away: %v", err)
	}

	if discard, err = PrepareOut(was); err != nil {
		t.Fatal(err)
	}
	discard()
	if _, err := os.Stat(was); err != nil {
		t.Errorf("a folder that was there before was taken away: %v", err)
	}
}

// Nothing is left of a folder inside of which nothing can be written.
func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	was := t.TempDir()
	file := filepath.Join(was, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareOut(filepath.Join(file, "runs")); err == nil {
		t.Error("a folder inside of a file was accepted")
	}
	if entries, err := os.ReadDir(was); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
