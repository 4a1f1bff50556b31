package testbed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locktorture/faults/testbed/internal/proc"
)

// bedDirVariable makes the test binary a harness that starts a testbed there
// and waits to be killed; a folder called container makes that one of
// containers.
const bedDirVariable = "LOCKTORTURE_TEST_BED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(bedDirVariable); dir != "" {
		os.Exit(waitToBeKilled(dir))
	}
	goleak.VerifyTestMain(m, // testcontainers keeps a connection to the engine
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func waitToBeKilled(dir string) int {
	b, _, err := Start(context.Background(), Config{Kind: kindOf(dir), Nodes: 3, Dir: dir, FakeClock: CanFakeClock() == nil})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := b.Nodes()[1].(Pauser).Pause(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed: the test never closes it
	return 1
}

func kindOf(dir string) string {
	if filepath.Base(dir) == KindContainer {
		return KindContainer
	}
	return KindProcess
}

func TestNoServerOutlivesAKilledHarness(t *testing.T) {
	_, err := findServer("")
	require(t, err)
	dir := t.TempDir()
	_, kill := startHarness(t, dir)
	pids := pidsIn(t, dir)
	kill()
	if _, err := Sweep(t.Context(), dir); err != nil {
		t.Error(err)
	}
	awaitGone(t, pids)
	for _, pid := range pids {
		if left := sharedMemory(t, pid); len(left) > 0 {
			t.Errorf("left in shared memory: %v", left)
		}
	}
}

// startHarness runs a harness with a testbed in dir, one node of it paused, and
// returns when it stands. kill ends it by SIGKILL.
func startHarness(t *testing.T, dir string) (pid int, kill func()) {
	harness := exec.Command(os.Args[0])
	harness.Env = append(os.Environ(), bedDirVariable+"="+dir)
	stdin, err := harness.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close() })
	out, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("harness said %q, %v", line, err)
	}
	return harness.Process.Pid, func() {
		if err := harness.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = harness.Wait() // it was killed
	}
}

func sharedMemory(t *testing.T, pid int) []string {
	left, err := filepath.Glob(fmt.Sprintf("/dev/shm/*faketime*_%d", pid))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func pidsIn(t *testing.T, dir string) []int {
	b, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(b)) {
		var pid int
		if _, err := fmt.Sscanf(line, "%d ", &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) < 4 {
		t.Fatalf("%d servers recorded, want at least 4", len(pids))
	}
	return pids
}

// awaitGone fails unless every process ends or is a zombie that nobody reaps.
func awaitGone(t *testing.T, pids []int) {
	ctx := testContext(t)
	for _, pid := range pids {
		for {
			state, exists := proc.State(ctx, pid)
			if !exists || strings.HasPrefix(state, "Z") {
				break
			}
			select {
			case <-ctx.Done():
				t.Fatalf("pid %d is still there, state %s", pid, state)
			case <-time.After(proc.Poll):
			}
		}
	}
}

func TestPausedNodeAppliesWhatItWasSent(t *testing.T) {
	onEachReal(t, false, func(t *testing.T, n Node) {
		p := n.(Pauser)
		conn, err := n.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		must(t)(p.Pause(t.Context()))
		if child, ok := n.(*processNode); ok {
			if state, _ := proc.State(t.Context(), child.child.Pid()); !strings.HasPrefix(state, "T") {
				t.Errorf("state %q while paused", state)
			}
		}
		if _, err := io.WriteString(conn, "SET k v\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a paused node answered: %v", err)
		}
		must(t)(p.Resume(t.Context()))
		_ = conn.SetReadDeadline(time.Time{})
		if reply, err := bufio.NewReader(conn).ReadString('\n'); reply != "+OK\r\n" {
			t.Fatalf("after the pause: %q, %v", reply, err)
		}
		do(t, n, "v", "GET", "k")
	})
}

func TestKillWorksOnAPausedNode(t *testing.T) {
	onEachReal(t, false, func(t *testing.T, n Node) {
		must(t)(n.(Pauser).Pause(t.Context()))
		must(t)(n.(Killer).Kill(t.Context()))
		if _, err := n.(Pauser).Pause(t.Context()); !errors.Is(err, ErrDown) {
			t.Errorf("pause of a dead node: %v", err)
		}
		must(t)(n.(Pauser).Resume(t.Context()))
		must(t)(n.(Killer).Restart(t.Context(), Empty))
		must(t)(n.(Pauser).Resume(t.Context()))
		do(t, n, "PONG", "PING")
	})
}

func TestCloseEndsStoppedServersAndKeepsLogs(t *testing.T) {
	_, err := findServer("")
	require(t, err)
	dir := t.TempDir()
	b, err := StartProcess(testContext(t), ProcessConfig{Nodes: 3, Dir: dir, Persist: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(b.Nodes()[0].(Pauser).Pause(t.Context()))
	must(t)(b.Nodes()[1].(Killer).Kill(t.Context()))
	pids := pidsIn(t, dir)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pids)
	for _, file := range []string{"redis.conf", "redis.log"} {
		if _, err := os.Stat(filepath.Join(dir, "n1", file)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "n1", "data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("n1's data is still there: %v", err)
	}
	if _, err := b.Nodes()[1].(Killer).Restart(t.Context(), Empty); !errors.Is(err, ErrClosed) {
		t.Errorf("restart after Close: %v", err)
	}
}

func TestRestartOnAStolenPortNamesTheThief(t *testing.T) {
	namesTheTakenPort(t, startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0])
}

// namesTheTakenPort checks that a node whose port is taken while it is down
// says so, and starts once the port is free.
func namesTheTakenPort(t *testing.T, n Node) {
	t.Helper()
	must(t)(n.(Killer).Kill(t.Context()))
	thief, err := net.Listen("tcp", n.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.(Killer).Restart(testContext(t), Empty); err == nil || !strings.Contains(err.Error(), "n1 on "+n.Addr()) {
		t.Errorf("restart on a taken port: %v", err)
	}
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	must(t)(n.(Killer).Restart(testContext(t), Empty))
}

func TestFakeClockLeavesNoSharedMemory(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1, FakeClock: true}).Nodes()[0]
	pid := n.(*clockNode).child.Pid()
	must(t)(n.(ClockJumper).JumpClock(t.Context(), time.Minute))
	must(t)(n.(Killer).Kill(t.Context()))
	if left := sharedMemory(t, pid); len(left) > 0 {
		t.Errorf("left in shared memory: %v", left)
	}
	if _, err := n.(ClockJumper).JumpClock(t.Context(), time.Minute); !errors.Is(err, ErrDown) {
		t.Errorf("jump of a dead node's clock: %v", err)
	}
}
