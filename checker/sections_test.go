package checker

import "testing"

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
			name: "a writer's between two of a reader", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]", "S3 [3 7 9]"},
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r until 100ms
				 2ms a invoke write k value a1 mode r
				 3ms a ok write k value a1 seq 1 mode r
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke write k value b1
				 7ms b ok write k value b1 seq 2
				 8ms a invoke write k value a2 mode r
				 9ms a ok write k value a2 seq 3 mode r`,
		},
		{
			name: "a reader's between two of a writer", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]", "S3 [3 7 9]"},
			history: two + `
				 4ms b invoke acquire k mode r
				 5ms b ok acquire k until 104ms mode r
				 6ms b invoke write k value b1 mode r
				 7ms b ok write k value b1 seq 2 mode r
				 8ms a invoke write k value a2
				 9ms a ok write k value a2 seq 3`,
		},
		{
			name: "a reader's between two of a reader", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r until 100ms
				 2ms a invoke write k value a1 mode r
				 3ms a ok write k value a1 seq 1 mode r
				 4ms b invoke acquire k mode r
				 5ms b ok acquire k until 104ms mode r
				 6ms b invoke write k value b1 mode r
				 7ms b ok write k value b1 seq 2 mode r
				 8ms a invoke write k value a2 mode r
				 9ms a ok write k value a2 seq 3 mode r`,
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
			name: "two updates of one version, one of unknown outcome", header: "ttl 100ms", want: Pass, suspicious: []string{"S3 [3 9]"},
			history: two[:len(two)-len("seq 1")] + `seq 1 base 0
				 4ms a invoke release k
				 5ms a ok release k
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 0
				 9ms b info write k value b1`,
		},
		{
			name: "two updates of one version, the unknown one first", header: "ttl 100ms", want: Pass, suspicious: []string{"S3 [3 9]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 0
				 9ms b ok write k value b1 seq 2 base 0`,
		},
		{
			name: "two updates of one version, the unknown one first, and it landed", header: "ttl 100ms", want: Pass, suspicious: []string{"S3 [9 10]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 0
				 9ms b ok write k value b1 seq 2 base 0
				20ms store ok audit k owner a value a1 seq 1`,
		},
		{
			name: "two updates of one version, the unknown one first, and it did not land", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms b invoke acquire k
				 7ms b ok acquire k until 106ms
				 8ms b invoke write k value b1 base 0
				 9ms b ok write k value b1 seq 2 base 0
				20ms store ok audit k owner b value b1 seq 2`,
		},
		{
			name: "an update of unknown outcome, made once more in its section, and both landed", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke write k owner a value a2 base 0
				 5ms a1 ok write k owner a value a2 base 0 seq 2
				20ms store ok audit k owner a value a1 seq 1
				20ms store ok audit k owner a value a2 seq 2`,
		},
		{
			name: "an update of unknown outcome, made once more in its section", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke write k owner a value a2 base 0
				 5ms a1 ok write k owner a value a2 base 0 seq 2`,
		},
		{
			name: "an update of unknown outcome, and one in the owner's next section, and both landed", header: "ttl 100ms", want: Pass,
			suspicious: []string{"S3 [9 10]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k until 100ms owner a
				 2ms a0 invoke write k owner a value a1 base 0
				 3ms a0 info write k owner a value a1
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms a1 invoke acquire k owner a
				 7ms a1 ok acquire k until 106ms owner a
				 8ms a1 invoke write k owner a value a2 base 0
				 9ms a1 ok write k owner a value a2 base 0 seq 2
				20ms store ok audit k owner a value a1 seq 1
				20ms store ok audit k owner a value a2 seq 2`,
		},
		{
			name: "another's between two, told after the second within the clocks' uncertainty", header: "ttl 100ms epsilon 3ms", want: Fail,
			violations: []string{"S1 [1 3]", "S3 [5 7 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b ok acquire k until 102ms
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1
				 6ms a invoke write k value a2
				 7ms a ok write k value a2 seq 3
				 8ms b invoke write k value b1
				 9ms b ok write k value b1 seq 2`,
		},
		{
			name: "another's after two, told before the second within the clocks' uncertainty", header: "ttl 100ms epsilon 3ms", want: Fail,
			violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b ok acquire k until 102ms
				 4ms a invoke write k value a1
				 5ms a ok write k value a1 seq 1
				 6ms b invoke write k value b1
				 7ms b ok write k value b1 seq 3
				 8ms a invoke write k value a2
				 9ms a ok write k value a2 seq 2`,
		},
		{
			name: "another's between two, in the order of events where none has a number", header: "ttl 100ms", want: Fail,
			violations: []string{"S1 [1 5]", "S3 [3 7 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke write k value a1
				 3ms a ok write k value a1
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke write k value b1
				 7ms b ok write k value b1
				 8ms a invoke write k value a2
				 9ms a ok write k value a2`,
		},
		{
			name: "another's between two by less than the clocks' uncertainty, where none has a number", header: "ttl 100ms epsilon 1ms", want: Fail,
			violations: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke write k value a1
				 3ms a ok write k value a1
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 6ms b invoke write k value b1
				 7ms b ok write k value b1
				 8ms a invoke write k value a2
				 9ms a ok write k value a2`,
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
