package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// inTurn is n writes under as many tokens, from token and number first on, each given
// back.
func inTurn(n, token, first int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `
			z invoke acquire k
			z ok acquire k fence %[1]d until 1000s
			z invoke write k fence %[1]d value z%[1]d
			z ok write k fence %[1]d value z%[1]d seq %[2]d
			z invoke release k
			z ok release k`, token+i, first+i)
	}
	return text.String()
}

// TestLateWord judges writes whose client never heard what became of them, where the
// store's log tells of it when so many higher tokens have been accepted since that they
// cannot be placed among them any more, or when few have.
func TestLateWord(t *testing.T) {
	const (
		lost = `
			a invoke acquire k
			a ok acquire k fence 1 until 1000s
			a invoke write k fence 1 value a1
			a info write k fence 1 value a1`
		gone = `
			a0 invoke release k owner a
			a0 ok release k owner a`
		newer = lost + gone + `
			b invoke acquire k
			b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b ok write k fence 2 value b1 seq 2
			b invoke release k
			b ok release k`
		both = lost + gone + `
			b invoke acquire k
			b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b info write k fence 2 value b1
			b0 invoke release k owner b
			b0 ok release k owner b`
		outlived = `
			0ms a invoke acquire k
			1ms a ok acquire k fence 1 until 4ms
			5ms b invoke acquire k
			6ms b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b info write k fence 2 value b1
			a invoke write k fence 1 value a1
			a ok write k fence 1 value a1 seq 3
			b0 invoke release k owner b
			b0 ok release k owner b`
		late = `
			0ms a invoke acquire k
			1ms a ok acquire k fence 1 until 4ms
			5ms b invoke acquire k
			6ms b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b ok write k fence 2 value b1 seq 2
			a invoke write k fence 1 value a1
			a info write k fence 1 value a1
			b invoke release k
			b ok release k`
		waited = `
			0ms a invoke acquire k
			1ms a ok acquire k fence 1 until 4ms
			2ms a invoke write k fence 1 value a1
			5ms b invoke acquire k
			6ms b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b ok write k fence 2 value b1 seq 2
			a info write k fence 1 value a1
			b invoke release k
			b ok release k`
		lateTwice = `
			0ms a invoke acquire k
			1ms a ok acquire k fence 1 until 4ms
			5ms b invoke acquire k
			6ms b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b ok write k fence 2 value b1 seq 2
			b invoke write k fence 2 value b2
			b ok write k fence 2 value b2 seq 4
			a invoke write k fence 1 value a1
			a info write k fence 1 value a1
			b invoke release k
			b ok release k`
		bothTwice = lost + gone + `
			b invoke acquire k
			b ok acquire k fence 2 until 1000s
			b invoke write k fence 2 value b1
			b info write k fence 2 value b1
			b0 invoke write k owner b fence 2 value bb
			b0 info write k owner b fence 2 value bb
			b1 invoke release k owner b
			b1 ok release k owner b
			store ok audit k owner b fence 2 value b1 seq 2
			store ok audit k owner b fence 2 value bb seq 5`
	)
	log := func(owner string, fence, seq int) string {
		return fmt.Sprintf("\nstore ok audit k owner %[1]s fence %[2]d value %[1]s1 seq %[3]d", owner, fence, seq)
	}
	again := func(n int) string { // more under the token of the lost one
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "\na0 invoke write k owner a fence 1 value y%[1]d\na0 ok write k owner a fence 1 value y%[1]d seq %[1]d", i+2)
		}
		return text.String()
	}
	for _, c := range []struct {
		name    string
		history func(more int) string // with more tokens behind it
		found   func(last int) []string
		few     []string // instead of found where nothing is lost; nil is the same
	}{
		{"behind a newer one", func(n int) string { return newer + inTurn(n, 3, 4) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [9 %d]", last)} }, nil},
		{"issued behind a newer one", func(n int) string { return late + inTurn(n, 3, 4) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [5 %d]", last)} }, nil},
		{"issued behind a newer one, and landed before", func(n int) string { return late + inTurn(n, 3, 4) + log("a", 1, 1) },
			func(int) []string { return nil }, nil},
		{"issued behind two of a newer one, and landed between them", func(n int) string { return lateTwice + inTurn(n, 3, 5) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [5 %d]", last)} }, nil},
		{"between two unknown ones with a newer token", func(n int) string {
			return strings.Replace(bothTwice, "\n			store", inTurn(n, 3, 6)+"\n			store", 1) + log("a", 1, 3)
		}, func(last int) []string { return []string{fmt.Sprintf("S2 [%d %d]", last-2, last)} }, nil},
		{"given up behind a newer one", func(n int) string { return waited + inTurn(n, 3, 4) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [6 %d]", last)} }, nil},
		{"before it", func(n int) string { return newer + inTurn(n, 3, 4) + log("a", 1, 1) },
			func(int) []string { return nil }, nil},
		{"behind a newer one that was unknown too", func(n int) string { return both + inTurn(n, 3, 4) + log("b", 2, 2) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [%d %d]", last-1, last)} }, nil},
		{"before one that was unknown too", func(n int) string { return both + inTurn(n, 3, 4) + log("b", 2, 3) + log("a", 1, 2) },
			func(int) []string { return nil }, nil},
		{"with the number of one that was unknown too", func(n int) string { return both + inTurn(n, 3, 4) + log("b", 2, 3) + log("a", 1, 3) },
			func(last int) []string { return []string{fmt.Sprintf("R3 [%d %d]", last-1, last)} }, nil},
		{"before one that outlived its lease", func(n int) string { return outlived + inTurn(n, 3, 5) + log("b", 2, 2) },
			func(last int) []string { return []string{fmt.Sprintf("S2 [7 %d]", last)} }, nil},
		{"with the number of one that outlived its lease", func(n int) string { return outlived + inTurn(n, 3, 5) + log("b", 2, 3) },
			func(last int) []string { return []string{fmt.Sprintf("R3 [7 %d]", last)} }, nil},
		{"behind one that outlived its lease", func(n int) string { return outlived + inTurn(n, 3, 5) + log("b", 2, 4) },
			func(int) []string { return nil }, nil},
		{"before 64 with its token", func(n int) string { return lost + again(64) + gone + inTurn(n, 2, 66) + log("a", 1, 1) },
			func(int) []string { return nil }, nil},
		{"before 65 with its token", func(n int) string { return lost + again(65) + gone + inTurn(n, 2, 67) + log("a", 1, 1) },
			func(int) []string { return []string{"V5"} }, []string{}},
	} {
		for _, more := range []int{0, 3, 40} {
			h := parse(t, "ttl 1000s fenced", c.history(more))
			want := c.found(len(h.Events) - 2)
			if more < 32 && c.few != nil {
				want = c.few
			}
			got := slices.DeleteFunc(finds(Check(t.Context(), h, Options{})), func(f string) bool { return strings.Contains(f, "?") })
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d tokens later: found %q, want %q", c.name, more, got, want)
			}
		}
	}
}

// TestHeldBack judges writes that wait for an open one that may lie before them: in
// whatever order they are told, they are placed by their numbers, each once.
func TestHeldBack(t *testing.T) {
	const open = `
		a invoke acquire k
		a ok acquire k fence 1 until 5ms
		10ms b invoke acquire k
		b ok acquire k fence 2 until 1000s
		b0 invoke write k owner b fence 2 value b0`
	const close = "\nb0 ok write k owner b fence 2 value b0 seq 1"
	numbered := func(numbers ...int) string {
		var text strings.Builder
		for _, n := range numbers {
			fmt.Fprintf(&text, "\nb invoke write k fence 2 value v%[1]d\nb ok write k fence 2 value v%[1]d seq %[1]d", n)
		}
		return text.String()
	}
	up, down := make([]int, 20), make([]int, 20)
	for i := range up {
		up[i], down[len(up)-1-i] = i+2, i+2
	}
	for name, numbers := range map[string][]int{"upwards": up, "downwards": down, "the last one first": append([]int{22}, up...)} {
		r := judge(t, "ttl 1000s fenced", open+numbered(numbers...)+close)
		if r.Verdict != Pass {
			t.Errorf("%s: %s, %v", name, r.Verdict, finds(r))
		}
	}
	const rejected = "\na invoke write k fence 1 value a1\na fail write k fence 1 value a1 seq 2"
	r := judge(t, "ttl 5ms fenced", open+rejected+close+numbered(3, 4)+"\nb1 invoke write k owner b fence 2 value b1"+numbered(5, 6))
	if r.Evidence.FenceSaves != 1 {
		t.Errorf("%d stale writes fenced off, want 1", r.Evidence.FenceSaves)
	}
}
