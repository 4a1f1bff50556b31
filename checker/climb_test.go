package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestClimb holds what is remembered of tokens against all writes: whatever the
// order in which they are told, a write behind a higher token is seen.
func TestClimb(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 2 + rng.IntN(12)
		var c climb
		var told []tokenMark
		found := false
		for _, i := range rng.Perm(n) {
			w := tokenMark{mark{uint64(i + 1), i}, uint64(1 + rng.IntN(4))}
			above, below, ok := c.add(w)
			found = found || above.fence > w.fence || below.seq > w.seq && below.fence < w.fence
			if told = append(told, w); !ok {
				t.Fatalf("%v could not be placed", told)
			}
		}
		want := false
		for _, a := range told {
			for _, b := range told {
				want = want || a.seq < b.seq && a.fence > b.fence
			}
		}
		if found != want {
			t.Fatalf("%v: a stale write seen %t, want %t", told, found, want)
		}
	}
}

// TestBeyondMemory leaves undecided what comes too late to be placed.
func TestBeyondMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString("late invoke acquire k\nlate ok acquire k fence 1 until 1000s\nlate invoke release k\nlate ok release k\n")
	for i := range 2 * climbSteps {
		fmt.Fprintf(&text, "b invoke acquire k\nb ok acquire k fence %[1]d until 1000s\nb invoke write k fence %[1]d value b%[1]d\nb ok write k fence %[1]d value b%[1]d seq %[2]d\nb invoke release k\nb ok release k\n", i+3, i+2)
	}
	text.WriteString("b invoke acquire k\nb ok acquire k fence 1000 until 1000s\nb invoke write k fence 1000 value x\nb ok write k fence 1000 value x seq 1")
	r := judge(t, "ttl 1000s fenced", text.String())
	said := 0
	for _, f := range r.Inconclusive {
		if strings.Contains(f.Text, "1 writes were told") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%s, inconclusive %v", r.Verdict, r.Inconclusive)
	}
}
