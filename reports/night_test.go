package reports

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
)

func cell(lock, scenario string, role Role, counts checker.Verdict, found ...string) NightCell {
	return NightCell{
		Lock: lock, Scenario: scenario, Seed: 7, Role: role, Verdict: counts, Counts: counts, Tries: 1, Found: found,
		Headline: "headline of " + lock, Story: "M-1  story of " + lock + "\n", Replay: "torture replay runs/" + lock, Dir: "runs/" + lock, P99: 10 * time.Millisecond,
	}
}

func TestNightVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		missing []string
		cells   []checker.Verdict
		want    checker.Verdict
	}{
		{"all pass", nil, []checker.Verdict{checker.Pass, checker.Pass}, checker.Pass},
		{"one fails", nil, []checker.Verdict{checker.Inconclusive, checker.Fail}, checker.Fail},
		{"canary disabled", []string{"no canary"}, []checker.Verdict{checker.Pass}, checker.Inconclusive},
		{"canary disabled, and a failure", []string{"no canary"}, []checker.Verdict{checker.Fail}, checker.Fail},
		{"harness", []string{"x"}, []checker.Verdict{checker.HarnessError}, checker.HarnessError},
	} {
		n := &Night{Missing: c.missing}
		for _, v := range c.cells {
			n.Cells = append(n.Cells, cell("redlock", "calm", UnderTest, v))
		}
		if n.Judge(); n.Verdict != c.want {
			t.Errorf("%s: %s, want %s", c.name, n.Verdict, c.want)
		}
	}
}

func TestNightPutsTheWitnessOnTop(t *testing.T) {
	n := &Night{Seeds: []uint64{7}, Cells: []NightCell{
		cell("canary", "trial", TheCanary, checker.Pass), cell("redlock", "calm", UnderTest, checker.Inconclusive), cell("single", "calm", UnderTest, checker.Fail, "S1"),
	}}
	n.Judge()
	s := n.Summary()
	if !strings.HasPrefix(s, "## NIGHT FAIL: single · calm · seed 0x7: headline of single") {
		t.Error(s)
	}
	witness, table := strings.Index(s, "M-1  story of single"), strings.Index(s, "### Cells")
	if witness < 0 || witness > strings.Index(s, "redlock · calm") || table < witness || strings.Contains(s, "story of redlock") {
		t.Error(s)
	}
	var suite struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(n.junit(), &suite); err != nil || suite.Suite.Tests != 4 || suite.Suite.Failures != 1 || suite.Suite.Errors != 1 {
		t.Errorf("%+v, %v\n%s", suite, err, n.junit())
	}
	if a := n.Annotations(); len(a) != 2 || !strings.HasPrefix(a[0], "::error title=FAIL single") {
		t.Errorf("%q", a)
	}
}

func TestNightSaysWhatChanged(t *testing.T) {
	dir := t.TempDir()
	before := &Night{Schema: Schema, Version: "0.1.0", Commit: "aaaa", Testbed: "process", Cells: []NightCell{
		cell("redlock", "calm", UnderTest, checker.Pass), cell("single", "calm", UnderTest, checker.Pass), cell("gone", "calm", UnderTest, checker.Pass),
	}}
	if last, err := LastNight(dir); last != nil || err != nil {
		t.Fatalf("%v, %v", last, err)
	}
	if err := AppendTrend(dir, before); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, TrendFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"schema":1,"cut`); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	last, err := LastNight(dir)
	if err != nil || last == nil || last.Commit != "aaaa" {
		t.Fatalf("%+v, %v", last, err)
	}
	if err := AppendTrend(dir, before); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, TrendFile)); err != nil || strings.Count(string(raw), "\n{\"schema\":1,\"version\"") != 2 {
		t.Errorf("%v\n%s", err, raw)
	}
	now := &Night{Version: "0.1.0", Commit: "bbbb", Testbed: "process", Cells: []NightCell{
		cell("redlock", "calm", UnderTest, checker.Fail, "S1"), cell("single", "calm", UnderTest, checker.Pass), cell("fresh", "calm", UnderTest, checker.Pass),
	}}
	now.Cells[1].P99 *= 3
	now.Compare(last)
	want := []string{
		"torture 0.1.0 (aaaa) → 0.1.0 (bbbb)", "fresh calm: new, PASS", "redlock calm: PASS → FAIL S1",
		"single calm: acquire p99 10.0 ms → 30.0 ms", "gone calm: not played (was PASS)",
	}
	if !slices.Equal(now.Changes, want) {
		t.Errorf("%q", now.Changes)
	}
	if now.Compare(now); !slices.Equal(now.Changes, []string{"nothing"}) {
		t.Errorf("%q", now.Changes)
	}
}
