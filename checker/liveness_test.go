package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// boundCase is a history judged under bounds that the header declares.
type boundCase struct {
	verdictCase
	bounds   map[string]int64
	breaches []string
}

func runBounds(t *testing.T, cases []boundCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := parse(t, c.header, c.history)
			h.Header.Bounds = c.bounds
			r := Check(t.Context(), h, Options{})
			if r.Verdict != c.want {
				t.Errorf("verdict %s, want %s", r.Verdict, c.want)
			}
			if got := short(r.Violations); !slices.Equal(got, c.violations) {
				t.Errorf("violations %q, want %q", got, c.violations)
			}
			if got := short(r.Suspicious); !slices.Equal(got, c.suspicious) {
				t.Errorf("suspicious %q, want %q", got, c.suspicious)
			}
			if got := short(r.Breaches); !slices.Equal(got, c.breaches) {
				t.Errorf("breaches %q, want %q", got, c.breaches)
			}
			checkTexts(t, r)
		})
	}
}

const ms = int64(1e6)

// alone are attempts of b from then on, two milliseconds apart, that are refused.
func alone(from, n int) (tries string) {
	for i := range n {
		tries += fmt.Sprintf("\n%dms b invoke acquire k\n%dms b fail acquire k err held", from+2*i, from+2*i+1)
	}
	return tries
}

// aloneToRead are alone's, to read.
func aloneToRead(from, n int) string {
	return strings.ReplaceAll(alone(from, n), "acquire k", "acquire k mode r")
}

// shared is an attempt of b's to read that is granted, and given back two milliseconds later.
func shared(at int) string {
	return fmt.Sprintf("\n%dms b invoke acquire k mode r\n%dms b ok acquire k mode r until %dms\n%[2]dms b invoke release k\n%[4]dms b ok release k", at, at+1, at+10, at+2)
}

// pairs are rounds from 18 ms on that b and c lose, both.
func pairs(n int) (rounds string) {
	for i := range n {
		rounds += fmt.Sprintf(`
			%[1]dms b invoke acquire k
			%[1]dms c invoke acquire k
			%[2]dms b fail acquire k err held
			%[2]dms c fail acquire k err held`, 18+2*i, 19+2*i)
	}
	return rounds
}

func TestOrphan(t *testing.T) { runBounds(t, orphanCases()) }

func orphanCases() []boundCase {
	retry := map[string]int64{"retry_ns": 5 * ms}
	const before = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		  2ms nemesis ok phase final`
	return []boundCase{
		{bounds: retry, verdictCase: verdictCase{
			name: "refused again and again with nobody holding", header: "ttl 10ms", want: Fail, violations: []string{"L1 [4 6 8]"},
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "the first while the lease may still be on the server", header: "ttl 10ms", want: Pass,
			history: before + `
				 14ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "granted at last", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b ok acquire k until 33ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "after an acquire of unknown outcome", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms c invoke acquire k
				 19ms c info acquire k err timeout
				 20ms b invoke acquire k
				 20ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "while a lease may be on the server, its extension being of unknown outcome", header: "ttl 10ms", want: Pass,
			history: `
				 0ms nemesis ok phase final
				 6ms a invoke acquire k
				 7ms a ok acquire k until 16ms
				15ms a invoke extend k
				18ms a info extend k err timeout
				22ms b invoke acquire k
				23ms b fail acquire k err held
				24ms b invoke acquire k
				25ms b fail acquire k err held
				26ms b invoke acquire k
				27ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "when an extension was refused", header: "ttl 10ms", want: Fail, violations: []string{"L1 [6 8 10]"},
			history: `
				 0ms nemesis ok phase final
				 6ms a invoke acquire k
				 7ms a ok acquire k until 16ms
				15ms a invoke extend k
				18ms a fail extend k err timeout
				22ms b invoke acquire k
				23ms b fail acquire k err held
				24ms b invoke acquire k
				25ms b fail acquire k err held
				26ms b invoke acquire k
				27ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "against each other, of several nodes", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 18ms c invoke acquire k
				 19ms b fail acquire k err held
				 19ms c fail acquire k err held
				 21ms b invoke acquire k
				 21ms c invoke acquire k
				 22ms b fail acquire k err held
				 22ms c fail acquire k err held
				 23ms b invoke acquire k
				 23ms c invoke acquire k
				 24ms b fail acquire k err held
				 24ms c fail acquire k err held`,
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, too often", header: "ttl 10ms nodes 5 quorum 3", want: Fail, violations: []string{"L7 [6 10 14]"},
			history: before + `
				 18ms b invoke acquire k
				 18ms c invoke acquire k
				 19ms b fail acquire k err held
				 19ms c fail acquire k err held
				 21ms b invoke acquire k
				 21ms c invoke acquire k
				 22ms b fail acquire k err held
				 22ms c fail acquire k err held
				 23ms b invoke acquire k
				 23ms c invoke acquire k
				 24ms b fail acquire k err held
				 24ms c fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "refused for the sake of another key, perhaps", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k note multi
				 19ms b fail acquire k err held
				 21ms b invoke acquire k note multi
				 22ms b fail acquire k err held
				 23ms b invoke acquire k note multi
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "beside one who may have had it while he tried to take another key too", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms c invoke acquire k note multi
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 20ms c fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "just behind one who may not have undone it yet", header: "ttl 10ms epsilon 1ms", want: Pass,
			history: before + `
				 19ms c invoke acquire k note multi
				 20ms c fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held
				 25ms b invoke acquire k
				 26ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "each alone, and others for several keys in between", header: "ttl 10ms", want: Fail, violations: []string{"L1 [4 8 12]"},
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 20ms c invoke acquire k note multi
				 20ms c fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 22ms c invoke acquire k note multi
				 23ms c fail acquire k err held
				 24ms b invoke acquire k
				 25ms b fail acquire k err held`,
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, one of them for the sake of another key", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 18ms c invoke acquire k note multi
				 19ms b fail acquire k err held
				 19ms c fail acquire k err held
				 21ms b invoke acquire k
				 21ms c invoke acquire k note multi
				 22ms b fail acquire k err held
				 22ms c fail acquire k err held
				 23ms b invoke acquire k
				 23ms c invoke acquire k note multi
				 24ms b fail acquire k err held
				 24ms c fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, though readers come and go", header: "ttl 10ms", want: Fail, violations: []string{"L1 [8 10 16]"},
			history: before + `
				 18ms b invoke acquire k mode r
				 19ms b ok acquire k mode r until 28ms
				 19ms b invoke release k
				 20ms b ok release k
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held
				 25ms b invoke acquire k mode r
				 26ms b ok acquire k mode r until 35ms
				 26ms b invoke release k
				 27ms b ok release k
				 28ms b invoke acquire k
				 29ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, though writers come and go", header: "ttl 10ms", want: Fail, violations: []string{"L1 [4 10 12]"},
			history: before + `
				 18ms b invoke acquire k mode r
				 19ms b fail acquire k mode r err held
				 20ms b invoke acquire k
				 21ms b ok acquire k until 30ms
				 21ms b invoke release k
				 22ms b ok release k
				 23ms b invoke acquire k mode r
				 24ms b fail acquire k mode r err held
				 25ms b invoke acquire k mode r
				 26ms b fail acquire k mode r err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, granted between readers", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k mode r
				 19ms b ok acquire k mode r until 28ms
				 19ms b invoke release k
				 20ms b ok release k
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held
				 25ms b invoke acquire k
				 26ms b ok acquire k until 35ms
				 26ms b invoke release k
				 27ms b ok release k
				 28ms b invoke acquire k
				 29ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, behind a reader who did not give it back", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k mode r
				 19ms b ok acquire k mode r until 20ms
				 26ms b invoke acquire k
				 27ms b fail acquire k err held
				 27ms b invoke acquire k
				 28ms b fail acquire k err held
				 28ms b invoke acquire k
				 29ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, as soon as a reader has given it back", header: "ttl 10ms epsilon 1ms", want: Pass,
			history: before + `
				 28ms b invoke acquire k mode r
				 29ms b ok acquire k mode r until 38ms
				 29ms b invoke release k
				 30ms b ok release k
				 30ms b invoke acquire k
				 31ms b fail acquire k err held
				 32ms b invoke acquire k
				 33ms b fail acquire k err held
				 34ms b invoke acquire k
				 35ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, once within a tenth of a lease behind a reader", header: "ttl 10ms", want: Pass,
			history: before + shared(28) + `
				 30.95ms b invoke acquire k
				 31ms b fail acquire k err held` + alone(32, 2),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, behind a writer who has just given up", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 19ms b ok acquire k until 28ms
				 19ms b invoke release k
				 20ms b ok release k
				 20ms c invoke acquire k note wait
				 22ms c fail acquire k err held
				 23ms b invoke acquire k mode r
				 24ms b fail acquire k mode r err held
				 25ms b invoke acquire k mode r
				 26ms b fail acquire k mode r err held
				 27ms b invoke acquire k mode r
				 28ms b fail acquire k mode r err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, long after a writer has given up", header: "ttl 10ms", want: Fail, violations: []string{"L1 [10 12 14]"},
			history: before + `
				 18ms b invoke acquire k
				 19ms b ok acquire k until 28ms
				 19ms b invoke release k
				 20ms b ok release k
				 20ms c invoke acquire k note wait
				 22ms c fail acquire k err held
				 33ms b invoke acquire k mode r
				 34ms b fail acquire k mode r err held
				 35ms b invoke acquire k mode r
				 36ms b fail acquire k mode r err held
				 37ms b invoke acquire k mode r
				 38ms b fail acquire k mode r err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, behind another writer who has been refused and does not wait", header: "ttl 10ms", want: Pass,
			history: before + shared(18) + "\n20ms c invoke acquire k\n21ms c fail acquire k err held" + alone(22, 5),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to write, long after another writer has been refused", header: "ttl 10ms", want: Fail, violations: []string{"L1 [20 22 24]"},
			history: before + shared(18) + "\n20ms c invoke acquire k\n21ms c fail acquire k err held" + alone(22, 8),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, behind one's own place as a writer", header: "ttl 10ms", want: Pass,
			history: before + shared(18) + alone(22, 1) + aloneToRead(24, 5),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, long after one was refused as a writer", header: "ttl 10ms", want: Fail, violations: []string{"L1 [20 22 24]"},
			history: before + shared(18) + alone(22, 1) + aloneToRead(24, 8),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, behind another writer who was refused and then granted it", header: "ttl 10ms", want: Fail, violations: []string{"L1 [14 16 18]"},
			history: before + shared(18) + `
				21ms c invoke acquire k
				22ms c fail acquire k err held
				22ms c invoke acquire k
				23ms c ok acquire k until 33ms
				23ms c invoke release k
				24ms c ok release k` + aloneToRead(26, 3),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "to read, behind a writer who has given up, where leases last longer", header: "ttl 10ms", want: Pass,
			history: strings.Replace(before, "until 10ms", "until 30ms", 1) + `
				 38ms b invoke acquire k
				 39ms b ok acquire k until 48ms
				 39ms b invoke release k
				 40ms b ok release k
				 40ms c invoke acquire k note wait
				 42ms c fail acquire k err held
				 53ms b invoke acquire k mode r
				 54ms b fail acquire k mode r err held
				 55ms b invoke acquire k mode r
				 56ms b fail acquire k mode r err held
				 57ms b invoke acquire k mode r
				 58ms b fail acquire k mode r err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "twice, and once more after an acquire of unknown outcome", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 20ms b invoke acquire k
				 21ms b fail acquire k err held
				 22ms c invoke acquire k
				 23ms c info acquire k err timeout
				 60ms b invoke acquire k
				 61ms b fail acquire k err held`,
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "wake_ns": 60 * ms}, verdictCase: verdictCase{
			name: "behind a waiter who is no more, for no longer than the lock keeps such a one's place", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms c invoke acquire k
				 23ms c info acquire k err killed` + alone(60, 15),
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "wake_ns": 40 * ms}, verdictCase: verdictCase{
			name: "behind a waiter who is no more, for longer than the lock keeps such a one's place", header: "ttl 10ms", want: Fail, violations: []string{"L1 [20 22 24]"},
			history: before + `
				 18ms c invoke acquire k
				 23ms c info acquire k err killed` + alone(60, 15),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "twice before a fault, and twice after it", header: "ttl 10ms", want: Pass,
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 20ms b invoke acquire k
				 21ms b fail acquire k err held
				 22ms nemesis invoke fault latency target {"nodes":["n1"]}
				 22ms nemesis ok fault latency target {"nodes":["n1"]} receipt r
				 23ms nemesis invoke heal latency target {"nodes":["n1"]}
				 23ms nemesis ok heal latency target {"nodes":["n1"]} receipt r
				 24ms b invoke acquire k
				 25ms b fail acquire k err held
				 60ms b invoke acquire k
				 61ms b fail acquire k err held
				 62ms b invoke acquire k
				 63ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one alone at a time, of several nodes", header: "ttl 10ms nodes 5 quorum 3", want: Fail, violations: []string{"L1 [4 6 8]"},
			history: before + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 20ms b invoke acquire k
				 21ms b fail acquire k err held
				 22ms b invoke acquire k
				 23ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "two at a time, of one node", header: "ttl 10ms", want: Fail, violations: []string{"L1 [6 10 14]"},
			history: before + pairs(3),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "two at a time, of two nodes of three", header: "ttl 10ms nodes 3 quorum 2", want: Pass,
			history: before + pairs(3),
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, once while a lease may still be there and twice after it", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + strings.NewReplacer("18ms", "15ms", "19ms", "16ms").Replace(pairs(1)) + strings.NewReplacer("18ms", "22ms", "19ms", "23ms").Replace(pairs(1)) + strings.NewReplacer("18ms", "24ms", "19ms", "25ms").Replace(pairs(1)),
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, twice before a grant and twice after it", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + pairs(2) + `
				 30ms b invoke acquire k
				 31ms b ok acquire k until 40ms
				 31ms b invoke release k
				 32ms b ok release k
				 50ms b invoke acquire k
				 50ms c invoke acquire k
				 51ms b fail acquire k err held
				 51ms c fail acquire k err held
				 52ms b invoke acquire k
				 52ms c invoke acquire k
				 53ms b fail acquire k err held
				 53ms c fail acquire k err held`,
		}},
		{bounds: map[string]int64{"retry_ns": 5 * ms, "livelock_rounds": 3}, verdictCase: verdictCase{
			name: "against each other, once before an acquire of unknown outcome and twice after it", header: "ttl 10ms nodes 5 quorum 3", want: Pass,
			history: before + pairs(1) + `
				 22ms d invoke acquire k
				 23ms d info acquire k err timeout
				 60ms b invoke acquire k
				 60ms c invoke acquire k
				 61ms b fail acquire k err held
				 61ms c fail acquire k err held
				 62ms b invoke acquire k
				 62ms c invoke acquire k
				 63ms b fail acquire k err held
				 63ms c fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "by a node that is not there", header: "ttl 10ms", want: Pass,
			history: before + strings.ReplaceAll(alone(18, 3), "err held", `err "dial tcp: connect: connection refused"`),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "by nodes that do not answer", header: "ttl 10ms", want: Pass,
			history: before + strings.ReplaceAll(alone(18, 3), "err held", `err "no quorum: node n2: read tcp: i/o timeout"`),
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "for as long as nobody can have stood still, though readers come and go", header: "ttl 10ms", want: Fail, violations: []string{"L1 [8 10 12]"},
			history: before + shared(18) + alone(22, 3) + shared(30) + alone(34, 3) + shared(42) + alone(46, 3) + "\n60ms nemesis ok stall began 5ms ended 12ms",
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "for less than the harness stood still", header: "ttl 10ms", want: Pass, suspicious: []string{"L1 [8 10 12]"},
			history: before + shared(18) + alone(22, 3) + shared(30) + "\n60ms nemesis ok stall began 5ms ended 12ms",
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "not in the final phase", header: "ttl 10ms", want: Pass,
			history: strings.Replace(before, "phase final", "phase main", 1) + `
				 18ms b invoke acquire k
				 19ms b fail acquire k err held
				 21ms b invoke acquire k
				 22ms b fail acquire k err held
				 23ms b invoke acquire k
				 24ms b fail acquire k err held`,
		}},
	}
}

func TestNoProgress(t *testing.T) { runBounds(t, noProgressCases()) }

func noProgressCases() []boundCase {
	retry := map[string]int64{"retry_ns": 10 * ms}
	const before = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 10ms
		  2ms nemesis ok phase final`
	return []boundCase{
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain while the harness stands still for longer than the bound was exceeded by", header: "ttl 10ms", want: Pass, suspicious: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b fail acquire k err timeout
				80ms nemesis ok stall began 20ms ended 30ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain for longer than the harness stood still", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 6]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b fail acquire k err timeout
				72ms b invoke acquire k
				81ms b fail acquire k err timeout
				82ms nemesis ok stall began 20ms ended 30ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "just not too long", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				70ms b fail acquire k err timeout`,
		}},
		{bounds: map[string]int64{"retry_ns": 10 * ms, "wake_ns": 66 * ms}, verdictCase: verdictCase{
			name: "no longer than the lock says that it may take", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				76ms b fail acquire k err timeout`,
		}},
		{bounds: map[string]int64{"retry_ns": 10 * ms, "wake_ns": 66 * ms}, verdictCase: verdictCase{
			name: "longer than the lock says that it may take", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				77ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "an acquire of unknown outcome may have taken it meanwhile", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				20ms c invoke acquire k
				21ms c info acquire k err timeout
				91ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "what an acquire of unknown outcome may have taken has run out long ago", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 6]"},
			history: before + `
				 5ms b invoke acquire k
				20ms c invoke acquire k
				21ms c info acquire k err timeout
				92ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "an extension of unknown outcome may have kept it", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis ok phase final
				 5ms b invoke acquire k
				 8ms a invoke extend k
				20ms a info extend k err timeout
				90ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "what an extension of unknown outcome may have kept has run out long ago", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 6]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 2ms nemesis ok phase final
				 5ms b invoke acquire k
				 8ms a invoke extend k
				20ms a info extend k err timeout
				91ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "a lease that was reported lost stays with the servers", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 40ms
				 2ms nemesis ok phase final
				 3ms nemesis invoke fault cut-link target a instant
				 3ms nemesis ok fault cut-link target a receipt r instant
				 4ms a ok lost k
				 5ms b invoke acquire k
				100ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "granted too late", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				71ms b ok acquire k until 80ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "nobody asked for long", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				 6ms b fail acquire k err held
				80ms b invoke acquire k
				81ms b ok acquire k until 90ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "waiting still at the end", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3]"},
			history: before + `
				 5ms b invoke acquire k
				90ms c invoke acquire l
				91ms c ok acquire l until 100ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "waiting still when the phase is summed up", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3]"},
			history: before + `
				 5ms b invoke acquire k
				90ms nemesis ok phase final note "end of phase"`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "asked before the final phase, in vain", header: "ttl 10ms", want: Fail, violations: []string{"L2 [2 4]"},
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 1ms b invoke acquire k
				 2ms nemesis ok phase final
				71ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "asked long before the final phase", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 1ms b invoke acquire k
				60ms nemesis ok phase final
				91ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one asks for another key too, which is held", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k note multi
				71ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one asks for another key too, again and again", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k note multi
				20ms b fail acquire k err held
				30ms b invoke acquire k note multi
				40ms b fail acquire k err held
				50ms b invoke acquire k note multi
				60ms b fail acquire k err held
				70ms b invoke acquire k note multi
				80ms b fail acquire k err held`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one asks for another key too, and has both at last", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k note multi
				91ms b ok acquire k until 100ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one asks for another key too, and before the final phase", header: "ttl 10ms", want: Pass,
			history: `
				 0ms a invoke acquire k
				 1ms a ok acquire k until 10ms
				 1ms b invoke acquire k note multi
				 2ms nemesis ok phase final
				91ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain while another may have had it", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				30ms c invoke acquire k note multi
				40ms c fail acquire k err held
				99ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain, and another may have it", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				30ms c invoke acquire k note multi
				99ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain before another may have it", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 4]"},
			history: before + `
				 5ms b invoke acquire k
				80ms c invoke acquire k note multi
				90ms c fail acquire k err held
				99ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "one waits in vain after another may have had it", header: "ttl 10ms", want: Fail, violations: []string{"L2 [3 6]"},
			history: before + `
				 5ms b invoke acquire k
				10ms c invoke acquire k note multi
				20ms c fail acquire k err held
				99ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "nobody asks any more for it alone", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				12ms b fail acquire k err held
				95ms c invoke acquire k note multi
				96ms c ok acquire k until 105ms`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "a fault that is not healed", header: "ttl 10ms", want: Inconclusive,
			history: before + `
				 3ms nemesis invoke fault cut-link target b
				 3ms nemesis ok fault cut-link target b receipt r
				 5ms b invoke acquire k
				71ms b fail acquire k err timeout`,
		}},
		{bounds: retry, verdictCase: verdictCase{
			name: "a fault in between", header: "ttl 10ms", want: Pass,
			history: before + `
				 5ms b invoke acquire k
				30ms nemesis invoke fault cut-link target b
				30ms nemesis ok fault cut-link target b receipt r
				40ms nemesis invoke heal cut-link target b
				40ms nemesis ok heal cut-link target b receipt r
				90ms b ok acquire k until 100ms`,
		}},
	}
}
