package checker

import "testing"

func TestStaleWrites(t *testing.T) { runCases(t, staleWritesCases()) }

func staleWritesCases() []verdictCase {
	const open = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms
		 9ms a invoke write k fence 1 value a1
		 9ms b invoke acquire k
		11ms b ok acquire k fence 2 until 19ms
		12ms b0 invoke write k fence 2 value b0 owner b
		12ms b invoke write k fence 2 value b1
		13ms b ok write k fence 2 value b1 seq 3
		14ms a info write k fence 1 value a1`
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
			name: "accepted before it, told after it within the clocks' uncertainty", header: "ttl 10ms fenced epsilon 3ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				11ms b invoke write k fence 2 value b1
				11ms b ok write k fence 2 value b1 seq 2
				12ms a invoke write k fence 1 value a1
				12ms a ok write k fence 1 value a1 seq 1`, suspicious: []string{"S3z [1 3 7]"},
		},
		{
			name: "accepted after it, told before it within the clocks' uncertainty", header: "ttl 20ms fenced epsilon 3ms", want: Fail, violations: []string{"S2 [5 7]"},
			suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 13ms
				 2ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				11ms a invoke write k fence 1 value a1
				11ms a ok write k fence 1 value a1 seq 2
				12ms b invoke write k fence 2 value b1
				12ms b ok write k fence 2 value b1 seq 1`,
		},
		{
			name: "accepted after it by their numbers, though their stamps are far apart", header: "ttl 20ms fenced", want: Fail, violations: []string{"S2 [7 13]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 20ms
				 2ms a invoke release k
				 3ms a ok release k
				 4ms b invoke acquire k
				 5ms b ok acquire k fence 2 until 19ms
				 6ms b invoke write k fence 2 value b1
				 7ms b ok write k fence 2 value b1 seq 2
				 8ms b invoke release k
				 9ms b ok release k
				10ms c invoke acquire k
				11ms c ok acquire k fence 3 until 30ms
				12ms c invoke write k fence 3 value c1
				13ms c ok write k fence 3 value c1 seq 1`,
		},
		{
			name: "numbers counted per key", header: "ttl 100ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms b invoke acquire l
				 3ms b ok acquire l fence 1 until 100ms
				 4ms b invoke write l fence 1 value b1
				 5ms b ok write l fence 1 value b1 seq 1
				 6ms b invoke write l fence 1 value b2
				 7ms b ok write l fence 1 value b2 seq 2
				 8ms b invoke release l
				 9ms b ok release l
				10ms c invoke acquire l
				11ms c ok acquire l fence 2 until 109ms
				12ms c invoke write l fence 2 value c1
				13ms c ok write l fence 2 value c1 seq 3
				14ms a invoke write k fence 1 value a1
				15ms c invoke write l fence 2 value c2
				16ms c ok write l fence 2 value c2 seq 4
				17ms a ok write k fence 1 value a1 seq 1
				18ms a invoke release k
				19ms a ok release k
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 120ms
				22ms b invoke write k fence 2 value b3
				23ms b ok write k fence 2 value b3 seq 2`,
		},
		{
			name: "accepted after a newer token, in the order of events where none has a number", header: "ttl 10ms fenced", want: Fail,
			violations: []string{"S2 [5 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b ok write k fence 2 value b1
				14ms a invoke write k fence 1 value a1
				15ms a ok write k fence 1 value a1`,
		},
		{
			name: "the same within the clocks' uncertainty", header: "ttl 10ms fenced epsilon 1ms", want: Pass,
			suspicious: []string{"S3z [1 3 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 9ms b invoke acquire k
				11ms b ok acquire k fence 2 until 19ms
				12ms b invoke write k fence 2 value b1
				13ms b ok write k fence 2 value b1
				14ms a invoke write k fence 1 value a1
				15ms a ok write k fence 1 value a1`,
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
			name: "open still when the store's log says that it landed", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [5 7]"},
			history: grants + `
				14ms a invoke write k fence 1 value a1
				20ms store ok audit k value a1 seq 2 owner a fence 1`,
		},
		{
			name: "open still when the store's log says that it was rejected", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms a invoke write k fence 1 value a1
				20ms store fail audit k value a1 seq 2 owner a fence 1`,
		},
		{
			name: "given up after the store's log says that it landed", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [5 7]"},
			history: grants + `
				14ms a invoke write k fence 1 value a1
				20ms store ok audit k value a1 seq 2 owner a fence 1
				21ms a info write k fence 1 value a1`,
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
			name: "of unknown outcome, with the token that is the newest", header: "ttl 10ms fenced", want: Pass,
			history: grants + `
				14ms b invoke write k fence 2 value b2
				15ms b info write k fence 2 value b2
				20ms store ok audit k value b2 seq 2 owner b fence 2`,
		},
		{
			name: "a known one without a token after an unknown one with one", header: "ttl 20ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 20ms
				 2ms a0 invoke write k fence 1 value a1 owner a
				 3ms a0 info write k fence 1 value a1 owner a
				 4ms a invoke write k value a2
				 5ms a ok write k value a2 seq 2
				20ms store ok audit k value a1 seq 1 owner a fence 1`,
		},
		{
			name: "of unknown outcome, landed last, while a write before the newer one is open", header: "ttl 10ms fenced", want: Fail,
			violations: []string{"S2 [7 10]"},
			history: open + `
				20ms store ok audit k value b1 seq 3 owner b fence 2
				20ms store ok audit k value a1 seq 4 owner a fence 1`,
		},
		{
			name: "of unknown outcome, landed first, while a write before the newer one is open", header: "ttl 10ms fenced", want: Pass,
			history: open + `
				20ms store ok audit k value a1 seq 1 owner a fence 1
				20ms store ok audit k value b1 seq 3 owner b fence 2`,
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
