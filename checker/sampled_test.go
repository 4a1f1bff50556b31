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

func TestSampledSubQuorumDoubts(t *testing.T) { runCases(t, sampledDoubtCases()) }

// sampledDoubtCases: what is given back while a lease is held may be what the nodes lack, and a
// finding stands whatever comes after the lease.
func sampledDoubtCases() []verdictCase {
	const header = "ttl 100ms nodes 3 quorum 2"
	named := on("0ms", "n1", "pttl -2") + `
		 0ms b invoke acquire k
		 0ms b ok acquire k until 90ms` + on("1ms", "n1", "holder w pttl 90") + on("1ms", "n2", "holder w pttl 88") + `
		 1ms b invoke release k
		 1ms b ok release k` + on("1ms", "n1", "pttl -2") + on("1ms", "n2", "pttl -2")
	const granted = `
		 3ms a invoke acquire k
		 4ms a ok acquire k until 90ms`
	lacks := on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "pttl -2") + on("12ms", "n3", "pttl -2")
	const released = `
		40ms a invoke release k
		41ms a ok release k`
	const attempt = `
		50ms c invoke acquire k
		51ms c info acquire k err timeout`
	found := []string{"S9 [9 10 13]"}
	return []verdictCase{
		{
			name: "the lease of somebody else is left", header: header, want: Fail, violations: []string{"S1 [10 12]"},
			history: named + `
				 1ms c invoke acquire k
				 2ms c ok acquire k until 90ms` + granted + lacks + released,
		},
		{
			name: "a release before it was asked for is of unknown outcome", header: header, want: Pass,
			history: named + `
				 1ms c invoke acquire k
				 1ms c ok acquire k until 90ms
				 2ms c invoke release k
				 2ms c info release k err timeout` + granted + lacks + released,
		},
		{
			name: "a release is under way all the time", header: header, want: Pass,
			history: named + `
				 1ms c invoke acquire k
				 1ms c ok acquire k until 90ms
				 2ms c invoke release k` + granted + lacks + released + `
				42ms c ok release k`,
		},
		{
			name: "a lease that had run out is given back", header: header, want: Pass, suspicious: []string{"S1 [10 12]"},
			history: named + `
				 1ms c invoke acquire k
				 1ms c ok acquire k until 2ms` + granted + `
				 5ms c invoke release k
				 6ms c fail release k err lost` + lacks + released,
		},
		{
			name: "an attempt of unknown outcome may be given back", header: header, want: Pass,
			history: named + granted + `
				 5ms c invoke acquire k
				 6ms c info acquire k err timeout` + lacks + released,
		},
		{
			name: "a write of unknown outcome gives nothing back", header: header, want: Fail, violations: []string{"S9 [9 10 15]"},
			history: named + granted + `
				 5ms c invoke write k owner a value v
				 6ms c info write k owner a value v err timeout` + lacks + released,
		},
		{
			name: "an attempt came after its release", header: header, want: Fail, violations: found,
			history: named + granted + lacks + released + attempt,
		},
		{
			name: "an attempt came after its loss", header: header, want: Fail, violations: found,
			history: named + granted + lacks + `
				40ms a ok lost k` + attempt,
		},
		{
			name: "another was granted it after it had run out", header: header, want: Fail, violations: found,
			history: named + granted + lacks + `
				110ms c invoke acquire k
				111ms c ok acquire k until 190ms`,
		},
		{
			name: "it was held until the end", header: header, want: Fail, violations: found,
			history: named + granted + lacks,
		},
		{
			name: "looked at at the very grant", header: header, want: Pass,
			history: named + granted + on("4ms", "n2", "pttl -2") + on("10ms", "n1", "holder x pttl 90") + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "looked at since before the grant", header: header, want: Pass,
			history: named + granted + on("10ms", "n1", "holder x pttl 90") + `
				11ms witness ok key k node n2 value sample note lock:k began 3ms pttl -2` + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "looked at at its very deadline", header: header, want: Pass,
			history: named + granted + on("10ms", "n1", "holder x pttl 90") + on("12ms", "n3", "pttl -2") + on("90ms", "n2", "pttl -2"),
		},
		{
			name: "a node stores it without an expiry", header: header, want: Pass,
			history: named + granted + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl -1") + on("12ms", "n3", "pttl -2") + released,
		},
		{
			name: "the only node stores nothing", header: "ttl 100ms", want: Fail, violations: []string{"S9 [7 8 9]"},
			history: on("0ms", "n1", "pttl -2") + `
				 0ms b invoke acquire k
				 0ms b ok acquire k until 90ms` + on("1ms", "n1", "holder w pttl 90") + `
				 1ms b invoke release k
				 1ms b ok release k` + on("1ms", "n1", "pttl -2") + granted + on("11ms", "n1", "pttl -2") + released,
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

func TestSampledTakeoverEdges(t *testing.T) { runCases(t, sampledTakeoverEdgeCases()) }

// sampledTakeoverEdgeCases: a sample shows a lease when it began after the grant and ended before
// the end of the hold, and what it showed lasted beyond the next grant.
func sampledTakeoverEdgeCases() []verdictCase {
	const header = "ttl 100ms nodes 3 quorum 2"
	const holds = `
		 0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	const takes = `
		40ms b invoke acquire k
		41ms b ok acquire k until 130ms`
	const lost = `
		20ms a ok lost k`
	return []verdictCase{
		{
			name: "seen at the very grant", header: header, want: Fail, violations: []string{"S1 [2 6]"},
			history: holds + on("2ms", "n1", "holder x pttl 90") + on("2ms", "n2", "holder x pttl 90") + takes,
		},
		{
			name: "by its clock it was over at the very takeover", header: header, want: Fail, violations: []string{"S1 [2 6]"},
			history: holds + on("10ms", "n1", "holder x pttl 32") + on("11ms", "n2", "holder x pttl 88") + takes,
		},
		{
			name: "by its clock it was over just behind the takeover", header: header, want: Fail, violations: []string{"S1 [2 6]", "S10 [2 4 6]"},
			history: holds + on("10ms", "n1", "holder x pttl 33") + on("11ms", "n2", "holder x pttl 88") + takes,
		},
		{
			name: "stored without an expiry", header: header, want: Fail, violations: []string{"S1 [2 6]", "S10 [2 4 6]"},
			history: holds + on("10ms", "n1", "holder x pttl -1") + on("11ms", "n2", "holder x pttl -1") + takes,
		},
		{
			name: "seen again, at the very request for the takeover", header: header, want: Fail, violations: []string{"S1 [2 8]", "S10 [2 4 8]"},
			history: holds + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88") + `
				40ms b invoke acquire k` + on("40ms", "n1", "holder y pttl 100") + on("40ms", "n2", "holder y pttl 100") + `
				41ms b ok acquire k until 130ms`,
		},
		{
			name: "seen when its holder was told of the loss", header: header, want: Pass,
			history: holds + on("19ms", "n1", "holder x pttl 90") + on("20ms", "n2", "holder x pttl 88") + lost + takes,
		},
		{
			name: "seen before its holder was told of the loss", header: header, want: Pass, suspicious: []string{"S10 [2 4 7]"},
			history: holds + on("19ms", "n1", "holder x pttl 90") + on("19ms", "n2", "holder x pttl 88") + lost + takes,
		},
	}
}

func TestSampledTakeoverRivals(t *testing.T) { runCases(t, sampledTakeoverRivalCases()) }

// sampledTakeoverRivalCases: whoever asked for the key before the nodes were looked at, and was
// granted it or may have been, may have set what they stored.
func sampledTakeoverRivalCases() []verdictCase {
	const header = "ttl 100ms nodes 3 quorum 2"
	const holds = `
		 0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	const takes = `
		40ms b invoke acquire k
		41ms b ok acquire k until 130ms`
	seen := on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88")
	return []verdictCase{
		{
			name: "one of unknown outcome asked when it was seen", header: header, want: Fail, violations: []string{"S1 [2 8]"},
			history: holds + seen + `
				11ms c invoke acquire k
				12ms c info acquire k err timeout` + takes,
		},
		{
			name: "another of unknown outcome asked later", header: header, want: Fail, violations: []string{"S1 [2 10]"},
			history: holds + `
				 5ms c invoke acquire k` + seen + `
				12ms c info acquire k err timeout
				13ms d invoke acquire k
				14ms d info acquire k err timeout` + takes,
		},
		{
			name: "one that was granted it asked later than one of unknown outcome", header: header, want: Fail, violations: []string{"S1 [2 8]", "S1 [2 12]"},
			history: holds + `
				 5ms c invoke acquire k` + seen + `
				12ms c info acquire k err timeout
				13ms d invoke acquire k
				14ms d ok acquire k until 95ms
				15ms d invoke release k
				16ms d ok release k` + takes,
		},
		{
			name: "one is told only behind the takeover that it had it", header: header, want: Fail, violations: []string{"S1 [2 7]", "S1 [2 8]", "S1 [7 8]"},
			history: holds + `
				 5ms c invoke acquire k` + seen + takes + `
				50ms c ok acquire k until 95ms`,
		},
		{
			name: "one waits that asked when it was seen", header: header, want: Fail, violations: []string{"S1 [2 7]"},
			history: holds + seen + `
				11ms c invoke acquire k` + takes + `
				50ms c info acquire k err timeout`,
		},
		{
			name: "one waits that asked after it was seen", header: header, want: Fail, violations: []string{"S1 [2 7]", "S10 [2 4 7]"},
			history: holds + seen + `
				12ms c invoke acquire k` + takes + `
				50ms c info acquire k err timeout`,
		},
		{
			name: "its own holder waits for an extension", header: header, want: Fail, violations: []string{"S1 [2 7]", "S10 [2 5 7]"},
			history: holds + `
				 5ms a invoke extend k` + seen + takes + `
				50ms a info extend k err timeout`,
		},
		{
			name: "its own holder's extension is of unknown outcome", header: header, want: Fail, violations: []string{"S1 [2 8]", "S10 [2 6 8]"},
			history: holds + `
				 5ms a invoke extend k
				 6ms a info extend k err timeout` + seen + takes,
		},
		{
			name: "a reader was granted it meanwhile", header: header, want: Fail, violations: []string{"S1 [2 6]", "S1 [2 10]"},
			history: holds + `
				 5ms c invoke acquire k mode r` + seen + `
				12ms c ok acquire k mode r until 95ms
				13ms c invoke release k mode r
				14ms c ok release k mode r` + takes,
		},
	}
}

func TestSampledTakeoverBefore(t *testing.T) { runCases(t, sampledTakeoverBeforeCases()) }

// sampledTakeoverBeforeCases: as long as nodes may store what somebody left who had the key
// before, or may have had it, nobody can tell that they store its holder's.
func sampledTakeoverBeforeCases() []verdictCase {
	const header = "ttl 100ms nodes 3 quorum 2"
	const looked = `
		 0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2`
	const before = looked + `
		 0ms c invoke acquire k
		 0ms c ok acquire k until 80ms`
	const holds = `
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	seen := on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 88")
	const takes = `
		40ms b invoke acquire k
		41ms b ok acquire k until 130ms`
	later := on("110ms", "n1", "holder x pttl 90") + on("111ms", "n2", "holder x pttl 88") + `
		140ms b invoke acquire k
		141ms b ok acquire k until 230ms`
	return []verdictCase{
		{
			name: "it was given back", header: header, want: Fail, violations: []string{"S1 [6 10]", "S10 [6 8 10]"},
			history: before + `
				 1ms c invoke release k
				 1ms c ok release k` + holds + seen + takes,
		},
		{
			name: "it was being given back all the time", header: header, want: Fail, violations: []string{"S1 [5 9]"},
			history: before + `
				 1ms c invoke release k` + holds + seen + takes + `
				42ms c ok release k`,
		},
		{
			name: "nobody knows whether it was given back", header: header, want: Fail, violations: []string{"S1 [6 10]"},
			history: before + `
				 1ms c invoke release k
				 1ms c info release k err timeout` + holds + seen + takes,
		},
		{
			name: "its holder was told of the loss", header: header, want: Fail, violations: []string{"S1 [5 9]"},
			history: before + `
				 1ms c ok lost k` + holds + seen + takes,
		},
		{
			name: "it was given back later, and the grant is told later still", header: header, want: Fail, violations: []string{"S1 [2 8]", "S6 [2 6 8]", "S1 [8 10]"},
			history: before + `
				 1ms a invoke acquire k` + on("3ms", "n1", "holder x pttl 90") + on("4ms", "n2", "holder x pttl 88") + `
				 5ms c invoke release k
				 6ms c ok release k
				 7ms a ok acquire k began 1ms ended 2ms until 90ms` + takes,
		},
		{
			name: "it has run out, but not for the servers", header: header, want: Fail, violations: []string{"S1 [4 8]"}, suspicious: []string{"S1 [2 4]"},
			history: before + `
				98ms a invoke acquire k
				99ms a ok acquire k until 190ms` + later,
		},
		{
			name: "it has run out for the servers, too", header: header, want: Fail, violations: []string{"S1 [4 8]", "S10 [4 6 8]"},
			history: before + `
				 98ms a invoke acquire k
				100ms a ok acquire k until 190ms` + later,
		},
		{
			name: "an attempt of unknown outcome may be stored still", header: header, want: Fail, violations: []string{"S1 [4 8]"},
			history: looked + `
				 0ms c invoke acquire k
				 1ms c info acquire k err timeout
				98ms a invoke acquire k
				100ms a ok acquire k until 190ms` + later,
		},
		{
			name: "an attempt of unknown outcome is over by itself", header: header, want: Fail, violations: []string{"S1 [4 8]", "S10 [4 6 8]"},
			history: looked + `
				 0ms c invoke acquire k
				 1ms c info acquire k err timeout
				98ms a invoke acquire k
				101ms a ok acquire k until 190ms` + later,
		},
		{
			name: "only a reader had it", header: header, want: Fail, violations: []string{"S1 [2 6]", "S10 [2 4 6]"},
			history: looked + `
				 1ms a invoke acquire k mode r
				 2ms a ok acquire k mode r until 90ms` + seen + takes,
		},
		{
			name: "two readers had it", header: header, want: Fail, violations: []string{"S1 [2 8]", "S1 [4 8]"},
			history: looked + `
				 0ms c invoke acquire k mode r
				 0ms c ok acquire k mode r until 80ms
				 1ms a invoke acquire k mode r
				 2ms a ok acquire k mode r until 90ms` + seen + takes,
		},
	}
}
