package checker

import (
	"slices"
	"testing"
)

// TestGaps shows what keeps a history without a violation from passing.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name, header, history string
		want                  []string
	}{
		{"nothing happened", "ttl 100ms", "", []string{"V1"}},
		{"one grant is enough unless more is asked for", "ttl 100ms", oneGrant, nil},
		{"fewer than the floor", "ttl 100ms floors grants=2", oneGrant, []string{"V1"}},
		{"as many as the floor", "ttl 100ms floors grants=1", oneGrant, nil},
		{"two floors missed", "ttl 100ms floors handovers=1,takeovers=1", oneGrant, []string{"V1", "V1"}},
		{"a floor that nobody counts", "ttl 100ms floors moons=1", oneGrant, []string{"V1"}},
		{"a cell that was not met", "ttl 100ms floors cells=1", oneGrant, []string{"V1"}},
		{"a cell that was met", "ttl 100ms floors cells=1", oneGrant + `
			nemesis invoke fault stall target {"clients":["b"]}
			nemesis ok fault stall target {"clients":["b"]} receipt r
			b invoke acquire l
			b fail acquire l err held
			nemesis invoke heal stall target {"clients":["b"]}
			nemesis ok heal stall target {"clients":["b"]}`, nil},
		{"a fault that did nothing", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis fail fault cut-link target n1`, []string{"V2"}},
		{"faults that did nothing, in one line", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis fail fault cut-link target n1
			nemesis invoke fault stall target n2
			nemesis fail fault stall target n2
			nemesis invoke fault stall target n2
			nemesis fail fault stall target n2`, []string{"V2"}},
		{"faults that did nothing, and one without receipt", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis fail fault cut-link target n1
			nemesis invoke fault kill target n2
			nemesis info fault kill target n2
			nemesis invoke fault stall target n2
			nemesis fail fault stall target n2`, []string{"V2", "V2"}},
		{"a fault without receipt", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis info fault cut-link target n1
			nemesis invoke heal cut-link target n1
			nemesis info heal cut-link target n1`, []string{"V2"}},
		{"a fault that its heal proves", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis info fault cut-link target n1
			nemesis invoke heal cut-link target n1
			nemesis ok heal cut-link target n1 receipt "3 requests held"`, nil},
		{"another victim in place of one without receipt", "ttl 100ms", oneGrant + `
			3ms nemesis invoke fault cut-link target n1
			nemesis info fault cut-link target n1 of 2
			nemesis invoke heal cut-link target n1
			nemesis info heal cut-link target n1 of 4
			nemesis invoke fault cut-link target n2 of 2
			nemesis ok fault cut-link target n2 of 6 receipt r
			nemesis invoke heal cut-link target n2
			nemesis ok heal cut-link target n2 of 8`, nil},
		{"another victim without receipt too", "ttl 100ms", oneGrant + `
			3ms nemesis invoke fault cut-link target n1
			nemesis info fault cut-link target n1 of 2
			nemesis invoke heal cut-link target n1
			nemesis info heal cut-link target n1 of 4
			nemesis invoke fault cut-link target n2 of 2
			nemesis info fault cut-link target n2 of 6
			nemesis invoke heal cut-link target n2
			nemesis info heal cut-link target n2 of 8`, []string{"V2"}},
		{"a fault never healed", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r`, []string{"V2"}},
		{"a heal that did nothing", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r
			nemesis invoke heal cut-link target n1
			nemesis fail heal cut-link target n1`, []string{"V2"}},
		{"a heal without receipt of a fault that was in force", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r
			nemesis invoke heal cut-link target n1
			nemesis info heal cut-link target n1`, []string{"V2"}},
		{"a heal of somebody else", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r
			nemesis invoke heal cut-link target n2
			nemesis ok heal cut-link target n2 receipt r`, []string{"V2"}},
		{"one of two healed twice", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r
			nemesis invoke fault cut-link target n2
			nemesis ok fault cut-link target n2 receipt r
			nemesis invoke heal cut-link target n2
			nemesis ok heal cut-link target n2 receipt r
			nemesis invoke heal cut-link target n2
			nemesis ok heal cut-link target n2 receipt r`, []string{"V2"}},
		{"one of two like faults healed", "ttl 100ms", oneGrant + `
			nemesis invoke fault cut-link target n1
			nemesis ok fault cut-link target n1 receipt r
			nemesis invoke fault cut-link target n2
			nemesis ok fault cut-link target n2 receipt r
			nemesis invoke heal cut-link target n2
			nemesis ok heal cut-link target n2 receipt r`, []string{"V2"}},
		{"an instant fault needs no heal", "ttl 100ms", oneGrant + `
			nemesis invoke fault kill-node target n1 instant
			nemesis ok fault kill-node target n1 instant receipt r`, nil},
		{"a moment not reached", "ttl 100ms", oneGrant + `
			nemesis ok phase main note "sometimes extension, takeover; clean"`, []string{"V3", "V3"}},
		{"a moment reached", "ttl 100ms", oneGrant + `
			nemesis ok phase main note "sometimes extension, minority-acquire; reached minority-acquire"
			a invoke extend k
			a ok extend k until 120ms`, nil},
		{"the harness lagged", "ttl 100ms", oneGrant + `
			nemesis ok phase final lag 11ms`, []string{"V4"}},
		{"the harness lagged a little", "ttl 100ms", oneGrant + `
			nemesis ok phase final lag 10ms`, nil},
		{"too slow a load", "ttl 100ms floors rate=10000", oneGrant, []string{"V4"}},
		{"the canary was missed", "ttl 100ms", oneGrant + `
			nemesis ok phase final note "canary missed: quorum-2"`, []string{"V6"}},
		{"the canary was caught", "ttl 100ms", oneGrant + `
			nemesis ok phase final note "canary caught: quorum-2"`, nil},
		{"not clean", "ttl 100ms", "nemesis ok phase warmup note \"dirty: 3 keys\"\n" + oneGrant[1:], []string{"V7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.header, c.history)
			var got []string
			for _, f := range r.Inconclusive {
				got = append(got, f.ID)
			}
			want := Inconclusive
			if c.want == nil {
				want = Pass
			}
			if !slices.Equal(got, c.want) || r.Verdict != want {
				t.Errorf("verdict %s with %v, want %s with %v", r.Verdict, got, want, c.want)
			}
			checkTexts(t, r)
		})
	}
}
