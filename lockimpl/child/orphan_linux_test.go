package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asHarness makes the test binary a harness that starts a child and waits to be
// killed.
const asHarness = "LOCKTORTURE_TEST_HARNESS"

// TestChildDiesWithHarness kills a harness outright whose child neither reads
// its input nor ends by itself.
func TestChildDiesWithHarness(t *testing.T) {
	if os.Getenv(asHarness) == "1" {
		l, err := (Command{Path: shell, Args: []string{"-c",
			`read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; exec sleep 1000`}}).Factory()(nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("child %d\n", l.(*Locker).pid)
		select {}
	}
	needShell(t)
	harness := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildDiesWithHarness$")
	harness.Env = append(os.Environ(), asHarness+"=1")
	out, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		_, _ = fmt.Sscanf(strings.TrimSpace(lines.Text()), "child %d", &pid)
	}
	if pid == 0 {
		t.Fatal("the harness started no child")
	}
	if err := harness.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = harness.Wait()
	for deadline := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("child %d has outlived its harness", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zombie says whether the process is dead and merely not reaped yet.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}
