//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestHangup ends a run as an interrupt does when its terminal goes away, unless
// the run was started to outlive it (nohup).
func TestHangup(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // also where this test itself runs under nohup
	defer signal.Stop(heard)
	ctx, stop := interruptible()
	defer stop()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()

	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	_, stop = interruptible()
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("a run under nohup hears the hang-up")
	}
}
