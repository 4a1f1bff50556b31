package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/lockimpl/internal/redistest"
)

// TestAForkIsNotLeftBehind: what a child has started ends with it, and with the last child
// of its command where it has fled into a session of its own.
func TestAForkIsNotLeftBehind(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		redistest.Need(t, "setsid")
	}
	for what, how := range map[string]string{"in the group": "", "in a session of its own": "setsid "} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			c := script(t, "", "none", `*) `+how+`sh -c 'echo $$ >"`+file+`.new"; mv "`+file+`.new" "`+file+`"; sleep 1000' >/dev/null </dev/null 2>&1 &
				while ! [ -e "`+file+`" ]; do sleep 0.01; done
				echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}" ;;`)
			c.IO = time.Minute
			start := c.Factory()
			forks, err := start(nil)
			if err != nil {
				t.Fatal(err)
			}
			other, err := start(nil)
			if err != nil {
				t.Fatal(err)
			}
			mustAcquire(t, forks, time.Second)
			if err := errors.Join(forks.Close(), other.Close()); err != nil {
				t.Error(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
				if time.Now().After(deadline) { // it was killed, or will never be
					_ = syscall.Kill(pid, syscall.SIGKILL)
					t.Fatalf("process %d is left", pid)
				}
				time.Sleep(10 * time.Millisecond)
			}
			if told := strings.Join(other.(Process).Findings(), "\n"); strings.Contains(told, strconv.Itoa(pid)) != (how != "") {
				t.Errorf("findings %q about process %d", told, pid)
			}
		})
	}
}
