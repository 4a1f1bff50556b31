package ledger

import (
	"math/rand/v2"
	"testing"
)

// TestTokenOrder holds what is remembered of tokens against all writes: whatever the
// order in which they are told, a write behind a higher token is seen.
func TestTokenOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 2 + rng.IntN(12)
		var c tokenOrder
		var told []TokenMark
		found := false
		for _, i := range rng.Perm(n) {
			w := TokenMark{Mark{uint64(i + 1), i}, uint64(1 + rng.IntN(4))}
			above, below, ok := c.add(w)
			found = found || above.Fence > w.Fence || below.Seq > w.Seq && below.Fence < w.Fence
			if told = append(told, w); !ok {
				t.Fatalf("%v could not be placed", told)
			}
		}
		want := false
		for _, a := range told {
			for _, b := range told {
				want = want || a.Seq < b.Seq && a.Fence > b.Fence
			}
		}
		if found != want {
			t.Fatalf("%v: a stale write seen %t, want %t", told, found, want)
		}
	}
}
