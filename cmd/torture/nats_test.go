package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// natsServer is the name under which this binary is a server of NATS, with the flags of
// that program.
const natsServer = "nats-server"

func serveNATS() {
	flags := flag.NewFlagSet(natsServer, flag.ExitOnError)
	options, err := server.ConfigureOptions(flags, os.Args[1:], nil, flags.Usage, nil)
	if err == nil {
		var s *server.Server
		if s, err = server.NewServer(options); err == nil {
			s.ConfigureLogger()
			if err = server.Run(s); err == nil {
				s.WaitForShutdown()
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A saying is what a process says, while it goes on.
type saying struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *saying) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *saying) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// says starts a command, which ends with the test, and returns what it says.
func says(t *testing.T, cmd *exec.Cmd) *saying {
	t.Helper()
	s := &saying{}
	cmd.Stdout, cmd.Stderr = s, s
	startUntilTheEnd(t, cmd)
	return s
}

// heard waits until somebody has said something.
func heard(t *testing.T, s *saying, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	await(t, ctx, func() error {
		if text := s.String(); !strings.Contains(text, want) {
			return fmt.Errorf("it does not say %q:\n%s", want, text)
		}
		return nil
	})
}

// workersOnNATS are workers w1 and w2, which wait for a server of NATS.
type workersOnNATS struct {
	torture, dir, url string
	said              []*saying
}

func newWorkersOnNATS(t *testing.T, url string) *workersOnNATS {
	t.Helper()
	w := &workersOnNATS{torture: named(t, "torture"), dir: t.TempDir(), url: url}
	for _, name := range []string{"w1", "w2"} {
		w.said = append(w.said, says(t, exec.Command(w.torture, "worker", "--join", url, "--name", name, "--dir", w.journals(name), "--slots", "0")))
	}
	return w
}

func (w *workersOnNATS) journals(name string) string { return filepath.Join(w.dir, "journals-"+name) }

// run is a run of two workers, with its record below out.
func (w *workersOnNATS) run(out string, more ...string) *exec.Cmd {
	args := []string{"run", "calm", "--lock", "single", "--testbed", "embedded", "--workers", "2", "--clients", "4", "--keys", "2", "--ttl", "2s", "--seed", "1", "--out", filepath.Join(w.dir, out)}
	return exec.Command(w.torture, append(args, more...)...)
}

// whole checks that each event of both workers is there once, in the record below out and
// in the merged history.
func (w *workersOnNATS) whole(t *testing.T, out string) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(w.dir, out, "*-*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	merged := readEvents(t, runs[0])
	for _, name := range []string{"w1", "w2"} {
		own, err := filepath.Glob(filepath.Join(w.journals(name), "*."+name+".jsonl"))
		if err != nil || len(own) != 1 {
			t.Fatalf("%v, %v", own, err)
		}
		events := readEvents(t, own[0])
		if len(events) == 0 {
			t.Errorf("%s has recorded nothing", name)
		}
		sameEvents(t, name, false, events, readEvents(t, filepath.Join(runs[0], "workers", name+".jsonl.zst")), merged)
	}
}

// TestNATSIsAwayForSeconds: workers and coordinators speak through a server that is not
// there yet when the workers start, asks for a password, and is killed and away for 5 s
// in mid-run. No event is missing or there twice; a second coordinator gets no
// worker meanwhile; and nobody has said or written the password.
func TestNATSIsAwayForSeconds(t *testing.T) {
	t.Parallel()
	password := redistest.Password(t)
	port := redistest.FreePort(t)
	w := newWorkersOnNATS(t, "nats://kim:"+password+"@127.0.0.1:"+port)
	streams := t.TempDir()
	serve := func() *exec.Cmd {
		nats := exec.Command(named(t, natsServer), "-a", "127.0.0.1", "-p", port, "-js", "-sd", streams, "--user", "kim", "--pass", password)
		startUntilTheEnd(t, nats)
		return nats
	}
	for _, said := range w.said {
		heard(t, said, "waits for the farm at nats://")
	}
	nats := serve()
	for _, said := range w.said {
		heard(t, said, "joined the farm at nats://")
	}
	first := w.run("first", "--nats", w.url, "--duration", "5m")
	said := says(t, first)
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	await(t, ctx, func() error { return anyEvents(filepath.Join(w.dir, "first"), "w1") })
	second := w.run("second", "--nats", w.url, "--duration", "3s")
	other := says(t, second)
	heard(t, other, "waits for workers: 0 of 2")
	if err := nats.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	serve()
	heard(t, said, "NATS is back")
	for _, run := range []*exec.Cmd{second, first} { // once the second is no more, the first may let its workers go
		if err := run.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = run.Wait()
	}
	if code := first.ProcessState.ExitCode(); code != checker.Inconclusive.Exit() {
		t.Fatalf("exit %d\n%s", code, said)
	}
	w.whole(t, "first")
	if code := second.ProcessState.ExitCode(); code == checker.Pass.Exit() || code == checker.Fail.Exit() {
		t.Errorf("the second coordinator had no worker, and ended with %d\n%s", code, other)
	}
	for _, s := range append(w.said, said, other) {
		if strings.Contains(s.String(), password) {
			t.Errorf("the password is said\n%s", s)
		}
	}
	holdsNot(t, w.dir, password)
}

// holdsNot checks that no file below dir holds a word.
func holdsNot(t *testing.T, dir, word string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(word)) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCoordinatorIsKilled: what workers had recorded by the time at which their coordinator
// was killed, and after that, is merged by whoever judges the run: each event once. While
// the coordinator is at work, nobody else merges.
func TestCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bring bool // the workers' own files, in place of what the stream has
	}{{"of the stream", false}, {"of the workers' files", true}} {
		t.Run(c.name, func(t *testing.T) {
			url := "nats://127.0.0.1:" + redistest.FreePort(t)
			w := newWorkersOnNATS(t, url)
			run := w.run("first", "--farm", url, "--duration", "1m")
			said := says(t, run)
			ctx, cancel := context.WithTimeout(t.Context(), endLimit)
			defer cancel()
			for _, name := range []string{"w1", "w2"} {
				await(t, ctx, func() error { return anyEvents(filepath.Join(w.dir, "first"), name) })
				await(t, ctx, func() error { return w.anyAcknowledged(name) })
			}
			dir, err := filepath.EvalSymlinks(filepath.Join(w.dir, "first", "latest"))
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			check := func() (int, string) {
				cmd := exec.Command(w.torture, "check", dir)
				text := outcome(cmd)
				return cmd.ProcessState.ExitCode(), text
			}
			if code, text := check(); code == checker.Pass.Exit() || !strings.Contains(text, "another coordinator is at work") {
				t.Errorf("while the run goes on, check ends with %d\n%s", code, text)
			}
			if err := run.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = run.Wait()
			own := map[string][]history.Event{}
			acknowledged := map[string]int{}
			for _, name := range []string{"w1", "w2"} {
				own[name], acknowledged[name] = w.recorded(t, name, filepath.Join(dir, "workers"), c.bring)
			}
			code, text := check()
			if code != checker.Inconclusive.Exit() || !strings.Contains(text, "V5") {
				t.Fatalf("exit %d\n%s", code, text)
			}
			merged := readEvents(t, dir)
			for name, events := range own {
				taken := events
				if !c.bring {
					taken = readEvents(t, filepath.Join(dir, "workers", name+".jsonl.zst"))
				}
				if len(taken) < acknowledged[name] || len(taken) == 0 {
					t.Errorf("%s: %d events were taken in, and %d acknowledged", name, len(taken), acknowledged[name])
				}
				sameEvents(t, name, true, events, taken, merged)
			}
		})
	}
}

// anyAcknowledged says why no event of a worker's own file is known to be acknowledged.
func (w *workersOnNATS) anyAcknowledged(name string) error {
	paths, err := filepath.Glob(filepath.Join(w.journals(name), "*."+name+".jsonl"))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("the worker has %d files: %w", len(paths), err)
	}
	at, err := os.ReadFile(paths[0] + ".acked")
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(string(at)); err != nil || n > len(raw) || bytes.Count(raw[:n], []byte("\n")) < 2 {
		return fmt.Errorf("%q of its bytes are acknowledged: %w", at, err)
	}
	return nil
}

// recorded are the events of a worker's own file, which is copied to a folder if bring
// says so, and how many of them NATS has acknowledged.
func (w *workersOnNATS) recorded(t *testing.T, name, folder string, bring bool) (all []history.Event, acknowledged int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.journals(name), "*."+name+".jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v, %v", paths, err)
	}
	at, err := os.ReadFile(paths[0] + ".acked")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(string(at)); err == nil {
		acknowledged = bytes.Count(raw[:n], []byte("\n")) - 1
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(paths[0]))
	if bring {
		copied = filepath.Join(folder, filepath.Base(paths[0]))
	}
	if err := os.WriteFile(copied, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return readEvents(t, copied), acknowledged
}

// readEvents reads all events of a stored history: of one that breaks off, what is there.
func readEvents(t *testing.T, path string) (all []history.Event) {
	t.Helper()
	source, closer, err := historyfile.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for {
		var e history.Event
		switch err := source.Next(&e); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// sameEvents checks that what was taken in of a worker is what its own file begins with,
// and is merged once: operations of which the worker told, with what it told of them. Of
// one that is lost, less may have come, and what it may have begun since is added.
func sameEvents(t *testing.T, worker string, lost bool, own, taken, merged []history.Event) {
	t.Helper()
	if len(taken) > len(own) || !lost && len(taken) != len(own) {
		t.Fatalf("%s: %d events in its own file, %d taken in", worker, len(own), len(taken))
	}
	counts := map[string]int{}
	key := func(e history.Event) string {
		return fmt.Sprint(e.Kind, e.Op, e.Key, e.Owner, e.Fence, e.Seq, e.Value, e.Node, e.Err)
	}
	for i, e := range taken {
		if e != own[i] {
			t.Fatalf("%s: event %d is %+v, and was taken in as %+v", worker, i, own[i], e)
		}
		counts[key(e)]++
	}
	for _, e := range merged {
		if e.Host != worker || strings.HasPrefix(e.Err, "lost: ") {
			continue
		}
		counts[key(e)]--
	}
	missing, more := 0, 0
	for _, n := range counts {
		missing, more = missing+max(n, 0), more+max(-n, 0)
	}
	if missing > 0 || more > 0 && !lost {
		t.Errorf("%s: %d events are missing in the merged history, %d are there more than once", worker, missing, more)
	}
}
