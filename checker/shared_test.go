package checker

import "testing"

func TestSharedHolds(t *testing.T) { runCases(t, sharedHoldsCases()) }

func sharedHoldsCases() []verdictCase {
	return []verdictCase{
		{
			name: "two readers", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r fence 1 until 100ms
				 2ms b invoke acquire k mode r
				 3ms b ok acquire k mode r fence 1 until 102ms`,
		},
		{
			name: "a reader and a writer", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7]"},
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r until 100ms
				 2ms b invoke acquire k mode r
				 3ms b ok acquire k mode r until 102ms
				 4ms b invoke release k mode r
				 5ms b ok release k mode r
				 6ms w invoke acquire k
				 7ms w ok acquire k until 106ms`,
		},
		{
			name: "a writer after the last reader", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms a ok acquire k mode r until 100ms
				 2ms a invoke release k mode r
				 3ms a ok release k mode r
				 4ms w invoke acquire k
				 5ms w ok acquire k until 104ms`,
		},
	}
}

func TestReentry(t *testing.T) { runCases(t, reentryCases()) }

func reentryCases() []verdictCase {
	return []verdictCase{
		{
			name: "the last release frees it", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1 until 102ms
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms a0 invoke release k owner a
				 7ms a0 ok release k owner a
				 8ms b invoke acquire k
				 9ms b ok acquire k fence 2 until 108ms`,
		},
		{
			name: "an inner release does not", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1 until 102ms
				 4ms a1 invoke release k owner a
				 5ms a1 ok release k owner a
				 6ms b invoke acquire k
				 7ms b ok acquire k fence 2 until 106ms`,
		},
		{
			name: "an inner release after the deadline gives nothing up", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1
				14ms a1 invoke release k owner a
				15ms a1 ok release k owner a`,
		},
		{
			name: "a re-entry changes the token", header: "ttl 100ms", want: Fail, violations: []string{"S4b [1 3]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 2 until 102ms`,
		},
	}
}
