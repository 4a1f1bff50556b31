package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
)

// TestFailedDiskIsTheCause: a server that ended before the history's writer failed
// ended for want of the same disk.
func TestFailedDiskIsTheCause(t *testing.T) {
	for _, failed := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EFBIG} {
		disk := fmt.Errorf("write history: %w", &os.PathError{Op: "write", Path: "history.jsonl.zst", Err: failed})
		s := &session{ended: true, mishaps: []incident{{err: errors.New("redis-server of n1 ended")}}}
		s.noteTrouble(errors.New("something else"))
		s.noteTrouble(disk)
		want := []string{disk.Error(), "redis-server of n1 ended", "something else"}
		if got := s.troubles(); !slices.Equal(got, want) {
			t.Errorf("troubles are %q, want %q", got, want)
		}
	}
}

// TestOutError: whether the folder was given wrongly (64) or the disk failed (70).
func TestOutError(t *testing.T) {
	for failed, ours := range map[error]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EIO: true,
		syscall.EROFS: false, syscall.EACCES: false, syscall.ENOTDIR: false,
	} {
		err := outError("runs", &os.PathError{Op: "mkdir", Path: "runs", Err: failed})
		if got := errors.As(err, new(StartError)); got != ours || !errors.Is(err, failed) {
			t.Errorf("%v: trouble of our own %t, want %t: %v", failed, got, ours, err)
		}
	}
}
