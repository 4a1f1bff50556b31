package checker

import (
	"math/rand/v2"
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
