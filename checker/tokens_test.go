package checker

import "testing"

func TestTokenOrder(t *testing.T) { runCases(t, tokenOrderCases()) }

func tokenOrderCases() []verdictCase {
	return []verdictCase{
		{
			name: "a lower token after a higher one", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 4 until 14ms`,
		},
		{
			name: "a higher token", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 6 until 14ms`,
		},
		{
			name: "the same token once more", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]", "S4b [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 5 until 14ms`,
		},
		{
			name: "reversed, the second asked before the first was answered", header: "ttl 10ms", want: Pass, suspicious: []string{"S4 [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms b invoke acquire k
				 2ms a ok acquire k fence 5 until 10ms
				 3ms a invoke release k
				 4ms a ok release k
				 5ms b ok acquire k fence 4 until 11ms`,
		},
		{
			name: "asked in the very instant of the answer", header: "ttl 10ms", want: Pass, suspicious: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 1ms b invoke acquire k
				 3ms a invoke release k
				 4ms a ok release k
				 5ms b ok acquire k fence 4 until 11ms`,
		},
		{
			name: "shared among windows that overlap", header: "ttl 10ms", want: Fail, violations: []string{"S4b [2 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms b invoke acquire k
				 2ms a ok acquire k fence 5 until 10ms
				 3ms a invoke release k
				 4ms a ok release k
				 5ms b ok acquire k fence 5 until 11ms`,
		},
		{
			name: "asked within the clocks' uncertainty", header: "ttl 10ms epsilon 3ms", want: Pass, suspicious: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 4 until 14ms`,
		},
		{
			name: "readers share a token", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r fence 5 until 10ms
				 4ms b invoke acquire k mode r
				 5ms b ok acquire k mode r fence 5 until 14ms`,
		},
		{
			name: "a writer takes a reader's token", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]", "S4b [1 5]"},
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r fence 5 until 10ms
				 2ms a invoke release k mode r
				 3ms a ok release k mode r
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 5 until 14ms`,
		},
		{
			name: "a reader below an earlier reader", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r fence 5 until 10ms
				 4ms b invoke acquire k mode r
				 5ms b ok acquire k mode r fence 4 until 14ms`,
		},
		{
			name: "a reader below an earlier writer", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k mode r
				 5ms b ok acquire k mode r fence 4 until 14ms`,
		},
		{
			name: "an extension changes the token", header: "ttl 10ms", want: Fail, violations: []string{"S4b [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke extend k
				 3ms a ok extend k fence 6 until 12ms`,
		},
		{
			name: "an extension keeps it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke extend k
				 3ms a ok extend k fence 5 until 12ms`,
		},
	}
}

func TestStaleWrites(t *testing.T) { runCases(t, staleWritesCases()) }

func staleWritesCases() []verdictCase {
	const grants = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms
		 9ms b invoke acquire k
		11ms b ok acquire k fence 2 until 19ms
		12ms b invoke write k fence 2 value b1
		13ms b ok write k fence 2 value b1 seq 1`
	return []verdictCase{
		{
			name: "accepted after a newer token", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [5 7]"},
			history: grants + `
				14ms a invoke write k fence 1 value a1
				15ms a ok write k fence 1 value a1 seq 2`,
		},
		{
			name: "rejected", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms a invoke write k fence 1 value a1
				15ms a fail write k fence 1 value a1 seq 2 err stale`,
		},
		{
			name: "the store fences nothing", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3 7]"},
			history: grants + `
				14ms a invoke write k fence 1 value a1
				15ms a ok write k fence 1 value a1 seq 2`,
		},
		{
			name: "accepted before the newer token, told later", header: "ttl 10ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b ok write k fence 2 value b1 seq 2
				14ms a ok write k fence 1 value a1 seq 1`,
		},
		{
			name: "accepted after it, told earlier", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [6 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms a ok write k fence 1 value a1 seq 2
				14ms b ok write k fence 2 value b1 seq 1`,
		},
		{
			name: "the same token twice", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms b invoke write k fence 2 value b2
				15ms b ok write k fence 2 value b2 seq 2`,
		},
		{
			name: "another key's token", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms c invoke acquire l
				15ms c ok acquire l fence 1 until 24ms
				16ms c invoke write l fence 1 value c1
				17ms c ok write l fence 1 value c1 seq 2`,
		},
		{
			name: "of unknown outcome, and the store's log says that it landed", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [5 8]"},
			history: grants + `
				14ms a invoke write k fence 1 value a1
				15ms a info write k fence 1 value a1
				20ms store ok audit k value a1 seq 2 owner a fence 1`,
		},
		{
			name: "of unknown outcome, and the store's log says that it was rejected", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms a invoke write k fence 1 value a1
				15ms a info write k fence 1 value a1
				20ms store fail audit k value a1 seq 2 owner a fence 1`,
		},
		{
			name: "of unknown outcome, landed first", header: "ttl 10ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a info write k fence 1 value a1
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b ok write k fence 2 value b1 seq 2
				20ms store ok audit k value a1 seq 1 owner a fence 1`,
		},
		{
			name: "a known one after an unknown newer one", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [7 8]"},
			suspicious: []string{"S3z [1 3 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b info write k fence 2 value b1
				14ms a invoke write k fence 1 value a1
				15ms a ok write k fence 1 value a1 seq 2
				20ms store ok audit k value b1 seq 1 owner b fence 2`,
		},
		{
			name: "of two unknown ones", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [8 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b info write k fence 2 value b1
				14ms a invoke write k fence 1 value a1
				15ms a info write k fence 1 value a1
				20ms store ok audit k value b1 seq 1 owner b fence 2
				20ms store ok audit k value a1 seq 2 owner a fence 1`,
		},
	}
}
