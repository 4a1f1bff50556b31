package checker

import "testing"

func TestBooks(t *testing.T) { runCases(t, booksCases()) }

func booksCases() []verdictCase {
	const two = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 100ms
		 2ms a invoke write k fence 1 value a1
		 3ms a ok write k fence 1 value a1 seq 1
		 4ms a invoke write k fence 1 value a2
		 5ms a ok write k fence 1 value a2 seq 2`
	const handedOn = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 100ms
		 2ms a invoke write k fence 1 value a1
		 3ms a info write k fence 1 value a1
		 3ms a0 invoke release k owner a
		 4ms a0 ok release k owner a
		 4ms b invoke acquire k
		 5ms b ok acquire k fence 2 until 100ms
		 6ms b invoke write k fence 2 value b1
		 7ms b ok write k fence 2 value b1`
	const crossing = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 100ms
		 2ms a invoke write k fence 1 value a1
		 3ms a0 invoke release k owner a
		 4ms a0 ok release k owner a
		 5ms b invoke acquire k
		 6ms b ok acquire k fence 2 until 100ms
		 7ms b invoke write k fence 2 value b1
		 8ms b ok write k fence 2 value b1
		 9ms a ok write k fence 1 value a1`
	const refused = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 100ms
		 2ms a invoke write k fence 1 value a1
		 3ms a ok write k fence 1 value a1 seq 1
		 4ms a invoke write k fence 1 value a2
		 5ms a fail write k fence 1 value a2 seq 2 err stale`
	return []verdictCase{
		{
			name: "an acknowledged write that the log lacks", header: "ttl 100ms", want: Fail, violations: []string{"R1 [5]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1`,
		},
		{
			name: "an acknowledged write that the log has as rejected", header: "ttl 100ms", want: Fail, violations: []string{"R1 [5]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store fail audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "two acknowledged writes that the log has", header: "ttl 100ms", want: Pass,
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "a write that nobody asked for", header: "ttl 100ms", want: Fail, violations: []string{"R2 [8]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				20ms store ok audit k owner b fence 2 value b1 seq 3`,
		},
		{
			name: "a rejected write that the log has as accepted", header: "ttl 100ms", want: Fail, violations: []string{"R2 [5 7]"},
			history: refused + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "an acknowledged write that the log has under another number", header: "ttl 100ms", want: Fail, violations: []string{"R1 [5 7]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 3`,
		},
		{
			name: "an acknowledged write of whose number nobody was told", header: "ttl 100ms", want: Pass,
			history: two + `
				 6ms a invoke write k fence 1 value a3
				 7ms a ok write k fence 1 value a3
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				20ms store ok audit k owner a fence 1 value a3 seq 3`,
		},
		{
			name: "a write that the log has as another owner's", header: "ttl 100ms", want: Fail, violations: []string{"R2 [5 7]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner b fence 1 value a2 seq 2`,
		},
		{
			name: "a write that the log has with another token", header: "ttl 100ms", want: Fail, violations: []string{"R2 [5 7]"},
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 2 value a2 seq 2`,
		},
		{
			name: "a write whose token the log does not tell", header: "ttl 100ms", want: Pass,
			history: two + `
				20ms store ok audit k owner a value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "a write that was asked for twice, with two tokens", header: "ttl 100ms", want: Pass,
			history: two + `
				 6ms a invoke release k
				 7ms a ok release k
				 8ms a invoke acquire k
				 9ms a ok acquire k fence 2 until 100ms
				10ms a invoke write k fence 2 value a2
				11ms a ok write k fence 2 value a2 seq 3
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				20ms store ok audit k owner a fence 2 value a2 seq 3`,
		},
		{
			name: "a write that the log has as nobody's", header: "ttl 100ms", want: Pass,
			history: two + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k fence 1 value a2 seq 2`,
		},
		{
			name: "a write that a link never forwarded, and that the log has", header: "ttl 100ms", want: Fail, violations: []string{"R2 [8 10]"},
			history: two + `
				 6ms a invoke write k fence 1 value a3
				 7ms a info write k fence 1 value a3
				 8ms link ok receipt never-forwarded of 6
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a3 seq 3
				20ms store ok audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "the same, when the link says so behind the log", header: "ttl 100ms", want: Fail, violations: []string{"R2 [8 11]"},
			history: two + `
				 6ms a invoke write k fence 1 value a3
				 7ms a info write k fence 1 value a3
				20ms store ok audit k owner a fence 1 value a3 seq 3
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				21ms link ok receipt never-forwarded of 6`,
		},
		{
			name: "a write that a link carried, and that the log has", header: "ttl 100ms", want: Pass,
			history: two + `
				 6ms a invoke write k fence 1 value a3
				 7ms a info write k fence 1 value a3
				 8ms link ok receipt executed of 6
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				20ms store ok audit k owner a fence 1 value a3 seq 3`,
		},
		{
			name: "a stale write that only the log places, its client never heard", header: "ttl 100ms fenced", want: Fail, violations: []string{"S2 [10 11]"},
			history: handedOn + `
				20ms store ok audit k owner b fence 2 value b1 seq 1
				20ms store ok audit k owner a fence 1 value a1 seq 2`,
		},
		{
			name: "a write that the log places before the newer one", header: "ttl 100ms fenced", want: Pass,
			history: handedOn + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner b fence 2 value b1 seq 2`,
		},
		{
			name: "a stale write under way with the newer one, that only the log places", header: "ttl 100ms fenced", want: Fail, violations: []string{"S2 [10 11]"},
			history: crossing + `
				20ms store ok audit k owner b fence 2 value b1 seq 1
				20ms store ok audit k owner a fence 1 value a1 seq 2`,
		},
		{
			name: "the same in the other order", header: "ttl 100ms fenced", want: Pass,
			history: crossing + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner b fence 2 value b1 seq 2`,
		},
		{
			name: "a rejected write that the log has as rejected", header: "ttl 100ms", want: Pass,
			evidence: &Evidence{Grants: 1, FenceSaves: 1},
			history: refused + `
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store fail audit k owner a fence 1 value a2 seq 2`,
		},
		{
			name: "one number for two writes of a key", header: "ttl 100ms", want: Fail, violations: []string{"R3 [3 5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				 4ms a invoke write k fence 1 value a2
				 5ms a ok write k fence 1 value a2 seq 1`,
		},
		{
			name: "one number told of a write, and given to another in the log", header: "ttl 100ms", want: Fail, violations: []string{"R3 [3 4]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				20ms store fail audit k owner b fence 1 value b1 seq 1`,
		},
		{
			name: "one number for two writes, with others between them", header: "ttl 100ms", want: Fail, violations: []string{"R3 [3 7]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				 4ms a invoke write k fence 1 value a2
				 5ms a ok write k fence 1 value a2 seq 2
				 6ms a invoke write k fence 1 value a3
				 7ms a ok write k fence 1 value a3 seq 1`,
		},
		{
			name: "a write that was told its number twice", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				 4ms a invoke write k fence 1 value a1
				 5ms a ok write k fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a1 seq 1`,
		},
		{
			name: "a log that tells of what was unknown only", header: "ttl 100ms", want: Pass,
			history: two + `
				 6ms a invoke write k fence 1 value a3
				 7ms a info write k fence 1 value a3
				20ms store ok audit k owner a fence 1 value a3 seq 3`,
		},
		{
			name: "one number for writes of two keys, as counted per key", header: "ttl 100ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				 4ms b invoke acquire l
				 5ms b ok acquire l fence 1 until 100ms
				 6ms b invoke write l fence 1 value b1
				 7ms b ok write l fence 1 value b1 seq 1`,
		},
		{
			name: "a line between two of one section that says it was another's", header: "ttl 100ms", want: Fail, violations: []string{"R2 [5 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				 4ms a invoke write k fence 1 value a2
				 5ms a ok write k fence 1 value a2 seq 2
				 6ms a invoke write k fence 1 value a3
				 7ms a info write k fence 1 value a3 err timeout
				 8ms store ok audit k owner a fence 1 value a1 seq 1
				 8ms store ok audit k owner b fence 1 value a2 seq 2
				 8ms store ok audit k owner a fence 1 value a3 seq 3`,
		},
		{
			name: "a line with another token than was asked with, which makes one section of two", header: "ttl 10ms", want: Fail, violations: []string{"R2 [15 18]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 30ms
				22ms b invoke write k fence 2 value b1
				23ms b ok write k fence 2 value b1 seq 2
				24ms b invoke release k fence 2
				25ms b ok release k fence 2
				40ms a invoke acquire k
				41ms a ok acquire k fence 3 until 50ms
				42ms a invoke read k
				43ms a ok read k
				44ms a invoke write k fence 3 value a2
				45ms a info write k fence 3 value a2 err timeout
				48ms store ok audit k owner a fence 1 value a1 seq 1
				48ms store ok audit k owner b fence 2 value b1 seq 2
				48ms store ok audit k owner a fence 1 value a2 seq 3`,
		},
		{
			name: "one write that the log has twice, around another's", header: "ttl 10ms", want: Pass, suspicious: []string{"S3 [8 9 10]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a info write k fence 1 value a1 err timeout
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 30ms
				22ms b invoke write k fence 2 value b1
				23ms b ok write k fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 1
				24ms store ok audit k owner b fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 3`,
		},
		{
			name: "one write that the log has twice, the second time behind a higher token", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [9 10]"}, suspicious: []string{"S3 [8 9 10]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a info write k fence 1 value a1 err timeout
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 30ms
				22ms b invoke write k fence 2 value b1
				23ms b ok write k fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 1
				24ms store ok audit k owner b fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 3`,
		},
		{
			name: "the same, of one that was acknowledged", header: "ttl 10ms fenced", want: Fail, violations: []string{"S2 [9 10]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 30ms
				22ms b invoke write k fence 2 value b1
				23ms b ok write k fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 1
				24ms store ok audit k owner b fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 3`,
		},
		{
			name: "two readers of which the later one has the lower token", header: "ttl 100ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k mode r
				 1ms b invoke acquire k mode r
				 2ms a ok acquire k mode r fence 2 until 100ms
				 3ms b ok acquire k mode r fence 1 until 100ms
				 4ms a invoke read k mode r fence 2 value a1
				 5ms a ok read k mode r fence 2 value a1 seq 1
				 6ms b invoke read k mode r fence 1 value b1
				 7ms b ok read k mode r fence 1 value b1 seq 2
				24ms store ok audit k mode r owner a fence 2 value a1 seq 1
				24ms store ok audit k mode r owner b fence 1 value b1 seq 2`,
		},
		{
			name: "a write that the log has only under another number, behind a higher token", header: "ttl 10ms fenced", want: Fail, violations: []string{"R1 [3 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				 2ms a invoke write k fence 1 value a1
				 3ms a ok write k fence 1 value a1 seq 1
				20ms b invoke acquire k
				21ms b ok acquire k fence 2 until 30ms
				22ms b invoke write k fence 2 value b1
				23ms b ok write k fence 2 value b1 seq 2
				24ms store ok audit k owner b fence 2 value b1 seq 2
				24ms store ok audit k owner a fence 1 value a1 seq 3`,
		},
		{
			name: "a store that rejects the newest holder", header: "ttl 100ms fenced", want: Fail, violations: []string{"R4 [1 5]"},
			evidence: &Evidence{Grants: 1},
			history:  refused,
		},
		{
			name: "a store that rejects an older holder", header: "ttl 100ms fenced", want: Pass,
			evidence: &Evidence{Grants: 2, Contended: 1, Handovers: 1, Takeovers: 1, FenceSaves: 1},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 10ms
				101ms b invoke acquire k
				102ms b ok acquire k fence 2 until 200ms
				103ms a invoke write k fence 1 value a1
				104ms a fail write k fence 1 value a1 seq 1 err stale`,
		},
		{
			name: "a write with another's token", header: "ttl 100ms", want: Fail, violations: []string{"R5 [1 5]", "S8 [5]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms b invoke acquire k
				 3ms b fail acquire k err held
				 4ms b invoke write k fence 1 value b1
				 5ms b ok write k fence 1 value b1 seq 1`,
		},
		{
			name: "a write with another's token, rejected", header: "ttl 100ms fenced", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k fence 1 until 100ms
				 2ms b invoke acquire k
				 3ms b fail acquire k err held
				 4ms b invoke write k fence 1 value b1
				 5ms b fail write k fence 1 value b1 seq 1 err stale`,
		},
	}
}

// TestOurStore makes what our own store's books get wrong a harness error.
func TestOurStore(t *testing.T) {
	for _, c := range booksCases() {
		r := Check(t.Context(), parse(t, c.header, c.history), Options{OurStore: true})
		want, ours := c.want, len(c.violations) == 1 && c.violations[0][:2] < "R4"
		if ours {
			want = HarnessError
		}
		if r.Verdict != want || ours != (len(r.Harness) > 0) {
			t.Errorf("%s: %s with %d of the harness, want %s", c.name, r.Verdict, len(r.Harness), want)
		}
	}
}
