package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// worst lists the cells that count against the night, the worst first.
func (n *Night) worst() []NightCell {
	var bad []NightCell
	for _, v := range []checker.Verdict{checker.Fail, checker.HarnessError, checker.Inconclusive, checker.SLOBreach} {
		for _, c := range n.Cells {
			if c.Counts == v {
				bad = append(bad, c)
			}
		}
	}
	return bad
}

// printableCopy is the night with every text from outside made safe to print.
func (n *Night) printableCopy() *Night {
	shown := printable.Of(*n)
	return &shown
}

// Summary is summary.md: the verdict, then what somebody on call needs first.
func (n *Night) Summary() string {
	n = n.printableCopy()
	var b strings.Builder
	fmt.Fprintf(&b, "## NIGHT %s: %s\n\n", n.Verdict, n.headline())
	fmt.Fprintf(&b, "torture %s · commit `%s` · %s · began %s · took %s of %s · seeds %s\n\n", n.Version, cmp.Or(n.Commit, "unknown"), md(n.Testbed),
		n.Began.UTC().Format(time.RFC3339), n.Took.Round(time.Second), n.Budget, seedList(n.Seeds))
	if n.Planted != "" {
		fmt.Fprintf(&b, "Planted: the lock under test is the mutant %s. This night must fail.\n\n", md(n.Planted))
	}
	for _, c := range n.worst() {
		fmt.Fprintf(&b, "### %s: %s (%s)\n\n%s\n\n", c.Counts, md(c.name()), c.Role, md(c.Headline))
		if c.Story != "" && c.Counts == checker.Fail {
			fmt.Fprintf(&b, "```\n%s```\n\n", c.Story)
		}
		if c.Dir != "" {
			fmt.Fprintf(&b, "Replay: `%s` · artefacts: `%s`\n\n", c.Replay, c.Dir)
		}
	}
	list(&b, "Why this night proves nothing", n.Missing)
	list(&b, "Since the night before", n.Changes)
	table(&b, "Cells", []string{"lock", "scenario", "seed", "role", "verdict", "counts as", "found", "grants", "hand-overs under faults", "acquire p99", "tries", "took"}, n.rows())
	list(&b, "Left out", n.LeftOut)
	return clip(b.String(), maxSummary)
}

func (n *Night) headline() string {
	bad := n.worst()
	switch {
	case len(bad) > 0 && bad[0].Counts == n.Verdict:
		return md(bad[0].name() + ": " + bad[0].Headline)
	case len(n.Missing) > 0:
		return md(n.Missing[0])
	}
	return fmt.Sprintf("%d cells, nothing violated, every lock known to be broken was caught", len(n.Cells))
}

func (n *Night) rows() [][]string {
	var rows [][]string
	for _, c := range n.Cells {
		p99 := "–"
		if c.P99 > 0 {
			p99 = unit.Latency(c.P99)
		}
		rows = append(rows, []string{
			c.Lock, c.Scenario, fmt.Sprintf("0x%x", c.Seed), string(c.Role), string(c.Verdict), string(c.Counts),
			strings.Join(c.Found, " "), fmt.Sprint(c.Grants), fmt.Sprint(c.Faulted), p99, fmt.Sprint(c.Tries), c.Took.Round(time.Second).String(),
		})
	}
	return rows
}

func list(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "### %s\n\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", md(l))
	}
	b.WriteByte('\n')
}

func seedList(seeds []uint64) string {
	var all []string
	for _, s := range seeds {
		all = append(all, fmt.Sprintf("0x%x", s))
	}
	return strings.Join(all, ", ")
}

// junit writes the night as one suite with a case per cell, one for what is
// missing, and the seeds as properties.
func (n *Night) junit() []byte {
	n = n.printableCopy()
	s := junitSuite{Name: "nightly", Time: fmt.Sprintf("%.3f", n.Took.Seconds()), Timestamp: n.Began.UTC().Format(time.RFC3339)}
	for _, p := range [][2]string{{"verdict", string(n.Verdict)}, {"version", n.Version}, {"commit", n.Commit}, {"seeds", seedList(n.Seeds)}} {
		s.Properties.Property = append(s.Properties.Property, junitProperty{p[0], p[1]})
	}
	for _, c := range n.Cells {
		s.Cases = append(s.Cases, c.junit())
	}
	evidence := junitCase{Class: "nightly", Name: "evidence"}
	if len(n.Missing) > 0 {
		evidence.Error = &junitTrouble{Message: n.Missing[0], Type: string(checker.Inconclusive), Text: strings.Join(n.Missing, "\n")}
	}
	s.Cases = append(s.Cases, evidence)
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	return s.marshal()
}

func (c NightCell) junit() junitCase {
	j := junitCase{Class: c.Lock + "." + c.Scenario, Name: fmt.Sprintf("seed 0x%x (%s)", c.Seed, c.Role), Time: fmt.Sprintf("%.3f", c.Took.Seconds())}
	trouble := &junitTrouble{Message: c.Headline, Type: string(c.Counts), Text: c.Story + "replay  " + c.Replay + "\n"}
	switch c.Counts {
	case checker.Pass:
	case checker.Fail, checker.SLOBreach:
		j.Failure = trouble
	default:
		j.Error = trouble
	}
	return j
}

// Annotations are the lines that make GitHub show the worst beside a build.
func (n *Night) Annotations() []string {
	n = n.printableCopy()
	var out []string
	for _, c := range n.worst() {
		out = append(out, annotation(string(c.Counts)+" "+c.name(), c.Headline+" ("+c.Replay+")"))
	}
	for _, m := range n.Missing {
		out = append(out, annotation("inconclusive", m))
	}
	return out[:min(maxAnnotations, len(out))]
}
