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
	const twice = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 100ms
		 60ms a invoke acquire k note re-entry
		 61ms a ok acquire k until 160ms`
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
			name: "each hold of its own ends on its own, and the outer one is over", header: "ttl 100ms", want: Pass,
			history: twice + `
				120ms a invoke release k
				121ms a ok release k
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms
				127ms a invoke release k
				128ms a fail release k err lost`,
		},
		{
			name: "an inner release of unknown outcome may have ended a hold of its own", header: "ttl 100ms", want: Pass,
			history: twice + `
				120ms a invoke release k
				121ms a info release k err timeout
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "the outer hold goes on behind an inner release", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7]"},
			history: twice + `
				 70ms a invoke release k
				 71ms a ok release k
				 90ms b invoke acquire k
				 91ms b ok acquire k until 190ms`,
		},
		{
			name: "no inner release, so the inner hold goes on", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 5]"},
			history: twice + `
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "an inner release that was never sent", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 7]"},
			history: twice + `
				120ms a invoke release k
				121ms a fail release k err "never sent"
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "an inner release that turns out never to have been sent", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 6 7]"},
			history: twice + `
				120ms a invoke release k
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms
				127ms a fail release k err "never sent"`,
		},
		{
			name: "an inner release that turns out never to have been sent, behind an extension", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7 9]"},
			history: twice + `
				120ms a invoke release k
				121ms a info release k err timeout
				122ms a1 invoke extend k owner a
				123ms a1 ok extend k owner a until 300ms
				250ms b invoke acquire k
				251ms b ok acquire k until 350ms
				260ms link ok receipt never-forwarded of 4`,
		},
		{
			name: "an inner release that turns out never to have been sent, behind a further re-entry", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7 9]"},
			history: twice + `
				 80ms a invoke release k
				 81ms a info release k err timeout
				 82ms a1 invoke acquire k owner a note re-entry
				 83ms a1 ok acquire k owner a until 300ms
				250ms b invoke acquire k
				251ms b ok acquire k until 350ms
				260ms link ok receipt never-forwarded of 4`,
		},
		{
			name: "an extension that made the lease shorter counts for the holds that are left", header: "ttl 300ms", want: Pass, suspicious: []string{"S1 [1 9]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 200ms
				  2ms a invoke acquire k note re-entry
				  3ms a ok acquire k until 210ms
				  4ms a invoke extend k
				  5ms a ok extend k until 120ms
				  6ms a invoke release k
				  7ms a ok release k
				150ms b invoke acquire k
				151ms b ok acquire k until 350ms`,
		},
		{
			name: "of two inner releases the second is of unknown outcome, and was never sent", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 9 11]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 60ms
				 40ms a invoke acquire k note re-entry
				 41ms a ok acquire k until 140ms
				 50ms a invoke acquire k note re-entry
				 51ms a ok acquire k until 150ms
				 70ms a invoke release k
				 71ms a ok release k
				 72ms a invoke release k
				 73ms a info release k err timeout
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms
				130ms link ok receipt never-forwarded of 8`,
		},
		{
			name: "turned away at the very instant of an inner release, behind it", header: "ttl 16ms drift 1ms epsilon 1ms fenced", want: Pass,
			history: `
				13ms c invoke acquire k
				25ms c ok acquire k fence 2
				28ms c invoke acquire k note re-entry
				32ms c ok acquire k fence 2
				36ms c invoke release k fence 2
				36ms c ok release k fence 2
				36ms c invoke write k fence 2 value x
				36ms c fail write k fence 2 value x seq 4 err "stale token"`,
		},
		{
			name: "turned away at the very instant of an inner release, before it", header: "ttl 16ms drift 1ms epsilon 1ms fenced", want: Fail, violations: []string{"R4 [1 5]"},
			history: `
				13ms c invoke acquire k
				25ms c ok acquire k fence 2
				28ms c invoke acquire k note re-entry
				32ms c ok acquire k fence 2
				36ms c invoke write k fence 2 value x
				36ms c fail write k fence 2 value x seq 4 err "stale token"
				36ms c invoke release k fence 2
				36ms c ok release k fence 2`,
		},
		{
			name: "an extension across another's hold, which is told of behind an inner release", header: "ttl 200ms", want: Fail, violations: []string{"S1 [1 9]", "S6 [1 5 9]", "S6 [1 7 9]"},
			history: twice + `
				 70ms a invoke extend k
				 71ms a ok extend k until 180ms
				120ms a invoke release k
				121ms a ok release k
				122ms b invoke acquire k
				130ms b ok acquire k began 10ms ended 20ms until 40ms`,
		},
		{
			name: "an extension behind an inner release", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 7 9]"},
			history: twice + `
				 80ms a invoke release k
				 81ms a ok release k
				 82ms a invoke extend k
				 83ms a ok extend k until 180ms
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "an extension before an inner release may have been the inner hold's", header: "ttl 100ms", want: Pass,
			history: twice + `
				 80ms a invoke extend k
				 81ms a ok extend k until 180ms
				 90ms a invoke release k
				 91ms a ok release k
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "of three holds two go on, each for its time", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 3 9]"},
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 40ms a invoke acquire k note re-entry
				 41ms a ok acquire k until 140ms
				 60ms a invoke acquire k note re-entry
				 61ms a ok acquire k until 160ms
				 70ms a invoke release k
				 71ms a ok release k
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "of three holds two were given back", header: "ttl 100ms", want: Pass,
			history: `
				  0ms a invoke acquire k
				  1ms a ok acquire k until 100ms
				 40ms a invoke acquire k note re-entry
				 41ms a ok acquire k until 140ms
				 60ms a invoke acquire k note re-entry
				 61ms a ok acquire k until 160ms
				 70ms a invoke release k
				 71ms a ok release k
				 72ms a invoke release k
				 73ms a ok release k
				125ms b invoke acquire k
				126ms b ok acquire k until 225ms`,
		},
		{
			name: "a write behind the outer hold, where the lock has one deadline for both", header: "ttl 100ms", want: Pass,
			history: twice + `
				120ms a invoke release k
				121ms a ok release k
				125ms a invoke write k value x
				126ms a ok write k value x seq 1
				127ms a invoke release k
				128ms a ok release k
				130ms b invoke acquire k
				131ms b ok acquire k until 230ms`,
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
			name: "an inner release across another's hold", header: "ttl 10ms", want: Fail, violations: []string{"S6 [1 5 9]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1
				14ms b invoke acquire k
				15ms b ok acquire k fence 2
				16ms b invoke release k
				17ms b ok release k
				18ms a1 invoke release k owner a
				19ms a1 ok release k owner a`,
		},
		{
			name: "an inner release across another's hold, refused", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1
				14ms b invoke acquire k
				15ms b ok acquire k fence 2
				16ms b invoke release k
				17ms b ok release k
				18ms a1 invoke release k owner a
				19ms a1 fail release k owner a err lost`,
		},
		{
			name: "an inner release that checks nothing, across another's hold", header: "ttl 10ms unchecked-release", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1
				14ms b invoke acquire k
				15ms b ok acquire k fence 2
				16ms b invoke release k
				17ms b ok release k
				18ms a1 invoke release k owner a
				19ms a1 ok release k owner a`,
		},
		{
			name: "an inner release across another's hold, within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass,
			suspicious: []string{"S6 [1 5 9]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1
				14ms b invoke acquire k
				15ms b ok acquire k fence 2
				17ms b invoke release k
				17ms b ok release k
				18ms a1 invoke release k owner a
				19ms a1 ok release k owner a`,
		},
		{
			name: "an inner release of unknown outcome is no suspicion", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1 until 102ms
				 4ms a1 invoke release k owner a
				 5ms a1 info release k owner a err timeout
				 6ms a0 invoke release k owner a
				 7ms a0 ok release k owner a
				 8ms b invoke acquire k
				 9ms b ok acquire k fence 2 until 108ms`,
		},
		{
			name: "an inner release that was not sent leaves one to come", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 9]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1 until 100ms
				 2ms a1 invoke acquire k owner a
				 3ms a1 ok acquire k owner a fence 1 until 102ms
				 4ms a1 invoke release k owner a
				 5ms a1 fail release k owner a err "connection refused"
				 6ms a1 invoke release k owner a
				 7ms a1 ok release k owner a
				 8ms b invoke acquire k
				 9ms b ok acquire k fence 2 until 108ms`,
		},
		{
			name: "in the drift window it keeps its token", header: "ttl 10ms drift 3ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 8ms a1 invoke acquire k owner a
				 9ms a1 ok acquire k owner a fence 1
				10ms a1 invoke release k owner a
				11ms a1 ok release k owner a
				12ms a0 invoke write k owner a fence 1 value a1
				13ms a0 ok write k owner a fence 1 value a1 seq 1`,
		},
		{
			name: "while the servers' TTL runs, counted from their answer", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 4ms a0 ok acquire k owner a fence 1
				13ms a1 invoke acquire k owner a
				14ms a1 ok acquire k owner a fence 1`,
		},
		{
			name: "answered when the promise was over, by the token", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a fence 1
				 9ms a1 invoke acquire k owner a
				11ms a1 ok acquire k owner a fence 1`,
		},
		{
			name: "the same token when the servers' TTL had run out", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 3]", "S4b [1 3]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 4ms a0 ok acquire k owner a fence 1
				15ms a1 invoke acquire k owner a
				16ms a1 ok acquire k owner a fence 1`,
		},
		{
			name: "the same token after its release", header: "ttl 10ms", want: Fail, violations: []string{"S4 [1 5]", "S4b [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1
				 2ms a invoke release k
				 3ms a ok release k
				 4ms a invoke acquire k
				 5ms a ok acquire k fence 1`,
		},
		{
			name: "the same token after another's grant", header: "ttl 10ms", want: Fail, violations: []string{"S4 [3 5]"}, suspicious: []string{"S1 [3 5]"},
			history: `
				 0ms a invoke acquire k
				 4ms a ok acquire k fence 1
				10ms b invoke acquire k
				11ms b ok acquire k fence 2 until 12ms
				13ms a invoke acquire k
				14ms a ok acquire k fence 1`,
		},
		{
			name: "the same token after a loss that the servers did not know of", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1
				 2ms a ok lost k
				 3ms a invoke acquire k
				 4ms a ok acquire k fence 1`,
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
