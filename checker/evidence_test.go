package checker

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"locktorture/checker/internal/ledger"
)

// TestManyReceipts has more receipts come for what is over than are kept, while
// others wait for an operation that is open.
func TestManyReceipts(t *testing.T) {
	text := func(more, end string) string {
		s := "a invoke acquire k\nb invoke read k\nb ok read k\nlink ok receipt never-forwarded of 0 " + more +
			"\nlink ok receipt never-forwarded of 0 node n2"
		for i := range ledger.MostEarly {
			s += fmt.Sprintf("\nlink ok receipt never-forwarded of %d %s", i+1, more)
		}
		return s + "\na " + end + " acquire k"
	}
	if r := judge(t, "ttl 1h", text("", "info")); r.Evidence.ByReceipts != 1 {
		t.Errorf("%d unknown outcomes settled by receipts, want 1", r.Evidence.ByReceipts)
	}
	r := judge(t, "ttl 1h nodes 3 quorum 2", text("node n1", "ok"))
	if want := []string{"S9 [0 4101]"}; !slices.Equal(short(r.Violations), want) {
		t.Errorf("violations %q, want %q", short(r.Violations), want)
	}
}

func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		name, history string
		want          Evidence
	}{
		{
			"met a holder, refused, then hand-over by release", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms b invoke acquire k
			 3ms b fail acquire k err held
			 4ms a invoke release k
			 5ms a ok release k
			 6ms b invoke acquire k
			 7ms b ok acquire k until 106ms`,
			Evidence{Grants: 2, Contended: 1, Handovers: 1},
		},
		{
			"a definite no counts without a holder", `
			 0ms a invoke acquire k
			 1ms a fail acquire k err "no quorum"`,
			Evidence{Contended: 1},
		},
		{
			"waits for a holder", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms b invoke acquire k
			 4ms a invoke release k
			 5ms a ok release k
			 7ms b ok acquire k until 106ms`,
			Evidence{Grants: 2, Contended: 1, Handovers: 1},
		},
		{
			"takeover under a fault", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms nemesis invoke fault pause-client target a
			 3ms nemesis ok fault pause-client target a receipt r
			 4ms nemesis invoke heal pause-client target a
			 5ms nemesis ok heal pause-client target a receipt r
			101ms b invoke acquire k
			102ms b ok acquire k until 200ms`,
			Evidence{Grants: 2, Contended: 1, Handovers: 1, FaultedHandovers: 1, Takeovers: 1},
		},
		{
			"a fault over before the first of two grants", `
			 0ms nemesis invoke fault pause-client target a
			 1ms nemesis ok fault pause-client target a receipt r
			 2ms nemesis invoke heal pause-client target a
			 3ms nemesis ok heal pause-client target a receipt r
			 4ms a invoke acquire k
			 5ms a ok acquire k until 100ms
			 6ms a invoke release k
			 7ms a ok release k
			 8ms b invoke acquire k
			 9ms b ok acquire k until 108ms`,
			Evidence{Grants: 2, Handovers: 1},
		},
		{
			"an instant fault between two grants", `
			 4ms a invoke acquire k
			 5ms a ok acquire k until 100ms
			 6ms a invoke release k
			 7ms a ok release k
			 7ms nemesis invoke fault kill-node target n1 instant
			 7ms nemesis ok fault kill-node target n1 instant receipt r
			 8ms b invoke acquire k
			 9ms b ok acquire k until 108ms`,
			Evidence{Grants: 2, Handovers: 1, FaultedHandovers: 1},
		},
		{
			"the same owner again is no hand-over", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms a invoke release k
			 3ms a ok release k
			 4ms a invoke acquire k
			 5ms a ok acquire k until 104ms`,
			Evidence{Grants: 2},
		},
		{
			"unknown, and settled by log and link", `
			 0ms a0 invoke acquire k owner a
			 1ms a0 ok acquire k owner a fence 1 until 100ms
			 2ms a0 invoke write k owner a value v1
			 3ms a0 info write k owner a value v1
			 4ms a1 invoke write k owner a value v2
			 5ms a1 info write k owner a value v2
			 6ms a2 invoke write k owner a value v3
			 7ms a2 info write k owner a value v3
			 8ms a3 invoke release k owner a
			 9ms a3 info release k owner a
			10ms b invoke acquire k
			11ms b info acquire k
			12ms link ok receipt never-forwarded of 8
			20ms store ok audit k value v1 seq 1 owner a fence 1
			20ms store fail audit k value v2 seq 2 owner a fence 1`,
			Evidence{Grants: 1, FenceSaves: 1, Unknown: 5, Resolved: 4, ByReceipts: 1},
		},
		{
			"unknown for lack of a completion", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms a invoke release k`,
			Evidence{Grants: 1, Unknown: 1},
		},
		{
			"a receipt before the completion", `
			 0ms a invoke acquire k
			 1ms link ok receipt never-forwarded of 0
			 2ms a info acquire k`,
			Evidence{Unknown: 1, Resolved: 1, ByReceipts: 1},
		},
		{
			"a log line before the completion", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms a invoke write k value v1
			 3ms store ok audit k value v1 seq 1 owner a
			 4ms a info write k value v1`,
			Evidence{Grants: 1, Unknown: 1, Resolved: 1},
		},
		{
			"a write rejected", `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms fence 1
			 2ms a invoke write k value v1 fence 1
			 4ms a fail write k value v1 fence 1 seq 7
			 5ms a invoke write k value v2 fence 1
			 6ms a fail write k value v2 fence 1 err refused`,
			Evidence{Grants: 1, FenceSaves: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := judge(t, "ttl 100ms", c.history); r.Evidence != c.want {
				t.Errorf("got %+v, want %+v", r.Evidence, c.want)
			}
		})
	}
}

// TestSaves says which rejected writes a fence has saved the resource from: those of whoever did
// not hold the key any more. Whoever holds it and is rejected got a token that was too old.
func TestSaves(t *testing.T) {
	for _, c := range []struct {
		name, write string
		want        int
		before      string // the second grant, in place of b's release
	}{
		{name: "beside another with a newer token", before: "6ms c invoke acquire other", want: 1,
			write: "10ms a invoke write k value v fence 1\n 11ms a fail write k value v fence 1 seq 2"},
		{"within the lease", "10ms a invoke write k value v fence 1\n 11ms a fail write k value v fence 1 seq 2", 0, ""},
		{"on its way when the lease ended", "10ms a invoke write k value v fence 1\n 101ms a fail write k value v fence 1 seq 2", 1, ""},
		{"after the lease", "110ms a invoke write k value v fence 1\n 111ms a fail write k value v fence 1 seq 2", 1, ""},
		{"after the release", "10ms a invoke release k fence 1\n 11ms a ok release k fence 1\n 12ms a invoke write k value v fence 1\n 13ms a fail write k value v fence 1 seq 2", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, "ttl 100ms fenced", `
				0ms b invoke acquire k
				1ms a invoke acquire k
				2ms b ok acquire k until 90ms fence 2
				3ms b invoke write k value b fence 2
				4ms b ok write k value b fence 2 seq 1
				`+cmp.Or(c.before, "5ms b invoke release k fence 2\n 6ms b ok release k fence 2")+`
				7ms a ok acquire k until 100ms fence 1
				`+c.write)
			if r.Evidence.FenceSaves != c.want {
				t.Errorf("%d saves, want %d: %+v", r.Evidence.FenceSaves, c.want, r.Violations)
			}
		})
	}
}

// TestSavesBesideAnother says which rejected writes are saves although their holder's lease
// lasts, when b holds the key too and the store has seen token 4 from somebody who is gone:
// those of whoever writes while b's lease lasts, and has an older token than b.
func TestSavesBesideAnother(t *testing.T) {
	for _, c := range []struct {
		name    string
		b, a    int // tokens
		written int // by a, ms; b's lease ends at 90
		want    int
	}{
		{"b has a newer token", 3, 2, 89, 1},
		{"b has the same token", 2, 2, 89, 0},
		{"b has an older token", 1, 2, 89, 0},
		{"b's lease has just ended", 3, 2, 90, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, "ttl 100ms fenced", fmt.Sprintf(`
				0ms c invoke acquire k
				1ms c ok acquire k until 100ms fence 4
				2ms c invoke write k value c fence 4
				3ms c ok write k value c fence 4 seq 1
				4ms c invoke release k fence 4
				5ms c ok release k fence 4
				6ms b invoke acquire k
				7ms b ok acquire k until 90ms fence %d
				8ms a invoke acquire k
				9ms a ok acquire k until 100ms fence %d
				%dms a invoke write k value a fence %[2]d
				95ms a fail write k value a fence %[2]d seq 2`, c.b, c.a, c.written))
			if r.Evidence.FenceSaves != c.want {
				t.Errorf("%d saves, want %d: %+v", r.Evidence.FenceSaves, c.want, r.Violations)
			}
		})
	}
}

const oneGrant = `
	 0ms a invoke acquire k
	 1ms a ok acquire k until 100ms`

const twice = `
	 0ms a invoke acquire k
	 1ms b invoke acquire k
	 2ms a ok acquire k until 100ms fence 2
	 3ms b ok acquire k until 101ms fence 2`

// TestPrecedence shows which verdict prevails.
func TestPrecedence(t *testing.T) {
	t.Run("a violation in a truncated history", func(t *testing.T) {
		h := parse(t, "ttl 100ms", twice)
		h.Events, h.Truncated = h.Events[:4], true
		if r := Check(t.Context(), h, Options{}); r.Verdict != Fail || len(r.Inconclusive) != 1 || r.Inconclusive[0].ID != "V5" {
			t.Errorf("got %s with %v", r.Verdict, r.Inconclusive)
		}
	})
	for _, c := range []struct {
		name, history string
		verdict       Verdict
	}{
		{"cut at the second grant", "", Inconclusive},
		{"cut behind it, nobody having released", "3ms c invoke acquire other", Fail},
		{"cut behind a release of that very instant", "2ms a invoke release k", Inconclusive},
	} {
		t.Run("a history "+c.name, func(t *testing.T) {
			h := parse(t, "ttl 100ms", `
				0ms a invoke acquire k
				1ms a ok acquire k until 100ms
				1ms b invoke acquire k
				2ms b ok acquire k until 101ms
				`+c.history)
			h.Events, h.Truncated = h.Events[:len(h.Events)-1], true // without the end
			if r := Check(t.Context(), h, Options{}); r.Verdict != c.verdict {
				t.Errorf("%s, violations %v, want %s", r.Verdict, short(r.Violations), c.verdict)
			}
		})
	}
	t.Run("none in a truncated history", func(t *testing.T) {
		h := parse(t, "ttl 100ms", oneGrant)
		h.Events = h.Events[:2]
		if r := Check(t.Context(), h, Options{}); r.Verdict != Inconclusive || r.Exit != 3 {
			t.Errorf("got %s, exit %d", r.Verdict, r.Exit)
		}
	})
	t.Run("lag voids what compares times alone", func(t *testing.T) {
		r := judge(t, "ttl 100ms", twice+"\n nemesis ok phase final lag 1s")
		if got, want := short(r.Violations), []string{"S4b [2 3]"}; !slices.Equal(got, want) || r.Verdict != Fail {
			t.Errorf("%s, violations %v, want %v", r.Verdict, got, want)
		}
		if got := short(r.Suspicious); !slices.Contains(got, "S1 [2 3]") {
			t.Errorf("suspicious %v, want S1 among them", got)
		}
	})
	t.Run("expected violations do not fail", func(t *testing.T) {
		r := judge(t, "ttl 100ms expected S1,S4b,S4", twice)
		if r.Verdict != Inconclusive || !slices.Equal(r.ExpectedMissing, []string{"S4"}) {
			t.Errorf("%s, missing %v", r.Verdict, r.ExpectedMissing)
		}
		r = judge(t, "ttl 100ms expected S1,S4b", twice)
		if r.Verdict != Pass || len(r.Violations) != 2 || !r.Violations[0].Expected {
			t.Errorf("%s, %+v", r.Verdict, r.Violations)
		}
	})
}

// What is accepted is listed and makes no FAIL, beside what is not; it need not
// appear.
func TestAccepted(t *testing.T) {
	for _, c := range []struct {
		accepted string
		want     Verdict
		marked   []bool
	}{
		{"S1", Fail, []bool{true, false}}, {"S4b,S1", Pass, []bool{true, true}}, {"S3z", Fail, []bool{false, false}}, {"S1,S4b,S6", Pass, []bool{true, true}},
	} {
		r := judge(t, "ttl 100ms accepted "+c.accepted, twice)
		var marked []bool
		for _, f := range r.Violations {
			marked = append(marked, f.Accepted)
		}
		if r.Verdict != c.want || !slices.Equal(marked, c.marked) || len(r.ExpectedMissing) > 0 {
			t.Errorf("accepted %s: %s, %v marked of %v, missing %v", c.accepted, r.Verdict, marked, short(r.Violations), r.ExpectedMissing)
		}
	}
}

// TestNoGrant passes no history without a grant, whatever its floors.
func TestNoGrant(t *testing.T) {
	for _, header := range []string{"", " floors grants=0", " floors contended=1", " floors contended=0,grants=0"} {
		r := judge(t, "ttl 1s"+header, "1ms a invoke acquire k\n2ms a fail acquire k err held\n3ms nemesis ok phase end")
		if r.Verdict != Inconclusive {
			t.Errorf("header%q: %s, want %s", header, r.Verdict, Inconclusive)
		}
	}
}
