package workload_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"locktorture/workload"
)

// crashHere has this program crash in a goroutine of its own.
const crashHere = "LOCKTORTURE_TEST_CRASH"

// A lockWithTasks works in a goroutine that it starts itself.
type lockWithTasks struct{ keys map[string]int }

func (l *lockWithTasks) start() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.renew("k")
	}()
	<-done
}

func (l *lockWithTasks) renew(key string) { l.keys[key]++ }

// TestReadCrash has a lock's own goroutine end a program for real.
func TestReadCrash(t *testing.T) {
	if os.Getenv(crashHere) != "" {
		(&lockWithTasks{}).start()
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReadCrash$")
	cmd.Env = append(os.Environ(), crashHere+"=1")
	said, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it did not crash: %s", said)
	}
	e, ok := workload.ReadCrash(string(said))
	if !ok || !e.Lock || !strings.Contains(e.At, "workload_test.(*lockWithTasks).renew (crash_report_test.go:") {
		t.Fatalf("%v %+v\n%s", ok, e, said)
	}
	if want := "assignment to entry in nil map"; e.Value != want {
		t.Errorf("it says %q, want %q", e.Value, want)
	}
	if _, ok := workload.ReadCrash("all is well\n"); ok {
		t.Error("that was no crash")
	}
}
