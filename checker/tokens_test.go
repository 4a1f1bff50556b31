package checker

import (
	"strings"
	"testing"
)

func TestTokenOrder(t *testing.T) { runCases(t, tokenOrderCases()) }

func tokenOrderCases() []verdictCase {
	const late = `
		 0ms a invoke acquire k
		 5ms b invoke acquire k
		15ms c invoke acquire k
		20ms b ok acquire k fence 5 until 21ms
		21ms a ok acquire k fence 3 until 11ms ended 10ms`
	// Of b's acquire, the window of which spans a's whole lease, the token is the lower one.
	const outranked = `
		 0ms b invoke acquire k
		 1ms a invoke acquire k
		 2ms a ok acquire k fence 5 until 11ms
		 3ms a invoke write k fence 5 value a1
		 4ms a ok write k fence 5 value a1 seq 1
		 5ms a invoke release k
		 6ms a ok release k
		 7ms b ok acquire k fence 4 until 10ms
		 8ms b invoke write k fence 4 value b1
		 9ms b fail write k fence 4 value b1 seq 2 err stale`
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
			name: "lower than one that was told late, behind a higher one", header: "ttl 10ms", want: Fail, violations: []string{"S4 [4 5]"},
			suspicious: []string{"S4 [3 4]"},
			history: late + `
				25ms c ok acquire k fence 2 until 35ms`,
		},
		{
			name: "higher than it", header: "ttl 10ms", want: Pass, suspicious: []string{"S4 [3 4]", "S4 [3 5]"},
			history: late + `
				25ms c ok acquire k fence 4 until 35ms`,
		},
		{
			name: "lower than one that was told later, and asked for after it was granted", header: "ttl 10ms", want: Fail,
			violations: []string{"S4 [2 3]"},
			history: `
				 0ms a invoke acquire k
				11ms b invoke acquire k
				12ms b ok acquire k fence 1 until 21ms
				13ms a ok acquire k fence 2 until 10ms ended 9ms`,
		},
		{
			name: "lower than one that was told later, and asked for before", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 8ms b invoke acquire k
				12ms b ok acquire k fence 1 until 18ms
				13ms a ok acquire k fence 2 until 10ms ended 9ms`,
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
			name: "reversed, and the store rejects the later holder", header: "ttl 10ms fenced", want: Fail, violations: []string{"S4 [2 6 7 9]"}, suspicious: []string{"S4 [2 7]"},
			history: outranked,
		},
		{
			name: "reversed, and the store rejects a later holder whose lease is over", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S4 [2 7]"},
			history: strings.NewReplacer("8ms", "12ms", "9ms", "13ms").Replace(outranked),
		},
		{
			name: "reversed, and the store rejects the later holder twice", header: "ttl 10ms fenced", want: Fail, violations: []string{"S4 [2 6 7 9]"}, suspicious: []string{"S4 [2 7]"},
			history: outranked + `
				 9.1ms b invoke write k fence 4 value b2
				 9.2ms b fail write k fence 4 value b2 seq 3 err stale`,
		},
		{
			name: "reversed, and the store rejects one behind a release that was refused", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S4 [2 7]"},
			history: strings.ReplaceAll(outranked, "6ms a ok release k", "6ms a fail release k err lost"),
		},
		{
			name: "reversed, and the store rejects one who was granted it in the instant of the other's release", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S4 [2 7]"},
			history: strings.ReplaceAll(outranked, "6ms a ok release k", "7ms a ok release k"),
		},
		{
			name: "reversed, and the store accepts what it writes", header: "ttl 10ms", want: Pass, suspicious: []string{"S4 [2 7]"},
			history: strings.ReplaceAll(outranked, "fail write k fence 4 value b1 seq 2 err stale", "ok write k fence 4 value b1 seq 2"),
		},
		{
			name: "reversed, and the store rejects one who held it beside the other", header: "ttl 10ms fenced", want: Fail, violations: []string{"S1 [2 3]", "S6 [2 3 5]"}, suspicious: []string{"S4 [2 3]"},
			history: `
				 0ms a invoke acquire k
				 0ms b invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms b ok acquire k fence 4 until 10ms
				 3ms a invoke release k
				 4ms a ok release k
				 5ms b invoke write k fence 4 value b1
				 6ms b fail write k fence 4 value b1 seq 2 err stale`,
		},
		{
			name: "reversed, and the store rejects one who was granted it as the other gave it back", header: "ttl 10ms fenced epsilon 2ms", want: Pass, suspicious: []string{"S4 [2 7]"},
			history: outranked,
		},
		{
			name: "reversed, and the store rejects one who was granted it before that was answered", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S4 [2 4]"},
			history: `
				 0ms b invoke acquire k
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 3ms b ok acquire k fence 4 until 10ms
				 4ms a ok release k
				 5ms b invoke write k fence 4 value b1
				 6ms b fail write k fence 4 value b1 seq 2 err stale`,
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
			name: "asked by the same process within the clocks' uncertainty", header: "ttl 10ms epsilon 3ms", want: Fail, violations: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 2ms a ok release k
				 2ms a invoke acquire k
				 3ms a ok acquire k fence 4 until 14ms`,
		},
		{
			name: "asked by another process of the owner within the clocks' uncertainty", header: "ttl 10ms epsilon 3ms", want: Pass,
			suspicious: []string{"S4 [1 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 10ms
				 2ms a invoke release k
				 2ms a ok release k
				 2ms a0 invoke acquire k owner a
				 3ms a0 ok acquire k fence 4 until 14ms owner a`,
		},
		{
			name: "asked by the same process at one instant, behind another's higher one", header: "ttl 10ms epsilon 3ms", want: Fail,
			violations: []string{"S4 [1 9]"},
			history: `
				 1ms a invoke acquire k
				 1ms a ok acquire k fence 5 until 11ms
				 1ms a invoke release k
				 1ms a ok release k
				 1ms b invoke acquire k
				 1ms b ok acquire k fence 6 until 11ms
				 1ms b invoke release k
				 1ms b ok release k
				 1ms a invoke acquire k
				 1ms a ok acquire k fence 4 until 11ms`,
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
