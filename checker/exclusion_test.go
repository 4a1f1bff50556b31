package checker

import "testing"

func TestDoubleGrant(t *testing.T) { runCases(t, doubleGrantCases()) }

func doubleGrantCases() []verdictCase {
	return []verdictCase{
		{
			name: "two owners at once", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b ok acquire k until 102ms`,
		},
		{
			name: "the second after the first's deadline", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 99ms b invoke acquire k
				100ms b ok acquire k until 199ms`,
		},
		{
			name: "one nanosecond before the deadline", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				        0ms a invoke acquire k
				        1ms a ok acquire k until 100ms
				       99ms b invoke acquire k
				99.999999ms b ok acquire k until 199ms`,
		},
		{
			name: "the second while the first's release is under way", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms a invoke release k
				 4ms b ok acquire k until 102ms
				 5ms a ok release k`,
		},
		{
			name: "the second after a reported loss", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 1ms nemesis invoke fault lose-reply target a instant
				 1ms nemesis ok fault lose-reply target a instant receipt r
				 3ms a ok lost k
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "the deadline stands in for a promise", header: "ttl 100ms drift 10ms", want: Pass,
			suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k
				89ms b invoke acquire k
				90ms b ok acquire k`,
		},
		{
			name: "before the deadline that stands in", header: "ttl 100ms drift 10ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k
				88ms b invoke acquire k
				89ms b ok acquire k`,
		},
		{
			name: "an extension moves the deadline", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 5]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 50ms a invoke extend k
				 51ms a ok extend k until 150ms
				110ms b invoke acquire k
				120ms b ok acquire k until 210ms`,
		},
		{
			name: "an extension of unknown outcome does not", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 50ms a invoke extend k
				 51ms a info extend k err timeout
				110ms b invoke acquire k
				120ms b ok acquire k until 210ms`,
		},
		{
			name: "an extension under way at the deadline, answered yes", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 4 5]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 95ms a invoke extend k
				 96ms b invoke acquire k
				105ms b ok acquire k until 196ms
				110ms a ok extend k until 195ms`,
		},
		{
			name: "an extension under way at the deadline, refused", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 95ms a invoke extend k
				 96ms b invoke acquire k
				105ms b ok acquire k until 196ms
				110ms a fail extend k err lost`,
		},
		{
			name: "automatic renewal extends", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 2 4]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 60ms a ok extend k began 50ms until 150ms
				110ms b invoke acquire k
				120ms b ok acquire k until 210ms`,
		},
		{
			name: "renewal stopped", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 60ms a ok extend k began 50ms until 150ms
				140ms b invoke acquire k
				150ms b ok acquire k until 240ms`,
		},
		{
			name: "an overlap within the clocks' uncertainty", header: "ttl 100ms epsilon 5ms", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				94ms b invoke acquire k
				95ms b ok acquire k until 190ms`,
		},
		{
			name: "an overlap beyond it", header: "ttl 100ms epsilon 5ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				93ms b invoke acquire k
				94ms b ok acquire k until 190ms`,
		},
		{
			name: "an overlap cut short by a release", header: "ttl 100ms epsilon 5ms", want: Pass, suspicious: []string{"S1 [1 3]", "S6 [1 3 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 9ms b invoke acquire k
				10ms b ok acquire k until 109ms
				15ms a invoke release k
				16ms a ok release k`,
		},
		{
			name: "an acquire of unknown outcome proves nothing", header: "ttl 100ms", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b info acquire k err timeout`,
		},
		{
			name: "a release of unknown outcome may have ended the hold", header: "ttl 100ms", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms a info release k err timeout
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "began and ended stand in for the events' times", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 95ms b invoke acquire k
				110ms b ok acquire k began 96ms ended 100ms until 196ms`,
		},
		{
			name: "taken over in the instant of the deadline", header: "ttl 100ms", want: Pass,
			evidence: &Evidence{Grants: 2, Contended: 1, Handovers: 1, Takeovers: 1},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 99ms b invoke acquire k
				100ms b ok acquire k until 199ms`,
		},
		{
			name: "another key", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire l
				 3ms b ok acquire l until 102ms`,
		},
	}
}

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
			name: "a re-entry changes the token", header: "ttl 100ms", want: Fail, violations: []string{"S4b [1 3]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 2 until 102ms`,
		},
	}
}

func TestEarlyTakeover(t *testing.T) { runCases(t, earlyTakeoverCases()) }

func earlyTakeoverCases() []verdictCase {
	return []verdictCase{
		{
			name: "a node forgot", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]", "S10 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "meant to be seen", header: "ttl 100ms expected S10", want: Pass, violations: []string{"S1 [1 5]", "S10 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "meant to be seen, and not", header: "ttl 100ms expected S10", want: Inconclusive,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant`,
		},
		{
			name: "after a reported loss", header: "ttl 100ms", want: Fail, violations: []string{"S10 [1 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a ok lost k
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms`,
		},
		{
			name: "after a reported loss, at the deadline", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a ok lost k
				 5ms b invoke acquire k
			   100ms b ok acquire k until 105ms`,
		},
		{
			name: "after a reported loss, within the clocks' uncertainty of the deadline", header: "ttl 100ms epsilon 5ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a ok lost k
				 5ms b invoke acquire k
				96ms b ok acquire k until 105ms`,
		},
		{
			name: "a release had been sent", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a invoke release k
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				 7ms a ok release k`,
		},
	}
}
