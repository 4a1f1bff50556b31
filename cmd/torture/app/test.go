package app

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/lockimpl"
	"locktorture/reports"
	"locktorture/reports/terminal"
	"locktorture/workload/history"
)

// A Scenario is what Test plays against a lock: a built-in scenario or a file, and settings on
// top of it.
type Scenario struct {
	name string
	set  []setting
}

type setting struct{ name, value string }

// Standard is the standard scenario: every fault of its plan, against readers,
// waiters and whatever else the lock can do.
func Standard() Scenario { return Named("standard") }

// Named is a built-in scenario (torture list scenarios), or a scenario file.
func Named(name string) Scenario { return Scenario{name: name} }

// For sets the length of the main phase.
func (s Scenario) For(d time.Duration) Scenario { return s.With("duration", d.String()) }

// With sets one of the flags of torture run, such as With("clients", "32") or
// With("faults", "pause-client").
func (s Scenario) With(flag, value string) Scenario {
	s.set = append(slices.Clone(s.set), setting{flag, value})
	return s
}

const (
	// aroundRun is what a run takes beside its main phase, on a busy machine: its
	// start, the healthy final phase, judging and reports.
	aroundRun = 30 * time.Second
	// shortestRun is below what a run shows anything.
	shortestRun = 2 * time.Second
	// aroundJudging is what judging and reports alone may take.
	aroundJudging = 10 * time.Second
)

// Test plays scenarios, or the standard one, against a lock, each as a subtest of
// its name, and fails the test with the witnesses' story where the lock broke its
// word. A run that saw too little to tell fails too, and says what it lacked.
//
// It needs a redis-server on the machine; without one it plays on embedded nodes,
// and says so. With -short it is skipped. A test binary whose deadline (-timeout)
// comes too early gets a shorter run. Variables such as TORTURE_SEED are heeded.
// Ctrl-C ends the run and clears away what it wrote, and then the process.
// With -artifacts the run directory, with report.html, is kept below the test's
// artifact directory; otherwise it is kept where the test fails.
func Test(t *testing.T, lock lockimpl.Factory, scenarios ...Scenario) {
	t.Helper()
	if len(scenarios) == 0 {
		scenarios = []Scenario{Standard()}
	}
	for _, s := range scenarios {
		t.Run(filepath.Base(s.name), func(t *testing.T) {
			t.Helper()
			s.play(t, lock)
		})
	}
}

func (s Scenario) play(t *testing.T, lock lockimpl.Factory) {
	t.Helper()
	if testing.Short() {
		t.Skip("a run takes its time: not with -short")
	}
	tool, cfg, err := s.resolve(t, lock)
	if err != nil {
		t.Fatal(err)
	}
	underTest.Add(1)
	user, stop := interruptible()
	ctx := user
	if end, bounded := t.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-aroundJudging))
		defer cancel()
	}
	again := fmt.Sprintf("TORTURE_SEED=%#x go test -run '^%s$'", cfg.Seed, strings.ReplaceAll(t.Name(), "/", "$/^"))
	r, err := tool.playWith(ctx, cfg, run.Options{Again: again, Begin: func(b run.Beginning) []history.Sink {
		t.Logf("%s for %s on %d master(s), %s, seed %#x", b.Meta.Scenario, cfg.Duration, b.Header.Nodes, b.Meta.Testbed.Version, cfg.Seed)
		if b.Meta.Testbed.Embedded {
			t.Log("there is no redis-server here: embedded nodes, no evidence about Redis itself")
		}
		return nil
	}})
	interrupted := user.Err() != nil
	stop()
	underTest.Done()
	switch {
	case interrupted:
		exitAfterInterrupt(r, err)
	case r == nil:
		t.Fatal(err)
	}
	s.report(t, r, err)
}

// underTest counts the runs under way.
var underTest sync.WaitGroup

// exitAfterInterrupt ends the process after an interrupted run, once every other one under way has
// cleared away what it wrote, too.
func exitAfterInterrupt(r *reports.Run, err error) {
	if err != nil {
		complain(os.Stderr, err)
	}
	if r != nil {
		_ = terminal.Verdict(os.Stderr, terminal.Options{}, r) // nobody is left to be told
	}
	underTest.Wait()
	os.Exit(exitInterrupted)
}

// Replay plays a finding of torture simulate again, in virtual time, and fails the
// test with the story while the lock shows anything: the test of a bug that was
// mended. finding is the path of its file, or the file's text. lock is nil for a
// lock of torture's own, which the finding names.
//
// Nobody waits, and no server is needed. The play has one processor to itself: a
// test that calls Replay should not be parallel.
func Replay(t *testing.T, lock lockimpl.Factory, finding string) {
	t.Helper()
	said, err := replayFinding(t.Context(), lock, finding)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
}

// replayFinding is Replay without a test. The error says what the lock showed.
func replayFinding(ctx context.Context, lock lockimpl.Factory, finding string) (string, error) {
	file, err := readFinding(finding)
	if err != nil {
		return "", err
	}
	if err := simulate.SelfCheck(); err != nil {
		return "", err
	}
	locks, id := catalogue.Builtin(), file.Lock
	if lock != nil {
		id = "yours"
		if locks, err = locks.With(id, lock); err != nil {
			return "", err
		}
	}
	p, err := (&simulateCommand{tool: &tool{locks: locks}}).player(id, file.Nodes)
	if err != nil {
		return "", err
	}
	res, events := replayed(ctx, p, file)
	switch {
	case res.Err != nil:
		return "", res.Err
	case len(res.Report.Violations) > 0:
		var said strings.Builder
		storiesOf(&said, res, events)
		return "", fmt.Errorf("history %s: %s\n%s", res.Hash, sameAs(file, res), said.String())
	case res.Grants == 0:
		return "", errors.New("nobody was granted the lock: nothing was tried")
	}
	return fmt.Sprintf("nothing in %d grants; the finding was %s %s", res.Grants, file.Finding.ID, file.Finding.Name), nil
}

// readFinding takes a path, or the text itself.
func readFinding(finding string) (simulate.Replay, error) {
	if strings.HasPrefix(strings.TrimSpace(finding), "{") {
		return simulate.ParseReplay("the finding", []byte(finding))
	}
	return simulate.ReadReplay(finding)
}

var unfitForID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// resolve is what torture run does with the same settings.
func (s Scenario) resolve(t *testing.T, lock lockimpl.Factory) (*tool, config.Config, error) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	id := unfitForID.ReplaceAllString(name, "-")
	tool, err := newTool([]Option{WithLock(id, lock)})
	if err != nil {
		return nil, config.Config{}, err
	}
	flags := map[string]string{"lock": id, "out": outOf(t)}
	for _, set := range s.set {
		if err := set.fits(); err != nil {
			return nil, config.Config{}, err
		}
		flags[set.name] = set.value
	}
	for {
		cfg, err := (&runCommand{tool: tool, scenario: s.name, flags: flags}).resolve(nil)
		if err != nil {
			return nil, cfg, err
		}
		end, bounded := t.Deadline()
		room := time.Until(end) - aroundRun - cfg.FinalPhase()
		switch {
		case !bounded || cfg.Duration <= room:
			return tool, cfg, nil
		case room < shortestRun:
			return nil, cfg, fmt.Errorf("the test's deadline leaves no room for a run of %s: go test -timeout %s", cfg.Duration, (cfg.Duration + 2*aroundRun).Round(time.Second))
		}
		t.Logf("the test's deadline leaves room for %s, not for %s: go test -timeout", room.Round(time.Second), cfg.Duration)
		flags["duration"] = room.Round(time.Second).String()
	}
}

// fits says whether a scenario of a test can have the setting.
func (s setting) fits() error {
	var names []string
	for _, known := range config.Settings {
		names = append(names, known.Name)
	}
	switch {
	case s.name == "lock":
		return fmt.Errorf("With(%q, %q): the lock under test is the one that Test is given: leave it out", s.name, s.value)
	case s.name == "scenario":
		return fmt.Errorf("With(%q, %q): say Named(%q)", s.name, s.value, s.value)
	case !slices.Contains(names, s.name):
		return fmt.Errorf("With(%q, …): no setting of a run has that name%s (torture run --help)", s.name, config.DidYouMean(s.name, names))
	case s.value == "":
		return fmt.Errorf("With(%q, %q): it needs a value", s.name, s.value)
	}
	return nil
}

// outOf is the folder of a test's run directories.
func outOf(t *testing.T) string {
	t.Helper()
	if f := flag.Lookup("test.artifacts"); f != nil {
		if kept, err := strconv.ParseBool(f.Value.String()); err == nil && kept {
			return t.ArtifactDir()
		}
	}
	dir, err := os.MkdirTemp("", "torture-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return dir
}

// report ends the test as the run has ended.
func (s Scenario) report(t *testing.T, r *reports.Run, trouble error) {
	t.Helper()
	var said bytes.Buffer
	if err := errors.Join(trouble, terminal.Verdict(&said, terminal.Options{}, r)); err != nil {
		t.Error(err)
	}
	if r.Verdict() == checker.Pass {
		t.Log("\n" + said.String())
		return
	}
	t.Error("\n" + said.String())
}
