package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
)

// A StartError is trouble of the harness before a run began: a server that does
// not start, a full disk. What the user chose wrongly is any other error.
type StartError struct{ err error }

func (e StartError) Error() string { return e.err.Error() }

// Unwrap returns what the trouble was.
func (e StartError) Unwrap() error { return e.err }

// startError tells servers that were badly chosen from trouble of our own.
func startError(c config.Config, err error) error {
	switch {
	case errors.As(err, new(server.Error)):
		return StartError{wiring.UnfitError{Err: err}}
	case c.Testbed == testbed.KindExternal:
		return wiring.UnfitError{Err: err}
	case errors.Is(err, testbed.ErrUnsupported):
		return fmt.Errorf("--testbed: %w", err)
	}
	return StartError{err}
}

// PrepareOut makes the folder in which results are to be, and sees whether
// something can be written there. The undo, to be called at the end, takes the folders
// away again that it made and that are still empty: a command that wrote nothing leaves
// nothing.
func PrepareOut(out string) (undo func(), err error) {
	var made []string // the innermost first
	for dir := filepath.Clean(out); !exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			_ = os.Remove(dir) // one that holds something stays
		}
	}
	if err := probe(out); err != nil {
		undo()
		return nil, outError(out, err)
	}
	return undo, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// probe makes a folder, and something in it.
func probe(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	inside, err := os.MkdirTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return os.Remove(inside)
}

// diskErrors are what a disk says that takes nothing more, or nothing of this size; a
// file system that meets an error of its disk may turn read-only while it is in use.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EFBIG, syscall.ENODEV, syscall.ENXIO, syscall.ESTALE}

// diskFailed says whether err is the disk's doing, not that of who wrote there.
func diskFailed(err error) bool {
	return slices.ContainsFunc(diskErrors, func(disk error) bool { return errors.Is(err, disk) })
}

// outError says of a folder that it was given wrongly: one that is not there, or may
// not be written. A disk that fails is trouble of our own.
func outError(out string, err error) error {
	if diskFailed(err) && !errors.Is(err, syscall.EROFS) {
		return StartError{err}
	}
	return fmt.Errorf("--out is %q: give a folder that can be written: %w", out, err)
}
