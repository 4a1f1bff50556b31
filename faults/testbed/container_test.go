package testbed

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"locktorture/faults/testbed/internal/proc"
)

// requireDocker skips the test where there is no engine with the image, unless
// nothing may skip and the run does not say that it goes without Docker.
func requireDocker(t *testing.T, image string) {
	t.Helper()
	err := CanContain(t.Context(), image)
	if err != nil && os.Getenv("LOCKTORTURE_WITHOUT") == "docker" {
		t.Skip(err)
	}
	require(t, err)
}

// startContainer starts containers where there is an engine with the image.
func startContainer(t *testing.T, c ContainerConfig) Testbed {
	t.Helper()
	requireDocker(t, c.Image)
	b, err := StartContainer(testContext(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// labelled lists the containers with a label, in whatever state.
func labelled(t *testing.T, label string) []string {
	t.Helper()
	docker, err := openDocker()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = docker.Close() }()
	all, err := docker.Client().ContainerList(testContext(t), client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", label),
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range all.Items {
		ids = append(ids, short(c.ID)+" "+string(c.State))
	}
	return ids
}

func TestNoContainerOutlivesTheNextSweep(t *testing.T) {
	requireDocker(t, "")
	pid, kill := startHarness(t, filepath.Join(t.TempDir(), KindContainer))
	alive := startContainer(t, ContainerConfig{Nodes: 1})
	theirs := labelOwner + "=" + owner(t.Context(), pid)
	if n := len(labelled(t, theirs)); n != 4 {
		t.Errorf("the harness has %d containers, want 3 nodes and the store", n)
	}
	kill()
	if _, err := SweepContainers(testContext(t)); err != nil {
		t.Error(err)
	}
	ctx := testContext(t)
	for left := labelled(t, theirs); len(left) > 0; left = labelled(t, theirs) {
		select { // another harness's sweep may be at it
		case <-ctx.Done():
			t.Fatalf("%q are left", left)
		case <-time.After(50 * time.Millisecond):
		}
	}
	do(t, alive.Nodes()[0], "PONG", "PING")
}

func TestCloseRemovesContainersInAnyStateAndKeepsLogs(t *testing.T) {
	dir := t.TempDir()
	b := startContainer(t, ContainerConfig{Nodes: 3, Dir: dir, Persist: true})
	must(t)(b.Nodes()[0].(Pauser).Pause(t.Context()))
	must(t)(b.Nodes()[1].(Killer).Kill(t.Context()))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if left := labelled(t, labelBed+"="+b.(*containerBed).id); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	for _, node := range []string{"n1", "n2", "n3", StoreName} {
		log, err := os.ReadFile(filepath.Join(dir, node, "redis.log"))
		if err != nil || !strings.Contains(string(log), "Ready to accept connections") {
			t.Errorf("%s: %v; its log is %q", node, err, log)
		}
	}
	if _, err := b.Nodes()[1].(Killer).Restart(t.Context(), Empty); !errors.Is(err, ErrClosed) {
		t.Errorf("restart after Close: %v", err)
	}
}

func TestContainerRestartNamesTheTakenPort(t *testing.T) {
	n := startContainer(t, ContainerConfig{Nodes: 1}).Nodes()[0]
	namesTheTakenPort(t, n)
	do(t, n, int64(0), "DBSIZE")
}

func TestContainerNeedsAnImageThatExists(t *testing.T) {
	requireDocker(t, "")
	const image = "localhost:1/no-such-image:1"
	if err := CanContain(t.Context(), image); err == nil || !strings.Contains(err.Error(), "docker pull "+image) {
		t.Errorf("CanContain: %v", err)
	}
	if _, err := StartContainer(testContext(t), ContainerConfig{Nodes: 1, Image: image}); err == nil || !strings.Contains(err.Error(), image) {
		t.Errorf("StartContainer: %v", err)
	}
}

// stdinVariable makes the test binary a process that waits to be killed.
const stdinVariable = "LOCKTORTURE_TEST_STDIN"

func TestWaitForStdin(*testing.T) {
	if os.Getenv(stdinVariable) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// A dead harness that nobody has reaped is dead all the same.
func TestOrphanedTellsAZombie(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^TestWaitForStdin$")
	child.Env = append(os.Environ(), stdinVariable+"=1")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	who := owner(t.Context(), child.Process.Pid)
	if orphaned(t.Context(), who) {
		t.Errorf("%s is told for dead", who)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for ctx := testContext(t); !orphaned(ctx, who); time.Sleep(proc.Poll) {
		if ctx.Err() != nil {
			t.Fatalf("%s is not told for dead", who)
		}
	}
	_ = child.Wait() // it was killed
}

func TestOrphanedTellsTheDeadFromTheLivingAndTheStrange(t *testing.T) {
	self := owner(t.Context(), os.Getpid())
	host, _, _ := strings.Cut(self, "/")
	for who, want := range map[string]bool{
		self:                    false,
		self + "0":              true, // another process had this id
		host + "/999999999/123": true,
		"elsewhere/1/1":         false,
		"":                      false,
		host + "/x/1":           false,
	} {
		if got := orphaned(t.Context(), who); got != want {
			t.Errorf("orphaned(%q) = %v", who, got)
		}
	}
}
