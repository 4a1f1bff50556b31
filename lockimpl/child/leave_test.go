package child

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// greets is a child that greets, and then does what it likes. It leaves at nobody's word:
// the test would wait for an hour for it.
func greets(t *testing.T, then string) Command {
	t.Helper()
	needShell(t)
	return Command{
		Path: shell, IO: 50 * time.Millisecond, Grace: 500 * time.Millisecond, Start: startSoon, Leave: time.Hour,
		Args: []string{"-c", `read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; ` + then},
	}
}

// TestASilentChildIsKilledForWhatItOwes: the patience with a child that owes an answer is
// that of the answer, and not the hour that leaving may take here.
func TestASilentChildIsKilledForWhatItOwes(t *testing.T) {
	for what, then := range map[string]string{
		"sleeps":                 "sleep 1000",
		"reads and says nothing": "while :; do read -r line || sleep 1000; done",
		"ignores SIGTERM":        "trap '' TERM; while :; do sleep 1; done",
		"talks nonsense":         `while read -r line; do echo nonsense; done; sleep 1000`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := start1(t, greets(t, then), nil)
			if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, ErrSilent) {
				t.Errorf("acquire: %v, want %v", err, ErrSilent)
			}
			err := l.Close()
			if !errors.Is(err, ErrSilent) || !strings.HasPrefix(fmt.Sprint(err), "request 2 (acquire) was never answered") {
				t.Errorf("close: %v, want the request that was never answered first", err)
			}
			mustHaveEnded(t, l)
		})
	}
}

// TestADebtorMayLeaveAtTheEndOfItsInput: a child that answers nothing, and leaves when its
// input ends, is not killed.
func TestADebtorMayLeaveAtTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	c := greets(t, "while read -r line; do :; done")
	c.Grace = 5 * time.Second
	l := start1(t, c, nil)
	if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, ErrSilent) {
		t.Errorf("acquire: %v, want %v", err, ErrSilent)
	}
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if f := l.(Process).Findings(); len(f) != 1 {
		t.Errorf("findings %q, want one about the request", f)
	}
}

// TestNoPatienceBesideAKilledChild: a child that was asked nothing owes nothing, and may
// take its time to leave, unless another one of its command had to be killed.
func TestNoPatienceBesideAKilledChild(t *testing.T) {
	start := greets(t, "sleep 1000").Factory()
	var all []lockimpl.Locker
	for range 2 {
		l, err := start(nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if _, err := all[0].Acquire(t.Context(), "k", time.Second); !errors.Is(err, ErrSilent) {
		t.Errorf("acquire: %v, want %v", err, ErrSilent)
	}
	var closing sync.WaitGroup
	for _, l := range all {
		closing.Go(func() {
			if err := l.Close(); err == nil {
				t.Errorf("closed a child that does not leave")
			}
		})
	}
	closing.Wait()
	for _, l := range all {
		mustHaveEnded(t, l)
	}
}

// TestABrokenOutput: nobody waits for a child that can say nothing any more.
func TestABrokenOutput(t *testing.T) {
	l := start1(t, greets(t, `head -c 2000000 /dev/zero; sleep 1000`), nil)
	if _, err := l.Acquire(t.Context(), "k", time.Second); err == nil {
		t.Error("acquired without an answer")
	}
	if err := l.Close(); err == nil || !strings.HasPrefix(err.Error(), "its output broke off (a line of more than 1048576 bytes)") {
		t.Errorf("close: %v", err)
	}
	mustHaveEnded(t, l)
}

// TestFindingsAreBounded: a child that talks much nonsense is told about in few words.
func TestFindingsAreBounded(t *testing.T) {
	l := start1(t, script(t, "", "none", `*) i=0; while [ $i -lt 500 ]; do echo nonsense; i=$((i+1)); done
		echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}" ;;`), nil)
	if _, err := l.Acquire(t.Context(), "k", time.Second); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	f := l.(Process).Findings()
	if want := fmt.Sprintf("%d more findings about it", 500-maxFindings); len(f) != maxFindings+1 || f[maxFindings] != want {
		t.Errorf("%d findings, the last of which is %q, want %d and %q", len(f), f[len(f)-1], maxFindings+1, want)
	}
}

// mustHaveEnded looks for the child's own process, which Close reaps; those that it had
// started may still be dying.
func mustHaveEnded(t *testing.T, l lockimpl.Locker) {
	t.Helper()
	if pid := l.(Process).Pid(); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		t.Errorf("process %d is left", pid)
	}
}
