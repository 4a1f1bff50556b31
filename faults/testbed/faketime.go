package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"locktorture/faults/testbed/internal/proc"
)

// A fakeTime is where libfaketime lies on this machine.
type fakeTime struct {
	preload string // value of LD_PRELOAD
}

// CanFakeClock says why ProcessConfig.FakeClock cannot be had on this machine,
// or nil.
func CanFakeClock() error {
	_, err := findFakeTime()
	return err
}

// findFakeTime looks where the distributions put the library.
func findFakeTime() (*fakeTime, error) {
	for _, pattern := range []string{
		"/usr/lib/*/faketime/libfaketime.so.1", // Debian, Ubuntu
		"/usr/lib64/faketime/libfaketime.so.1", // Fedora
		"/usr/lib/faketime/libfaketime.so.1",   // Arch, Alpine
		"/usr/local/lib/faketime/libfaketime.so.1",
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return &fakeTime{preload: preloadList(found[0])}, nil
		}
	}
	return nil, fmt.Errorf("find libfaketime: install the package faketime, or do without clock jumps: %w", ErrUnsupported)
}

// preloadList puts the C library right behind libfaketime. Without it a server
// that is linked against a shared jemalloc hangs at its start: jemalloc's
// constructor asks for the time before libfaketime is ready.
func preloadList(lib string) string {
	triplet := filepath.Base(filepath.Dir(filepath.Dir(lib)))
	for _, libc := range []string{"/lib/" + triplet + "/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		if _, err := os.Stat(libc); err == nil {
			return lib + " " + libc
		}
	}
	return lib
}

// env is what a server needs to take its wall clock from the file at path. Its
// monotonic clock stays real, so that its timers go on.
func (f *fakeTime) env(path string) []string {
	return []string{
		"LD_PRELOAD=" + f.preload,
		"FAKETIME_TIMESTAMP_FILE=" + path,
		"FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1",
	}
}

// removeShared removes what libfaketime leaves in shared memory when its
// process is killed.
func removeShared(pid int) error {
	var errs []error
	for _, path := range []string{fmt.Sprintf("/dev/shm/faketime_shm_%d", pid), fmt.Sprintf("/dev/shm/sem.faketime_sem_%d", pid)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// A clockNode is a processNode whose wall clock can jump. The offset outlives
// a restart, as the clock of a machine does.
type clockNode struct {
	*processNode
	clockMu sync.Mutex
	offset  time.Duration
}

// JumpClock implements ClockJumper, and returns when the server's TIME has
// moved.
func (n *clockNode) JumpClock(ctx context.Context, d time.Duration) (string, error) {
	n.clockMu.Lock()
	defer n.clockMu.Unlock()
	if !n.Alive() {
		return "", fmt.Errorf("jump clock of %s: %w", n.name, ErrDown)
	}
	if err := writeOffset(n.clockFile, n.offset+d); err != nil {
		return "", fmt.Errorf("jump clock of %s: %w", n.name, err)
	}
	n.offset += d
	n.setAhead(n.offset)
	ctx, cancel := context.WithTimeout(ctx, proc.DeathWait)
	defer cancel()
	seen, err := n.awaitOffset(ctx)
	if err != nil {
		return "", fmt.Errorf("jump clock of %s: %w", n.name, err)
	}
	return fmt.Sprintf("TIME of %s moved by %s, now %s off", n.name, d, seen.Round(time.Millisecond)), nil
}

// writeOffset replaces the file in one step: the server may read it at any
// moment.
func writeOffset(path string, offset time.Duration) error {
	text := strconv.FormatFloat(offset.Seconds(), 'f', 6, 64) + "\n"
	if !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	if err := os.WriteFile(path+".next", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".next", path)
}

// awaitOffset polls TIME until it is n.offset away from this machine's clock,
// as exactly as the round trip can tell.
func (n *clockNode) awaitOffset(ctx context.Context) (time.Duration, error) {
	for {
		before := time.Now()
		theirs, err := serverTime(ctx, n)
		if err != nil {
			return 0, err
		}
		after := time.Now()
		if low, high := theirs.Sub(after), theirs.Sub(before); low <= n.offset && n.offset <= high {
			return high, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("TIME is %s off in place of %s: %w", theirs.Sub(after), n.offset, ctx.Err())
		case <-time.After(proc.Poll):
		}
	}
}

// serverTime returns TIME, which is cut to microseconds.
func serverTime(ctx context.Context, n Node) (time.Time, error) {
	v, err := Do(ctx, n, "TIME")
	if err != nil {
		return time.Time{}, err
	}
	parts, _ := v.([]any)
	if len(parts) != 2 {
		return time.Time{}, fmt.Errorf("TIME: unexpected reply %v", v)
	}
	sec, err1 := strconv.ParseInt(fmt.Sprint(parts[0]), 10, 64)
	usec, err2 := strconv.ParseInt(fmt.Sprint(parts[1]), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return time.Time{}, fmt.Errorf("TIME: %w", err)
	}
	return time.Unix(sec, usec*1000), nil
}
