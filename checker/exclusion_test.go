package checker

import "testing"

func TestDoubleGrant(t *testing.T) { runCases(t, doubleGrantCases()) }

func doubleGrantCases() []verdictCase {
	const cut = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		 1ms nemesis invoke fault lose-reply target a instant
		 1ms nemesis ok fault lose-reply target a instant receipt r`
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
			name: "the second after a reported loss that is heard later", header: "ttl 100ms", want: Pass,
			history: cut + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 8ms a ok lost k began 4ms`,
		},
		{
			name: "the second before the report", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]"},
			suspicious: []string{"S11 [1 5 6]"},
			history: cut + `
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms
				 8ms a ok lost k began 6ms`,
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
			name: "a whole hold, as long as the clocks' uncertainty, inside of another process's long one", header: "ttl 100ms epsilon 5ms", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				40ms b invoke acquire k
				41ms b ok acquire k until 46ms
				60ms c invoke acquire other
				61ms c ok acquire other until 160ms`,
		},
		{
			name: "one that is longer than the uncertainty", header: "ttl 100ms epsilon 5ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				40ms b invoke acquire k
				41ms b ok acquire k until 46.000001ms
				60ms c invoke acquire other
				61ms c ok acquire other until 160ms`,
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
			name: "an acquire of unknown outcome during a hold is nobody's hold", header: "ttl 100ms", want: Pass,
			evidence: &Evidence{Grants: 1, Contended: 1, Unknown: 1},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 3ms b info acquire k err timeout`,
		},
		{
			name: "an acquire of unknown outcome before a hold is nobody's hold", header: "ttl 100ms", want: Pass,
			evidence: &Evidence{Grants: 2, Handovers: 1, Unknown: 1},
			history: `
				 0ms c invoke acquire k
				 1ms c info acquire k err timeout
				 2ms b invoke acquire k
				 3ms b ok acquire k until 102ms
				 4ms b invoke release k
				 5ms b ok release k
				 6ms a invoke acquire k
				 7ms a ok acquire k until 106ms`,
		},
		{
			name: "a release of unknown outcome ends what its owner may rely on", header: "ttl 100ms", want: Pass,
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
			name: "its holder was told no before the other's grant, as the history tells late", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 5ms b ok acquire k until 102ms
				20ms a fail extend k began 2ms ended 3ms`,
		},
		{
			name: "its holder was told no after the other's grant", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 5ms b ok acquire k until 102ms
				20ms a fail extend k began 2ms ended 6ms`,
		},
		{
			name:   "its holder was told no within the clock uncertainty, as the history tells late",
			header: "ttl 100ms epsilon 2ms", want: Pass, suspicious: []string{"S1 [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms b invoke acquire k
				 5ms b ok acquire k until 102ms
				20ms a fail extend k began 2ms ended 6ms`,
		},
		{
			name: "the second after a release that certainly was not sent", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms a fail release k err "connection refused"
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "the second while a release was under way that certainly was not sent", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 4 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms b invoke acquire k
				 4ms b ok acquire k until 104ms
				 5ms a fail release k err "connection refused"`,
		},
		{
			name: "the second after a release that was refused", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms a fail release k err lost
				 4ms b invoke acquire k
				 5ms b ok acquire k until 104ms`,
		},
		{
			name: "an extension across it, after one that was not sent", header: "ttl 10ms", want: Fail, violations: []string{"S1 [1 5 7]", "S6 [1 5 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms a invoke release k
				11ms a fail release k err "connection refused"
				12ms b invoke acquire k
				13ms b ok acquire k until 104ms
				16ms a invoke extend k
				17ms a ok extend k until 25ms`,
		},
		{
			name: "granted before the release really began", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 4 5]", "S6 [1 4 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms b invoke acquire k
				 4ms b ok acquire k until 103ms
				10ms a ok release k began 8ms`,
		},
		{
			name: "granted in the instant when it really began", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 100ms
				 2ms a invoke release k
				 3ms b invoke acquire k
				 4ms b ok acquire k until 103ms
				10ms a ok release k began 4ms`,
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
