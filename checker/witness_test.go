package checker

import (
	"strings"
	"testing"
)

func TestLeftovers(t *testing.T) { runCases(t, leftoversCases()) }

func leftoversCases() []verdictCase {
	const delayed = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		 2ms nemesis invoke fault delay target a
		 2ms nemesis ok fault delay target a receipt r
		 3ms a invoke extend k`
	const healed = `
		 8ms nemesis invoke heal delay target a
		 8ms nemesis ok heal delay target a receipt r`
	const done = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		 2ms a invoke release k
		 3ms a ok release k`
	return []verdictCase{
		{
			name: "without an expiry", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"},
			history: done + `
				 4ms witness ok key k node n1 holder a pttl -1`,
		},
		{
			name: "with an expiry", header: "ttl 10ms", want: Pass,
			history: done + `
				 4ms witness ok key k node n1 holder a pttl 7`,
		},
		{
			name: "a longer one than asked for", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"},
			history: done + `
				 4ms witness ok key k node n1 holder a pttl 11`,
		},
		{
			name: "as long as asked for", header: "ttl 10ms", want: Pass,
			history: done + `
				 4ms witness ok key k node n1 holder a pttl 10`,
		},
		{
			name: "a longer one after a clock jump", header: "ttl 10ms", want: Pass, suspicious: []string{"L8 [6]"},
			history: done + `
				 4ms nemesis invoke fault clock-jump target n1 instant
				 4ms nemesis ok fault clock-jump target n1 instant receipt r
				 4ms witness ok key k node n1 holder a pttl 11`,
		},
		{
			name: "a longer one after another fault", header: "ttl 10ms", want: Fail, violations: []string{"L8 [6]"},
			history: done + `
				 4ms nemesis invoke fault kill-node target n1 instant
				 4ms nemesis ok fault kill-node target n1 instant receipt r
				 4ms witness ok key k node n1 holder a pttl 11`,
		},
		{
			name: "long after everybody left", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"},
			history: done + `
				12ms witness ok key k node n1 holder a pttl 3
				13ms witness ok key k node n1 holder a pttl 2`,
		},
		{
			name: "while an extension of unknown outcome may have been held back until a heal", header: "ttl 10ms", want: Pass,
			history: delayed + `
				 5ms a info extend k err timeout` + healed + `
				17ms witness ok key k node n1 holder a pttl 1`,
		},
		{
			name: "after an extension that was refused", header: "ttl 10ms", want: Fail, violations: []string{"L8 [8]"},
			history: delayed + `
				 5ms a fail extend k err lost` + healed + `
				17ms witness ok key k node n1 holder a pttl 1`,
		},
		{
			name: "less than a TTL after an answer that was told before an earlier one", header: "ttl 10ms", want: Pass,
			history: done + `
				 5ms b invoke acquire k
				 7ms c invoke acquire k
				14ms c info acquire k err timeout
				16ms b fail acquire k ended 6ms err held
				20ms witness ok key k node n1 holder c pttl 3`,
		},
		{
			name: "not so long after", header: "ttl 10ms", want: Pass,
			history: done + `
				11ms witness ok key k node n1 holder a pttl 1`,
		},
		{
			name: "gone", header: "ttl 10ms", want: Pass,
			history: done + `
				12ms witness ok key k node n1 pttl -2`,
		},
	}
}

func TestSubQuorum(t *testing.T) { runCases(t, subQuorumCases()) }

func subQuorumCases() []verdictCase {
	const look = `
		 0ms witness ok key k node n1 note watch pttl -2
		 0ms witness ok key k node n2 note watch pttl -2
		 0ms witness ok key k node n3 note watch pttl -2
		 1ms a invoke acquire k
		 2ms witness ok key k node n1 note watch holder a pttl 9`
	return []verdictCase{
		{
			name: "one node of three", header: "ttl 10ms nodes 3 quorum 2", want: Fail, violations: []string{"S9 [3 5]"},
			history: look + `
				 3ms a ok acquire k until 11ms
				 4ms a invoke release k
				 5ms a ok release k`,
		},
		{
			name: "two nodes of three", header: "ttl 10ms nodes 3 quorum 2", want: Pass,
			history: look + `
				 2ms witness ok key k node n2 note watch holder a:17 pttl 9
				 3ms a ok acquire k until 11ms
				 4ms a invoke release k
				 5ms a ok release k`,
		},
		{
			name: "another owner whose name begins alike", header: "ttl 10ms nodes 3 quorum 2", want: Fail, violations: []string{"S9 [5 8]"},
			history: `
				 0ms ab invoke acquire k
				 0ms ab fail acquire k err held` + look + `
				 2ms witness ok key k node n2 note watch holder ab pttl 9
				 3ms a ok acquire k until 11ms`,
		},
		{
			name: "a stored name that is no owner's tells nothing", header: "ttl 10ms nodes 3 quorum 2", want: Pass,
			history: look + `
				 2ms witness ok key k node n2 note watch holder 9f3c21 pttl 9
				 2ms witness ok key k node n3 note watch holder 9f3c21 pttl 9
				 3ms a ok acquire k until 11ms`,
		},
		{
			name: "nobody looked all the time", header: "ttl 10ms nodes 3 quorum 2", want: Pass, suspicious: []string{"S9 [2 3]"},
			history: `
				 0ms witness ok key k node n1 pttl -2
				 0ms witness ok key k node n2 pttl -2
				 1ms a invoke acquire k
				 4ms a ok acquire k until 11ms
				 5ms witness ok key k node n1 pttl -2
				 6ms witness ok key k node n2 pttl -2`,
		},
		{
			name: "requests never left", header: "ttl 10ms nodes 3 quorum 2", want: Fail, violations: []string{"S9 [0 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms link ok receipt never-forwarded of 0 node n1
				 1ms link ok receipt never-forwarded of 0 node n2
				 4ms a ok acquire k until 11ms`,
		},
		{
			name: "one request never left", header: "ttl 10ms nodes 3 quorum 2", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms link ok receipt never-forwarded of 0 node n1
				 1ms link ok receipt never-forwarded of 0 node n1
				 4ms a ok acquire k until 11ms`,
		},
	}
}

func TestWatchedRelease(t *testing.T) { runCases(t, watchedReleaseCases()) }

func watchedReleaseCases() []verdictCase {
	const late = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		11ms b invoke acquire k
		12ms b ok acquire k until 21ms
		12ms witness ok key k node n1 note watch holder b pttl 9
		13ms a invoke release k`
	return []verdictCase{
		{
			name: "seen to remove another's key", header: "ttl 10ms unchecked-release", want: Fail,
			violations: []string{"S5 [3 6 7]"}, suspicious: []string{"S5 [1 7]"},
			history: late + `
				14ms witness ok key k node n1 note watch pttl -2
				15ms a ok release k`,
		},
		{
			name: "seen to remove another's key, and the next one's before the answer", header: "ttl 10ms unchecked-release", want: Fail,
			violations: []string{"S5 [3 6 10]"}, suspicious: []string{"S5 [1 10]"},
			history: late + `
				14ms witness ok key k node n1 note watch pttl -2
				14ms c invoke acquire k
				15ms witness ok key k node n1 note watch holder c pttl 9
				16ms c info acquire k
				16ms a ok release k`,
		},
		{
			name: "seen before the release", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 9]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				12ms witness ok key k node n1 note watch holder b pttl 9
				13ms witness ok key k node n1 note watch pttl -2
				14ms c invoke acquire k
				14ms a invoke release k
				16ms c info acquire k
				16ms a ok release k
				17ms witness ok key k node n1 note watch holder c pttl 7`,
		},
		{
			name: "seen after the answer", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 6]"},
			history: late + `
				15ms a ok release k
				16ms witness ok key k node n1 note watch pttl -2`,
		},
		{
			name: "another's key run out", header: "ttl 10ms unchecked-release", want: Pass, suspicious: []string{"S5 [1 7]"},
			history: late + `
				21ms witness ok key k node n1 note watch pttl -2
				22ms a ok release k`,
		},
	}
}

func TestAuditedSections(t *testing.T) { runCases(t, auditedSectionsCases()) }

func auditedSectionsCases() []verdictCase {
	const two = `
		 0ms a0 invoke acquire k owner a
		 1ms a0 ok acquire k owner a fence 1 until 10ms
		 2ms a0 invoke write k owner a value a1 fence 1
		 3ms a0 ok write k owner a value a1 fence 1 seq 1
		11ms b invoke acquire k
		12ms b ok acquire k until 21ms fence 2
		13ms b invoke write k value b1 fence 2
		14ms b ok write k value b1 fence 2 seq 2
		 `
	return []verdictCase{
		{
			name: "another's write before one of unknown outcome", header: "ttl 10ms", want: Fail,
			violations: []string{"S3z [1 5 12]", "S3 [10 11 12]"},
			history: two + `
				15ms a0 invoke write k owner a value a2 fence 1
				16ms a0 info write k owner a value a2 fence 1
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner b fence 2 value b1 seq 2
				20ms store ok audit k owner a fence 1 value a2 seq 3`,
		},
		{
			name: "another's write before one of unknown outcome, without tokens", header: "ttl 20ms", want: Fail,
			violations: []string{"S1 [1 5]"}, suspicious: []string{"S3 [10 11 12]"},
			history: `
				 0ms a0 invoke acquire k owner a
				 1ms a0 ok acquire k owner a until 20ms
				 2ms a0 invoke write k owner a value a1
				 3ms a0 ok write k owner a value a1 seq 1
				11ms b invoke acquire k
				12ms b ok acquire k until 21ms
				13ms b invoke write k value b1
				14ms b ok write k value b1 seq 2
				15ms a0 invoke write k owner a value a2
				16ms a0 info write k owner a value a2
				20ms store ok audit k owner a value a1 seq 1
				20ms store ok audit k owner b value b1 seq 2
				20ms store ok audit k owner a value a2 seq 3`,
		},
		{
			name: "another's write after it", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 5 11]"},
			history: strings.Replace(two, "fence 2 seq 2", "fence 2 seq 3", 1) + `
				15ms a0 invoke write k owner a value a2 fence 1
				16ms a0 info write k owner a value a2 fence 1
				20ms store ok audit k owner a fence 1 value a1 seq 1
				20ms store ok audit k owner a fence 1 value a2 seq 2
				20ms store ok audit k owner b fence 2 value b1 seq 3`,
		},
	}
}
