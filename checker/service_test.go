package checker

import "testing"

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
		{bounds: wait, verdictCase: verdictCase{
			name: "starved of two keys at once, which it waits for once", header: "ttl 10ms", want: Fail, violations: []string{"L3 [0 4]"},
			history: `
				 0ms c1 invoke acquire k owner b note multi
				 0ms c2 invoke acquire l owner b note multi
				21ms c3 invoke acquire m owner b
				22ms c3 ok acquire m owner b until 30ms
				23ms c1 ok acquire k owner b until 30ms
				23ms c2 ok acquire l owner b until 30ms`,
		}},
		{bounds: wait, verdictCase: verdictCase{
			name: "starved of two keys at once, twice", header: "ttl 10ms", want: Fail, violations: []string{"L3 [0 2]", "L3 [4 6]"},
			history: `
				 0ms c1 invoke acquire k owner b note multi
				 0ms c2 invoke acquire l owner b note multi
				23ms c1 ok acquire k owner b until 30ms
				23ms c2 ok acquire l owner b until 30ms
				40ms c1 invoke acquire k owner b note multi
				40ms c2 invoke acquire l owner b note multi
				63ms c1 ok acquire k owner b until 70ms
				63ms c2 ok acquire l owner b until 70ms`,
		}},
		{bounds: wait, verdictCase: verdictCase{
			name: "starved of one key beside others, and of each of two in turn", header: "ttl 10ms", want: Fail, violations: []string{"L3 [0 2]", "L3 [1 3]"},
			history: `
				 0ms c1 invoke acquire k owner b
				 0ms c2 invoke acquire l owner b
				23ms c1 ok acquire k owner b until 30ms
				23ms c2 ok acquire l owner b until 30ms`,
		}},
		{bounds: wait, verdictCase: verdictCase{
			name: "waiting still for two keys at once", header: "ttl 10ms", want: Fail, violations: []string{"L3 [0]"},
			history: `
				 0ms c1 invoke acquire k owner b note multi
				 0ms c2 invoke acquire l owner b note multi
				23ms c3 invoke acquire m owner d
				24ms c3 ok acquire m owner d until 30ms`,
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
			name: "told too late to a client that stood still", header: "ttl 10ms", want: Pass, suspicious: []string{"S11 [1 5 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis invoke fault pause-client target a
				 2ms nemesis ok fault pause-client target a receipt r
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				15.1ms a ok lost k
				16ms nemesis invoke heal pause-client target a
				16ms nemesis ok heal pause-client target a receipt r`,
		}},
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told in time", header: "ttl 10ms", want: Pass,
			history: taken + `
				15ms a ok lost k`,
		}},
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told in time, and heard late", header: "ttl 10ms", want: Pass,
			history: taken + `
				18ms a ok lost k began 15ms`,
		}},
		{bounds: map[string]int64{"loss_ns": 3 * ms}, verdictCase: verdictCase{
			name: "told too late, and heard later", header: "ttl 10ms", want: Fail, violations: []string{"S11 [1 5 6]"},
			history: taken + `
				18ms a ok lost k began 15.1ms`,
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
			name: "told without cause", header: "ttl 10ms", want: Fail, violations: []string{"L5 [2 3]"},
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 5ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told without cause, in a history without phases", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 5ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told once it had run out", header: "ttl 10ms", want: Pass,
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				10ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "run out though it renews itself", header: "ttl 10ms", want: Fail, violations: []string{"L5 [3 4]"},
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 6ms a ok extend k began 5ms until 15ms
				15ms a ok lost k`,
		}},
		{verdictCase: verdictCase{
			name: "told while a fault is being injected", header: "ttl 10ms", want: Pass,
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis invoke fault flushall target a instant
				 5ms a ok lost k
				 6ms nemesis ok fault flushall target a receipt r instant`,
		}},
		{verdictCase: verdictCase{
			name: "told under a fault", header: "ttl 10ms", want: Pass,
			history: `
				 0ms nemesis ok phase main
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis invoke fault cut-link target a instant
				 2ms nemesis ok fault cut-link target a receipt r instant
				 5ms a ok lost k`,
		}},
	}
}
