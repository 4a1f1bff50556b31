package checker

import "testing"

func TestSampledSubQuorum(t *testing.T) { runCases(t, sampledSubQuorumCases()) }

// on is a look at a node, at a moment of the run.
func on(at, node, rest string) string {
	return "\n" + at + " witness ok key k node " + node + " value sample note lock:k began " + at + " " + rest
}

func sampledSubQuorumCases() []verdictCase {
	const header = "ttl 100ms nodes 3 quorum 2"
	before := on("0ms", "n1", "pttl -2") + `
		 0ms b invoke acquire k
		 0ms b ok acquire k until 90ms` + on("1ms", "n1", "holder w pttl 90") + on("1ms", "n2", "holder w pttl 88") + `
		 1ms b invoke release k
		 1ms b ok release k` + on("1ms", "n1", "pttl -2") + on("1ms", "n2", "pttl -2")
	const granted = `
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	holds := before + granted
	const released = `
		40ms a invoke release k
		41ms a ok release k`
	apart := on("0ms", "n1", "pttl -2") + `
		 0ms b invoke acquire k
		 0ms b ok acquire k until 190ms` + on("20ms", "n1", "holder w pttl 170") + on("21ms", "n2", "holder w pttl 169") + `
		40ms b invoke release k
		40ms b ok release k` + on("41ms", "n1", "pttl -2") + on("41ms", "n2", "pttl -2") + `
		60ms a invoke acquire k
		61ms a ok acquire k until 190ms` + on("70ms", "n1", "holder x pttl 190") + on("71ms", "n2", "pttl -2") + on("72ms", "n3", "pttl -2") + `
		99ms a invoke release k
		99ms a ok release k`
	return []verdictCase{
		{
			name: "two nodes of three store nothing", header: header, want: Fail, violations: []string{"S9 [9 10 13]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "pttl -2") + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "so close to the grant that the clocks do not tell", header: "ttl 200ms nodes 3 quorum 2 epsilon 11ms", want: Pass, history: apart,
		},
		{
			name: "further from the grant than the clocks are from each other", header: "ttl 200ms nodes 3 quorum 2 epsilon 8ms", want: Fail, violations: []string{"S9 [9 10 13]"},
			history: apart,
		},
		{
			name: "one node of three stores nothing", header: header, want: Pass,
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "pttl -2") + on("12ms", "n3", "holder x pttl 88") + released,
		},
		{
			name: "it was never seen there: the lock may keep its leases elsewhere", header: header, want: Pass,
			history: on("0ms", "n1", "pttl -2") + granted + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "pttl -2") + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "each node bears another name", header: header, want: Fail, violations: []string{"S9 [9 10 13]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder y pttl 88") + on("12ms", "n3", "holder z pttl 88") + released,
		},
		{
			name: "the name is followed by what is each node's own", header: header, want: Pass,
			history: holds + on("10ms", "n1", "holder x=4 pttl 90") + on("11ms", "n2", "holder x=5 pttl 88") + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "somebody else gave something back meanwhile", header: header, want: Pass, suspicious: []string{"S1 [2 4]"},
			history: on("0ms", "n1", "pttl -2") + `
				 0ms b invoke acquire k
				 0ms b ok acquire k until 30ms
				31ms a invoke acquire k
				32ms a ok acquire k until 90ms
				33ms b invoke release k
				34ms b fail release k err lost` + on("40ms", "n1", "pttl -2") + on("41ms", "n2", "pttl -2") + on("42ms", "n3", "pttl -2") + `
				50ms a invoke release k
				51ms a ok release k`,
		},
		{
			name: "the nodes had forgotten it", header: header, want: Pass,
			history: holds + `
				 5ms nemesis invoke fault kill-node target n1 instant
				 6ms nemesis ok fault kill-node target n1 receipt gone instant` +
				on("10ms", "n1", "pttl -2") + on("11ms", "n2", "pttl -2") + on("12ms", "n3", "holder x pttl 88") + released,
		},
		{
			name: "looked at before the grant was answered", header: header, want: Pass,
			history: before + `
				 1ms a invoke acquire k` + on("2ms", "n1", "pttl -2") + on("2ms", "n2", "pttl -2") + on("2ms", "n3", "pttl -2") + `
				 3ms a ok acquire k until 90ms` + released,
		},
		{
			name: "looked at behind its deadline", header: header, want: Pass,
			history: holds + on("95ms", "n1", "pttl -2") + on("95ms", "n2", "pttl -2") + on("95ms", "n3", "pttl -2") + `
				96ms a invoke release k
				97ms a fail release k err lost`,
		},
		{
			name: "seen there, and gone: it was not stored too rarely", header: header, want: Pass,
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88") +
				on("20ms", "n1", "pttl -2") + on("21ms", "n2", "pttl -2") + on("22ms", "n3", "pttl -2") + released,
		},
	}
}

func TestSampledTakeover(t *testing.T) { runCases(t, sampledTakeoverCases()) }

func sampledTakeoverCases() []verdictCase {
	const holds = `
		 0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	const takes = `
		40ms b invoke acquire k
		41ms b ok acquire k until 130ms`
	return []verdictCase{
		{
			name: "a quorum stored it for longer", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 6]", "S10 [2 4 6]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88") + takes,
		},
		{
			name: "by their clocks it was over", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 6]"},
			history: holds + on("10ms", "n1", "holder x pttl 25") + on("11ms", "n2", "holder x pttl 88") + takes,
		},
		{
			name: "fewer than a quorum stored it", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 5]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + takes,
		},
		{
			name: "what was stored may be the next one's", header: "ttl 100ms", want: Fail, violations: []string{"S1 [2 5]"},
			history: holds + `
				40ms b invoke acquire k` + on("41ms", "n1", "holder y pttl 90") + `
				42ms b ok acquire k until 130ms`,
		},
		{
			name: "what was stored may be that of somebody granted beside it", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 6]", "S1 [2 10]"},
			history: holds + `
				 5ms c invoke acquire k` + on("10ms", "n1", "holder y pttl 90") + on("11ms", "n2", "holder y pttl 88") + `
				12ms c ok acquire k until 95ms
				13ms c invoke release k
				14ms c ok release k` + takes,
		},
		{
			name: "what was stored may be that of an attempt of unknown outcome", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 8]"},
			history: holds + `
				 5ms c invoke acquire k` + on("10ms", "n1", "holder y pttl 90") + on("11ms", "n2", "holder y pttl 88") + `
				12ms c info acquire k err timeout` + takes,
		},
		{
			name: "what was stored may be that of somebody who had it before", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 4]", "S1 [2 8]", "S1 [4 8]"},
			history: holds + `
				 3ms c invoke acquire k
				 4ms c ok acquire k until 95ms` + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88") + takes,
		},
		{
			name: "somebody asked after it was seen", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"S1 [2 8]", "S10 [2 4 8]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88") + `
				12ms c invoke acquire k
				13ms c info acquire k err timeout` + takes,
		},
	}
}
