package checker

import "testing"

// TestLongLeases judges leases that were promised for longer than the header's TTL:
// what nodes keep of them is no leftover (L8), nor an orphan (L1).
func TestLongLeases(t *testing.T) {
	const long = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 50ms`
	const final = `
		 2ms nemesis ok phase final`
	runCases(t, []verdictCase{
		{name: "kept as long as was promised", header: "ttl 10ms", want: Pass, history: long + `
			 5ms witness ok key k node n1 holder a pttl 45`},
		{name: "kept as long as was promised, with drift", header: "ttl 10ms drift 2ms", want: Pass, history: long + `
			 1ms witness ok key k node n1 holder a pttl 51`},
		{name: "kept for longer than was promised", header: "ttl 10ms", want: Fail, violations: []string{"L8 [2]"}, history: long + `
			 5ms witness ok key k node n1 holder a pttl 47`},
		{name: "kept for longer than another key's lease was promised", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"}, history: long + `
			 2ms b invoke acquire l
			 3ms b ok acquire l until 12ms
			 5ms witness ok key l node n1 holder b pttl 12`},
		{name: "extended for longer", header: "ttl 10ms", want: Pass, history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms a invoke extend k
			 3ms a ok extend k until 50ms
			 5ms witness ok key k node n1 holder a pttl 45`},
		{name: "taken once more for longer", header: "ttl 10ms", want: Pass, history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms a invoke acquire k
			 3ms a ok acquire k until 50ms
			 5ms witness ok key k node n1 holder a pttl 45`},
		{name: "seen before the answer that promises it", header: "ttl 10ms", want: Pass, history: `
			 0ms a invoke acquire k
			 1ms witness ok key k node n1 holder a pttl 49
			 2ms a ok acquire k until 50ms`},
		{name: "seen before an answer that promises less", header: "ttl 10ms", want: Fail, violations: []string{"L8 [1]"}, history: `
			 0ms a invoke acquire k
			 1ms witness ok key k node n1 holder a pttl 49
			 2ms a ok acquire k until 10ms`},
		{name: "seen before an acquire that waits and promises less", header: "ttl 10ms", want: Fail, violations: []string{"L8 [1]"}, history: `
			 0ms a invoke acquire k
			 1ms witness ok key k node n1 holder a pttl 12
			 5ms a ok acquire k until 10ms`},
		{name: "seen before the extension that explains it was asked for", header: "ttl 10ms", want: Fail, violations: []string{"L8 [2]"}, history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms witness ok key k node n1 holder a pttl 45
			 3ms a invoke extend k
			 4ms a ok extend k until 50ms`},
		{name: "twice, and only the first explained", header: "ttl 10ms", want: Fail, violations: []string{"L8 [2]"}, history: `
			 0ms a invoke acquire k
			 1ms witness ok key k node n1 holder a pttl 49
			 2ms witness ok key k node n1 holder a pttl 99
			 2ms a ok acquire k until 50ms`},
		{name: "twice while nothing is under way", header: "ttl 10ms", want: Fail, violations: []string{"L8 [2]"}, history: long + `
			 5ms witness ok key k node n1 holder a pttl 47
			 6ms witness ok key k node n1 holder a pttl 47`},
		{name: "twice while an extension is under way, and only the first explained", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"}, history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms a invoke extend k
			 3ms witness ok key k node n1 holder a pttl 45
			 4ms witness ok key k node n1 holder a pttl 99
			 5ms a ok extend k until 50ms`},
		{name: "left by an acquire of unknown outcome, as long as others'", header: "ttl 10ms", want: Pass, history: long + `
			 2ms b invoke acquire l
			 3ms b info acquire l err timeout
			 5ms witness ok key l node n1 holder b pttl 45`},
		{name: "left by an acquire of unknown outcome, longer than others'", header: "ttl 10ms", want: Fail, violations: []string{"L8 [4]"}, history: long + `
			 2ms b invoke acquire l
			 3ms b info acquire l err timeout
			 5ms witness ok key l node n1 holder b pttl 55`},
		{name: "run out unreleased, while its time goes on", header: "ttl 10ms", want: Pass, history: long + `
			 3ms a ok lost k
			30ms witness ok key k node n1 holder a pttl 20`},
		{name: "run out unreleased, and kept beyond its time", header: "ttl 10ms", want: Fail, violations: []string{"L8 [3]"}, history: long + `
			 3ms a ok lost k
			70ms witness ok key k node n1 holder a pttl 5`},
		{name: "refusals that an unknown acquire as long as others' explains", header: "ttl 10ms", want: Pass, history: `
			 0ms a invoke acquire l
			 1ms a ok acquire l until 100ms
			 1ms a invoke acquire k
			 1ms a info acquire k err timeout` + final + `
			40ms b invoke acquire k
			41ms b fail acquire k err held
			42ms b invoke acquire k
			43ms b fail acquire k err held
			44ms b invoke acquire k
			45ms b fail acquire k err held`},
	})
}
