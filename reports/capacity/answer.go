package capacity

import (
	"fmt"
	"io"
	"strings"
	"time"

	"locktorture/reports/unit"
)

// Extrapolated reports whether the prediction leaves what was measured.
func (p Prediction) Extrapolated() bool { return len(p.Beyond) > 0 }

// figure writes a predicted figure: ≈ when it goes beyond what was measured.
func (p Prediction) figure(e Estimate, format func(float64) string) string {
	about := ""
	if p.Extrapolated() {
		about = "≈ "
	}
	if e.Confidence == 0 {
		return about + format(e.Value)
	}
	return fmt.Sprintf("%s%s [%s, %s]", about, format(e.Value), format(e.Low), format(e.High))
}

// latency writes a predicted latency; of a load that is not kept up with, there is none.
func (p Prediction) latency(e Estimate) string {
	if p.Behind {
		return "grows for as long as the load lasts"
	}
	return p.figure(e, seconds)
}

// Cells are the figures of the prediction in a table.
func (p Prediction) Cells() []string {
	return []string{p.figure(p.Rate, rate), p.latency(p.P50), p.latency(p.P99)}
}

// Line is the prediction in one line.
func (p Prediction) Line() string {
	text := fmt.Sprintf("%s: %s, acquire p50 %s, p99 %s; busiest: %s", p.Name, p.figure(p.Rate, rate), p.latency(p.P50), p.latency(p.P99), p.Busy[0])
	if p.Extrapolated() {
		text += "; extrapolated: " + strings.Join(p.Beyond, ", ")
	}
	return text
}

// String writes the share in use.
func (u Use) String() string { return fmt.Sprintf("%s, %s in use", u.Name, unit.Percent(u.Share)) }

// asked are the questions that every page answers.
func (m *Model) asked() []Prediction {
	s := m.r.Setup
	closed := Scenario{Masters: s.Masters, Clients: 32, Hold: s.Hold, Keys: s.Keys}
	with := func(change func(*Scenario)) Scenario {
		c := closed
		change(&c)
		return c
	}
	var out []Prediction
	for _, q := range []struct {
		name string
		s    Scenario
	}{
		{fmt.Sprintf("as measured: 32 clients that ask again and again, %d keys, hold %s", s.Keys, unit.Setting(s.Hold)), closed},
		{"4 × the clients", with(func(c *Scenario) { c.Clients *= 4 })},
		{"half the hold", with(func(c *Scenario) { c.Hold /= 2 })},
		{"keys by Zipf's law, 0.99", with(func(c *Scenario) { c.Zipf = 0.99 })},
		{"round trips of 2 ms", with(func(c *Scenario) { c.RTT = []time.Duration{2 * time.Millisecond} })},
		{fmt.Sprintf("%d masters", s.Masters+2), with(func(c *Scenario) { c.Masters += 2 })},
		{"every Redis and 4 processors of clients on machines of their own", with(func(c *Scenario) { c.Own, c.Cores = true, 4 })},
	} {
		if p, err := m.Predict(q.name, q.s); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// source says which calibration answers.
func (r *Report) source(from string) string {
	return fmt.Sprintf("%s: %s, begun %s, %d repeats", from, r.Title(), r.Began.UTC().Format("2006-01-02 15:04 MST"), r.Repeats)
}

// errorLines say how far answers went wrong.
func (r *Report) errorLines() []string {
	e := r.Calibration.Errors
	if e.Rate.N < fewHeldOut {
		return []string{fmt.Sprintf("not known: an error wants %d points that were measured and not fitted, and there are %d", fewHeldOut, e.Rate.N)}
	}
	out := []string{fmt.Sprintf("on points that were measured and not fitted: rate %s; acquire p50 %s; p99 %s", e.Rate.words(), e.P50.words(), e.P99.words())}
	return append(append(out, e.causes()...),
		fmt.Sprintf("[low, high] is the %s interval that these errors give for a measurement on the same machine; how far they hold beyond it, nobody has measured", unit.Percent(confidence)))
}

func writeLines(out *strings.Builder, label string, lines []string) {
	for i, l := range lines {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(out, "  %-16s%s\n", label, l)
	}
}

// Sourced is the prediction with what a program has to know of where it comes from.
func (r *Report) Sourced(p Prediction, from string) Prediction {
	p.Warnings, p.Error, p.Calibration = r.Warning, r.errorLines(), r.source(from)
	return p
}

// Answer writes a prediction as the answer to a question.
func (r *Report) Answer(w io.Writer, from string, p Prediction) error {
	var out strings.Builder
	fmt.Fprintf(&out, "WHAT IF  %s\n", p.Name)
	writeLines(&out, "warning", r.Warning)
	carried := p.figure(p.Rate, rate)
	if p.Behind {
		carried += " carried; more arrives than that, and waits longer and longer"
	}
	writeLines(&out, "throughput", []string{carried})
	if n := p.Scenario.Shards; n > 1 {
		writeLines(&out, "shards", []string{fmt.Sprintf("%d that share nothing; all figures are those of the busiest one", n)})
	}
	writeLines(&out, "acquire p50", []string{p.latency(p.P50)})
	writeLines(&out, "acquire p99", []string{p.latency(p.P99)})
	var uses []string
	for _, u := range p.Busy {
		uses = append(uses, fmt.Sprintf("%s (limits at %s)", u, unit.Percent(u.Full)))
	}
	writeLines(&out, "busy", uses)
	writeLines(&out, "under way", []string{fmt.Sprintf("%s requests between question and reply, on average", unit.Number(p.Under))})
	if p.Extrapolated() {
		writeLines(&out, "≈ extrapolated", p.Beyond)
	}
	writeLines(&out, "error", r.errorLines())
	writeLines(&out, "calibration", []string{r.source(from)})
	_, err := io.WriteString(w, out.String())
	return err
}
