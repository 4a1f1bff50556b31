package checker_test

import (
	"slices"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/workload/history"
)

// ordered are histories in which the order of two events decides, which lie within the
// clocks' uncertainty: of one process, p, where Q stands for it, and of two otherwise.
var ordered = []struct{ name, id, header, history string }{
	{"two grants, until the first is given back", "S1", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		12ms p invoke release k owner a
		13ms p ok release k owner a`},
	{"two grants, until the first one's deadline", "S1", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 12ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms`},
	{"two grants, until the first is lost", "S1", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		12ms p ok lost k owner a`},
	{"two grants, until the first is refused an extension", "S1", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		11ms p invoke extend k owner a
		12ms p fail extend k owner a err "lease lost"`},
	{"two grants at the instant at which the first is given back", "S1", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		10ms p invoke release k owner a
		11ms p ok release k owner a`},
	{"a grant that is given back at once, beside another", "S1", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		10ms Q invoke release k owner b
		11ms Q ok release k owner b`},
	{"two grants, the second within an extension", "S1", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 9ms
		 2ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 14ms
		11ms p invoke extend k owner a
		12ms p ok extend k owner a until 100ms`},
	{"a release across a hold", "S6", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 5ms
		 6ms Q invoke acquire k owner b
		 7ms Q ok acquire k owner b until 100ms
		 9ms p invoke release k owner a
		10ms p ok release k owner a`},
	{"a release at the instant of another's grant", "S6", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 5ms
		 6ms Q invoke acquire k owner b
		 7ms Q ok acquire k owner b until 100ms
		 7ms p invoke release k owner a
		 8ms p ok release k owner a`},
	{"an extension across a hold", "S6", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 5ms
		 6ms Q invoke acquire k owner b
		 7ms Q ok acquire k owner b until 9ms
		10ms p invoke extend k owner a
		11ms p ok extend k owner a until 100ms`},
	{"an inner release across a hold", "S6", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 5ms
		 2ms p invoke acquire k owner a
		 3ms p ok acquire k owner a until 6ms
		 7ms Q invoke acquire k owner b
		 8ms Q ok acquire k owner b until 100ms
		10ms p invoke release k owner a
		11ms p ok release k owner a`},
	{"a write behind its deadline", "S3z", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 10ms
		12ms Q invoke write k owner a value a1
		13ms Q ok write k owner a value a1 seq 1`},
	{"a write behind the deadline of an extension", "S3z", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 10ms
		 2ms p invoke extend k owner a
		 3ms p ok extend k owner a until 12ms
		13ms Q invoke write k owner a value a1
		14ms Q ok write k owner a value a1 seq 1`},
	{"a write behind its own release", "S8", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms p invoke release k owner a
		 3ms p ok release k owner a
		 3ms Q invoke write k owner a value a1
		 4ms Q ok write k owner a value a1 seq 1`},
	{"a write behind a loss", "S8", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms p ok lost k owner a
		 2ms Q invoke write k owner a value a1
		 4ms Q ok write k owner a value a1 seq 1`},
	{"a lower token, asked for behind a higher one", "S4", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a fence 2 until 3ms
		 2ms p invoke release k owner a
		 3ms p ok release k owner a
		 3ms Q invoke acquire k owner b
		 4ms Q ok acquire k owner b fence 1 until 100ms`},
	{"a token given again when the servers' TTL was over", "S4b", "", `
		  0ms p invoke acquire k owner a
		  1ms p ok acquire k owner a fence 2 until 50ms
		102ms Q invoke acquire k owner a
		103ms Q ok acquire k owner a fence 2 until 200ms`},
	{"a stale write, where none has a number", "S2", "fenced", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a fence 1 until 100ms
		 2ms p invoke write k owner a fence 2 value a1
		 3ms p ok write k owner a fence 2 value a1
		 3ms Q invoke write k owner a fence 1 value a2
		 4ms Q ok write k owner a fence 1 value a2`},
	{"a section with another's write in it, where none has a number", "S3", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms p invoke write k owner a value a1
		 3ms p ok write k owner a value a1
		 3ms Q invoke write k owner b value b1
		 4ms Q ok write k owner b value b1
		 4ms p invoke write k owner a value a2
		 5ms p ok write k owner a value a2`},
	{"an early takeover, just before the deadline", "S10", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 12ms
		 2ms nemesis invoke fault kill-node target n1 instant
		 2ms nemesis ok fault kill-node target n1 instant receipt gone
		 3ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms`},
	{"an early takeover, at the instant of the release", "S10", "unchecked-release", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 100ms
		 2ms nemesis invoke fault kill-node target n1 instant
		 2ms nemesis ok fault kill-node target n1 instant receipt gone
		 3ms Q invoke acquire k owner b
		10ms Q ok acquire k owner b until 100ms
		10ms p invoke release k owner a
		11ms p ok release k owner a`},
	{"a late release, and a third grant", "S5", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 10ms
		11ms p invoke acquire k owner b
		12ms p ok acquire k owner b until 22ms
		18ms p invoke release k owner a
		19ms p ok release k owner a
		20ms Q invoke acquire k owner c
		21ms Q ok acquire k owner c until 100ms`},
	{"a loss told behind another's grant", "S11", "", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a until 10ms
		10ms Q invoke acquire k owner b
		11ms Q ok acquire k owner b until 100ms
		13ms p ok lost k owner a`},
	{"the rightful holder's write rejected", "R4", "fenced", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a fence 1 until 10ms
		 7ms Q invoke write k owner a fence 1 value a1
		 8ms Q fail write k owner a fence 1 value a1 seq 1`},
	{"a rightful holder's write rejected at the instant of its release", "R4", "fenced", `
		 0ms p invoke acquire k owner a
		 1ms p ok acquire k owner a fence 1 until 100ms
		 7ms Q invoke write k owner a fence 1 value a1
		 8ms Q fail write k owner a fence 1 value a1 seq 1
		 8ms p invoke release k owner a
		 9ms p ok release k owner a`},
}

// TestOneProcess holds that neither clocks nor equal stamps excuse anything between two
// events of one process, and that clocks do between those of two.
func TestOneProcess(t *testing.T) {
	for _, c := range ordered {
		for _, who := range []string{"p", "q"} {
			t.Run(c.name+" by "+who, func(t *testing.T) {
				text := "header ttl 100ms epsilon 5ms " + c.header + strings.ReplaceAll(c.history, " Q ", " "+who+" ") + "\n300ms nemesis ok phase end"
				h, err := history.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				h.Header.Bounds = map[string]int64{"loss_ns": 0}
				r := checker.Check(t.Context(), h, checker.Options{SecondOpinion: true})
				found := slices.ContainsFunc(r.Violations, func(f checker.Finding) bool { return f.ID == c.id })
				if found != (who == "p") {
					t.Errorf("%s: found %t; violations %v, suspicious %v", c.id, found, r.Violations, r.Suspicious)
				}
				if wrong := disagreements(t, h); len(wrong) > 0 {
					t.Error(wrong)
				}
			})
		}
	}
}
