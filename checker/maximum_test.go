package checker

import (
	"fmt"
	"strings"
	"testing"
)

// toldAtEnd is a lease of a's from then on, for 100 ms, that is renewed n times, the last time later
// than the others by so much, and whose loss is reported so long before its end.
func toldAtEnd(from, n, later, before int) string {
	text := fmt.Sprintf(`
		%[1]dms a invoke acquire k
		%[2]dms a ok acquire k until %[3]dms`, from, from+1, from+101)
	end := from + 101
	for i := range n {
		at := from + 1 + 33*(i+1)
		if i == n-1 {
			at += later
		}
		end = at + 100
		text += fmt.Sprintf("\n%dms a9 ok extend k owner a until %dms began %dms ended %dms", at, end, at, at)
	}
	return text + fmt.Sprintf("\n%[1]dms a ok lost k\n%[2]dms a invoke release k\n%[3]dms a fail release k", end-before, end+1, end+2)
}

// withoutRelease is a lease that is never given back.
func withoutRelease(lease string) string {
	kept, _, _ := strings.Cut(lease, " a invoke release")
	return kept[:strings.LastIndex(kept, "\n")]
}

// A loss at a maximum says why it is suspicious only.
func TestMaximumSaysWhy(t *testing.T) {
	r := Check(t.Context(), parse(t, "ttl 100ms", "0ms nemesis ok phase main"+toldAtEnd(1000, 3, 0, 2)+toldAtEnd(2000, 3, 0, 2)+toldAtEnd(3000, 3, 0, 2)), Options{})
	for _, f := range r.Suspicious {
		if !strings.Contains(f.Text, " was lost, 2ms before the lease could run out, ") || !strings.HasSuffix(f.Text, "No lease lasted longer than 199ms, and several ended so: the lock seems to renew none for longer.") {
			t.Error(f.Text)
		}
	}
	if len(r.Suspicious) != 3 {
		t.Errorf("%d are suspicious", len(r.Suspicious))
	}
}

// The first 64 losses at the end of leases are remembered.
func TestMaximumRemembersTheFirst(t *testing.T) {
	for leases, want := range map[int]int{63: 63, 64: 64, 65: 64, 66: 64} {
		history := "0ms nemesis ok phase main" + renewedFor(0, 6, -60)
		for i := range leases {
			history += toldAtEnd(1000*(i+1), 1, 0, 2)
		}
		if r := Check(t.Context(), parse(t, "ttl 100ms", history), Options{Limit: 100}); len(r.Violations) != want {
			t.Errorf("of %d losses %d are found, want %d", leases, len(r.Violations), want)
		}
	}
}

// TestMaximum holds that a lock may renew each lease for some time at most, and tell its owner at the
// end: that is a loss without cause only where it is not the same for all.
func TestMaximum(t *testing.T) {
	const main = "\n0ms nemesis ok phase main"
	told := func(from int) string { return toldAtEnd(from, 3, 0, 2) }
	three := told(1000) + told(2000) + told(3000)
	all := []string{"L5 [5 6]", "L5 [13 14]", "L5 [21 22]"}
	var cases []boundCase
	for _, c := range []verdictCase{
		{name: "three", want: Pass, suspicious: all, history: main + three},
		{name: "two", want: Fail, violations: all[:2], history: main + told(1000) + told(2000)},
		{name: "three, and others were given back before", want: Pass, suspicious: []string{"L5 [17 18]", "L5 [25 26]", "L5 [33 34]"}, history: main + renewedFor(0, 3, -60) + renewedFor(300, 1, -60) + three},
		{name: "three, and one lived longer", want: Fail, violations: all, history: main + three + renewedFor(4000, 4, -60)},
		{name: "three, and one lived longer and was lost", want: Fail, violations: append(all[:3:3], "L5 [30 31]"), history: main + three + toldAtEnd(4000, 4, 0, 2)},
		{name: "three, and one lived longer and was lost early", want: Fail, violations: append(all[:3:3], "L5 [30 31]"), history: main + three + toldAtEnd(4000, 4, 0, 50)},
		{name: "three, and one lived longer, was lost early and never given back", want: Fail, violations: append(all[:3:3], "L5 [30 31]"), history: main + three + withoutRelease(toldAtEnd(4000, 4, 0, 50))},
		{name: "three, and one lived a little longer", want: Pass, suspicious: all, history: main + three + renewedFor(4000, 3, -60)},
		{name: "three that differ by less than a quarter of a TTL", want: Pass, suspicious: all, history: main + told(1000) + told(2000) + toldAtEnd(3000, 3, 24, 2)},
		{name: "three that differ by a quarter", want: Fail, violations: all, history: main + told(1000) + told(2000) + toldAtEnd(3000, 3, 25, 2)},
		{name: "and one that ends earlier", want: Fail, violations: []string{"L5 [27 28]"}, suspicious: all, history: main + three + toldAtEnd(4000, 1, 0, 2)},
		{name: "and one that is told early", want: Fail, violations: []string{"L5 [29 30]"}, suspicious: all, history: main + three + toldAtEnd(4000, 3, 0, 11)},
		{name: "and one that is told a tenth of a TTL before", want: Pass, suspicious: append(all[:3:3], "L5 [29 30]"), history: main + three + toldAtEnd(4000, 3, 0, 10)},
		{name: "never renewed", want: Fail, violations: []string{"L5 [2 3]", "L5 [7 8]", "L5 [12 13]"}, history: main + toldAtEnd(1000, 0, 0, 2) + toldAtEnd(2000, 0, 0, 2) + toldAtEnd(3000, 0, 0, 2)},
	} {
		c.header = "ttl 100ms " + c.header
		cases = append(cases, boundCase{verdictCase: c})
	}
	runBounds(t, cases)
}
