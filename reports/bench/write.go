package bench

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"locktorture/reports/internal/files"
)

// Names of the files that Write writes.
const (
	JSONFile     = "bench.json"
	MarkdownFile = "bench.md"
	TextFile     = "bench-tables.txt"
	GoFile       = "bench.txt" // Go's benchmark format
)

// Write writes every form of the report into dir, which it makes.
func (r *Report) Write(dir string) error {
	return files.Write(dir, map[string]func(io.Writer) error{
		JSONFile: r.JSON, MarkdownFile: r.Markdown, TextFile: r.Text, GoFile: r.GoBench,
	})
}

// JSON writes everything that was measured.
func (r *Report) JSON(w io.Writer) error { return files.JSON(w, r) }

// GoBench writes Go's benchmark format: a line per repeat, so that benchstat
// has samples. The lock is a key of its own: benchstat -col /lock. Cells that were
// disturbed, or got not one pair, are none.
func (r *Report) GoBench(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: locktorture\n", runtime.GOOS, runtime.GOARCH)
	for _, w := range r.warnings() {
		fmt.Fprintf(&b, "# %s\n", w)
	}
	for _, c := range r.Cells {
		if c.Disturbed != "" || c.Rate == 0 || c.Acquire.Count == 0 {
			continue
		}
		fmt.Fprintf(&b, "BenchmarkLock/scenario=%s/nodes=%d/workers=%d/lock=%s-%d\t%d\t%d ns/op\t%d p50-ns\t%d p99-ns\t%d p99.9-ns\t%d max-ns\t%.1f pairs/s",
			c.Scenario, c.Nodes, c.Workers, c.Lock, runtime.GOMAXPROCS(0), c.Acquire.Count, c.Acquire.Mean.Nanoseconds(),
			c.Acquire.P50.Nanoseconds(), c.Acquire.P99.Nanoseconds(), c.Acquire.P999.Nanoseconds(), c.Acquire.Max.Nanoseconds(), c.Rate)
		if c.HandOffs > 0 {
			fmt.Fprintf(&b, "\t%.1f handoffs/s\t%.4f jain", c.HandOffs, c.Jain)
		}
		if c.Allocs >= 0 {
			fmt.Fprintf(&b, "\t%.1f allocs/op", c.Allocs)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
