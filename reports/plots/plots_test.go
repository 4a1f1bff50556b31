package plots

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/reports/internal/sample"
	"locktorture/reports/stats"
	"locktorture/reports/story"
	"locktorture/workload/history"
)

const maxSize = 300_000

func measure(h history.History) (*stats.Summary, []story.Story) {
	s := stats.New(h.Header)
	c := story.NewCollector(h.Header, sample.Report(h).Violations, 3)
	for i := range h.Events {
		s.Event(&h.Events[i])
		c.Event(&h.Events[i])
	}
	return s.Summary(), c.Stories()
}

// render draws f both ways and checks what can be checked without eyes. With
// PLOTS_DIR set the figures stay there, to be looked at. Pixels cost the race
// detector dear, so that not every test asks for them.
func render(t *testing.T, f *Figure, pixels bool) {
	t.Helper()
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	keep(t, f.Name, "svg", svg)
	if pixels || os.Getenv("PLOTS_DIR") != "" {
		png, err := f.PNG()
		if err != nil {
			t.Fatal(err)
		}
		keep(t, f.Name, "png", png)
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s.svg: %v", f.Name, err)
		}
	}
	if dots := bytes.Count(svg, []byte("A6.5")); strings.HasPrefix(f.Name, "witness") && dots == 0 {
		t.Errorf("%s.svg numbers no step", f.Name)
	}
	if !bytes.Contains(svg, []byte("<desc>")) || f.Alt == "" {
		t.Errorf("%s has no description", f.Name)
	}
}

func keep(t *testing.T, name, kind string, out []byte) {
	t.Helper()
	if len(out) == 0 || len(out) > maxSize {
		t.Errorf("%s.%s has %d bytes, want at most %d", name, kind, len(out), maxSize)
	}
	if dir := os.Getenv("PLOTS_DIR"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+"-"+filepath.Base(t.Name())+"."+kind), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func figures(h history.History) []*Figure {
	s, stories := measure(h)
	all := []*Figure{
		Timeline(s, "redlock on 5 masters, seed 0x9f3c21", 250*time.Millisecond),
	}
	all = append(all, Percentiles(s, "redlock"), Fairness(s, "redlock"), Margin(s, h.Header.TTL))
	for _, one := range stories {
		all = append(all, Witness(one, h.Header.Seed))
	}
	return all
}

func TestFigures(t *testing.T) {
	end := history.Event{Time: time.Second, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd}
	for name, h := range map[string]history.History{
		"passing": sample.History(sample.Passing),
		"failing": sample.History(sample.Failing),
		"short":   sample.History(sample.Shape{Clients: 1, Duration: 1200 * time.Millisecond}),
		"long":    sample.History(sample.Shape{Clients: 2, Duration: 20 * time.Minute, Faults: true}),
		"nothing": {},
		"end":     {Events: []history.Event{end}},
		"idle":    sample.History(sample.Shape{Duration: time.Minute, Faults: true}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range figures(h) {
				render(t, f, name == "failing")
			}
		})
	}
}

func BenchmarkTimeline(b *testing.B) {
	s, _ := measure(sample.History(sample.Passing))
	for b.Loop() {
		f := Timeline(s, "redlock", time.Second)
		if _, err := f.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTimelineSaysWhatItCounts(t *testing.T) {
	s := &stats.Summary{Duration: 8 * time.Second, Faults: make([]stats.Fault, 1), Outcomes: stats.Outcomes{Acquired: 245}}
	if text := timelineAlt(s, 0); !strings.HasPrefix(text, "Timeline of 8.0 s: 1 fault; in the main phase 245 acquires with p50 ") {
		t.Error(text)
	}
}
