// Package farmtest has tests play on a farm: its workers, and where a test wants to
// kill it its coordinator, are processes of the test's own program.
package farmtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"locktorture/cmd/torture/internal/farm"
)

// Build is what all programs of a test's farm are of.
var Build = farm.Build{Version: "test", Commit: "test", Program: "test"}

const (
	workerVariable      = "FARMTEST_WORKER"      // URL, directory, and the worker's abilities, with commas
	coordinatorVariable = "FARMTEST_COORDINATOR" // URL and directory, with a comma
)

// Main runs a package's tests, or what such a process is to be: a player of tasks, a
// worker, or a coordinator.
func Main(m *testing.M, players map[string]farm.Player, coordinate func(url, dir string) error) {
	var err error
	switch worker, coordinator := os.Getenv(workerVariable), os.Getenv(coordinatorVariable); {
	case farm.Playing():
		os.Exit(farm.ServePlayer(players, os.Stdin))
	case worker != "":
		err = work(strings.Split(worker, ","))
	case coordinator != "":
		url, dir, _ := strings.Cut(coordinator, ",")
		err = coordinate(url, dir)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

type gate struct{}

func (gate) Acquire(ctx context.Context) bool { return ctx.Err() == nil }
func (gate) Release()                         {}
func (gate) Note(l farm.Load) farm.Load       { return l }

func work(of []string) error {
	w := &farm.Worker{
		Access: farm.Access{URL: of[0]}, Name: fmt.Sprintf("process-%d", os.Getpid()), Build: Build, Slots: 2, Abilities: of[2:], Dir: of[1], Gate: gate{},
		Log: func(string) {},
	}
	return w.Run(context.Background())
}

// Address is a free one of this machine.
func Address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "nats://" + l.Addr().String()
}

// Open opens a farm for the job in dir, at an address of this process's own.
func Open(ctx context.Context, url, dir string) (*farm.Coordinator, error) {
	return farm.Open(ctx, farm.Config{Access: farm.Access{URL: url}, Serve: true, Dir: dir, Build: Build, About: "a test"})
}

// Worker starts a worker of the farm at url.
func Worker(t *testing.T, url string, abilities ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir() // which the test removes: a worker that is killed cannot
	return start(t, workerVariable+"="+strings.Join(append([]string{url, dir}, abilities...), ","))
}

// Coordinator starts what Main was given to coordinate.
func Coordinator(t *testing.T, url, dir string) *exec.Cmd {
	t.Helper()
	return start(t, coordinatorVariable+"="+url+","+dir)
}

func start(t *testing.T, as string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), as), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// Kill ends a process without a warning.
func Kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}
