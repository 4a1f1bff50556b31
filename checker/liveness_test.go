package checker

import (
	"slices"
	"strings"
	"testing"
)

// boundCase is a history judged under bounds that the header declares.
type boundCase struct {
	verdictCase
	bounds   map[string]int64
	breaches []string
}

func runBounds(t *testing.T, cases []boundCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := parse(t, c.header, c.history)
			h.Header.Bounds = c.bounds
			r := Check(t.Context(), h, Options{})
			if r.Verdict != c.want {
				t.Errorf("verdict %s, want %s", r.Verdict, c.want)
			}
			if got := short(r.Violations); !slices.Equal(got, c.violations) {
				t.Errorf("violations %q, want %q", got, c.violations)
			}
			if got := short(r.Suspicious); !slices.Equal(got, c.suspicious) {
				t.Errorf("suspicious %q, want %q", got, c.suspicious)
			}
			if got := short(r.Breaches); !slices.Equal(got, c.breaches) {
				t.Errorf("breaches %q, want %q", got, c.breaches)
			}
			checkTexts(t, r)
		})
	}
}

const ms = int64(1e6)

func TestOrphan(t *testing.T) { runBounds(t, orphanCases()) }

func orphanCases() []boundCase {
	retry := map[string]int64{"retry_ns": 5 * ms}
	const before = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		  2ms nemesis ok phase final`
	return []boundCase{
		{bounds: retry, verdictCase: verdictCase{
			name: "refused again and again with nobody holding", header: "ttl 10ms", want: Fail, violations: []string{"L1 [4 6 8]"},
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "the first while the lease may still be on the server", header: "ttl 10ms", want: Pass,
			history: before + `
				 14ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "granted at last", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b ok acquire k until 33ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "after an acquire of unknown outcome", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms c invoke acquire k
				 19ms c info acquire k err timeout
				 20ms b invoke acquire k
				 20ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "against each other, of several nodes", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 18ms c invoke acquire k
				 19ms b fail acquire k err held
				 19ms c fail acquire k err held
				 21ms b invoke acquire k
				 21ms c invoke acquire k
				 22ms b fail acquire k err held
				 22ms c fail acquire k err held
				 23ms b invoke acquire k
				 23ms c invoke acquire k
				 24ms b fail acquire k err held
				 24ms c fail acquire k err held`,
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, too often", header: "ttl 10ms nodes 5 quorum 3", want: Fail, violations: []string{"L7 [6 10 14]"},
			history: before + `
				 18ms b invoke acquire k
				 18ms c invoke acquire k
				 19ms b fail acquire k err held
				 19ms c fail acquire k err held
				 21ms b invoke acquire k
				 21ms c invoke acquire k
				 22ms b fail acquire k err held
				 22ms c fail acquire k err held
				 23ms b invoke acquire k
				 23ms c invoke acquire k
				 24ms b fail acquire k err held
				 24ms c fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "not in the final phase", header: "ttl 10ms", want: Pass,
			history: strings.Replace(before, "phase final", "phase main", 1) + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
	}
}

func TestNoProgress(t *testing.T) { runBounds(t, noProgressCases()) }

func noProgressCases() []boundCase {
	retry := map[string]int64{"retry_ns": 10 * ms}
	const before = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		  2ms nemesis ok phase final`
	return []boundCase{
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "just not too long", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				70ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "granted too late", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b ok acquire k until 80ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "nobody asked for long", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				 6ms b fail acquire k err held
				80ms b invoke acquire k
				81ms b ok acquire k until 90ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "waiting still at the end", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3]"},
			suspicious: []string{"S1 [1 3]"},
			history: before + `
				 5ms b invoke acquire k
				90ms c invoke acquire l
				91ms c ok acquire l until 100ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "a fault in between", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				30ms nemesis invoke fault cut-link target b
				30ms nemesis ok fault cut-link target b receipt r
				40ms nemesis invoke heal cut-link target b
				40ms nemesis ok heal cut-link target b receipt r
				90ms b ok acquire k until 100ms`,
		}},
	}
}

func TestService(t *testing.T) { runBounds(t, serviceCases()) }

func serviceCases() []boundCase {
	wait := map[string]int64{"wait_ns": 20 * ms}
	return []boundCase{
		{bounds: wait, verdictCase: verdictCase{
			name: "starved", header: "ttl 10ms", want: Fail, violations: []string{"L3 [0 5]"},
			history: `
				 0ms b invoke acquire k
				 1ms b fail acquire k
				 3ms b invoke acquire k
				 4ms b fail acquire k
				20ms b invoke acquire k
				21ms b ok acquire k until 30ms`,
		}},
		{bounds: wait, verdictCase: verdictCase{
			name: "served at the bound", header: "ttl 10ms", want: Pass,
			history: `
				 0ms b invoke acquire k
				 1ms b fail acquire k
				 3ms b invoke acquire k
				20ms b ok acquire k until 30ms`,
		}},
		{verdictCase: verdictCase{
			name: "no bound declared", header: "ttl 10ms", want: Pass,
			history: `
				 0ms b invoke acquire k
				 1ms b fail acquire k
				 3ms b invoke acquire k
				50ms b ok acquire k until 60ms`,
		}},
		{bounds: map[string]int64{"recovery_ns": 10 * ms}, breaches: []string{"L4 [3]"}, verdictCase: verdictCase{
			name: "slow recovery", header: "ttl 10ms", want: SLOBreach,
			history: `
				 0ms nemesis invoke fault cut-link target n1
				 0ms nemesis ok fault cut-link target n1 receipt r
				 1ms nemesis invoke heal cut-link target n1
				 1ms nemesis ok heal cut-link target n1 receipt r
				11ms b invoke acquire k
				12ms b ok acquire k until 22ms`,
		}},
		{bounds: map[string]int64{"recovery_ns": 10 * ms}, verdictCase: verdictCase{
			name: "recovery in time", header: "ttl 10ms", want: Pass,
			history: `
				 0ms nemesis invoke fault cut-link target n1
				 0ms nemesis ok fault cut-link target n1 receipt r
				 1ms nemesis invoke heal cut-link target n1
				 1ms nemesis ok heal cut-link target n1 receipt r
				 9ms b invoke acquire k
				11ms b ok acquire k until 20ms`,
		}},
		{bounds: map[string]int64{"availability_percent": 60}, breaches: []string{"L6 [4]"}, verdictCase: verdictCase{
			name: "too little availability", header: "ttl 10ms", want: SLOBreach,
			history: `
				 0ms a invoke acquire k
				 1ms a info acquire k
				11ms b invoke acquire k
				12ms b ok acquire k until 22ms`,
		}},
		{bounds: map[string]int64{"availability_percent": 50}, verdictCase: verdictCase{
			name: "enough", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a info acquire k
				11ms b invoke acquire k
				12ms b ok acquire k until 22ms`,
		}},
	}
}

func TestLosses(t *testing.T) { runBounds(t, lossesCases()) }

func lossesCases() []boundCase {
	const taken = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		 2ms nemesis invoke fault cut-link target a instant
		 2ms nemesis ok fault cut-link target a receipt r instant
		11ms b invoke acquire k
		12ms b ok acquire k until 21ms`
	return []boundCase{
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told too late", header: "ttl 10ms", want: Fail, violations: []string{"S11 [1 5 6]"},
			history: taken + `
				15.1ms a ok lost k`,
		}},
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told in time", header: "ttl 10ms", want: Pass,
			history: taken + `
				15ms a ok lost k`,
		}},
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told within the clocks' uncertainty", header: "ttl 10ms epsilon 1ms", want: Pass,
			history: taken + `
				16ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "no bound documented", header: "ttl 10ms", want: Pass, suspicious: []string{"S11 [1 5 6]"},
			history: taken + `
				15.1ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told without cause", header: "ttl 10ms", want: Fail, violations: []string{"L5 [1 2]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 5ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told once it had run out", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				10ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "run out though it renews itself", header: "ttl 10ms", want: Fail, violations: []string{"L5 [2 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 6ms a ok extend k began 5ms until 15ms
				15ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told under a fault", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis invoke fault cut-link target a instant
				 2ms nemesis ok fault cut-link target a receipt r instant
				 5ms a ok lost k`,
		}},
	}
}
