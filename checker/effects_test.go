package checker

import "testing"

func TestZombies(t *testing.T) { runCases(t, zombiesCases()) }

func zombiesCases() []verdictCase {
	const lease = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms`
	return []verdictCase{
		{
			name: "issued after the deadline", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "issued before the deadline, answered after", header: "ttl 10ms", want: Pass,
			history: lease + `
				 9ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "issued at the deadline", header: "ttl 10ms", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				10ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "within the clocks' uncertainty", header: "ttl 10ms epsilon 2ms", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				12ms a1 invoke write k owner a value a1
				13ms a1 ok write k owner a value a1 seq 1`,
		},
		{
			name: "beyond it", header: "ttl 10ms epsilon 2ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				12.1ms a1 invoke write k owner a value a1
				13ms a1 ok write k owner a value a1 seq 1`,
		},
		{
			name: "issued while a renewal was under way, as is told late", header: "ttl 10ms", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				14ms a ok extend k began 9ms until 19ms`,
		},
		{
			name: "issued before a renewal", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				14ms a ok extend k began 12ms until 22ms`,
		},
		{
			name: "a fence that had seen no newer token", header: "ttl 10ms fenced", want: Pass, suspicious: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k fence 1 value a1
				12ms a ok write k fence 1 value a1 seq 1`,
		},
		{
			name: "a fence is no use without tokens", header: "ttl 10ms fenced", want: Fail, violations: []string{"S3z [1 3]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "rejected", header: "ttl 10ms fenced", want: Pass,
			history: lease + `
				11ms a invoke write k fence 1 value a1
				12ms a fail write k fence 1 value a1 seq 1 err stale`,
		},
		{
			name: "under an extension", header: "ttl 10ms", want: Pass,
			history: lease + `
				 8ms a invoke extend k
				 9ms a ok extend k until 18ms
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1`,
		},
		{
			name: "under an extension under way, answered yes", header: "ttl 10ms", want: Pass,
			history: lease + `
				 9ms a0 invoke extend k owner a
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms a0 ok extend k owner a until 19ms`,
		},
		{
			name: "under an extension under way, refused", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: lease + `
				 9ms a0 invoke extend k owner a
				11ms a invoke write k value a1
				12ms a ok write k value a1 seq 1
				13ms a0 fail extend k owner a err lost`,
		},
		{
			name: "of unknown outcome", header: "ttl 10ms", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1`,
		},
		{
			name: "of unknown outcome, and the store's log tells", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 4]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms store ok audit k value a1 seq 1 owner a`,
		},
		{
			name: "of unknown outcome, and the link carried it", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt executed of 2`,
		},
		{
			name: "of unknown outcome, and the link to the one node carried it", header: "ttl 10ms", want: Fail, violations: []string{"S3z [1 3]"},
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt executed of 2 node n1`,
		},
		{
			name: "of unknown outcome, and the link to one node of several carried it", header: "ttl 10ms nodes 3 quorum 2", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt executed of 2 node n1`,
		},
		{
			name: "of unknown outcome, and the link did not", header: "ttl 10ms", want: Pass,
			history: lease + `
				11ms a invoke write k value a1
				12ms a info write k value a1
				20ms link ok receipt never-forwarded of 2`,
		},
	}
}
