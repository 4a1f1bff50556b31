package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/workload/history"
)

// edges are histories at which the rules and the reference judge once differed,
// shrunk, and what is right.
var edges = []struct {
	name       string
	history    string
	violations string
}{
	{"a write behind a grant that the history tells of late", `header ttl 11ms drift 1ms
		 8ms c1 invoke acquire k owner a
		12ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 1`, `[]`},
	{"a write before a grant that the history tells of late", `header ttl 11ms drift 1ms
		 5ms c1 invoke acquire k owner a
		 6ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 1`, `[S8]`},
	{"a write within the clocks' uncertainty before its owner's grant", `header ttl 11ms epsilon 3ms
		 5ms c1 invoke acquire k owner a
		 6ms c0 invoke write k owner a value a3
		 7ms c1 ok acquire k owner a
		 8ms c0 ok write k owner a value a3 seq 1`, `[]`},
	{"a write behind a release, and a later grant that is told late", `header ttl 11ms drift 1ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 10ms
		 4ms c0 invoke release k owner a
		 8ms c1 invoke acquire k owner a
		11ms c0 ok release k owner a
		12ms c0 invoke write k owner a value a3
		13ms c1 ok acquire k owner a ended 9ms
		14ms c0 ok write k owner a value a3 seq 2`, `[]`},
	{"a grant told while the release of one that it crossed is under way", `header ttl 15ms drift 1ms
		 4ms c1 invoke acquire k owner b
		 5ms c2 invoke acquire k owner c
		 9ms c1 ok acquire k owner b fence 2 until 18ms
		29ms c1 invoke release k owner b fence 2
		29ms c2 ok acquire k owner c fence 3 began 10ms ended 11ms
		32ms c1 ok release k owner b fence 2`, `[S1 S6]`},
	{"a grant told behind the release of one that it crossed", `header ttl 15ms drift 1ms
		 4ms c1 invoke acquire k owner b
		 5ms c2 invoke acquire k owner c
		 9ms c1 ok acquire k owner b fence 2 until 18ms
		29ms c1 invoke release k owner b fence 2
		32ms c1 ok release k owner b fence 2
		33ms c2 ok acquire k owner c fence 3 began 20ms ended 21ms`, `[S6]`},
	{"a grant told behind the release of one that it did not cross", `header ttl 15ms drift 1ms
		 4ms c1 invoke acquire k owner b
		 5ms c2 invoke acquire k owner c
		 9ms c1 ok acquire k owner b fence 2 until 18ms
		16ms c1 invoke release k owner b fence 2
		17ms c1 ok release k owner b fence 2
		33ms c2 ok acquire k owner c fence 3 began 20ms ended 21ms`, `[]`},
	{"a write behind its own refused release, and another process's within the clocks' uncertainty", `header ttl 19ms drift 1ms epsilon 2ms
		 1ms c2 invoke acquire k owner c
		 1ms c2 ok acquire k owner c fence 1 until 19ms
		 1ms c3 invoke acquire k owner c
		 6ms c3 ok acquire k owner c fence 1
		38ms c2 invoke release k owner c
		41ms c3 invoke release k owner c
		43ms c3 fail release k owner c err "lease lost"
		43ms c2 fail release k owner c err "lease lost"
		43ms c2 invoke write k owner c fence 1 value c3
		44ms c2 ok write k owner c fence 1 value c3 seq 3`, `[S8]`},
	{"a write issued behind the deadline, and an extension before it is answered", `header ttl 26ms drift 2ms
		30ms c2 invoke acquire k owner b
		34ms c2 ok acquire k owner b fence 3
		62ms c1 invoke write k owner b fence 3 value b4
		65ms c2 ok extend k owner b until 87ms began 63ms
		66ms c1 ok write k owner b fence 3 value b4`, `[S3z]`},
	{"a write issued behind the deadline, and an extension that had begun before", `header ttl 26ms drift 2ms
		30ms c2 invoke acquire k owner b
		34ms c2 ok acquire k owner b fence 3
		62ms c1 invoke write k owner b fence 3 value b4
		65ms c2 ok extend k owner b until 87ms began 61ms
		66ms c1 ok write k owner b fence 3 value b4`, `[]`},
	{"a write of unknown outcome behind the deadline, an extension, and the store's log", `header ttl 15ms
		 3ms c1 invoke acquire k owner b
		16ms c1 ok acquire k owner b until 18ms
		19ms c1 invoke write k owner b value b1
		20ms c1 info write k owner b value b1
		21ms c2 invoke extend k owner b
		23ms c2 ok extend k owner b until 36ms
		53ms store ok audit k owner b value b1 seq 1`, `[S3z]`},
	{"a write behind the deadline, whose owner asked again and never heard", `header ttl 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a
		12ms c0 invoke acquire k owner a
		13ms c0 info acquire k owner a
		14ms c1 invoke write k owner a value a1
		15ms c1 ok write k owner a value a1 seq 1`, `[S8]`},
	{"a refused extension that says only in its answer that it was of an older lease", `header ttl 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1
		30ms c0 invoke acquire k owner a
		31ms c0 ok acquire k owner a fence 2
		32ms c0 invoke extend k owner a
		33ms c0 fail extend k owner a fence 1 err "lease lost"
		34ms c0 invoke write k owner a fence 2 value a1
		35ms c0 ok write k owner a fence 2 value a1 seq 1`, `[]`},
	{"a number given twice, to one owner's write and then to another's", `header ttl 15ms drift 1ms
		 1ms c2 invoke acquire k owner c
		 2ms c2 ok acquire k owner c fence 1
		 3ms c2 invoke write k owner c fence 1 value c1
		 4ms c2 ok write k owner c fence 1 value c1 seq 1
		 5ms c2 invoke write k owner c fence 1 value c3
		 6ms c2 info write k owner c fence 1 value c3
		24ms c1 invoke acquire k owner b
		25ms c1 ok acquire k owner b fence 2
		26ms c1 invoke write k owner b fence 2 value b2
		27ms c1 ok write k owner b fence 2 value b2 seq 2
		33ms store ok audit k owner c fence 1 value c1 seq 1
		33ms store ok audit k owner b fence 2 value b2 seq 2
		33ms store ok audit k owner c fence 1 value c3 seq 2`, `[]`},
	{"two writes with one number, the other told by the log alone", `header ttl 19ms fenced
		 5ms c4 invoke write k owner e fence 2 value e1
		 9ms c4 info write k owner e fence 2 value e1
		17ms c2 invoke write k owner c fence 4 value c6
		18ms c2 ok write k owner c fence 4 value c6 seq 1
		18ms store ok audit k owner e fence 2 value e1 seq 1`, `[S8 S8]`},
	{"a section whose last write shares its number with another's", `header ttl 50ms
		 1ms c3 invoke acquire k owner d
		 7ms c3 ok acquire k owner d fence 1
		 8ms c3 invoke write k owner d fence 1 value d2
		 9ms c3 ok write k owner d fence 1 value d2 seq 1
		58ms c2 invoke acquire k owner c
		59ms c2 ok acquire k owner c fence 2
		60ms c2 invoke write k owner c fence 2 value c3
		60ms c3 invoke write k owner d fence 1 value d5
		61ms c2 ok write k owner c fence 2 value c3 seq 3
		61ms c3 ok write k owner d fence 1 value d5 seq 3`, `[S3z]`},
	{"a write landed and told of before the section that it lies in", `header ttl 40ms
		52ms c0 invoke acquire k owner a
		54ms c2 invoke write k owner b value b5
		54ms c2 ok write k owner b value b5 seq 5
		54ms c0 ok acquire k owner a
		55ms c0 invoke write k owner a value a6
		57ms c0 ok write k owner a value a6 seq 3
		58ms c0 invoke write k owner a value a7
		76ms c0 ok write k owner a value a7 seq 7`, `[S3 S8]`},
	{"a write under the token that a re-entry brought back", `header ttl 19ms fenced
		 0ms c1 invoke acquire k owner b
		 0ms c1 ok acquire k owner b fence 1
		 5ms c1 invoke extend k owner b fence 1
		 6ms c1 fail extend k owner b fence 1 err "lease lost"
		51ms c1 invoke acquire k owner b
		53ms c1 ok acquire k owner b fence 2
		55ms c1 invoke acquire k owner b
		60ms c1 ok acquire k owner b fence 1 until 74ms
		60ms c1 invoke write k owner b fence 1 value b8
		65ms c1 ok write k owner b fence 1 value b8 seq 9`, `[S4b]`},
	{"a write before the answer to its owner's acquire, and told before it", `header ttl 22ms
		20ms c1 invoke acquire k owner b
		25ms c2 invoke write k owner b value b5
		29ms c2 ok write k owner b value b5 seq 5
		31ms c1 ok acquire k owner b ended 23ms`, `[]`},
	{"a grant behind a refusal that is told late, with a node that forgot", `header ttl 23ms
		 2ms c0 invoke acquire k owner a
		 7ms c0 ok acquire k owner a fence 1
		12ms c0 invoke extend k owner a
		13ms nemesis invoke fault kill-node target n1 instant
		13ms nemesis ok fault kill-node target n1 instant receipt "gone"
		16ms c1 invoke acquire k owner b
		17ms c1 ok acquire k owner b fence 2
		25ms c0 fail extend k owner a began 14ms ended 14ms err "lease lost"`, `[]`},
	{"a token granted once more while its extension was under way", `header ttl 23ms
		 2ms c1 invoke acquire k owner a
		 3ms c1 ok acquire k owner a fence 1
		 5ms c1 invoke extend k owner a fence 1
		27ms c2 invoke acquire k owner a
		27ms c2 ok acquire k owner a fence 1
		29ms c1 ok extend k owner a fence 1 began 8ms ended 9ms`, `[]`},
	{"a write by an owner who had been refused, and whose release never left", `header ttl 40ms epsilon 3ms
		 2ms c3 invoke acquire k owner d
		17ms c3 ok acquire k owner d fence 2
		21ms c3 invoke extend k owner d
		27ms c3 fail extend k owner d err "lease lost"
		28ms c3 invoke release k owner d
		31ms c3 info release k owner d
		34ms c5 invoke write k owner d fence 2 value d6
		38ms c5 ok write k owner d fence 2 value d6 seq 5
		57ms link ok receipt never-forwarded of 4`, `[S8]`},
	{"a late write in the instant before its own process extends", `header ttl 18ms
		 6ms c3 invoke acquire k owner d
		 7ms c3 ok acquire k owner d fence 2
		26ms c3 invoke write k owner d fence 2 value d5
		26ms c3 ok write k owner d fence 2 value d5 seq 3
		26ms c3 invoke extend k owner d fence 2
		28ms c3 ok extend k owner d fence 2`, `[S3z]`},
	{"a line of the store's log that nobody asked for, between two writes of a section", `header ttl 20ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 2
		 3ms c0 invoke write k owner a fence 2 value a1
		 4ms c0 ok write k owner a fence 2 value a1 seq 1
		 5ms c0 invoke write k owner a fence 2 value a3
		 6ms c0 info write k owner a fence 2 value a3 err "i/o timeout"
		 9ms store ok audit k owner a fence 2 value a1 seq 1
		 9ms store ok audit k owner b fence 1 value "b2?" seq 2
		 9ms store ok audit k owner a fence 2 value a3 seq 3`, `[]`},
	{"a line that nobody asked for, as the first write of a section", `header ttl 20ms
		 1ms c0 invoke acquire k owner b
		 2ms c0 ok acquire k owner b fence 1
		 2ms c0 invoke write k owner b fence 1 value b2
		 3ms c0 ok write k owner b fence 1 value b2 seq 2
		 3ms c0 invoke release k owner b
		 3ms c0 ok release k owner b
		 4ms c1 invoke acquire k owner a
		 5ms c1 ok acquire k owner a fence 2
		 5ms c1 invoke write k owner a fence 2 value a3
		 6ms c1 info write k owner a fence 2 value a3 err "i/o timeout"
		 9ms store ok audit k owner a fence 2 value "a1?" seq 1
		 9ms store ok audit k owner b fence 1 value b2 seq 2
		 9ms store ok audit k owner a fence 2 value a3 seq 3`, `[]`},
	{"a write with the token of an older lease than the one before", `header ttl 40ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 2
		 3ms c0 invoke release k owner a fence 2
		 4ms c0 ok release k owner a fence 2
		 5ms c0 invoke acquire k owner a
		 6ms c0 ok acquire k owner a fence 3
		 7ms c0 invoke release k owner a
		 8ms c0 ok release k owner a
		 9ms c0 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 4
		11ms c0 invoke write k owner a fence 4 value a1
		12ms c0 ok write k owner a fence 4 value a1 seq 1
		13ms c1 invoke write k owner b value b2
		14ms c1 ok write k owner b value b2 seq 2
		15ms c0 invoke write k owner a fence 2 value a3
		16ms c0 ok write k owner a fence 2 value a3 seq 3`, `[S8]`},
	{"an extension that names no lease, answered behind a newer grant", `header ttl 18ms epsilon 1ms
		10ms c0 invoke acquire k owner a
		11ms c0 ok acquire k owner a fence 1 until 28ms
		14ms c0 invoke release k owner a fence 1
		20ms c4 invoke extend k owner a
		21ms c0 fail release k owner a fence 1 err "lease lost"
		22ms c0 invoke acquire k owner a
		23ms c0 ok acquire k owner a fence 4 until 25ms
		27ms c4 ok extend k owner a until 38ms
		29ms c4 invoke write k owner a fence 4 value a4
		29ms c4 ok write k owner a fence 4 value a4 seq 3`, `[]`},
	{"an extension by the process of the lease before, that names no lease", `header ttl 26ms drift 1ms epsilon 2ms
		 1ms c2 invoke acquire k owner b
		 2ms c2 ok acquire k owner b
		 3ms c1 invoke acquire k owner b
		27ms c1 ok acquire k owner b until 28ms
		31ms c2 invoke extend k owner b
		32ms c2 ok extend k owner b until 56ms
		33ms c2 invoke write k owner b value b3
		33ms c2 ok write k owner b value b3 seq 3`, `[]`},
	{"a late write, and an extension that names no lease behind it", `header ttl 26ms drift 1ms epsilon 2ms
		 1ms c2 invoke acquire k owner b
		 2ms c2 ok acquire k owner b
		 3ms c1 invoke acquire k owner b
		27ms c1 ok acquire k owner b until 28ms
		31ms c1 invoke write k owner b value b3
		33ms c1 ok write k owner b value b3 seq 3
		35ms c2 invoke extend k owner b
		36ms c2 ok extend k owner b until 56ms`, `[S3z]`},
	{"two processes that release one lease, the second one with success", `header ttl 20ms drift 2ms unchecked-release
		12ms c1 invoke acquire k owner a
		13ms c1 ok acquire k owner a fence 3 until 23ms
		14ms c0 invoke release k owner a
		15ms c1 invoke release k owner a
		16ms c1 ok release k owner a
		24ms c1 invoke write k owner a fence 3 value a9
		25ms c1 ok write k owner a fence 3 value a9 seq 9`, `[S8]`},
	{"a write behind a lease that ran out, a loss before it, and an acquire in vain", `header ttl 23ms drift 1ms
		40ms c2 invoke acquire k owner b
		41ms c2 ok acquire k owner b fence 3
		45ms c2 ok lost k owner b
		48ms c2 invoke acquire k owner b
		49ms c2 ok acquire k owner b fence 3 until 50ms
		58ms c2 invoke acquire k owner b
		58ms c2 info acquire k owner b err "i/o timeout"
		60ms c5 invoke write k owner b fence 3 value b7
		61ms c5 ok write k owner b fence 3 value b7 seq 7`, `[S8]`},
	{"a write with another's token, which its owner is granted later", `header ttl 11ms drift 2ms
		 8ms c2 invoke acquire k owner b mode r
		 9ms c2 ok acquire k owner b mode r fence 2 until 19ms
		12ms c0 invoke write k owner a fence 2 value a4
		13ms c0 ok write k owner a fence 2 value a4 seq 4
		64ms c0 invoke acquire k owner a
		65ms c0 ok acquire k owner a fence 2`, `[S4 S4b S8]`},
	{"a rejection whose reason is told behind it", `header ttl 28ms drift 2ms epsilon 2ms fenced
		 2ms c1 invoke acquire k owner b
		 3ms c1 ok acquire k owner b fence 1
		 5ms c1 invoke write k owner b fence 1 value b2
		 5ms c1 fail write k owner b fence 1 value b2 seq 2 err "stale token"
		19ms c0 invoke write k owner a fence 4 value a4
		22ms c0 ok write k owner a fence 4 value a4 seq 1`, `[S8]`},
	{"a write behind the refusal of a release by another process, which is told late", `header ttl 29ms unchecked-release
		 2ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1
		69ms c1 invoke release k owner a
		71ms c5 invoke write k owner a fence 1 value a3
		73ms c1 fail release k owner a began 70ms ended 70ms err "lease lost"
		74ms c5 ok write k owner a fence 1 value a3 seq 2`, `[S8]`},
	{"a write behind a release by another process, which is told late", `header ttl 23ms drift 2ms
		85ms c5 invoke acquire k owner a
		85ms c5 ok acquire k owner a fence 4 until 106ms
		88ms c6 invoke release k owner a fence 4
		89ms c3 invoke write k owner a value a2
		92ms c6 ok release k owner a fence 4 ended 90ms
		99ms c3 ok write k owner a value a2 began 95ms ended 98ms`, `[S8]`},
	{"a renewal across a grant that is told behind it", `header ttl 25ms fenced
		 3ms c0 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 1
		16ms c3 invoke acquire k owner d
		41ms c0 ok extend k owner a until 64ms began 39ms
		43ms c3 ok acquire k owner d fence 2 began 16ms ended 24ms
		70ms nemesis ok phase end`, `[S1 S6]`},
	{"a renewal before a grant that is told behind it", `header ttl 25ms fenced
		 3ms c0 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 1
		16ms c3 invoke acquire k owner d
		25ms c0 ok extend k owner a until 49ms began 23ms
		43ms c3 ok acquire k owner d fence 2 began 16ms ended 24ms
		70ms nemesis ok phase end`, `[S1]`},
	{"a write that names no lease, of an owner with two of which the older lasts longer", `header ttl 24ms drift 2ms
		11ms c0 invoke acquire k owner a
		14ms c1 invoke acquire k owner a
		38ms c1 ok acquire k owner a until 38ms
		38ms c0 ok acquire k owner a until 33ms
		38ms c1 invoke write k owner a value a2
		44ms c1 ok write k owner a value a2 seq 3`, `[S7 S7]`},
	{"a write that names no lease, behind both leases of its owner", `header ttl 24ms drift 2ms epsilon 1ms
		11ms c0 invoke acquire k owner a
		24ms c1 invoke acquire k owner a
		34ms c1 ok acquire k owner a until 38ms
		36ms c0 ok acquire k owner a until 37ms
		41ms c1 invoke write k owner a value a2
		44ms c1 ok write k owner a value a2 seq 3`, `[S3z]`},
	{"a renewal under the token of a lease that is forgotten", `header ttl 18ms drift 1ms epsilon 3ms fenced
		 4ms c1 invoke acquire k owner b
		 4ms c1 ok acquire k owner b fence 1 until 21ms
		 5ms c1 invoke release k owner b
		 7ms c1 ok release k owner b
		 8ms c1 invoke acquire k owner b
		 8ms c1 ok acquire k owner b fence 2 until 25ms
		 8ms c1 invoke release k owner b fence 2
		 9ms c1 ok release k owner b fence 2
		19ms c1 invoke acquire k owner b
		22ms c1 ok acquire k owner b fence 4 until 36ms
		23ms c1 ok extend k owner b fence 1 until 39ms began 22ms
		33ms c3 invoke acquire k owner c
		34ms c3 ok acquire k owner c fence 5
		41ms nemesis ok phase end`, `[]`},
	{"an extension under the token of a lease that is forgotten", `header ttl 18ms drift 1ms epsilon 3ms fenced
		 4ms c1 invoke acquire k owner b
		 4ms c1 ok acquire k owner b fence 1 until 21ms
		 5ms c1 invoke release k owner b
		 7ms c1 ok release k owner b
		 8ms c1 invoke acquire k owner b
		 8ms c1 ok acquire k owner b fence 2 until 25ms
		 8ms c1 invoke release k owner b fence 2
		 9ms c1 ok release k owner b fence 2
		19ms c1 invoke acquire k owner b
		22ms c1 ok acquire k owner b fence 4 until 36ms
		22ms c1 invoke extend k owner b fence 1
		23ms c1 ok extend k owner b fence 1 until 39ms
		33ms c3 invoke acquire k owner c
		34ms c3 ok acquire k owner c fence 5
		41ms nemesis ok phase end`, `[]`},
	{"a renewal under a token that nobody was given, and a re-entry in its time", `header ttl 12ms drift 2ms fenced unchecked-release
		 9ms c0 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 2 ended 10ms
		14ms c2 invoke acquire k owner a
		15ms c3 invoke extend k owner a
		15ms c3 fail extend k owner a err "lease lost"
		15ms c2 ok acquire k owner a fence 3 until 24ms
		18ms c2 ok extend k owner a fence 1 until 26ms began 16ms
		30ms c3 invoke acquire k owner a
		31ms c3 ok acquire k owner a fence 3 until 40ms`, `[]`},
	{"a loss that may have been of either lease of its owner", `header ttl 16ms drift 2ms epsilon 1ms fenced
		 1ms c0 invoke acquire k owner a
		 5ms c1 invoke acquire k owner a
		 7ms c0 ok acquire k owner a until 15ms
		10ms c1 ok acquire k owner a until 19ms ended 6ms
		11ms c3 invoke acquire k owner d
		15ms c3 ok acquire k owner d
		16ms c5 ok lost k owner a
		24ms nemesis ok phase end`, `[]`},
	{"a release that may have been of either lease with its token, and a grant told behind it", `header ttl 11ms drift 2ms epsilon 2ms fenced unchecked-release
		 1ms c4 invoke acquire k owner d
		 2ms c3 invoke acquire k owner d
		 4ms c1 invoke acquire k owner a
		 5ms c3 ok acquire k owner d fence 1 until 11ms
		 7ms c4 ok acquire k owner d fence 1 ended 3ms
		 7ms c3 invoke release k owner d fence 1
		 8ms c1 ok acquire k owner a fence 2 ended 6ms
		50ms c8 invoke acquire k owner a`, `[]`},
	{"a release that may have been of either lease with its token, and a later grant", `header ttl 23ms drift 2ms epsilon 2ms unchecked-release
		 3ms c2 invoke acquire k owner c
		 9ms c3 invoke acquire k owner c
		 9ms c3 ok acquire k owner c fence 1
		 9ms c2 ok acquire k owner c fence 1 until 24ms ended 7ms
		10ms c3 invoke release k owner c fence 1
		11ms c0 invoke acquire k owner a
		12ms c0 ok acquire k owner a fence 2 until 32ms
		35ms c8 invoke acquire k2 owner e`, `[]`},
	{"the same release, which never was sent", `header ttl 23ms drift 2ms epsilon 2ms unchecked-release
		 3ms c2 invoke acquire k owner c
		 9ms c3 invoke acquire k owner c
		 9ms c3 ok acquire k owner c fence 1
		 9ms c2 ok acquire k owner c fence 1 until 24ms ended 7ms
		10ms c3 invoke release k owner c fence 1
		11ms c0 invoke acquire k owner a
		12ms c0 ok acquire k owner a fence 2 until 32ms
		13ms c3 fail release k owner c fence 1 err "connection refused"
		35ms c8 invoke acquire k2 owner e`, `[S1 S1]`},
	{"a release by the process whose lease had another token", `header ttl 11ms drift 2ms
		 1ms c1 invoke acquire k owner a
		 1ms c1 ok acquire k owner a fence 1 until 2ms
		 8ms c2 invoke acquire k owner c
		 8ms c0 invoke acquire k owner a
		 9ms c0 ok acquire k owner a fence 4 until 17ms
		13ms c1 invoke release k owner a
		14ms c2 ok acquire k owner c fence 5 until 17ms
		15ms c0 invoke release k owner a fence 4`, `[S1]`},
	{"a lease extended behind a release that may have been of it", `header ttl 29ms
		 2ms c1 invoke acquire k owner b
		 3ms c2 invoke acquire k owner b
		 4ms c1 ok acquire k owner b
		32ms c2 ok acquire k owner b until 32ms
		32ms c2 invoke release k owner b
		37ms c1 invoke extend k owner b
		38ms c1 ok extend k owner b
		39ms c3 invoke acquire k owner d
		40ms c3 ok acquire k owner d until 68ms
		49ms c1 invoke release k owner b`, `[S1 S7]`},
	{"a write behind a refusal, under a lease that a renewal may have moved", `header ttl 14ms drift 1ms fenced
		 0ms c1 invoke acquire k owner b mode r
		 1ms c1 ok acquire k owner b mode r fence 1 until 2ms
		43ms c4 invoke acquire k owner b mode r
		44ms c4 ok acquire k owner b mode r fence 3 until 44ms ended 44ms
		44ms c4 ok extend k owner b mode r until 55ms began 42ms
		49ms c4 invoke acquire k owner b mode r
		50ms c4 fail acquire k owner b mode r err "lock held by another owner"
		51ms c4 invoke write k owner b mode r fence 3 value b10 base 9
		53ms store ok audit k owner b fence 3 value b10 seq 10`, `[S7]`},
	{"a write behind a release that may have been an inner one, as is told late", `header ttl 27ms drift 2ms epsilon 3ms
		 1ms c2 invoke acquire k owner c
		 2ms c2 ok acquire k owner c fence 1
		 8ms c3 invoke acquire k owner c
		42ms c4 invoke acquire k owner c
		43ms c4 ok acquire k owner c fence 2 until 67ms
		44ms c3 ok acquire k owner c fence 2 ended 15ms
		48ms c5 invoke release k owner c
		49ms c5 ok release k owner c
		54ms c5 invoke write k owner c fence 2 value c5 base 2
		56ms c5 ok write k owner c fence 2 value c5 seq 5 base 2`, `[]`},
	{"the same write behind a second release, which was refused", `header ttl 22ms drift 2ms epsilon 3ms
		11ms c2 invoke acquire k owner c
		15ms c6 invoke acquire k owner c
		20ms c6 ok acquire k owner c fence 1 until 35ms
		21ms c2 ok acquire k owner c fence 1 until 31ms began 14ms ended 18ms
		29ms c8 invoke release k owner c
		35ms c8 ok release k owner c
		38ms c8 invoke release k owner c
		46ms c8 fail release k owner c err "lease lost"
		48ms c8 invoke write k owner c fence 1 value c2
		52ms c8 ok write k owner c fence 1 value c2 seq 2`, `[S8]`},
	{"a write by the process that took the lease once more, and a loss that another one was told of", `header ttl 13ms
		 0ms c1 invoke acquire k owner b
		 2ms c1 ok acquire k owner b fence 1
		 5ms c3 invoke acquire k owner b
		 6ms c3 ok acquire k owner b fence 2 until 18ms
		10ms c1 ok lost k owner b
		14ms c3 invoke acquire k owner b
		14ms c3 ok acquire k owner b fence 2 until 15ms
		15ms c4 invoke acquire k owner b
		15ms c4 fail acquire k owner b err "lock held by another owner"
		16ms c3 invoke write k owner b fence 2 value b3
		17ms c3 ok write k owner b fence 2 value b3 seq 3`, `[S4b]`},
	{"a late write, and an extension that may have been of either lease", `header ttl 22ms drift 2ms
		12ms c2 invoke acquire k owner a
		13ms c2 ok acquire k owner a
		17ms c3 invoke acquire k owner a
		39ms c3 ok acquire k owner a
		39ms c3 ok extend k owner a until 59ms began 39ms
		41ms c3 invoke release k owner a
		41ms c2 invoke write k owner a value a3
		42ms c3 ok release k owner a began 42ms ended 42ms
		44ms store ok audit k owner a value a3 seq 3`, `[S7]`},
	{"a write behind the deadline of a grant that is told behind it", `header ttl 20ms
		 9ms c1 invoke acquire k owner a
		31ms c0 invoke write k owner a fence 1 value a2 base 0
		32ms c0 ok write k owner a fence 1 value a2 seq 1 base 0
		32ms c1 ok acquire k owner a fence 1 until 29ms began 13ms ended 23ms`, `[S3z]`},
	{"a write behind the deadline of a grant that is told behind it, and a later grant told behind that", `header ttl 20ms
		 9ms c1 invoke acquire k owner a
		10ms c2 invoke acquire k owner a
		31ms c0 invoke write k owner a value a2 base 0
		32ms c0 ok write k owner a value a2 seq 1 base 0
		32ms c1 ok acquire k owner a until 29ms began 13ms ended 23ms
		33ms c2 ok acquire k owner a until 40ms began 24ms ended 25ms`, `[]`},
	{"a rejected write under a lease that was taken once more, as is told behind it", `header ttl 16ms drift 2ms fenced
		26ms c2 invoke acquire k owner b
		45ms c2 ok acquire k owner b fence 1 until 38ms
		46ms c1 invoke acquire k owner b
		49ms c2 invoke write k owner b fence 1 value b2
		52ms c2 fail write k owner b fence 1 value b2 seq 1 err "stale token"
		53ms c1 ok acquire k owner b fence 1 until 60ms ended 48ms`, `[S7]`},
	{"a write without a number, told behind one with a lower token that came after it", `header ttl 40ms fenced
		13ms c4 invoke write k owner a fence 3 value a2
		20ms c1 invoke write k owner b fence 1 value b4
		22ms c1 ok write k owner b fence 1 value b4
		28ms c4 ok write k owner a fence 3 value a2 began 14ms ended 15ms`, `[S2 S8 S8]`},
	{"a re-entry with another token, told behind the release", `header ttl 20ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1
		 3ms c1 invoke acquire k owner a
		 8ms c0 invoke release k owner a fence 1
		 9ms c0 ok release k owner a fence 1
		10ms c1 ok acquire k owner a fence 2 ended 5ms`, `[S4b]`},
}

// TestEdges judges each of them by the rules, by Porcupine and by the reference.
func TestEdges(t *testing.T) {
	for _, c := range edges {
		t.Run(c.name, func(t *testing.T) {
			h, err := history.Parse(c.history)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := disagreements(t, h); len(wrong) > 0 {
				t.Error(wrong)
			}
			var got []string
			for _, f := range checker.Check(t.Context(), h, checker.Options{}).Violations {
				if strings.HasPrefix(f.ID, "S") {
					got = append(got, f.ID)
				}
			}
			if fmt.Sprint(got) != c.violations {
				t.Errorf("violations %v, want %s", got, c.violations)
			}
		})
	}
}
