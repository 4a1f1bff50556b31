package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule/writes"
	"locktorture/workload/history"
)

// borrowedToken is a write with the first grant's token by another owner, with n
// grants between them.
func borrowedToken(s *script, n int) {
	for i := range n + 1 {
		s.do(1+i%2, history.Acquire, "k", 1, fence(i+1))
		s.do(1+i%2, history.Release, "k", 1)
	}
	s.do(3, history.Acquire, "k", 1, fence(n+2))
	s.write(3, 1, fence(1))
	s.do(3, history.Release, "k", 1)
}

// oldSection is a section with another owner's write in it, whose owner took n more
// leases, one after the other, when its first one had run out.
func oldSection(s *script, n int) {
	s.do(1, history.Acquire, "k", 1, fence(1), until(s.now+5))
	s.write(1, 1, fence(1))
	for i := range n {
		s.now += 10
		s.do(1, history.Acquire, "k", 1, fence(i+2), until(s.now+5))
	}
	s.now += 10
	s.do(2, history.Acquire, "k", 1, fence(n+2), until(s.now+5))
	s.write(2, 2, fence(n+2))
	s.write(1, 3, fence(1))
}

// besideSection is the same, with n more leases that its owner's other processes took at
// once with the first one.
func besideSection(s *script, n int) {
	for i := range n + 1 {
		s.add(3+i, history.Invoke, history.Acquire, by(1, "k"))
	}
	for i := range n + 1 {
		s.add(3+i, history.OK, history.Acquire, func(e *history.Event) {
			by(1, "k")(e)
			fence(i + 1)(e)
		})
	}
	s.now++
	s.write(1, 1, fence(1))
	s.do(2, history.Acquire, "k", 1, fence(n+2))
	s.write(2, 2, fence(n+2))
	s.write(1, 3, fence(1))
}

// sharedNumber is two writes with one number, with n others between them.
func sharedNumber(s *script, n int) {
	s.do(1, history.Acquire, "k", 1)
	s.write(1, 1)
	for i := range n {
		s.write(1, 2+i)
	}
	s.do(1, history.Write, "k", 1, func(e *history.Event) { e.Value, e.Seq, e.Has = "again", 1, history.HasSeq })
	s.do(1, history.Release, "k", 1)
}

// TestBeyondWindows judges what the store's books show far apart: it is found, or
// said to be undecided, and never passed over.
func TestBeyondWindows(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(*script, int)
		id     string
		found  []int
		beyond []int
	}{
		{"a token of a lease that ended long ago", borrowedToken, "R5", []int{0, 1, 4, 5, 6, 20, 40, ledger.RecentTokens - 2}, []int{ledger.RecentTokens, 1000}},
		{"a section of a lease with many more since", oldSection, "S3", []int{0, 1, 2, 3, 12}, []int{20, 70, 1000}},
		{"a section of a lease with many more beside it", besideSection, "S3", []int{0, 1, 2, 3, 20, 60}, []int{70, 1000}},
		{"one number", sharedNumber, "R3", []int{0, 1, 63, 64, 65, writes.KeptEntries - 3, writes.KeptEntries - 2, writes.KeptEntries - 1, writes.KeptEntries, writes.KeptEntries + 1, writes.KeptEntries + 500}, nil},
	} {
		for _, apart := range slices.Concat(c.found, c.beyond) {
			var s script
			c.make(&s, apart)
			r := Check(t.Context(), history.History{Header: history.Header{TTL: time.Hour, Nodes: 1, Quorum: 1}, Events: s.finish()}, Options{})
			undecided := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return f.ID == "V5" && strings.Contains(f.Text, "("+c.id+")") })
			found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == c.id })
			if want := slices.Contains(c.found, apart); found != want || undecided == want {
				t.Errorf("%s, %d apart: %s, found %t, undecided %t, want %t and %t: %v %v", c.name, apart, r.Verdict, found, undecided, want, !want, short(r.Violations), r.Inconclusive)
			}
		}
	}
}

// TestBorrowedTokens judges writes with others' tokens (R5).
func TestBorrowedTokens(t *testing.T) {
	const given = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms
		 2ms a invoke release k
		 3ms a ok release k`
	some := func(name, text, proof string) verdictCase {
		return verdictCase{name: name, header: "ttl 10ms", want: Fail, violations: []string{proof}, history: given + text}
	}
	none := func(name, text string) verdictCase {
		return verdictCase{name: name, header: "ttl 10ms", want: Pass, history: given + text}
	}
	others := ""
	for i := range 6 {
		others += fmt.Sprintf(`
		 %[1]dms c invoke acquire k
		 %[1]dms c ok acquire k fence %[2]d until %[3]dms
		 %[1]dms c invoke release k
		 %[1]dms c ok release k`, 20+i, 2+i, 30+i)
	}
	const own = `
		41ms b invoke acquire k
		42ms b ok acquire k fence 9 until 51ms`
	runCases(t, []verdictCase{
		some("of a lease that has been given back", own+`
			43ms b invoke write k fence 1 value b1
			44ms b ok write k fence 1 value b1 seq 1`, "R5 [1 7]"),
		some("of a lease that six others followed", others+own+`
			43ms b invoke write k fence 1 value b1
			44ms b ok write k fence 1 value b1 seq 1`, "R5 [1 31]"),
		none("that nobody was given", own+`
			43ms b invoke write k fence 8 value b1
			44ms b ok write k fence 8 value b1 seq 1`),
		none("of its own", own+`
			43ms b invoke write k fence 9 value b1
			44ms b ok write k fence 9 value b1 seq 1`),
	})
}
