package hunt

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/reports/pagetest"
	"locktorture/workload/history"
)

func TestJudge(t *testing.T) {
	s1 := &search.Found{Finding: search.Finding{ID: "S1"}}
	s3z := &search.Found{Finding: search.Finding{ID: "S3z"}}
	for name, c := range map[string]struct {
		r    Report
		want checker.Verdict
	}{
		"found":               {Report{Log: search.Log{Found: []*search.Found{s1, s3z}}}, checker.Fail},
		"found, interrupted":  {Report{Interrupted: true, Log: search.Log{Found: []*search.Found{s1}}}, checker.Fail},
		"accepted":            {Report{Accept: []string{"S3z"}, Sums: search.Sums{Rounds: 20}, Log: search.Log{Found: []*search.Found{s3z}}}, checker.Pass},
		"one of two accepted": {Report{Accept: []string{"S3z"}, Sums: search.Sums{Rounds: 20}, Log: search.Log{Found: []*search.Found{s1, s3z}}}, checker.Fail},
		"nothing found":       {Report{Sums: search.Sums{Rounds: 20}}, checker.Pass},
		"too few rounds":      {Report{Sums: search.Sums{Rounds: leastRounds - 1}}, checker.Inconclusive},
		"interrupted":         {Report{Interrupted: true, Sums: search.Sums{Rounds: 50}}, checker.Inconclusive},
		"too busy":            {Report{Sums: search.Sums{Rounds: 20, Void: 30}}, checker.Inconclusive},
		"none could be played": {Report{Sums: search.Sums{Void: 3}, Log: search.Log{Rounds: []search.Played{{Outcome: search.Outcome{Void: "no port"}}}}},
			checker.HarnessError},
		"trouble of our own": {Report{Sums: search.Sums{Rounds: 20}, Troubles: []string{"disk full"}}, checker.HarnessError},
	} {
		if c.r.Judge(); c.r.Verdict != c.want || c.r.Why == "" {
			t.Errorf("%s: %s (%s), want %s", name, c.r.Verdict, c.r.Why, c.want)
		}
		if accepted := strings.Contains(c.r.Why, "accepted: S3z"); accepted != (len(c.r.Accept) > 0) {
			t.Errorf("%s: %s", name, c.r.Why)
		}
	}
}

// TestLongCommandsArePrintedWhole: a command of many steps is no good when it is cut.
func TestLongCommandsArePrintedWhole(t *testing.T) {
	_, all := rounds(t, "redlock", 1)
	long := all[0]
	for len(faultsText(long.Steps)) < 2000 {
		long.Steps = append(long.Steps, faults.Spec{Fault: "pause-node", At: time.Second, On: watch.AcquireSent, Params: faults.Params{Node: "n1"}})
	}
	r := Report{Schema: 1, Lock: "redlock", Nodes: 5, Log: search.Log{Found: []*search.Found{{Finding: search.Finding{ID: "S1"}, Round: long}}}}
	var text bytes.Buffer
	if err := r.Text(&text, "runs/hunt"); err != nil || !strings.Contains(text.String(), Command("redlock", 5, long)+"\n") {
		t.Errorf("%v, %s", err, text.String())
	}
	page, err := r.Page("runs/hunt")
	pagetest.Check(t, pagetest.HTML(t, "hunt", page))
	if err != nil || !bytes.Contains(page, []byte(":node=n1:on=acquire-sent")) || bytes.Contains(page, []byte("_bytes)")) {
		t.Errorf("%v, %d bytes", err, len(page))
	}
}

// TestLanes: rounds that the machine is too busy for make it fewer at once, then
// leases longer, and calm undoes that.
func TestLanes(t *testing.T) {
	l := newLimiter(64)
	first := l.width()
	for range first + 3 {
		l.tighten()
	}
	if l.width() != 1 || l.shortest() <= shortestTTL {
		t.Fatalf("%d rounds at once, leases from %v", l.width(), l.shortest())
	}
	for range 20 {
		l.tighten()
	}
	if l.tighten() || l.shortest() != longestTTL {
		t.Errorf("leases from %v, and there is more to give", l.shortest())
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range first - 1 { // those that are taken away go when they are given back
		l.acquire(ctx)
	}
	for range first - 1 {
		l.release()
	}
	if !l.acquire(ctx) {
		t.Fatal("no round may be under way any more")
	}
	taken := make(chan bool)
	go func() { taken <- l.acquire(ctx) }()
	select {
	case <-taken:
		t.Fatal("a second round may be under way")
	case <-time.After(20 * time.Millisecond):
	}
	for range 200 * calmRounds {
		l.noteCalm()
	}
	if !<-taken || l.width() != 64 || l.shortest() != shortestTTL {
		t.Errorf("%d rounds at once, leases from %v", l.width(), l.shortest())
	}
	for range 62 {
		if !l.acquire(ctx) {
			t.Fatal("one round fewer than there may be")
		}
	}
	cancel()
	if l.acquire(ctx) {
		t.Error("more rounds than there may be")
	}
}

// TestPhases names the phase of every kind of event that a proof ends in.
func TestPhases(t *testing.T) {
	for want, e := range map[string]history.Event{
		"acquire sent":    {Op: history.Acquire, Kind: history.Invoke},
		"acquire replied": {Op: history.Acquire, Kind: history.OK},
		"in section":      {Op: history.Write, Kind: history.Info},
		"renewal sent":    {Op: history.Extend, Kind: history.Invoke},
		"renewal replied": {Op: history.Extend, Kind: history.OK},
		"release replied": {Op: history.Release, Kind: history.OK},
		"expiry":          {Op: history.Lost, Kind: history.OK},
		"":                {Op: history.Key, Kind: history.OK},
	} {
		if got := phaseOf(e); got != want {
			t.Errorf("%v %v: %q, want %q", e.Op, e.Kind, got, want)
		}
	}
}

// TestSaveAndLoad: what is saved is read back, in printable characters alone.
func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	_, all := rounds(t, "redlock", 3)
	r := Report{Schema: 1, Lock: "mine\x1b[31m", Verdict: checker.Pass, Log: search.Log{Rounds: []search.Played{{Number: 1, Round: all[0]}}}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(dir + "/" + ResultsFile)
	if err != nil || bytes.ContainsRune(raw, '\x1b') {
		t.Fatalf("%v, %q", err, raw)
	}
	got, err := Load(dir)
	if err != nil || text(t, got.Rounds) != text(t, r.Rounds) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder is a hunt")
	}
	if err := os.WriteFile(dir+"/"+ResultsFile, []byte(`{"schema":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "schema 1") {
		t.Errorf("another version: %v", err)
	}
}

// What was found on a deployment is played on it again; what was found on servers of any
// kind, on those that there are.
func TestPlayOnTheSameDeployment(t *testing.T) {
	f := &search.Found{}
	for kind, named := range map[string]bool{"sentinel": true, "cluster": true, "process": false} {
		command := (&Report{Lock: "token-lua", Nodes: 1, Testbed: kind}).Play(f)
		if strings.Contains(command, "--testbed="+kind) != named {
			t.Errorf("%s: %s", kind, command)
		}
	}
}
