package checker

import "testing"

func TestUnconfirmedUse(t *testing.T) { runCases(t, unconfirmedUseCases()) }

func unconfirmedUseCases() []verdictCase {
	return []verdictCase{
		{
			name: "never acquired", header: "ttl 10ms", want: Fail, violations: []string{"S8 [3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms b invoke write k value b1
				 3ms b ok write k value b1 seq 1`,
		},
		{
			name: "never acquired, and rejected", header: "ttl 10ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms b invoke write k value b1
				 3ms b fail write k value b1 seq 1 err stale`,
		},
		{
			name: "refused", header: "ttl 10ms", want: Fail, violations: []string{"S8 [5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms b invoke acquire k
				 3ms b fail acquire k err held
				 4ms b invoke write k value b1
				 5ms b ok write k value b1 seq 1`,
		},
		{
			name: "of unknown outcome", header: "ttl 10ms", want: Fail, violations: []string{"S8 [3]"},
			history: `
				 0ms b0 invoke acquire k owner b
				 1ms b0 info acquire k owner b err timeout
				 2ms b1 invoke write k owner b value b1
				 3ms b1 ok write k owner b value b1 seq 1
				 4ms a invoke acquire k
				24ms a ok acquire k until 34ms`,
		},
		{
			name: "after the release", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "in the instant of the release", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 4ms a invoke release k
				 4ms a ok release k
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "while the release is under way, as a child process may", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 3ms a0 invoke release k owner a
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1
				 6ms a0 ok release k owner a`,
		},
		{
			name: "after the release, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "before the release", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke write k value a1
				 3ms a ok write k value a1 seq 1
				 4ms a invoke release k
				 5ms a ok release k`,
		},
		{
			name: "after the release, and late: S8 comes before S3z", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				14ms a invoke write k value a1
				15ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a reported loss", header: "ttl 10ms", want: Fail, violations: []string{"S8 [4 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 1ms nemesis invoke fault lose-reply target a instant
				 1ms nemesis ok fault lose-reply target a instant receipt r
				 2ms a ok lost k
				 3ms a invoke write k value a1
				 4ms a ok write k value a1 seq 1`,
		},
		{
			name: "after it, held once more", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 1ms nemesis invoke fault lose-reply target a instant
				 1ms nemesis ok fault lose-reply target a instant receipt r
				 2ms a ok lost k
				 3ms a invoke acquire k
				 4ms a ok acquire k until 13ms
				 5ms a invoke write k value a1
				 6ms a ok write k value a1 seq 1`,
		},
	}
}
