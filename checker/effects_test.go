package checker

import "testing"

func TestZombies(t *testing.T) { runCases(t, zombiesCases()) }

func zombiesCases() []verdictCase {
	const lease = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms`
	return []verdictCase{
		{
			name: "issued after the deadline", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "issued before the deadline, answered after", header: "ttl 10ms", want: Pass,
			history: lease + `
				 9ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "issued at the deadline", header: "ttl 10ms", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				10ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				12ms a invoke write k value a1
				13ms a ok write k value a1 seq 1`,
		},
		{
			name: "beyond it", header: "ttl 10ms epsilon 2ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				12.1ms a invoke write k value a1
				13ms a ok write k value a1 seq 1`,
		},
		{
			name: "a fence that had seen no newer token", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k fence 1 value a1
				12ms a ok write k fence 1 value a1 seq 1`,
		},
		{
			name: "a fence is no use without tokens", header: "ttl 10ms fenced", want: Fail, violations: []string{"S3z [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "rejected", header: "ttl 10ms fenced", want: Pass,
			history: lease + `
				11ms a invoke write k fence 1 value a1
				12ms a fail write k fence 1 value a1 seq 1 err stale`,
		},
		{
			name: "under an extension", header: "ttl 10ms", want: Pass,
			history: lease + `
				 8ms a invoke extend k
				 9ms a ok extend k until 18ms
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "under an extension under way, answered yes", header: "ttl 10ms", want: Pass,
			history: lease + `
				 9ms a0 invoke extend k owner a
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms a0 ok extend k owner a until 19ms`,
		},
		{
			name: "under an extension under way, refused", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: lease + `
				 9ms a0 invoke extend k owner a
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms a0 fail extend k owner a err lost`,
		},
		{
			name: "of unknown outcome", header: "ttl 10ms", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1`,
		},
		{
			name: "of unknown outcome, and the store's log tells", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms store ok audit k value a1 seq 1 owner a`,
		},
		{
			name: "of unknown outcome, and the link carried it", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt executed of 2`,
		},
		{
			name: "of unknown outcome, and the link did not", header: "ttl 10ms", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt never-forwarded of 2`,
		},
	}
}

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
				 4ms a0 invoke release k owner a
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

func TestSections(t *testing.T) { runCases(t, sectionsCases()) }

func sectionsCases() []verdictCase {
	const two = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		 2ms a invoke write k value a1
		 3ms a ok write k value a1 seq 1`
	return []verdictCase{
		{
			name: "another's write between two", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]", "S3 [3 7 9]"},
			history: two + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke write k value b1
				 7ms b ok write k value b1 seq 2
				 8ms a invoke write k value a2
				 9ms a ok write k value a2 seq 3`,
		},
		{
			name: "another's write before both", header: "ttl 100ms", want: Pass,
			history: two + `
				 4ms a invoke release k
				 5ms a ok release k
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1
				 9ms b ok write k value b1 seq 2
				10ms b invoke write k value b2
				11ms b ok write k value b2 seq 3`,
		},
		{
			name: "another's write after both", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7]"},
			history: two + `
				 4ms a invoke write k value a2
				 5ms a ok write k value a2 seq 2
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1
				 9ms b ok write k value b1 seq 3`,
		},
		{
			name: "between two, but rejected", header: "ttl 100ms fenced", want: Fail, violations: []string{"S1 [1 5]"},
			history: two + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke write k value b1
				 7ms b fail write k value b1 seq 2 err stale
				 8ms a invoke write k value a2
				 9ms a ok write k value a2 seq 3`,
		},
		{
			name: "between two sections of one owner", header: "ttl 100ms", want: Pass,
			history: two + `
				 4ms a invoke release k
				 5ms a ok release k
				 6ms b invoke acquire k
				 7ms b ok acquire k until 104ms
				 8ms b invoke write k value b1
				 9ms b ok write k value b1 seq 2
				10ms b invoke release k
				11ms b ok release k
				12ms a invoke acquire k
				13ms a ok acquire k until 112ms
				14ms a invoke write k value a2
				15ms a ok write k value a2 seq 3`,
		},
		{
			name: "on another key", header: "ttl 100ms", want: Pass,
			history: two + `
				 4ms b invoke acquire l
				 5ms b ok acquire l until 104ms
				 6ms b invoke write l value b1
				 7ms b ok write l value b1 seq 2
				 8ms a invoke write k value a2
				 9ms a ok write k value a2 seq 3`,
		},
		{
			name: "in the store's order, whatever the replies' order", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]", "S3 [7 8 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b ok acquire k until 102ms
				 4ms a invoke write k value a1
				 5ms b invoke write k value b1
				 6ms a0 invoke write k owner a value a2
				 7ms a0 ok write k owner a value a2 seq 3
				 8ms b ok write k value b1 seq 2
				 9ms a ok write k value a1 seq 1`,
		},
		{
			name: "two updates of one version", header: "ttl 100ms", want: Fail, violations: []string{"S3 [3 9]"},
			history: two[:len(two)-len("seq 1")] + `seq 1 base 0
				 4ms a invoke release k
				 5ms a ok release k
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 0
				 9ms b ok write k value b1 base 0 seq 2`,
		},
		{
			name: "two updates in turn", header: "ttl 100ms", want: Pass,
			history: two[:len(two)-len("seq 1")] + `seq 1 base 0
				 4ms a invoke release k
				 5ms a ok release k
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 1
				 9ms b ok write k value b1 base 1 seq 2`,
		},
	}
}
