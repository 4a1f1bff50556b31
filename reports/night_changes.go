package reports

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/unit"
)

// slower is the ratio from which a change of the acquire p99 is mentioned. It
// fails nothing: nights share their machine with others.
const slower = 2

// outcome is what a night says about one lock in one scenario, over all seeds.
type outcome struct {
	verdict checker.Verdict
	found   []string
	p99     time.Duration
}

// Compare says what changed since the night before; nil is none.
func (n *Night) Compare(before *Night) {
	if before == nil {
		n.Changes = []string{"first night: nothing to compare with"}
		return
	}
	n.Changes = nil
	add := func(format string, args ...any) { n.Changes = append(n.Changes, fmt.Sprintf(format, args...)) }
	if n.Commit != before.Commit || n.Version != before.Version {
		add("torture %s (%s) → %s (%s)", before.Version, shortCommit(before.Commit), n.Version, shortCommit(n.Commit))
	}
	if n.Testbed != before.Testbed {
		add("testbed %s → %s", before.Testbed, n.Testbed)
	}
	was, is := before.outcomes(), n.outcomes()
	for _, key := range slices.Sorted(maps.Keys(is)) {
		old, known := was[key]
		compare(key, old, is[key], known, add)
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if _, still := is[key]; !still {
			add("%s: not played (was %s)", key, was[key].verdict)
		}
	}
	if len(n.Changes) == 0 {
		n.Changes = []string{"nothing"}
	}
}

func compare(key string, old, now outcome, known bool, add func(string, ...any)) {
	switch {
	case !known:
		add("%s: new, %s", key, now.verdict)
		return
	case old.verdict != now.verdict:
		add("%s: %s → %s%s", key, old.verdict, now.verdict, ids(now.found))
	case !slices.Equal(old.found, now.found) && now.verdict == checker.Fail:
		add("%s: found%s, was%s", key, ids(now.found), ids(old.found))
	}
	if old.p99 > 0 && now.p99 > 0 && (now.p99 >= slower*old.p99 || old.p99 >= slower*now.p99) {
		add("%s: acquire p99 %s → %s", key, unit.Latency(old.p99), unit.Latency(now.p99))
	}
}

func ids(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " " + strings.Join(all, " ")
}

// outcomes takes the worst over all seeds of every lock in every scenario.
func (n *Night) outcomes() map[string]outcome {
	all := map[string]outcome{}
	for _, c := range n.Cells {
		key := fmt.Sprintf("%s %s", c.Lock, c.Scenario)
		o := all[key]
		if o.verdict == "" {
			o.verdict = checker.Pass
		}
		o.verdict = checker.Worse(o.verdict, c.Counts)
		o.found = slices.Compact(slices.Sorted(slices.Values(append(o.found, c.Found...))))
		o.p99 = max(o.p99, c.P99)
		all[key] = o
	}
	return all
}

func shortCommit(c string) string { return c[:min(12, len(c))] }

func splitLines(raw []byte) [][]byte { return bytes.Split(raw, []byte("\n")) }
