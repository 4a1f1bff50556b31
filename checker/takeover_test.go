package checker

import "testing"

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
			name: "after a reported loss", header: "ttl 100ms", want: Pass, suspicious: []string{"S10 [1 6]"},
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
			name: "after a refused extension", header: "ttl 100ms", want: Pass, suspicious: []string{"S10 [1 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a invoke extend k
				 5ms a fail extend k err lost
				 6ms b invoke acquire k
				 7ms b ok acquire k until 105ms`,
		},
		{
			name: "before the extension was refused", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 6]", "S10 [1 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms a invoke extend k
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				 7ms a fail extend k err lost`,
		},
		{
			name: "within the clocks' uncertainty before a release", header: "ttl 100ms epsilon 2ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				 8ms a invoke release k
				 9ms a ok release k`,
		},
		{
			name: "beyond it before a release", header: "ttl 100ms epsilon 2ms unchecked-release", want: Fail, violations: []string{"S1 [1 5]", "S10 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				8.1ms a invoke release k
				 9ms a ok release k`,
		},
		{
			name: "within the clocks' uncertainty of the grant itself", header: "ttl 100ms epsilon 5ms", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms b invoke acquire k
				 6ms b ok acquire k until 104ms
				 7ms b invoke release k
				 8ms b ok release k`,
		},
		{
			name: "beyond it after the grant", header: "ttl 100ms epsilon 5ms", want: Fail, violations: []string{"S10 [1 5]"}, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 4ms b invoke acquire k
			   6.1ms b ok acquire k until 104ms
				 7ms b invoke release k
				 8ms b ok release k`,
		},
		{
			name: "while a client's clock was moved, which makes no node forget", header: "ttl 100ms epsilon 5ms", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault client-clock target {"clients":["b"]} instant
				 3ms nemesis ok fault client-clock target {"clients":["b"]} receipt gone instant
				10ms b invoke acquire k
				11ms b ok acquire k until 104ms
				12ms b invoke release k
				13ms b ok release k`,
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
			name: "by a grant that was over when it was answered", header: "ttl 100ms", want: Fail, violations: []string{"S10 [1 5]", "S7 [5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 5ms b invoke acquire k
				40ms b ok acquire k until 30ms`,
		},
		{
			name: "by such a grant, after the deadline", header: "ttl 100ms", want: Fail, violations: []string{"S7 [5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 5ms b invoke acquire k
			   110ms b ok acquire k until 105ms`,
		},
		{
			name: "just before a reported loss", header: "ttl 100ms epsilon 2ms", want: Fail, violations: []string{"S10 [1 5]"}, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault kill-node target n1 instant
				 3ms nemesis ok fault kill-node target n1 receipt gone instant
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				 7ms a ok lost k`,
		},
		{
			name: "just before a release, and no node can have forgotten", header: "ttl 100ms epsilon 2ms unchecked-release", want: Pass, suspicious: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms nemesis invoke fault cut-link target n1 instant
				 3ms nemesis ok fault cut-link target n1 receipt gone instant
				 5ms b invoke acquire k
				 6ms b ok acquire k until 105ms
				 7ms a invoke release k
				 8ms a ok release k`,
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
