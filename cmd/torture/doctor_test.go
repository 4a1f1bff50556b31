package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// sweep runs torture doctor --sweep, and returns what it says it did.
func sweep(t *testing.T, args ...string) string {
	t.Helper()
	var said, wrong bytes.Buffer
	if code := app.Run(append([]string{"doctor", "--sweep"}, args...), &said, &wrong); code != 0 {
		t.Fatalf("exit %d: %s", code, &wrong)
	}
	return said.String()
}

// What a run that was killed has left in an external toxiproxy goes, toxics
// and all; what others have there stays.
func TestDoctorSweepsProxies(t *testing.T) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	h := httptest.NewServer(server.Routes())
	t.Cleanup(h.Close)
	t.Cleanup(func() { _ = server.Collection.Clear() })
	api := h.Listener.Addr().String()
	leave(t, api, "compose") // as every run on the compose testbed is called
	leave(t, api, "other")
	stranger := toxiproxy.NewProxy(server, "stranger", "127.0.0.1:0", "127.0.0.1:1")
	if err := server.Collection.Add(stranger, true); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if said := sweep(t, "--out", out, "--toxiproxy", api); !strings.Contains(said, "removed proxy locktorture.compose.c00.n1 of toxiproxy at "+api) ||
		!strings.Contains(said, "locktorture.compose.c00.n2") || strings.Contains(said, "other") || strings.Contains(said, "stranger") {
		t.Errorf("said %q", said)
	}
	var left []string
	for name, p := range server.Collection.Proxies() {
		left = append(left, fmt.Sprintf("%s with %d toxics", name, len(p.Toxics.GetToxicArray())))
	}
	slices.Sort(left)
	want := []string{"locktorture.other.c00.n1 with 2 toxics", "locktorture.other.c00.n2 with 2 toxics", "stranger with 0 toxics"}
	if !slices.Equal(left, want) {
		t.Errorf("left %q; want %q", left, want)
	}
	if said := sweep(t, "--out", out, "--toxiproxy", api); strings.Contains(said, "proxy") {
		t.Errorf("a second sweep said %q", said)
	}
}

// leave has a run lay two links in the toxiproxy at api, hurt them, and die.
func leave(t *testing.T, api, run string) {
	f := link.NewRemote(link.RemoteConfig{API: api, RunID: run, FirstPort: config.ComposeFirstPort, LastPort: config.ComposeLastPort})
	for _, node := range []string{"n1", "n2"} {
		l, err := f.Open(t.Context(), "c00", node, "127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Impair(t.Context(), link.Impairment{Kind: link.Stall}); err != nil {
			t.Fatal(err)
		}
	}
}

// A proxy server that does not answer is trouble that the sweep reports.
func TestDoctorSweepsNoProxies(t *testing.T) {
	h := httptest.NewServer(nil)
	api := h.Listener.Addr().String()
	h.Close()
	var said, wrong bytes.Buffer
	code := app.Run([]string{"doctor", "--sweep", "--out", t.TempDir(), "--toxiproxy", api}, &said, &wrong)
	if code != exitHarness || !strings.Contains(wrong.String(), api) {
		t.Errorf("exit %d: %s", code, &wrong)
	}
}

// Servers and shared memory of a dead run go. A process that has nothing to do
// with the run stays, though the run once had its number, and so does all that
// belongs to a run that is alive.
func TestDoctorSweepsServers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	out := t.TempDir()
	dead, other := filepath.Join(out, "dead", "nodes"), filepath.Join(out, "alive", "nodes")
	server, conf := idle(t, dead, "n1.conf")
	reused, _ := idle(t, t.TempDir(), "n2.conf")
	ended, conf3 := idle(t, dead, "n3.conf")
	if err := ended.stop(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dead, "pids"), fmt.Sprintf("%d %s\n%d %s\n%d %s\n%d",
		server.Process.Pid, conf, reused.Process.Pid, filepath.Join(dead, "n2.conf"), ended.Process.Pid, conf3, server.Process.Pid))
	gone, stays := shared(t, ended.Process.Pid), shared(t, reused.Process.Pid)
	aliveServer(t, other)

	said := sweep(t, "--out", out)
	if want := fmt.Sprintf("killed pid %d (%s)", server.Process.Pid, conf); !strings.Contains(said, want) || strings.Count(said, "killed") != 1 {
		t.Errorf("said %q; want %q", said, want)
	}
	if err := server.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the dead run's server: %v", err)
	}
	if err := reused.stop(); err != nil {
		t.Errorf("a stranger's process: %v", err)
	}
	for _, path := range gone {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range stays {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a stranger's shared memory: %v", err)
		}
	}
}

// A process that runs until it is stopped.
type process struct{ *exec.Cmd }

// stop terminates the process. It fails on one that ended in another way.
func (p process) stop() error {
	if err := p.Process.Signal(terminate); err != nil {
		return err
	}
	if err := p.Wait(); err == nil || err.Error() != "signal: terminated" {
		return fmt.Errorf("it ended before: %v", err)
	}
	return nil
}

// idling asks a process of these tests to do nothing.
const idling = "TORTURE_TEST_IDLE"

// TestIdle is no test: it is what such a process runs.
func TestIdle(*testing.T) {
	if os.Getenv(idling) != "" {
		time.Sleep(time.Minute)
	}
}

// idle starts a process that names a configuration in dir and does nothing.
func idle(t *testing.T, dir, name string) (process, string) {
	conf := filepath.Join(dir, name)
	write(t, conf, "")
	p := process{exec.Command(os.Args[0], "-test.run=^TestIdle$", conf)}
	p.Env = append(os.Environ(), idling+"=1")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop() })
	return p, conf
}

func write(t *testing.T, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shared leaves what libfaketime leaves of a process, where there is shared
// memory as files.
func shared(t *testing.T, pid int) (paths []string) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		return nil
	}
	for _, format := range []string{"/dev/shm/faketime_shm_%d", "/dev/shm/sem.faketime_sem_%d"} {
		path := fmt.Sprintf(format, pid)
		write(t, path, "")
		t.Cleanup(func() { _ = os.Remove(path) })
		paths = append(paths, path)
	}
	return paths
}

// aliveServer runs servers of this process in dir, and fails the test when
// they do not live to its end.
func aliveServer(t *testing.T, dir string) {
	if !haveRedis(t) {
		return
	}
	bed, err := testbed.StartProcess(t.Context(), testbed.ProcessConfig{Nodes: 1, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := testbed.Do(context.Background(), bed.Nodes()[0], "PING"); err != nil {
			t.Errorf("the server of a run that is alive: %v", err)
		}
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
	})
}
