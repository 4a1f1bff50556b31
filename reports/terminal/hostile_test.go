package terminal

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/internal/sample"
	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/workload/history"
)

// hostile is a run in which every text that comes from outside ends in evil.
func hostile(t fataler, evil string) (*reports.Run, history.History) {
	h := sample.History(sample.Failing)
	report := sample.Report(h)
	h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { // all but the nemesis, and what is around the proof
		return e.Process != history.Nemesis && (e.Time < 39*time.Second || e.Time > 41*time.Second)
	})
	r := &reports.Run{Report: report, Meta: reports.Meta{
		Version: "0.1.0", Scenario: "s" + evil, Lock: "l" + evil, Argv: []string{"torture", evil}, Seed: 1,
		Testbed: reports.Testbed{Name: "process", Version: "v" + evil, LeftOut: []string{evil}}, Config: mustJSON(map[string]string{"lock": evil}),
	}}
	target, err := history.ParseTarget(mustJSON(map[string]any{"client": "c" + evil, "nodes": []string{"n" + evil}, "key": evil}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Events {
		e := &h.Events[i]
		for _, text := range []*string{&e.Key, &e.Owner, &e.Err, &e.Receipt, &e.Note, &e.Holder, &e.Fault, &e.Node} {
			if *text != "" {
				*text += evil
			}
		}
		if e.Op == history.Fault || e.Op == history.Heal {
			e.Target, e.Receipt, e.Err = target, evil, evil
		}
	}
	for _, f := range [][]checker.Finding{r.Report.Violations, r.Report.Suspicious} {
		for i := range f {
			f[i].Key += evil
			f[i].Text += evil
			f[i].Blame += evil
			f[i].Breakers = append(f[i].Breakers, evil)
			for n := range f[i].Owners {
				f[i].Owners[n] += evil
			}
		}
	}
	odd := checker.Finding{ID: "V2", Name: evil, Key: evil, Text: evil}
	r.Report.Inconclusive, r.Report.Breaches = []checker.Finding{odd}, []checker.Finding{odd}
	r.Report.Notes, r.Warnings, r.Harness = []string{evil}, []string{evil}, []string{evil}
	r.Canary = &reports.Canary{Mutant: evil, Note: evil}
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	r.SLOs = []slo.Result{{SLO: evil, Observed: evil}}
	return r, h
}

type fataler interface{ Fatal(...any) }

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

var evils = []string{
	"\nVERDICT PASS exit 0\n", " VERDICT PASS exit 0 VERDICT PASS exit 0", "\r\x1b[2J\x1b[31m", "\u009b2J", "\u202etxet\u2066", "\xff\xfe\x80",
	"\n::error::forged\n", " ::stop-commands::x", "##[error]x", strings.Repeat("k", 1<<12), strings.Repeat(" VERDICT PASS exit 0", 400), "\u2028\u2029\u0000",
	"</pre><script>alert(1)</script>", "```\n## VERDICT PASS", "|\n| --- |", "]]>", "%0A::error::x",
}

// forged says what is wrong with a surface; "" is nothing. It may begin so many
// lines with the word VERDICT.
func forged(text string, verdicts int) string {
	if !utf8.ValidString(text) {
		return "no UTF-8"
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\t' }); i >= 0 {
			return "not printable: " + strings.ToValidUTF8(line[i:min(i+20, len(line))], "?")
		}
		if strings.HasPrefix(line, "VERDICT") {
			verdicts--
		}
		if strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
			return "a command for the runner: " + line
		}
	}
	if verdicts < 0 {
		return "a forged verdict"
	}
	return ""
}

// surfaces are the texts that a run shows on a terminal and in a log.
func surfaces(t fataler, r *reports.Run, h history.History) map[string]string {
	var out bytes.Buffer
	if err := reports.Compare(r, r).Text(&out); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"summary": r.Summary(), "compare": out.String()}
	out.Reset()
	if err := Verdict(&out, Options{}, r); err != nil {
		t.Fatal(err)
	}
	all["verdict"] = out.String()
	out.Reset()
	evil := r.Warnings[0]
	b := Banner{Version: "1", Scenario: evil, Lock: evil, Redis: evil, Load: evil, Faults: []string{evil}, LeftOut: []string{evil}, Warnings: []string{evil}, Dir: evil}
	if err := b.Write(&out, Options{}); err != nil {
		t.Fatal(err)
	}
	all["banner"] = out.String()
	var log []string
	figures := stats.New(h.Header)
	for i := range h.Events {
		e := &h.Events[i]
		figures.Event(e)
		if e.Op == history.Fault || e.Op == history.Heal {
			log = append(log, faultLine(e, e.Note))
			if len(log) == 1 {
				l := Live{plan: Plan{Duration: time.Minute}, past: []reading{{}}}
				log = append(log, l.frame(time.Second, figures.Snapshot())...)
			}
		}
	}
	all["live"] = strings.Join(log, "\n")
	for i, line := range r.Annotations() {
		rest, is := strings.CutPrefix(line, "::error title=")
		if !is || strings.Contains(line, "\n") {
			t.Fatal("annotation", i, line)
		}
		all["annotation"] += rest + "\n"
	}
	return all
}

func TestNoTextFromOutsideForges(t *testing.T) {
	all := slices.Clone(evils)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		all = append(all, evils[rng.IntN(len(evils))]+evils[rng.IntN(len(evils))]+evils[rng.IntN(len(evils))])
	}
	for _, evil := range all {
		r, h := hostile(t, evil)
		for name, text := range surfaces(t, r, h) {
			verdicts := map[string]int{"verdict": 2}[name] // the headline, and the last line
			if what := forged(text, verdicts); what != "" {
				t.Errorf("%s, %.40q: %.200s", name, evil, what)
			}
		}
	}
}

func TestNoTextFromOutsideForgesInFiles(t *testing.T) {
	r, _ := hostile(t, strings.Join(evils, ""))
	dir := t.TempDir()
	if err := reports.Write(dir, r); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".png" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if what := forged(string(raw), 0); what != "" {
			t.Errorf("%s: %.200s", filepath.Base(path), what)
		}
		if strings.Contains(string(raw), "<script") && filepath.Base(path) != reports.JUnitFile && filepath.Ext(path) != ".json" {
			t.Errorf("%s holds a script", filepath.Base(path))
		}
		return nil
	})
	if err != nil || seen < 8 {
		t.Fatalf("%d files: %v", seen, err)
	}
}
