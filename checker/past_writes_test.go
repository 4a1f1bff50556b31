package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A teller writes a history of one key whose writes may be told of long after they were issued,
// by their clients' own stamps.
type teller struct {
	text   strings.Builder
	at     int // milliseconds
	number int // the latest write's
	fence  int // the latest grant's
}

func (t *teller) line(format string, args ...any) {
	fmt.Fprintf(&t.text, "%dms ", t.at)
	fmt.Fprintf(&t.text, format+"\n", args...)
}

// lease is a lease of owner's, asked for now.
func (t *teller) lease(owner, mode string, until int) {
	t.line("%s invoke acquire k %s", owner, mode)
	t.fence++
	t.at++
	t.line("%s ok acquire k until %dms fence %d %s", owner, until, t.fence, mode)
}

func (t *teller) release(owner string) {
	t.line("%s invoke release k", owner)
	t.line("%s ok release k", owner)
	t.at++
}

// write is an accepted write of owner's with the next number, told of now. What follows, its
// token or mode, both of its lines say.
func (t *teller) write(owner string, said int, words ...string) {
	t.number++
	t.numbered(t.number, owner, said, words...)
}

// unsaid stands for when a write was issued that does not say it.
const unsaid = -1

func (t *teller) numbered(number int, owner string, said int, words ...string) {
	t.at++
	more, stamp := strings.Join(words, " "), ""
	if said != unsaid {
		stamp = fmt.Sprintf("began %dms", said)
	}
	t.line("%s invoke write k value v%d %s", owner, t.at, more)
	t.line("%s ok write k value v%d seq %d %s %s", owner, t.at, number, stamp, more)
}

// others are writes of n more owners, each issued when it is told, in a section of its own.
func (t *teller) others(n int) {
	for range n {
		owner := fmt.Sprint("o", t.fence)
		t.lease(owner, "", t.at+5000)
		t.write(owner, t.at+1)
		t.release(owner)
	}
}

// A pastCase is a section of a's from 10 ms on, of which a write that was issued at 20 ms is told
// at once, and one that was issued at 80 ms at last, behind the others of the case and so many
// more of z's, from 1000 ms on, that none of those is remembered by itself.
type pastCase struct {
	name      string
	mode      string        // of a's section
	earlier   func(*teller) // what is told before a has its lease
	late      bool          // the first write of the section is told in between, too
	between   func(*teller) // what is told between a's two
	undecided bool          // whether another's write that is forgotten was issued in the section
}

func (c pastCase) judge(t *testing.T) Report {
	t.Helper()
	var h teller
	if c.earlier != nil {
		c.earlier(&h)
	}
	h.at = max(h.at, 9)
	h.lease("a", c.mode, 90)
	if !c.late {
		h.at = 19
		h.write("a", 20, c.mode)
	}
	h.at = 100
	c.between(&h)
	h.at = max(h.at, 1000)
	h.lease("z", "", 7000)
	for range 7 {
		h.write("z", h.at+1)
	}
	h.write("a", 80, c.mode)
	return judge(t, "ttl 6s", h.text.String())
}

// A section in which others' writes arrived that were issued outside of it was its own, unless
// one that is not remembered any more may have been issued there. What is told of the forgotten
// ones section by section decides that: who wrote them, their numbers, and when they were issued.
func TestForgottenWritesBehindASection(t *testing.T) {
	for _, c := range []pastCase{
		{name: "issued in the section", between: func(h *teller) { h.write("b", 30) }, undecided: true},
		{name: "issued in its first moment", between: func(h *teller) { h.write("b", 10) }, undecided: true},
		{name: "issued just before it", between: func(h *teller) { h.write("b", 9) }},
		{name: "issued when its last write was", between: func(h *teller) { h.write("b", 80) }, undecided: true},
		{name: "issued just behind that", between: func(h *teller) { h.write("b", 81) }},
		{name: "issued nobody says when", between: func(h *teller) { h.write("b", unsaid) }, undecided: true},
		{name: "issued nobody says when, numbered before the section's first", earlier: func(h *teller) { h.write("b", unsaid) }, between: func(h *teller) { h.write("b", 100) }},
		{name: "its owner's, by a lease that nobody knows", between: func(h *teller) { h.write("a", 30, "fence 9") }},
		{name: "its owner's, and another's behind it", undecided: true, between: func(h *teller) {
			h.write("a", 30, "fence 9")
			h.write("b", 30)
		}},
		{name: "of two sections, one before and one behind", earlier: func(h *teller) { h.lease("b", "", 9) }, between: func(h *teller) {
			h.write("b", 9)
			h.lease("b", "", 900)
			h.write("b", 102)
		}},
		{name: "of one section, in it and behind", undecided: true, between: func(h *teller) {
			h.write("b", 30)
			h.write("b", 101)
		}},
		{name: "of one section, behind and in it", undecided: true, between: func(h *teller) {
			h.write("b", 101)
			h.write("b", 30)
		}},
		{name: "of one section, before and in it", undecided: true, between: func(h *teller) {
			h.write("b", 9)
			h.write("b", 30)
		}},
		{name: "of one section, in it and before", undecided: true, between: func(h *teller) {
			h.write("b", 30)
			h.write("b", 9)
		}},
		{name: "the last one numbered behind the section's first", late: true, undecided: true, between: func(h *teller) {
			h.numbered(1, "b", 30)
			h.numbered(3, "b", 30)
			h.numbered(2, "a", 20)
			h.number = 3
		}},
		{name: "the first one told numbered behind the section's first", late: true, undecided: true, between: func(h *teller) {
			h.numbered(3, "b", 30)
			h.numbered(1, "b", 30)
			h.numbered(2, "a", 20)
			h.number = 3
		}},
		{name: "numbered as the section's first", between: func(h *teller) { h.numbered(1, "b", 30) }}, // neither came first (R3)
		{name: "numbered before the section's first", earlier: func(h *teller) { h.number = 1 }, between: func(h *teller) { h.numbered(1, "b", 30) }},
		{name: "a writer's in a reader's section", mode: "mode r", between: func(h *teller) { h.write("b", 30) }, undecided: true},
		{name: "another reader's in a reader's section", mode: "mode r", between: func(h *teller) { h.write("b", 30, "mode r") }},
		{name: "a reader's in a writer's section", between: func(h *teller) { h.write("b", 30, "mode r") }, undecided: true},
		{name: "a reader's behind a reader's section, and the same one's as a writer in it", mode: "mode r", undecided: true, between: func(h *teller) {
			h.write("b", 101, "mode r")
			h.write("b", 30)
		}},
		{name: "of 32 sections, and the section's first", between: func(h *teller) { h.others(32) }},
		{name: "of 33 sections, and the section's first", undecided: true, between: func(h *teller) { h.others(33) }},
		{name: "in the section, and of 31 more behind it", undecided: true, between: func(h *teller) {
			h.write("b", 30)
			h.others(31)
		}},
		{name: "of 32 sections, the first one's before the section's first", earlier: func(h *teller) {
			h.lease("b", "", 9)
		}, late: true, between: func(h *teller) {
			h.numbered(2, "b", 5)
			h.numbered(3, "b", 6)
			h.numbered(1, "a", 20)
			h.number = 3
			h.others(30)
		}},
		{name: "of 32 sections, and others' that nobody says when, numbered before the section's first", earlier: func(h *teller) {
			h.lease("b", "", 9)
			h.number = 2
		}, between: func(h *teller) {
			h.numbered(1, "b", unsaid)
			h.others(1)
			h.numbered(2, "b", unsaid)
			h.others(31)
		}},
	} {
		r := c.judge(t)
		undecided := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool {
			return f.ID == "V5" && strings.Contains(f.Text, "1 sections hold so many writes of others that only arrived there")
		})
		if undecided != c.undecided || slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S3" }) {
			t.Errorf("%s: undecided %t: %v %v", c.name, undecided, short(r.Violations), r.Inconclusive)
		}
		if !slices.ContainsFunc(r.Suspicious, func(f Finding) bool { return f.ID == "S3" }) {
			t.Errorf("%s: no write arrived in the section: %v", c.name, short(r.Suspicious))
		}
	}
}
