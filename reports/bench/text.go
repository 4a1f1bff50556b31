package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"locktorture/reports/unit"
)

// A column is one figure of the tables.
type column struct {
	head   string
	metric string
	ratio  bool // beside the figure, how the first lock compares
	format func(v float64) string
}

func nanos(v float64) string { return unit.Latency(time.Duration(v)) }
func whole(v float64) string { return unit.Number(v) }
func index(v float64) string { return fmt.Sprintf("%.3f", v) }
func short(v float64) string { return fmt.Sprintf("%.1f", v) }

// columns of the tables, in two groups: how fast and how fair; and the parts
// with what they cost. A column of which a setting has nothing is left out.
var columns = [][]column{{
	{"pairs/s", "rate", true, whole},
	{"hand-offs/s", "handoffs", true, whole},
	{"acquire p50", "acquire.p50", true, nanos},
	{"p99", "acquire.p99", true, nanos},
	{"p99.9", "acquire.p99.9", true, nanos},
	{"max", "acquire.max", false, nanos},
	{"Jain", "jain", false, index},
	{"max/min", "max/min", false, short},
	{"keys left", "leftovers", false, whole},
	{"errors", "errors", false, whole},
}, {
	{"hand-off p50", "handoff.p50", false, nanos},
	{"p99", "handoff.p99", false, nanos},
	{"release p50", "release.p50", false, nanos},
	{"p99", "release.p99", false, nanos},
	{"extend p50", "extend.p50", true, nanos},
	{"p99", "extend.p99", true, nanos},
	{"commands", "commands", false, short},
	{"round trips", "round trips", false, index},
	{"allocs", "allocs", false, whole},
	{"CPU servers", "server cpu", false, short},
	{"client", "client cpu", false, short},
	{"goroutines", "goroutines", false, whole},
}}

// Legend explains the columns, a sentence each.
var Legend = []string{
	"figures: median over repeats; ×: the setting's first lock as a multiple of this one, paired within a repeat, with its interval",
	"pair: acquire and release",
	"acquire counts waiting too; a wait that the end of a run cut off counts for as long as it lasted, and one that failed for as long as the run at least",
	"hand-off: from one owner's call of release to the next owner's grant",
	"CPU: µs per pair; allocs: per pair",
	"commands: per pair, of INFO commandstats, those within scripts too",
	"round trips: packets of requests per pair and node (several pairs can share one)",
}

// A table is a setting with its rows, laid out.
type table struct {
	title   string
	columns []column
	rows    [][]string
}

// tables lays the rows out, one table per setting.
func (r *Report) tables(plain bool) []table {
	var out []table
	for i := 0; i < len(r.Rows); {
		j := i
		for j < len(r.Rows) && r.Rows[j].Setting == r.Rows[i].Setting {
			j++
		}
		for _, group := range columns {
			if t := tableOf(r.Rows[i:j], group, plain, r.Repeats); t.title != "" || len(t.columns) > 0 {
				out = append(out, t)
			}
		}
		i = j
	}
	return out
}

func tableOf(rows []Row, group []column, plain bool, repeats int) table {
	t := table{}
	if group[0].metric == "rate" {
		t.title = rows[0].title()
	}
	for _, c := range group {
		if slices.ContainsFunc(rows, func(r Row) bool { return hasFigure(c, r) }) {
			t.columns = append(t.columns, c)
		}
	}
	for _, r := range rows {
		line := []string{r.Lock}
		for _, c := range t.columns {
			line = append(line, cellText(c, r, plain, repeats))
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func (s Setting) title() string {
	return fmt.Sprintf("%s · %s · %s", s.Scenario, unit.Counted(s.Nodes, "master"), unit.Counted(s.Workers, "worker"))
}

// quietWhenZero are the figures of which nought is no news.
var quietWhenZero = []string{"errors", "leftovers"}

// hasFigure reports whether r has a figure for c that is worth a cell.
func hasFigure(c column, r Row) bool {
	f, ok := r.Figures[c.metric]
	return ok && !(slices.Contains(quietWhenZero, c.metric) && f.High == 0)
}

func cellText(c column, r Row, plain bool, repeats int) string {
	f, ok := r.Figures[c.metric]
	if !ok {
		return "–"
	}
	text := c.format(f.Median)
	ratio, ok := r.Ratios[c.metric]
	if !c.ratio || !ok {
		return text
	}
	if plain {
		return fmt.Sprintf("%s  ×%s%s", text, factor(ratio.Median), ratio.bounds(repeats, "[", ",", "]"))
	}
	return fmt.Sprintf("%s ×**%s**%s", text, factor(ratio.Median), ratio.bounds(repeats, "(", "–", ")"))
}

// bounds writes the interval of a ratio, and over how many repeats it is where these are
// not all. One repeat has no interval.
func (i Interval) bounds(repeats int, open, between, end string) (text string) {
	if i.Confidence > 0 {
		text = " " + open + factor(i.Low) + between + factor(i.High) + end
	}
	if i.N < repeats {
		text += fmt.Sprintf(" n=%d", i.N)
	}
	return text
}

func factor(v float64) string {
	if v >= 9.95 {
		return unit.Number(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// head is what every form of the report begins with.
func (r *Report) head() []string {
	out := []string{fmt.Sprintf("%s; %s of %s per lock, interleaved in random order, seed %s; intervals %s",
		r.Redis, unit.Counted(r.Repeats, "repeat"), unit.Setting(time.Duration(r.Slice*float64(time.Second))), unit.Seed(r.Seed), r.confidence())}
	return append(append(out, r.Notes...), r.warnings()...)
}

// warnings say which figures to distrust, and which are missing.
func (r *Report) warnings() (out []string) {
	type place struct{ title, lock string }
	if r.Missing > 0 {
		out = append(out, fmt.Sprintf("warning: interrupted: %d of %d cells were not measured", r.Missing, r.Missing+len(r.Cells)))
	}
	failed, disturbed, all, left := map[place]int{}, 0, map[place]int{}, map[place]int{}
	for _, c := range r.Cells {
		at := place{Setting{c.Scenario, c.Nodes, c.Workers}.title(), c.Lock}
		if all[at]++; c.Disturbed != "" {
			disturbed++
			left[at]++
		}
		if c.Error != "" {
			failed[at]++
		}
	}
	if disturbed > 0 {
		out = append(out, fmt.Sprintf("warning: %d of %d cells are in no figure, since other programs used the processors or this one stood still (disturbed, in the JSON): this machine is too busy", disturbed, len(r.Cells)))
	}
	sorted := func(of map[place]int) []place {
		return slices.SortedFunc(maps.Keys(of), func(a, b place) int { return cmp.Or(cmp.Compare(a.title, b.title), cmp.Compare(a.lock, b.lock)) })
	}
	for _, at := range sorted(left) {
		if left[at] == all[at] {
			out = append(out, fmt.Sprintf("warning: %s, %s: every repeat was disturbed, so that there is no figure", at.title, at.lock))
		}
	}
	for _, at := range sorted(failed) {
		out = append(out, fmt.Sprintf("warning: %s, %s: errors, or no pair at all, in %d of %s (error, in the JSON)", at.title, at.lock, failed[at], unit.Counted(r.Repeats, "repeat")))
	}
	return out
}

// confidence is that of the intervals: it depends on how many repeats a ratio has.
func (r *Report) confidence() string {
	by := map[int]float64{}
	for _, row := range r.Rows {
		for _, f := range row.Ratios {
			by[f.N] = f.Confidence
		}
	}
	var each []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(by))) {
		text := "none"
		if by[n] > 0 {
			text = unit.Percent(by[n])
		}
		each = append(each, fmt.Sprintf("%s at n = %d", text, n))
	}
	if len(each) == 0 {
		return "none: no two locks have figures of one repeat"
	}
	return "of the median, from the order of the repeats alone: " + strings.Join(each, ", ")
}

// settings say how each lock was set.
func (r *Report) settings() (out []string) {
	for _, l := range r.Locks {
		out = append(out, l.ID+": "+l.About)
	}
	return out
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "BENCH  %s\n", strings.Join(r.head(), "\n       "))
	for _, t := range r.tables(true) {
		if t.title != "" {
			fmt.Fprintf(&out, "\n%s\n", t.title)
		}
		tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprint(tw, "  lock")
		for _, c := range t.columns {
			fmt.Fprintf(tw, "\t%s", c.head)
		}
		fmt.Fprintln(tw)
		for _, row := range t.rows {
			fmt.Fprintf(tw, "  %s\n", strings.Join(row, "\t"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	for _, line := range r.across() {
		fmt.Fprintf(&out, "\n%s", line)
	}
	fmt.Fprintf(&out, "\n%s\n", strings.Join(slices.Concat(r.settings(), Legend, []string{"command: " + r.Command}), "\n"))
	_, err := io.WriteString(w, out.String())
	return err
}

// across says what a hurt node costs each lock, held against its own healthy
// runs.
func (r *Report) across() []string {
	var out []string
	for _, row := range r.Rows {
		if row.Scenario != "slow-node" && row.Scenario != "dead-node" {
			continue
		}
		healthy := row.Setting
		healthy.Scenario = "healthy"
		if i, ok := r.Across("rate", row.Lock, row.Setting, healthy); ok {
			out = append(out, fmt.Sprintf("%s with %s: %s × its own healthy rate%s", row.Lock, row.title(), factor(i.Median), i.bounds(r.Repeats, "[", ", ", "]")))
		}
	}
	return out
}

// Summary writes the ratios alone, in Markdown: a line for every setting and
// lock that the setting's first lock is compared with.
func (r *Report) Summary(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "`%s`\n\n%s.\n\n", r.Command, strings.Join(r.head(), ". "))
	fmt.Fprintln(&out, "| setting | lock | held against | pairs/s | hand-offs/s | acquire p50 | p99 | p99.9 | Jain | max/min |\n|---|---|---|---|---|---|---|---|---|---|")
	for i, row := range r.Rows {
		first := r.first(i)
		if first.Lock == row.Lock {
			continue
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", row.title(), first.Lock, row.Lock, strings.Join([]string{
			r.times(row, "rate"), r.times(row, "handoffs"), r.times(row, "acquire.p50"), r.times(row, "acquire.p99"), r.times(row, "acquire.p99.9"),
			versus(first, row, "jain", index), versus(first, row, "max/min", short),
		}, " | "))
	}
	for _, line := range slices.Concat(r.across(), r.settings()) {
		fmt.Fprintf(&out, "\n- %s", line)
	}
	fmt.Fprintln(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

// first is the row that row i is compared with.
func (r *Report) first(i int) Row {
	for i > 0 && r.Rows[i-1].Setting == r.Rows[i].Setting {
		i--
	}
	return r.Rows[i]
}

func (r *Report) times(row Row, metric string) string {
	c, ok := row.Ratios[metric]
	if !ok {
		return "–"
	}
	return "×" + factor(c.Median) + c.bounds(r.Repeats, "(", "–", ")")
}

// versus shows a figure of both; it says something where a key is shared.
func versus(first, row Row, metric string, format func(float64) string) string {
	if _, shared := first.Figures["handoffs"]; !shared {
		return "–"
	}
	return format(first.Figures[metric].Median) + " : " + format(row.Figures[metric].Median)
}

// Markdown writes the ratios and every figure as tables.
func (r *Report) Markdown(w io.Writer) error {
	var out strings.Builder
	if err := r.Summary(&out); err != nil {
		return err
	}
	for _, t := range r.tables(false) {
		if t.title != "" {
			fmt.Fprintf(&out, "\n**%s**\n", t.title)
		}
		fmt.Fprint(&out, "\n| lock |")
		for _, c := range t.columns {
			fmt.Fprintf(&out, " %s |", c.head)
		}
		fmt.Fprintf(&out, "\n|---|%s\n", strings.Repeat("---|", len(t.columns)))
		for _, row := range t.rows {
			fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		}
	}
	fmt.Fprintf(&out, "\n%s\n", strings.Join(Legend, ". "))
	_, err := io.WriteString(w, out.String())
	return err
}
