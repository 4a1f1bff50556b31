package terminal

import (
	"fmt"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/printable"
)

const cells = 40

// frame is what the screen shows at a moment.
func (l *Live) frame(elapsed time.Duration, s stats.Snapshot) []string {
	rate := func(count func(stats.Outcomes) int64) string {
		first, last := l.past[0], l.past[len(l.past)-1]
		span := last.at - first.at
		if len(l.past) == 1 {
			first.sum, span = stats.Outcomes{}, elapsed
		}
		if span <= 0 {
			return "0/s"
		}
		return unit.Rate(float64(count(last.sum.Minus(first.sum))) / span.Seconds())
	}
	lines := []string{
		l.progress(elapsed, s),
		fmt.Sprintf(" acquired %s  contended %s  error %s  unknown %s   lag %s  dropped %s",
			rate(func(o stats.Outcomes) int64 { return o.Acquired }), rate(func(o stats.Outcomes) int64 { return o.Contended }),
			rate(func(o stats.Outcomes) int64 { return o.Error }), rate(func(o stats.Outcomes) int64 { return o.Unknown }),
			unit.Latency(s.LagP99), unit.Count(s.Dropped)),
		fmt.Sprintf(" acquire  p50 %s  p99 %s  max %s     keys held %d/%d%s",
			unit.Latency(s.P50), unit.Latency(s.P99), unit.Latency(s.Max), s.Held, s.Keys, used(s.Used, "   ", " ", " · ")),
		found(s.Found, s.Later),
	}
	for i := range lines {
		lines[i] = l.o.fit(printable.Line(lines[i]))
	}
	if s.Found.Violations > 0 {
		lines[3] = l.o.paint(redBold, lines[3])
	}
	return lines
}

func (l *Live) progress(elapsed time.Duration, s stats.Snapshot) string {
	share := 1.0
	if l.plan.Duration > 0 {
		share = min(elapsed.Seconds()/l.plan.Duration.Seconds(), 1)
	}
	line := fmt.Sprintf(" %ds/%ds %s %3.0f%%", int(elapsed.Seconds()), int(l.plan.Duration.Seconds()), gauge(share), share*100)
	switch {
	case l.over > 0:
		line += "  judging, for " + unit.Span((elapsed - l.over).Round(100*time.Millisecond))
	case s.Phase != "" && s.Phase != history.PhaseMain:
		line += "  " + s.Phase
	}
	if l.plan.Faults > 0 || s.Faults > 0 {
		line += fmt.Sprintf("   faults %d/%d", s.Faults, max(l.plan.Faults, s.Faults))
	}
	for _, f := range s.Active {
		line += fmt.Sprintf("  ● %s (for %s)", strings.TrimSpace(f.Name+" "+f.Target), unit.Span((s.At - f.Since).Round(100*time.Millisecond)))
	}
	return line
}

// gauge draws a share of a whole to half a cell.
func gauge(share float64) string {
	halves := int(share * 2 * cells)
	bar := strings.Repeat("█", halves/2)
	if halves%2 == 1 {
		bar += "▌"
	}
	return bar + strings.Repeat("·", cells-(halves+1)/2)
}

// found is what the judge that watches has found so far; later: none does.
func found(f checker.Live, later bool) string {
	if later {
		return " judged once the histories of all workers are in"
	}
	line := fmt.Sprintf(" double grants %s   stale writes accepted %s   fence saves %s   token regressions %s",
		unit.Count(f.DoubleGrants), unit.Count(f.StaleAccepted), unit.Count(f.FenceSaves), unit.Count(f.TokenRegressions))
	if f.FirstHit != "" {
		line += "   first: " + f.FirstHit
	}
	return line
}

// logLine is what a log gets every ten seconds: words without spaces, for grep.
func logLine(elapsed time.Duration, s stats.Snapshot) string {
	tight := func(d time.Duration) string { return strings.ReplaceAll(unit.Latency(d), " ", "") }
	o, f := s.Outcomes, s.Found
	line := fmt.Sprintf("t=+%ds acquired=%d contended=%d error=%d unknown=%d p50=%s p99=%s lag=%s dropped=%d",
		int(elapsed.Seconds()), o.Acquired, o.Contended, o.Error, o.Unknown, tight(s.P50), tight(s.P99), tight(s.LagP99), s.Dropped)
	if !s.Later {
		line += fmt.Sprintf(" double=%d stale=%d saves=%d", f.DoubleGrants, f.StaleAccepted, f.FenceSaves)
	}
	return line + used(s.Used, " used=", ":", ",")
}

// used says which abilities were used so far, beside that of a plain acquire, and
// how often; nothing where none was.
func used(u coverage.Uses, before, between, separator string) string {
	var words []string
	for _, one := range u.List()[1:] {
		if one.Count > 0 {
			words = append(words, fmt.Sprint(one.Name, between, one.Count))
		}
	}
	if words == nil {
		return ""
	}
	return before + strings.Join(words, separator)
}

// faultLine says what became of a fault. One that has begun has no receipt yet as
// a rule: what was noted of it before, for how long it is to last, stands there.
func faultLine(e *history.Event, planned string) string {
	word := "start"
	switch {
	case e.Op == history.Heal && e.Kind == history.Fail:
		word = "NOT HEALED"
	case e.Op == history.Heal:
		word = "healed"
	case e.Kind == history.Fail:
		word = "none"
	case e.Instant:
		word = "done"
	}
	line := fmt.Sprintf("t=+%.1fs FAULT %s %s", e.Time.Seconds(), word, strings.TrimSpace(e.Fault+" "+stats.TargetText(e.Target)))
	switch {
	case e.Err != "":
		line += " (" + e.Err + ")"
	case e.Receipt != "":
		line += " (" + e.Receipt + ")"
	case word == "start" && planned != "":
		line += " (" + planned + ")"
	case e.Kind == history.Info:
		line += " (no receipt)"
	}
	return printable.Line(line)
}
