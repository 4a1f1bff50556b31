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
		{ // who asks within a section that goes on learns nothing of the hold that has run out
			name: "of unknown outcome, asked for within a section", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]", "S3z [1 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				12ms a0 invoke acquire k owner a
				13ms a invoke write k value a1
				14ms a ok write k value a1 seq 1
				15ms a0 info acquire k owner a err timeout
				16ms a invoke write k value a2
				17ms a ok write k value a2 seq 2`,
		},
		{ // nobody wrote meanwhile: the section may have been over
			name: "of unknown outcome, asked for behind a lease", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]", "S8 [7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms a invoke write k value a1
				11500µs a ok write k value a1 seq 1
				12ms a0 invoke acquire k owner a
				15ms a0 info acquire k owner a err timeout
				16ms a invoke write k value a2
				17ms a ok write k value a2 seq 2`,
		},
		{
			name: "refused within a section", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]", "S8 [7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				12ms a0 invoke acquire k owner a
				13ms a invoke write k value a1
				14ms a ok write k value a1 seq 1
				15ms a0 fail acquire k owner a err held
				16ms a invoke write k value a2
				17ms a ok write k value a2 seq 2`,
		},
		{
			name: "of unknown outcome, asked for behind a release", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 6]", "S8 [2 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				12ms a0 invoke acquire k owner a
				13ms a invoke write k value a1
				14ms a ok write k value a1 seq 1
				15ms a0 info acquire k owner a err timeout
				16ms a invoke write k value a2
				17ms a ok write k value a2 seq 2`,
		},
		{ // it has given the hold back, as far as it knows
			name: "of unknown outcome, asked for while a release is under way", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 5]", "S8 [8]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms a1 invoke release k owner a
				12ms a0 invoke acquire k owner a
				13ms a invoke write k value a1
				14ms a ok write k value a1 seq 1
				15ms a0 info acquire k owner a err timeout
				16ms a invoke write k value a2
				17ms a ok write k value a2 seq 2`,
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
				 4ms a0 invoke write k value a1 owner a
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "in the instant of its process's own release", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 5]"},
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
				 4ms a0 invoke write k value a1 owner a
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after its process's own release, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a loss reported to its process, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Fail, violations: []string{"S8 [2 4]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a ok lost k
				 3ms a invoke write k value a1
				 4ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a loss reported to another process, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a0 ok lost k owner a
				 3ms a invoke write k value a1
				 4ms a ok write k value a1 seq 1`,
		},
		{
			name: "after its extension was refused", header: "ttl 10ms", want: Fail, violations: []string{"S8 [3 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke extend k
				 3ms a fail extend k err lost
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "before its extension was refused", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke extend k
				 3ms a0 invoke write k value a1 owner a
				 4ms a fail extend k err lost
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after another process's extension was refused, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a0 invoke extend k owner a
				 3ms a0 fail extend k owner a err lost
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "after an automatic renewal failed, of which its owner heard nothing", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 3ms a fail extend k began 2ms err lost
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "after its extension was refused, held once more", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke extend k
				 3ms a fail extend k err lost
				 4ms a invoke acquire k
				 5ms a ok acquire k until 14ms
				 6ms a invoke write k value a1
				 7ms a ok write k value a1 seq 1`,
		},
		{
			name: "after an inner release was refused", header: "ttl 10ms", want: Fail, violations: []string{"S8 [5 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a0 invoke acquire k owner a
				 3ms a0 ok acquire k owner a fence 1 until 10ms
				 4ms a0 invoke release k owner a
				 5ms a0 fail release k owner a err lost
				 6ms a invoke write k value a1
				 7ms a ok write k value a1 seq 1`,
		},
		{
			name: "after an inner release", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a0 invoke acquire k owner a
				 3ms a0 ok acquire k owner a fence 1 until 10ms
				 4ms a0 invoke release k owner a
				 5ms a0 ok release k owner a
				 6ms a invoke write k value a1
				 7ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a release that was refused", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a fail release k err lost
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a release that certainly was not sent", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a fail release k err "dial tcp 127.0.0.1:6379: connect: connection refused"
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1`,
		},
		{
			name: "after a release that its link never carried", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 2ms link ok receipt never-forwarded of 2
				 3ms a info release k err timeout
				 4ms a0 invoke write k value a1 owner a
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after a release of which the link says only later that it never carried it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a info release k err timeout
				 4ms a0 invoke write k value a1 owner a
				 4ms link ok receipt never-forwarded of 2
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after a release of which the link says at the end that it never carried it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 3ms a info release k err timeout
				 4ms a0 invoke write k value a1 owner a
				 5ms a0 ok write k value a1 seq 1 owner a
				 6ms link ok receipt never-forwarded of 2`,
		},
		{
			name: "after a release that its link carried", header: "ttl 10ms", want: Fail, violations: []string{"S8 [2 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 2ms link ok receipt executed of 2
				 3ms a info release k err timeout
				 4ms a0 invoke write k value a1 owner a
				 5ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after a late refused release of an older lease", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				20ms a0 invoke acquire k owner a
				21ms a0 ok acquire k owner a fence 2 until 30ms
				22ms a invoke release k fence 1
				23ms a fail release k fence 1 err lost
				24ms a0 invoke write k value a1 owner a fence 2
				25ms a0 ok write k value a1 seq 1 owner a fence 2`,
		},
		{
			name: "after one that says only in the end which lease it was of", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				20ms a0 invoke acquire k owner a
				21ms a0 ok acquire k owner a fence 2 until 30ms
				22ms a0 invoke release k owner a
				23ms a0 fail release k owner a fence 1 err lost
				24ms a0 invoke write k value a1 owner a fence 2
				25ms a0 ok write k value a1 seq 1 owner a fence 2`,
		},
		{
			name: "after one of a lease that is long forgotten", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				20ms a invoke acquire k
				21ms a ok acquire k fence 2 until 30ms
				40ms a invoke acquire k
				41ms a ok acquire k fence 3 until 50ms
				42ms a invoke release k fence 1
				43ms a fail release k fence 1 err lost
				44ms a invoke write k value a1 fence 3
				45ms a ok write k value a1 seq 1 fence 3`,
		},
		{
			name: "after one by the process that had taken it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				20ms a0 invoke acquire k owner a
				21ms a0 ok acquire k owner a until 30ms
				22ms a invoke release k
				23ms a fail release k err lost
				24ms a0 invoke write k value a1 owner a
				25ms a0 ok write k value a1 seq 1 owner a`,
		},
		{
			name: "after a refused release of the lease itself", header: "ttl 10ms", want: Fail, violations: []string{"S8 [4 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				20ms a0 invoke acquire k owner a
				21ms a0 ok acquire k owner a fence 2 until 30ms
				22ms a0 invoke release k owner a fence 2
				23ms a0 fail release k owner a fence 2 err lost
				24ms a0 invoke write k value a1 owner a fence 2
				25ms a0 ok write k value a1 seq 1 owner a fence 2`,
		},
		{
			name: "after an older lease's extension was refused", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				20ms a0 invoke acquire k owner a
				21ms a0 ok acquire k owner a fence 2 until 30ms
				22ms a invoke extend k fence 1
				23ms a fail extend k fence 1 err lost
				24ms a0 invoke write k value a1 owner a fence 2
				25ms a0 ok write k value a1 seq 1 owner a fence 2`,
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
