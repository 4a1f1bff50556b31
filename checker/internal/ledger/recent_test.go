package ledger

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRecentGrants shows which grants are looked at: the latest, and as many more as an
// open acquire may share a token with, in the order in which they were told.
func TestRecentGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r recentGrants
		var want []TokenGrant
		dropped, told := 0, time.Duration(0)
		for _, burst := range rapid.SliceOfN(rapid.SampledFrom([]int{1, 3, RecentTokens, 3 * RecentTokens, MostTokens}), 1, 8).Draw(t, "bursts") {
			bound := rapid.SampledFrom([]time.Duration{0, told / 2, told, Never}).Draw(t, "bound")
			for range burst {
				told++
				me := TokenGrant{Ok: told, Fence: uint64(told)}
				r.add(me, func(x *TokenGrant) bool { return x.Ok < bound })
				want = append(want, me)
				for len(want) > RecentTokens && (want[0].Ok < bound || len(want) > MostTokens) {
					if want[0].Ok >= bound {
						dropped++
					}
					want = want[1:]
				}
			}
			if got := slices.Collect(r.Latest); !slices.Equal(got, want) {
				t.Fatalf("%d grants are looked at, the first %v; want %d, the first %v", len(got), got[:1], len(want), want[:1])
			}
		}
		if first := want[0].Fence; r.overflowed[0].count != dropped || first > 1 && !r.Forgets(first-1) || r.Forgets(first) {
			t.Errorf("%d were dropped too early, want %d; token %d is said to be forgotten: %v", r.overflowed[0].count, dropped, first, r.Forgets(first))
		}
	})
}
