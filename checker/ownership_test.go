package checker

import "testing"

func TestForeignRelease(t *testing.T) { runCases(t, foreignReleaseCases()) }

func foreignReleaseCases() []verdictCase {
	const crossed = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		 11ms b invoke acquire k
		 12ms b ok acquire k until 21ms
		 13ms a invoke release k
		 14ms a ok release k`
	const readers = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		 11ms b invoke acquire k mode r
		 12ms b ok acquire k mode r until 18ms
		 12ms c invoke acquire k mode r
		 13ms c ok acquire k mode r until 40ms
		 14ms a invoke release k
		 15ms a ok release k`
	return []verdictCase{
		{
			name: "a third grant inside the victim's hold", header: "ttl 10ms unchecked-release", want: Fail,
			violations: []string{"S1 [3 7]", "S5 [3 5 7]"},
			history: crossed + `
				15ms c invoke acquire k
				16ms c ok acquire k until 25ms`,
		},
		{
			name: "a third grant after the victim's hold", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 5]"},
			history: crossed + `
				20ms c invoke acquire k
				21ms c ok acquire k until 30ms`,
		},
		{
			name: "a third grant of another key", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 5]"},
			history: crossed + `
				15ms c invoke acquire l
				16ms c ok acquire l until 25ms`,
		},
		{
			name: "a third grant after the victim was told no, as the history tells late", header: "ttl 10ms unchecked-release", want: Pass,
			suspicious: []string{"S5 [1 5]"},
			history: crossed + `
				15ms c invoke acquire k
				16ms c ok acquire k until 25ms
				20ms b fail extend k began 13ms ended 15ms`,
		},
		{
			name: "a writer's grant inside the hold of the second reader", header: "ttl 10ms unchecked-release", want: Fail,
			violations: []string{"S1 [5 9]", "S5 [5 7 9]"},
			history: readers + `
				20ms w invoke acquire k
				21ms w ok acquire k until 30ms`,
		},
		{
			name: "a reader's grant inside it", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 7]"},
			history: readers + `
				20ms w invoke acquire k mode r
				21ms w ok acquire k mode r until 30ms`,
		},
		{
			name: "nobody harmed", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 5]"},
			history: crossed,
		},
		{
			name: "refused", header: "ttl 10ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 10ms
				 11ms b invoke acquire k
				 12ms b ok acquire k until 21ms
				 13ms a invoke release k
				 14ms a fail release k err lost`,
		},
		{
			name: "late by nothing", header: "ttl 10ms", want: Pass, suspicious: []string{"S5 [1 3]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 10ms
				 10ms a invoke release k
				 11ms a ok release k`,
		},
		{
			name: "in time", header: "ttl 10ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 10ms
				  9ms a invoke release k
				 11ms a ok release k`,
		},
	}
}

const brief = `
	 0ms a invoke acquire k
	 1ms a ok acquire k until 10ms
	11ms b invoke acquire k
	12ms b ok acquire k until 21ms
	13ms b invoke release k
	14ms b ok release k
	15ms b invoke acquire k
	16ms b ok acquire k until 21ms
	17ms b invoke release k
	18ms b ok release k
	19ms b invoke acquire k
	20ms b ok acquire k until 29ms
	21ms b invoke release k
	22ms b ok release k
	23ms b invoke acquire k
	24ms b ok acquire k until 33ms
	25ms b invoke release k
	26ms b ok release k
	27ms c invoke acquire k`

const released = `
	0ms a invoke acquire k
	1ms a ok acquire k until 100ms
	2ms a invoke release k
	3ms a ok release k`

func TestAcrossALoss(t *testing.T) { runCases(t, acrossALossCases()) }

func acrossALossCases() []verdictCase {
	const crossed = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		 11ms b invoke acquire k
		 12ms b ok acquire k until 21ms
		 13ms b invoke release k
		 14ms b ok release k`
	return []verdictCase{
		{
			name: "an extension", header: "ttl 10ms", want: Fail, violations: []string{"S1 [1 3 7]", "S6 [1 3 7]"},
			history: crossed + `
				15ms a invoke extend k
				16ms a ok extend k until 25ms`,
		},
		{
			name: "an extension that is refused", header: "ttl 10ms", want: Pass,
			history: crossed + `
				15ms a invoke extend k
				16ms a fail extend k err lost`,
		},
		{
			name: "an owner-checked release", header: "ttl 10ms", want: Fail, violations: []string{"S6 [1 3 7]"}, suspicious: []string{"S5 [1 7]"},
			history: crossed + `
				15ms a invoke release k
				16ms a ok release k`,
		},
		{
			name: "a release that checks nothing", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 7]"},
			history: crossed + `
				15ms a invoke release k
				16ms a ok release k`,
		},
		{
			name: "a second release, across another's hold since the first", header: "ttl 100ms", want: Fail, violations: []string{"S6 [1 5 7]"},
			history: released + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 7ms a invoke release k
				 8ms a ok release k`,
		},
		{
			name: "a second release, across nobody's", header: "ttl 100ms", want: Pass,
			history: released + `
				 7ms a invoke release k
				 8ms a ok release k
				 9ms b invoke acquire k
				10ms b ok acquire k until 109ms`,
		},
		{
			name: "a renewal after the release, across another's hold", header: "ttl 100ms", want: Fail, violations: []string{"S6 [1 5 6]"},
			history: released + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 8ms a ok extend k began 7ms until 107ms`,
		},
		{
			name: "a renewal after the release, across nobody's", header: "ttl 100ms", want: Pass,
			history: released + `
				 8ms a ok extend k began 7ms until 107ms`,
		},
		{
			name: "an extension across what turns out to have been no hold", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				13ms a invoke extend k
				14ms a ok extend k until 23ms
				20ms b fail extend k began 12ms ended 12ms`,
		},
		{
			name: "a release across two holds, one of which turns out to have been none", header: "ttl 10ms", want: Fail,
			violations: []string{"S6 [1 5 7]"}, suspicious: []string{"S5 [1 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				15ms c invoke acquire k
				16ms c ok acquire k until 18ms
				19ms a invoke release k
				20ms a ok release k
				21ms b fail extend k began 12ms ended 12ms`,
		},
		{
			name: "a release across a hold behind four that were too brief", header: "ttl 10ms epsilon 2ms", want: Fail,
			violations: []string{"S6 [1 19 21]"}, suspicious: []string{"S5 [1 21]"},
			history: brief + `
				28ms c ok acquire k until 37ms
				36ms a invoke release k
				37ms a ok release k`,
		},
		{
			name: "a release across four that were too brief", header: "ttl 10ms epsilon 2ms", want: Pass,
			suspicious: []string{"S5 [1 21]", "S6 [1 3 21]"},
			history: brief + `
				28ms c fail acquire k
				36ms a invoke release k
				37ms a ok release k`,
		},
		{
			name: "a release across a hold that was told before the grant", header: "ttl 10ms", want: Fail,
			violations: []string{"S6 [2 3 5]"}, suspicious: []string{"S5 [3 5]"},
			history: `
				 0ms a invoke acquire k
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				14ms a ok acquire k until 10ms ended 2ms
				16ms a invoke release k
				17ms a ok release k`,
		},
		{
			name: "a release after a hold that was over before the grant", header: "ttl 20ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms b invoke acquire k
				 2ms b ok acquire k until 21ms
				 3ms b invoke release k
				 4ms b ok release k
				14ms a ok acquire k until 20ms ended 5ms
				16ms a invoke release k
				17ms a ok release k`,
		},
		{
			name: "another's hold after the release was sent", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				 4ms b invoke acquire k
				 5ms b ok acquire k until 15ms
				 6ms a ok release k`,
		},
		{
			name: "by less than the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass, suspicious: []string{"S5 [1 7]", "S6 [1 3 7]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 10ms
				 11ms b invoke acquire k
				 12ms b ok acquire k until 21ms
				 14ms b invoke release k
				 15ms b ok release k
				 16ms a invoke release k
				 17ms a ok release k`,
		},
		{
			name: "a reader's extension across another reader", header: "ttl 10ms", want: Pass,
			history: `
				  0ms a invoke acquire k mode r
				  1ms a ok acquire k mode r until 10ms
				  2ms b invoke acquire k mode r
				  3ms b ok acquire k mode r until 21ms
				  5ms a invoke extend k mode r
				  6ms a ok extend k mode r until 15ms`,
		},
	}
}

func TestStillborn(t *testing.T) { runCases(t, stillbornCases()) }

func stillbornCases() []verdictCase {
	return []verdictCase{
		{
			name: "answered at its deadline", header: "ttl 10ms", want: Fail, violations: []string{"S7 [1]"},
			history: `
				 0ms a invoke acquire k
				10ms a ok acquire k until 10ms`,
		},
		{
			name: "answered with little left", header: "ttl 10ms", want: Pass, suspicious: []string{"S7 [1]"},
			history: `
				 0ms a invoke acquire k
				9.901ms a ok acquire k until 10ms`,
		},
		{
			name: "answered with a hundredth left", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				9.9ms a ok acquire k until 10ms`,
		},
		{
			name: "a re-entry answered at its deadline", header: "ttl 10ms", want: Fail, violations: []string{"S7 [3]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 10ms
				 9ms a1 invoke acquire k owner a
				19ms a1 ok acquire k owner a fence 1 until 19ms`,
		},
		{
			name: "a re-entry answered before its own deadline", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 10ms
				 9ms a1 invoke acquire k owner a
				18ms a1 ok acquire k owner a fence 1 until 19ms`,
		},
		{
			name: "for a TTL without an end", header: "ttl 2562047h47m16.854775807s drift 1ms epsilon 1ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 9ms a ok acquire k
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms a invoke release k
				14ms a ok release k
				15ms b invoke acquire k
				16ms b info acquire k err timeout
				17ms b1 invoke acquire k owner b
				18ms b1 ok acquire k owner b`,
		},
		{
			name: "with a promise without an end", header: "ttl 10ms epsilon 1ms", want: Fail, violations: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 2562047h47m16.854775807s
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms b invoke acquire k
				15ms b ok acquire k until 2562047h47m16.854775807s`,
		},
		{
			name: "by the time that stands in for a promise", header: "ttl 10ms drift 1ms", want: Fail, violations: []string{"S7 [1]"},
			history: `
				 0ms a invoke acquire k
				 9ms a ok acquire k`,
		},
	}
}
