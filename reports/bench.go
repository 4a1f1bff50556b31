package reports

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/reports/stats"
)

// bench writes the latencies in Go's benchmark format, for benchstat.
func (r *Run) bench() string {
	m := r.measured()
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: locktorture\n", cmp.Or(r.Meta.Host.OS, "unknown"), cmp.Or(r.Meta.Host.Arch, "unknown"))
	for _, l := range m.Latency {
		if l.Count == 0 {
			continue
		}
		name := "Benchmark" + strings.ToUpper(string(l.Series[:1])) + string(l.Series[1:])
		fmt.Fprintf(&b, "%s/scenario=%s/lock=%s/phase=%s-%d\t%d\t%d ns/op\t%d p50-ns\t%d p99-ns\t%d p99.9-ns\t%d max-ns",
			name, benchWord(r.Meta.Scenario), benchWord(r.Meta.Lock), l.Phase, max(r.Meta.Host.CPUs, 1),
			l.Count, l.Mean.Nanoseconds(), l.P50.Nanoseconds(), l.P99.Nanoseconds(), l.P999.Nanoseconds(), l.Max.Nanoseconds())
		if l.Series == stats.Acquire && l.Phase == stats.All {
			fmt.Fprintf(&b, "\t%.1f grants/s\t%.4f jain", m.GrantsPerSecond(), m.Fairness.Jain)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// benchWord makes a name fit into a benchmark's, which has neither spaces nor
// slashes.
func benchWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, s)
	return cmp.Or(s, "none")
}
