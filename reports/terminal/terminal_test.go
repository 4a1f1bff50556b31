package terminal

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/internal/sample"
	"locktorture/reports/stats"
	"locktorture/workload/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.golden and remembers that it was used.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func run(t *testing.T, s sample.Shape) *reports.Run {
	t.Helper()
	h := sample.History(s)
	r := &reports.Run{
		Dir: "runs/latest", Report: sample.Report(h),
		Meta: reports.Meta{Version: "0.1.0", Scenario: "standard", Lock: "redlock", Seed: 0x9f3c21, SLO: []string{"acquire.p99<250ms", "error<0.1%"}},
	}
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are the blocks with golden files, by name.
var verdicts = map[string]func(t *testing.T) *reports.Run{
	"pass": func(t *testing.T) *reports.Run {
		r := run(t, sample.Shape{Clients: 4, Duration: 20 * time.Second})
		r.Canary = &reports.Canary{Mutant: "quorum-2", Caught: true, After: 2100 * time.Millisecond}
		return r
	},
	"fail": func(t *testing.T) *reports.Run { return run(t, sample.Failing) },
	"fail-many": func(t *testing.T) *reports.Run {
		r := run(t, sample.Failing)
		one := r.Report.Violations[0]
		r.Report.Violations = append(r.Report.Violations, one, one, one, one)
		r.Stories = append(r.Stories, r.Stories[0], r.Stories[0])
		r.Stories[1].ID, r.Stories[1].Finding.Accepted = "M-2", true
		r.Stories[2].ID, r.Stories[2].Finding.Expected = "M-3", true
		return r
	},
	"inconclusive": func(t *testing.T) *reports.Run {
		r := run(t, sample.Shape{Clients: 4, Duration: 20 * time.Second})
		r.Report.Verdict = checker.Inconclusive
		r.Report.Inconclusive = []checker.Finding{
			{ID: "V2", Text: "kill n3 had no effect: no lease was alive on it"},
			{ID: "V5", Text: "gave up on k3 after 30 s (61 204 operations)"},
		}
		r.Report.ExpectedMissing = []string{"S10"}
		return r
	},
	"slo": func(t *testing.T) *reports.Run { return run(t, sample.Passing) },
	"harness": func(t *testing.T) *reports.Run {
		r := run(t, sample.Shape{Clients: 4, Duration: 20 * time.Second})
		r.Harness = []string{"n3 did not start: address in use"}
		return r
	},
	"nothing": func(t *testing.T) *reports.Run {
		return &reports.Run{Dir: "runs/latest", Interrupted: true, Meta: reports.Meta{Testbed: reports.Testbed{Embedded: true}}}
	},
}

func TestVerdicts(t *testing.T) {
	for name, make := range verdicts {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			r := make(t)
			if err := Verdict(&out, Options{}, r); err != nil {
				t.Fatal(err)
			}
			golden(t, "verdict-"+name, out.String())
			if !strings.HasSuffix(out.String(), "\n"+LastLine(r.Verdict(), r.Verdict().Exit())+r.Qualified()+"\n") {
				t.Error("the last line is not the verdict")
			}
			out.Reset()
			if err := Verdict(&out, Options{Quiet: true}, r); err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(out.String(), "\n"); lines > 2 || lines == 0 {
				t.Errorf("quiet: %q", out.String())
			}
		})
	}
}

func TestBanner(t *testing.T) {
	b := Banner{
		Version: "0.1.0", Scenario: "standard", Seed: 0x9f3c21, Duration: time.Minute,
		Lock:   "redlock  5 masters, quorum 3, ttl 2 s, hold 20 ms · 16 clients · 8 keys",
		Redis:  "5 local processes, redis 7.0.15 (+1 for the guarded store)",
		Load:   "open loop 400/s, latency from intended start",
		Faults: []string{"latency", "kill", "latency", "pause-client"}, PhaseLocked: 2, Canary: true,
		LeftOut: []string{"clock-jump: needs faketime"}, Dir: "runs/x",
	}
	var out bytes.Buffer
	if err := b.Write(&out, Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "banner", out.String())
	out.Reset()
	if err := b.Write(&out, Options{Quiet: true}); err != nil || out.Len() > 0 {
		t.Errorf("quiet: %q, %v", out.String(), err)
	}
}

// At any width banner and verdict break between words alone: no line is wider than the
// terminal unless it is one word, and joined again they are the words of a log.
func TestWrapsBetweenWords(t *testing.T) {
	b := Banner{
		Version: "0.1.0", Scenario: "standard", Seed: 0x9f3c21, Duration: time.Minute, Canary: true,
		Lock:    "redlock  5 masters, quorum 3, ttl 2 s, hold 20 ms · 16 clients · 8 keys · waits up to 3 s · mode mixed",
		Faults:  []string{"latency-heavy-tail", "kill", "latency", "pause-client", "notify-lost", "partition-client", "store-write-delayed"},
		LeftOut: []string{"clock-jump: nodes that run already cannot be given another time, but embedded ones and processes under libfaketime can"},
		Dir:     "/a/path/that/is/longer/than/any/terminal/and/has/no/place/at/which/it/could/be/broken/in/two/20261121T142501Z-standard-9f3c21",
	}
	texts := map[string]func(w *bytes.Buffer, o Options) error{"banner": func(w *bytes.Buffer, o Options) error { return b.Write(w, o) }}
	for name, make := range verdicts {
		r := make(t)
		texts[name] = func(w *bytes.Buffer, o Options) error { return Verdict(w, o, r) }
	}
	for name, write := range texts {
		var log bytes.Buffer
		if err := write(&log, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{1, 20, 60, 80, 110, 300} {
			var out bytes.Buffer
			if err := write(&out, Options{Width: width, Color: true}); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Fields(uncoloured(out.String())), strings.Fields(log.String()); !slices.Equal(got, want) {
				t.Errorf("%s at %d columns: other words than in a log:\n%s", name, width, out.String())
			}
			for line := range strings.Lines(uncoloured(out.String())) {
				line = strings.TrimSuffix(line, "\n")
				longest := 0
				for _, word := range strings.Fields(line) {
					longest = max(longest, utf8.RuneCountInString(word))
				}
				if width >= 60 && utf8.RuneCountInString(line) > width && longest < width-20 {
					t.Errorf("%s at %d columns: %d wide: %q", name, width, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// A text that is printed whole is folded between words, below where the text of its line
// begins; what fits, and a log, stays as it is.
func TestFold(t *testing.T) {
	const text = "WHAT IF  nodes=5\n  throughput      340/s [180/s, 513/s] carried; more arrives than that\n                  and waits\n"
	if got := Fold(text, 0); got != text {
		t.Errorf("in a log:\n%s", got)
	}
	if got := Fold(text, 110); got != text {
		t.Errorf("at 110 columns:\n%s", got)
	}
	const want = "WHAT IF  nodes=5\n  throughput      340/s [180/s,\n                  513/s] carried;\n                  more arrives than\n                  that\n                  and waits\n"
	if got := Fold(text, 36); got != want {
		t.Errorf("at 36 columns:\n%s\nwant\n%s", got, want)
	}
	if got := Fold("  error  a median of 967 %, of 1 163 points\n", 24); got != "  error  a median of\n         967 %, of 1 163\n         points\n" {
		t.Errorf("a figure is torn apart:\n%s", got)
	}
	for _, width := range []int{1, 20, 60, 80, 110, 200} {
		got := Fold(text, width)
		if !slices.Equal(strings.Fields(got), strings.Fields(text)) {
			t.Errorf("at %d columns other words:\n%s", width, got)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width >= 60 && n > width {
				t.Errorf("%d wide at %d columns: %q", n, width, line)
			}
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func uncoloured(s string) string { return colours.ReplaceAllString(s, "") }

func TestGoldenOrphans(t *testing.T) {
	known := map[string]bool{"banner.golden": true, "live.golden": true, "log.golden": true}
	for name := range verdicts {
		known["verdict-"+name+".golden"] = true
	}
	found, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if !known[f.Name()] {
			t.Errorf("testdata/%s belongs to no test", f.Name())
		}
	}
}

// play feeds a history to a display in virtual time, and returns what it wrote.
func play(t *testing.T, o Options) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		h := sample.History(sample.Shape{Clients: 4, Duration: 41 * time.Second, Faults: true, Break: true})
		s := stats.New(h.Header)
		judge := checker.New(h.Header, checker.Options{})
		live := NewLive(&out, o, Plan{Duration: time.Minute, Faults: 5}, func() stats.Snapshot {
			now := s.Snapshot()
			now.Found = judge.Live()
			return now
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); live.Run(ctx) }()
		began := time.Now()
		for i := range h.Events {
			// The offset keeps events and ticks apart, so that their order is fixed.
			if wait := h.Events[i].Time + time.Microsecond - time.Since(began); wait > 0 {
				time.Sleep(wait)
			}
			s.Event(&h.Events[i])
			judge.Event(&h.Events[i])
			live.Event(&h.Events[i])
		}
		cancel()
		<-done
	})
	return out.String()
}

func TestLog(t *testing.T) { golden(t, "log", play(t, Options{})) }

func TestLive(t *testing.T) {
	all := play(t, Options{Live: true, Color: true, Width: 110})
	if !strings.HasSuffix(all, "\x1b[4A\x1b[J") {
		t.Error("the lines stay on the screen")
	}
	frames := strings.Split(all, "\x1b[4A")
	golden(t, "live", frames[80]+frames[len(frames)-2])
	if quiet := play(t, Options{Quiet: true}); quiet != "" {
		t.Errorf("quiet: %q", quiet)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		tty, quiet bool
		env        map[string]string
		want       Options
	}{
		{true, false, nil, Options{Live: true, Color: true}},
		{false, false, nil, Options{}},
		{true, false, map[string]string{"NO_COLOR": "1"}, Options{Live: true}},
		{true, false, map[string]string{"CI": "true"}, Options{Color: true}},
		{true, false, map[string]string{"TERM": "dumb"}, Options{}},
		{true, true, nil, Options{Color: true, Quiet: true}},
	} {
		if got := Detect(c.tty, c.quiet, 0, func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.env, got, c.want)
		}
	}
}

// While a run is judged, the display says so, on a terminal and in a log.
func TestLiveShowsThatItIsJudged(t *testing.T) {
	for _, o := range []Options{{Live: true, Width: 200}, {}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			var phase atomic.Value
			phase.Store(history.PhaseMain)
			l := NewLive(&out, o, Plan{Duration: 4 * time.Second}, func() stats.Snapshot { return stats.Snapshot{Phase: phase.Load().(string)} })
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				l.Run(ctx)
			}()
			time.Sleep(5*time.Second + time.Millisecond)
			synctest.Wait()
			if strings.Contains(out.String(), "judging") {
				t.Errorf("judging before the end:\n%s", out.String())
			}
			phase.Store(history.PhaseEnd)
			time.Sleep(25 * time.Second)
			cancel()
			<-done
			want := []string{"t=+5s judging acquired=0 for=0s\n", "t=+15s judging acquired=0 for=10s\n", "t=+25s judging acquired=0 for=20s\n"}
			if o.Live {
				want = []string{"judging, for 10.0 s", "judging, for 20.0 s"}
			}
			for _, w := range want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%+v: no %q in\n%.2000s", o, w, out.String())
				}
			}
		})
	}
}
