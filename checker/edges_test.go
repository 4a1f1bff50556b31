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
	{"a write with a token of none of its owner's leases, the latest refused", `header ttl 10ms drift 2ms epsilon 3ms fenced
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1
		15ms c0 invoke acquire k owner a
		18ms c0 ok acquire k owner a fence 2
		20ms c0 invoke extend k owner a fence 2
		39ms c0 fail extend k owner a fence 2 err "lease lost"
		41ms c0 invoke write k owner a fence 3 value a3 base 1
		42ms c0 ok write k owner a fence 3 value a3 seq 3 base 1`, `[S8]`},
	{"an inner release that began after the outer one", `header ttl 10ms drift 1ms unchecked-release
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1
		10ms c2 invoke acquire k owner a
		12ms c2 ok acquire k owner a fence 1 until 19ms
		13ms c3 invoke release k owner a fence 1
		13ms c2 invoke release k owner a
		13ms c2 ok release k owner a
		13ms c2 invoke write k owner a fence 1 value a6
		14ms c3 fail release k owner a fence 1 began 14ms ended 14ms err "lease lost"
		15ms store ok audit k owner a fence 1 value a6 seq 6`, `[]`},
	{"a write behind a re-entry that is told only later", `header ttl 21ms epsilon 2ms fenced
		 4ms c2 invoke acquire k owner b
		 5ms c2 ok acquire k owner b fence 1 until 5ms ended 5ms
		18ms c2 invoke extend k owner b
		43ms c2 ok extend k owner b until 39ms
		47ms c1 invoke acquire k owner b
		59ms c1 info acquire k owner b err "i/o timeout"
		60ms c5 invoke acquire k owner b
		80ms c2 invoke write k owner b fence 1 value b8
		80ms c5 ok acquire k owner b fence 1 ended 65ms
		83ms c2 ok write k owner b fence 1 value b8`, `[S7]`},
	{"a late write behind a refusal that is told only later", `header ttl 26ms drift 2ms fenced
		 8ms c0 invoke acquire k owner a
		33ms c0 ok acquire k owner a until 32ms
		36ms c3 invoke release k owner a
		38ms c0 invoke write k owner a value a5 base 3
		39ms c0 ok write k owner a value a5 seq 4 base 3
		42ms c3 fail release k owner a began 37ms ended 37ms err "lease lost"`, `[S7 S8]`},
	{"a release of unknown outcome that names no lease, the latest being over", `header ttl 13ms
		14ms c2 invoke acquire k owner c
		15ms c2 ok acquire k owner c fence 2 until 27ms
		32ms c2 invoke acquire k owner c
		33ms c2 ok acquire k owner c fence 3
		47ms c2 invoke extend k owner c fence 3
		48ms c2 fail extend k owner c fence 3 ended 48ms err "lease lost"
		49ms c2 invoke release k owner c
		49ms c2 info release k owner c err "i/o timeout"
		51ms c5 invoke write k owner c fence 2 value c8 base 2
		74ms store ok audit k owner c fence 2 value c8 seq 7`, `[S8]`},
	{"a write that says itself that it was late, and an extension long after", `header ttl 23ms drift 1ms epsilon 2ms unchecked-release
		30ms c1 invoke acquire k owner b
		52ms c1 ok acquire k owner b fence 2 until 51ms
		53ms c1 invoke write k owner b fence 2 value b1
		54ms c1 info write k owner b fence 2 value b1 began 54ms ended 54ms err "i/o timeout"
		113ms c4 ok extend k owner b fence 2 until 133ms began 111ms
		141ms store ok audit k owner b fence 2 value b1 seq 1`, `[S3z S7]`},
	{"a re-entry with another token, before a release that began late", `header ttl 13ms drift 1ms
		 2ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 14ms
		 5ms c0 invoke release k owner a fence 1
		 6ms c1 invoke acquire k owner a
		 8ms c1 ok acquire k owner a fence 2
		19ms c0 ok release k owner a fence 1 began 9ms ended 17ms`, `[S4b]`},
	{"a token given again behind a release whose answer is told late", `header ttl 20ms drift 1ms
		 0s c1 invoke acquire k owner a
		 0s c1 ok acquire k owner a fence 1
		 1ms c1 invoke release k owner a
		 3ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1
		 6ms c1 ok release k owner a began 1ms ended 2ms`, `[S4b]`},
	{"a write without a number, told behind one with a higher token that came after it", `header ttl 19ms epsilon 1ms fenced
		13ms c4 invoke write k owner a fence 3 value a2
		13ms c3 invoke write k owner d fence 2 value d3
		19ms c4 ok write k owner a fence 3 value a2
		20ms c1 invoke write k owner a fence 1 value a4
		21ms c3 ok write k owner d fence 2 value d3 began 15ms ended 17ms
		28ms c1 ok write k owner a fence 1 value a4`, `[S8 S2 S8 S8]`},
	{"a rejected write near the deadline of a lease that had been extended, as is told behind it", `header ttl 14ms epsilon 3ms fenced unchecked-release
		 0s c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1
		 5ms c0 invoke write k owner a fence 1 value a2
		11ms c0 fail write k owner a fence 1 value a2 seq 2 err "stale token"
		11ms c0 ok extend k owner a fence 1 until 23ms began 9ms`, `[]`},
	{"a release never answered that a link never carried", `header ttl 10ms drift 2ms epsilon 1ms fenced
		 3ms c0 invoke acquire k owner a
		 5ms c0 ok acquire k owner a until 11ms
		 8ms c1 invoke acquire k owner b
		 9ms c1 ok acquire k owner b until 16ms ended 9ms
		10ms c1 invoke release k owner b
		19ms c2 invoke acquire k owner b
		19ms c2 ok acquire k owner b until 27ms
		20ms c2 invoke release k owner b
		21ms c3 invoke acquire k owner a
		22ms c3 ok acquire k owner a
		23ms c3 invoke release k owner a
		24ms c3 fail release k owner a err "lease lost"
		25ms c4 invoke acquire k owner b
		26ms c4 ok acquire k owner b until 33ms
		26ms c4 invoke release k owner b
		26ms c4 fail release k owner b err "lease lost"
		27ms c4 invoke acquire k owner b
		32ms c4 ok acquire k owner b
		32ms link ok receipt never-forwarded of 4`, `[]`},
	{"a re-entry when the promise was over", `header ttl 24ms drift 1ms epsilon 1ms
		 2ms c3 invoke acquire k owner d
		 4ms c3 ok acquire k owner d fence 2 until 25ms
		 5ms c5 invoke acquire k owner e
		32ms c5 ok acquire k owner e fence 3 until 28ms
		38ms c3 invoke release k owner d
		38ms c5 invoke acquire k owner e
		38ms c3 ok release k owner d
		46ms c5 ok acquire k owner e fence 3 until 61ms`, `[S7]`},
	{"two acquires that crossed with two tokens, and a refusal of one", `header ttl 18ms
		 1ms c2 invoke acquire k owner b
		 2ms c1 invoke acquire k owner b
		 4ms c2 ok acquire k owner b fence 1 until 19ms
		 5ms c1 ok acquire k owner b fence 2
		 6ms c2 invoke extend k owner b fence 1
		 7ms c2 fail extend k owner b fence 1 err "lease lost"
		27ms c3 invoke acquire k owner d
		28ms c3 ok acquire k owner d fence 2 until 45ms ended 28ms
		29ms c1 ok extend k owner b fence 2 until 46ms began 28ms`, `[S1 S4 S4b]`},
	{"a release that began late, behind a refusal", `header ttl 16ms drift 2ms fenced
		 2ms c4 invoke acquire k owner d
		 5ms c4 ok acquire k owner d fence 1 until 16ms
		37ms c5 invoke acquire k owner a
		39ms c4 invoke extend k owner d
		42ms c4 fail extend k owner d err "lease lost"
		44ms c5 ok acquire k owner a fence 1 until 50ms
		44ms c4 invoke release k owner d fence 1
		49ms c4 ok release k owner d fence 1 began 45ms ended 45ms`, `[S4 S4b S6]`},
	{"a late write under one of two leases, and a refusal told late that goes for both", `header ttl 15ms epsilon 1ms fenced unchecked-release
		 0s c1 invoke acquire k owner b
		 1ms c1 ok acquire k owner b until 15ms
		17ms c2 invoke acquire k owner b
		18ms c2 ok acquire k owner b until 32ms
		30ms c4 invoke release k owner b
		49ms c1 invoke write k owner b value b7
		51ms c1 ok write k owner b value b7 seq 6
		54ms c4 fail release k owner b began 45ms ended 45ms err "lease lost"`, `[S8]`},
	{"a release given up before a write that says itself when it was issued", `header ttl 24ms drift 2ms
		 0s c1 invoke acquire k owner a
		 1ms c1 ok acquire k owner a fence 1
		26ms c1 invoke acquire k owner a
		27ms c1 ok acquire k owner a fence 2 until 48ms
		31ms c1 invoke release k owner a fence 1
		34ms c0 invoke release k owner a
		35ms c0 fail release k owner a err "lease lost"
		35ms c0 invoke write k owner a fence 1 value a5
		36ms c1 info release k owner a fence 1 err "i/o timeout"
		37ms c0 ok write k owner a fence 1 value a5 seq 5 began 37ms ended 37ms`, `[S3z]`},
	{"a late write under a lease taken twice, and a refusal told late", `header ttl 17ms drift 1ms
		 0s c2 invoke acquire k owner b
		 3ms c2 ok acquire k owner b
		 9ms c1 invoke acquire k owner b
		10ms c1 ok acquire k owner b
		12ms c1 invoke release k owner b
		25ms c1 ok release k owner b ended 21ms
		44ms c2 invoke release k owner b
		46ms c1 invoke write k owner b value b4
		47ms c1 ok write k owner b value b4
		51ms c2 fail release k owner b ended 45ms err "lease lost"`, `[S8]`},
	{"a late release whose first victim turns out to have let go", `header ttl 29ms fenced
		 1ms c4 invoke acquire k owner e
		 1ms c4 ok acquire k owner e until 30ms
		32ms c6 invoke acquire k owner a
		34ms c2 invoke acquire k owner c
		36ms c5 invoke acquire k owner d
		36ms c5 ok acquire k owner d until 65ms
		36ms c6 ok acquire k owner a until 61ms began 32ms ended 33ms
		37ms c4 invoke release k owner e
		40ms c4 ok release k owner e
		41ms c2 ok acquire k owner c until 63ms
		41ms c5 invoke release k owner d
		47ms c2 invoke acquire k owner c
		49ms c2 ok acquire k owner c`, `[S6 S1 S1 S5]`},
	{"a lease of which the history tells late, and a release of the one that seemed to be before it", `header ttl 14ms epsilon 2ms
		 1ms c2 invoke acquire k owner a
		 3ms c0 invoke acquire k owner a
		 6ms c0 ok acquire k owner a
		 6ms c0 invoke release k owner a
		 7ms c0 info release k owner a err "i/o timeout"
		 7ms c2 ok acquire k owner a ended 5ms
		13ms c5 invoke write k owner a value a1
		25ms c5 ok write k owner a value a1`, `[]`},
	{"two releases of two leases with one token", `header ttl 21ms drift 1ms epsilon 2ms fenced unchecked-release
		 3ms c1 invoke acquire k owner b
		 6ms c0 invoke acquire k owner a
		 7ms c2 invoke acquire k owner b
		 7ms c0 ok acquire k owner a fence 2 until 26ms
		 8ms c2 ok acquire k owner b fence 2
		 8ms c1 ok acquire k owner b fence 2 until 23ms
		 9ms c2 invoke release k owner b fence 2
		 9ms c1 invoke release k owner b
		22ms c2 ok release k owner b fence 2 began 15ms ended 15ms`, `[S4b]`},
	{"a section, and a lease of its owner's with another token that is told behind its last write", `header ttl 13ms drift 2ms epsilon 2ms fenced
		 3ms c1 invoke acquire k owner a
		 7ms c1 ok acquire k owner a fence 1 until 14ms
		 8ms c1 invoke write k owner a fence 1 value a1
		 9ms c3 invoke write k owner d fence 2 value d2
		11ms c1 ok write k owner a fence 1 value a1 seq 1
		12ms c1 invoke write k owner a fence 1 value a3
		13ms c3 ok write k owner d fence 2 value d2 seq 2
		14ms c0 invoke acquire k owner a
		14ms c0 ok acquire k owner a fence 3 until 25ms
		22ms c1 ok write k owner a fence 1 value a3 seq 3`, `[S3 S2 S8]`},
	{"an extension that says another token in its answer", `header ttl 13ms drift 1ms unchecked-release
		 3ms c1 invoke acquire k owner b
		 4ms c1 ok acquire k owner b fence 2 until 15ms
		14ms c1 invoke acquire k owner b
		17ms c1 ok acquire k owner b fence 1 until 26ms
		18ms c1 invoke extend k owner b fence 1
		20ms c1 ok extend k owner b fence 2
		28ms c1 invoke write k owner b fence 1 value b5 base 0
		29ms store ok audit k owner b fence 1 value b5 seq 5`, `[S4]`},
	{"a rejected write behind the deadline, and an extension", `header ttl 26ms drift 2ms fenced
		 8ms c0 invoke acquire k owner a
		11ms c0 ok acquire k owner a fence 2
		36ms c0 invoke write k owner a fence 2 value a2
		36ms c0 fail write k owner a fence 2 value a2 seq 2 err "stale token"
		36ms c0 invoke extend k owner a
		36ms c0 ok extend k owner a`, `[]`},
	{"two acquires that crossed with two tokens, and the loss of one", `header ttl 23ms fenced
		 1ms c1 invoke acquire k owner a
		 3ms c1 ok acquire k owner a fence 3 until 24ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 26ms
		 5ms c1 invoke write k owner a fence 3 value a2
		 7ms c0 ok lost k owner a fence 1
		 8ms c1 fail write k owner a fence 3 value a2 seq 2 err "stale token"`, `[]`},
	{"a release that began later than it was told, behind a refusal, and another's hold before it", `header ttl 13ms
		14ms c2 invoke acquire k owner c
		15ms c2 ok acquire k owner c fence 2
		19ms c2 fail extend k owner c began 18ms ended 19ms err "lease lost"
		39ms c2 invoke release k owner c fence 2
		41ms c3 invoke acquire k owner a
		41ms c3 ok acquire k owner a fence 4 until 54ms
		70ms c2 ok release k owner c fence 2 began 48ms ended 65ms`, `[S6]`},
	{"a write behind the deadline, while an extension is under way that began only later", `header ttl 18ms drift 1ms
		 3ms c0 invoke acquire k owner a
		 5ms c0 ok acquire k owner a fence 1
		 5ms c1 invoke extend k owner a
		23ms c0 invoke write k owner a fence 1 value a2 base 0
		26ms c1 ok extend k owner a fence 1 until 43ms began 26ms
		56ms store ok audit k owner a fence 1 value a2 seq 2`, `[S3z]`},
	{"two refusals of one process, the first of another token", `header ttl 29ms drift 2ms epsilon 3ms
		 7ms c1 invoke acquire k owner b
		 8ms c1 ok acquire k owner b fence 1 until 34ms
		43ms c1 invoke extend k owner b fence 2
		48ms c1 fail extend k owner b fence 2 began 43ms ended 46ms err "lease lost"
		61ms c1 invoke extend k owner b
		62ms c1 fail extend k owner b err "lease lost"
		67ms c4 invoke write k owner b fence 1 value b9
		72ms c4 ok write k owner b fence 1 value b9 seq 9 ended 69ms`, `[S8]`},
	{"a write behind an acquire of unknown outcome, under a lease that a loss may have come before", `header ttl 22ms drift 2ms epsilon 3ms unchecked-release
		 1ms c1 invoke acquire k owner a
		 2ms c0 invoke acquire k owner a
		 4ms c1 ok acquire k owner a fence 1
		 5ms c2 ok lost k owner a fence 1
		 5ms c0 ok acquire k owner a fence 1 until 5ms
		10ms c2 invoke acquire k owner a
		11ms c2 info acquire k owner a err "i/o timeout"
		12ms c0 invoke write k owner a fence 1 value a3
		15ms c0 ok write k owner a fence 1 value a3 seq 2`, `[S3z S7]`},
	{"a write that only the log tells of, under a grant told late, with another one since", `header ttl 21ms drift 2ms epsilon 2ms fenced
		21ms c1 invoke acquire k owner a
		45ms c5 invoke acquire k owner a
		46ms c5 ok acquire k owner a until 64ms
		47ms c5 invoke release k owner a
		47ms c5 ok release k owner a
		47ms c5 invoke write k owner a value a3 base 2
		47ms c1 ok acquire k owner a began 31ms ended 32ms
		55ms c1 invoke acquire k owner a
		58ms c1 ok acquire k owner a until 74ms ended 56ms
		67ms store ok audit k owner a value a3 seq 3`, `[S8]`},
	{"a write given up before its owner's grant is told, with two more since", `header ttl 24ms drift 2ms
		1ms c1 invoke acquire k owner a
		3ms c0 invoke write k owner a value a1
		4ms c0 info write k owner a value a1 err "i/o timeout"
		5ms c1 ok acquire k owner a fence 1 until 6ms began 2ms ended 2ms
		5ms c1 invoke release k owner a
		6ms c1 ok release k owner a
		37ms c5 invoke acquire k owner a
		46ms c5 ok acquire k owner a fence 5 until 59ms
		69ms c5 invoke acquire k owner a
		72ms c1 invoke release k owner a
		77ms c5 ok acquire k owner a fence 5 until 91ms
		78ms store ok audit k owner a value a1 seq 1`, `[]`},
	{"a write under way until the end, issued before its owner's grant is told, with two more since", `header ttl 24ms drift 2ms
		1ms c1 invoke acquire k owner a
		3ms c0 invoke write k owner a value a1
		5ms c1 ok acquire k owner a fence 1 until 6ms began 2ms ended 2ms
		5ms c1 invoke release k owner a
		6ms c1 ok release k owner a
		37ms c5 invoke acquire k owner a
		46ms c5 ok acquire k owner a fence 5 until 59ms
		69ms c5 invoke acquire k owner a
		72ms c1 invoke release k owner a
		77ms c5 ok acquire k owner a fence 5 until 91ms
		78ms store ok audit k owner a value a1 seq 1`, `[]`},
	{"a loss of no lease of its own before the loss of its own", `header ttl 15ms unchecked-release
		31ms c1 invoke acquire k owner a
		32ms c1 ok acquire k owner a fence 3 until 44ms began 31ms ended 32ms
		40ms c2 ok lost k owner a fence 2
		41ms c2 ok lost k owner a
		41ms c2 invoke write k owner a value a8
		42ms c2 ok write k owner a value a8 seq 8`, `[S8]`},
	{"the rejection of the newest token, which a re-entry gave and another one changed", `header ttl 23ms fenced
		3ms c0 invoke acquire k owner a
		4ms c0 ok acquire k owner a fence 2 until 26ms
		17ms c5 invoke acquire k owner a
		22ms c5 ok acquire k owner a fence 5 until 40ms
		24ms c5 invoke acquire k owner a
		24ms c5 ok acquire k owner a fence 4
		25ms c5 invoke write k owner a fence 5 value a7
		27ms c5 fail write k owner a fence 5 value a7 seq 7 err "stale token"`, `[S4b S4b]`},
	{"a token given again, with another lease since, by an extension that was never sent", `header ttl 17ms drift 1ms epsilon 1ms
		4ms c2 invoke acquire k owner c
		8ms c2 ok acquire k owner c fence 3 until 20ms
		13ms c2 invoke extend k owner c fence 3
		14ms c2 info extend k owner c fence 3 err "i/o timeout"
		51ms c4 invoke acquire k owner c mode r
		53ms c4 ok acquire k owner c mode r fence 4
		54ms c4 invoke release k owner c mode r fence 4
		55ms c4 ok release k owner c mode r fence 4
		56ms c4 invoke acquire k owner c mode r
		58ms c4 ok acquire k owner c mode r fence 3 until 72ms
		64ms link ok receipt never-forwarded of 2`, `[S4b]`},
	{"the rejection of the newest token, whose lease was taken once more before, as the history tells late", `header ttl 22ms fenced
		 3ms c3 invoke acquire k owner c
		26ms c2 invoke acquire k owner c
		28ms c3 ok acquire k owner c fence 2
		29ms c2 info acquire k owner c err "i/o timeout"
		30ms c7 invoke acquire k owner c
		32ms c3 invoke write k owner c fence 2 value c3
		33ms c7 ok acquire k owner c fence 2 until 52ms ended 31ms
		34ms c3 fail write k owner c fence 2 value c3 seq 2 err "stale token"`, `[S7]`},
	{"the rejection of the newest token, whose grant the history tells late", `header ttl 22ms fenced
		30ms c7 invoke acquire k owner c
		32ms c3 invoke write k owner c fence 2 value c3
		33ms c7 ok acquire k owner c fence 2 until 52ms ended 31ms
		34ms c3 fail write k owner c fence 2 value c3 seq 2 err "stale token"`, `[]`},
	{"a late write that only the log tells of, beside a lease that was extended only since", `header ttl 28ms drift 2ms epsilon 2ms unchecked-release
		 1ms c3 invoke acquire k owner c
		 4ms c2 invoke acquire k owner c
		34ms c2 ok acquire k owner c until 30ms
		39ms c2 invoke write k owner c value c2
		40ms c3 ok acquire k owner c
		44ms c3 invoke extend k owner c
		49ms c3 ok extend k owner c until 70ms
		56ms store ok audit k owner c value c2 seq 2`, `[S3z S7 S7]`},
	{"an extension across a loss, told before one that had begun sooner", `header ttl 11ms drift 2ms epsilon 2ms fenced unchecked-release
		 2ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a until 8ms
		 5ms c2 invoke acquire k owner c
		10ms c0 ok extend k owner a until 19ms began 10ms
		11ms c0 ok extend k owner a until 18ms began 9ms
		13ms c2 ok acquire k owner c until 14ms began 7ms ended 7ms`, `[S1 S6]`},
	{"a third grant inside of a hold whose release began later than it seemed", `header ttl 21ms drift 2ms fenced unchecked-release
		 1ms c4 invoke acquire k owner e
		 1ms c4 ok acquire k owner e fence 1
		31ms c2 invoke acquire k owner c
		34ms c2 ok acquire k owner c fence 3
		35ms c4 invoke release k owner e
		36ms c4 ok release k owner e
		40ms c7 invoke acquire k owner f
		44ms c2 invoke release k owner c
		44ms c7 ok acquire k owner f fence 4
		46ms c2 fail release k owner c began 46ms ended 46ms err "lease lost"`, `[S1 S5]`},
	{"a write behind its own lease, beside a longer one of its owner's that asked once more", `header ttl 23ms drift 1ms
		 1ms c1 invoke acquire k owner b
		27ms c2 invoke acquire k owner b
		29ms c2 ok acquire k owner b fence 4 until 49ms
		29ms c1 ok acquire k owner b fence 3 until 23ms
		30ms c2 invoke acquire k owner b
		33ms c2 info acquire k owner b err "i/o timeout"
		36ms c1 invoke write k owner b fence 3 value b4
		38ms c1 ok write k owner b fence 3 value b4 seq 2 ended 37ms`, `[S3z S7]`},
	{"a lease taken twice with its token, beside one with another token", `header ttl 21ms fenced
		 2ms c5 invoke acquire k owner e
		 5ms c4 invoke acquire k owner e
		 8ms c5 ok acquire k owner e fence 3 until 23ms
		 8ms c5 invoke acquire k owner e
		 8ms c4 ok acquire k owner e fence 4 until 25ms
		 8ms c5 ok acquire k owner e fence 3
		33ms c5 invoke release k owner e fence 3
		39ms c5 ok release k owner e fence 3
		64ms c5 invoke write k owner e fence 3 value e4 base 2
		65ms c5 ok write k owner e fence 3 value e4 seq 2 base 2 began 64ms ended 65ms`, `[]`},
	{"a write whose own word puts it behind a later lease of its owner's", `header ttl 17ms drift 1ms fenced
		10ms c5 invoke acquire k owner a
		26ms c5 ok acquire k owner a fence 3 until 26ms
		34ms c0 invoke acquire k owner a
		36ms c0 fail acquire k owner a err "lock held by another owner"
		40ms c5 invoke write k owner a fence 3 value a6
		40ms c0 invoke acquire k owner a
		41ms c0 ok acquire k owner a fence 6 until 56ms
		48ms c5 ok write k owner a fence 3 value a6 seq 8 began 44ms ended 48ms`, `[S7]`},
	{"a re-entry with another token into a lease that is not its owner's latest", `header ttl 14ms drift 1ms
		 0s c1 invoke acquire k owner a
		 1ms c0 invoke acquire k owner a
		 2ms c1 ok acquire k owner a fence 2 until 13ms
		 2ms c1 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1
		 5ms c0 invoke release k owner a fence 1
		 5ms c1 ok acquire k owner a fence 2
		 5ms c0 ok release k owner a fence 1
		 7ms c0 invoke acquire k owner a
		 8ms c0 ok acquire k owner a fence 3`, `[S4b]`},
	{"a re-entry behind a refusal of the hold that is told only later", `header ttl 19ms
		 1ms c2 invoke acquire k owner a
		 2ms c2 ok acquire k owner a fence 1
		 2ms c1 invoke acquire k owner a
		 3ms c1 ok acquire k owner a fence 1 until 21ms
		 5ms c2 invoke release k owner a fence 1
		 8ms c4 invoke acquire k owner a
		 9ms c4 ok acquire k owner a fence 1 until 27ms ended 9ms
		 9ms c2 fail release k owner a fence 1 ended 6ms err "lease lost"`, `[S4b]`},
	{"a release refused, of a lease of which the history tells late that it was a re-entry", `header ttl 12ms fenced
		17ms c2 invoke acquire k owner a
		18ms c0 invoke acquire k owner a
		25ms c2 ok acquire k owner a fence 2 until 29ms
		26ms c2 invoke release k owner a
		27ms c2 fail release k owner a err "lease lost"
		29ms c0 ok acquire k owner a fence 2 until 29ms began 19ms ended 20ms
		37ms c2 invoke write k owner a fence 2 value a8 base 6
		38ms store ok audit k owner a fence 2 value a8 seq 7`, `[S8]`},
	{"a lease given back beside another one that is taken once more, and a write with a token of neither", `header ttl 20ms drift 2ms fenced
		 0s c1 invoke acquire k owner b
		 0s c2 invoke acquire k owner b
		 0s c2 ok acquire k owner b fence 1
		 1ms c1 ok acquire k owner b fence 2 until 18ms ended 1ms
		 2ms c1 invoke release k owner b
		 3ms c1 ok release k owner b
		 4ms c2 invoke acquire k owner b
		 6ms c2 ok acquire k owner b fence 1
		 7ms c1 invoke write k owner b fence 3 value b1 base 0
		 9ms c1 ok write k owner b fence 3 value b1 seq 1 base 0 began 9ms ended 9ms`, `[]`},
	{"two releases of a lease taken twice, of which the one told first began last", `header ttl 11ms drift 1ms
		 1ms c2 invoke acquire k owner c
		 2ms c2 ok acquire k owner c fence 1
		 6ms c0 invoke acquire k owner a
		 9ms c1 invoke acquire k owner a
		11ms c0 ok acquire k owner a fence 2
		11ms c1 ok acquire k owner a fence 2 until 19ms
		11ms c1 invoke release k owner a fence 2
		11ms c0 invoke release k owner a fence 2
		13ms c1 ok release k owner a fence 2 began 12ms ended 12ms
		16ms c3 ok extend k owner c fence 1 until 24ms began 14ms`, `[]`},
	{"a write under a lease older than its owner's two latest", `header ttl 23ms drift 1ms epsilon 1ms
		 1ms c2 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 1ms c1 ok acquire k owner a fence 1
		 4ms c4 invoke acquire k owner a
		 5ms c2 ok acquire k owner a fence 2
		 5ms c2 ok lost k owner a fence 2
		 6ms c4 ok acquire k owner a fence 2 until 6ms
		12ms c1 invoke write k owner a fence 1 value a3
		12ms c1 ok write k owner a fence 1 value a3 seq 3`, `[S7]`},
	{"a write behind an acquire of unknown outcome, beside a lease that a loss of another token was told of", `header ttl 18ms epsilon 1ms unchecked-release
		34ms c2 invoke acquire k owner a
		36ms c2 ok acquire k owner a fence 4 until 52ms
		38ms c3 invoke acquire k owner a
		39ms c2 ok lost k owner a fence 3
		39ms c3 ok acquire k owner a fence 5 until 39ms ended 39ms
		40ms c3 invoke acquire k owner a
		42ms c3 info acquire k owner a err "i/o timeout"
		44ms c4 invoke write k owner a fence 5 value a5 base 4
		45ms c4 ok write k owner a fence 5 value a5 seq 5 base 4`, `[S3z S7]`},
	{"a write with a token that a re-entry changed twice", `header ttl 27ms drift 1ms
		58ms c2 invoke acquire k owner c
		62ms c2 ok acquire k owner c fence 6 until 84ms
		65ms c2 invoke release k owner c
		66ms c2 fail release k owner c err "lease lost"
		66ms c2 invoke acquire k owner c
		66ms c2 ok acquire k owner c fence 5
		71ms c2 invoke acquire k owner c
		71ms c2 ok acquire k owner c fence 6 until 97ms
		73ms c2 invoke acquire k owner c
		76ms c2 ok acquire k owner c fence 7
		81ms c2 invoke write k owner c fence 6 value c4
		82ms c2 ok write k owner c fence 6 value c4 seq 4`, `[S4 S4b S4b]`},
	{"a lease taken once more with its token, beside one that crossed it", `header ttl 25ms drift 1ms fenced
		 3ms c3 invoke acquire k owner d
		 3ms c4 invoke acquire k owner d
		 5ms c4 ok acquire k owner d fence 2 until 27ms
		10ms c5 invoke acquire k owner d
		11ms c3 ok acquire k owner d fence 1 until 27ms
		17ms c5 ok acquire k owner d fence 2
		23ms c5 invoke release k owner d fence 2
		24ms c5 ok release k owner d fence 2
		26ms c5 invoke write k owner d fence 2 value d7
		29ms store ok audit k owner d fence 2 value d7 seq 6`, `[]`},
	{"a write under a lease whose release began only behind it", `header ttl 14ms unchecked-release
		 4ms c1 invoke acquire k owner a
		15ms c0 invoke acquire k owner a
		18ms c1 ok acquire k owner a
		19ms c0 ok acquire k owner a
		20ms c0 invoke release k owner a
		20ms c1 invoke write k owner a value a2
		21ms c0 ok release k owner a began 21ms ended 21ms
		28ms store ok audit k owner a value a2 seq 2`, `[S7]`},
	{"a re-entry with another token by a process that had re-entered before", `header ttl 16ms drift 2ms fenced
		 0s c2 invoke acquire k owner b
		 0s c1 invoke acquire k owner b
		 1ms c1 ok acquire k owner b fence 1
		 1ms c2 ok acquire k owner b fence 1
		 1ms c2 invoke acquire k owner b
		 8ms c2 ok acquire k owner b fence 2`, `[S4b]`},
	{"a release behind a loss of a lease taken twice", `header ttl 29ms epsilon 1ms
		14ms c1 invoke acquire k owner b
		18ms c1 ok acquire k owner b fence 3 ended 17ms
		50ms c1 invoke acquire k owner b
		51ms c1 ok acquire k owner b fence 5 ended 51ms
		52ms c1 invoke acquire k owner b
		54ms c1 ok acquire k owner b fence 5
		57ms c1 ok lost k owner b
		59ms c1 invoke release k owner b
		59ms c1 ok release k owner b
		62ms c1 invoke write k owner b fence 3 value b2 base 1
		67ms store ok audit k owner b fence 3 value b2 seq 2`, `[S8]`},
	{"an early grant, and a release before it that began later", `header ttl 26ms epsilon 3ms fenced
		29ms c0 invoke acquire k owner a
		30ms c0 ok acquire k owner a
		36ms nemesis invoke fault kill-node target n1 instant
		36ms nemesis ok fault kill-node target n1 instant receipt "gone"
		38ms c4 invoke acquire k owner b
		46ms c4 ok acquire k owner b
		49ms c0 invoke release k owner a
		55ms c0 fail release k owner a began 55ms ended 55ms err "lease lost"`, `[S1 S10]`},
	{"an extension, without a token, by the process of an older lease that is told late", `header ttl 22ms drift 1ms unchecked-release
		 1ms c1 invoke acquire k owner b
		44ms c2 invoke acquire k owner b
		48ms c2 ok acquire k owner b
		67ms c2 invoke acquire k owner b
		88ms c1 ok acquire k owner b until 22ms ended 2ms
		89ms c1 invoke extend k owner b
		90ms c1 ok extend k owner b began 89ms ended 90ms
		90ms c2 ok acquire k owner b until 88ms
		92ms c2 invoke write k owner b value b1 base 0
		94ms c2 ok write k owner b value b1 seq 1 base 0`, `[S7]`},
	{"a write behind the deadline, when each process has given back what it took, and one asked again in vain", `header ttl 20ms drift 1ms
		 0s c0 invoke acquire k owner a
		 0s c1 invoke acquire k owner a
		 0s c1 ok acquire k owner a until 19ms
		 3ms c0 ok acquire k owner a until 19ms
		 3ms c1 invoke release k owner a
		 6ms c0 invoke release k owner a
		 6ms c0 ok release k owner a
		 7ms c0 invoke acquire k owner a
		 8ms c1 ok release k owner a
		10ms c1 invoke acquire k owner a
		11ms c1 ok acquire k owner a until 12ms
		12ms c0 info acquire k owner a err "i/o timeout"
		13ms c1 invoke write k owner a value a1
		15ms c1 ok write k owner a value a1 seq 1`, `[S3z]`},
	{"a refused release of one of three processes that took a lease, which has an older one too", `header ttl 28ms drift 1ms fenced
		 1ms c2 invoke acquire k owner b
		32ms c2 ok acquire k owner b until 28ms
		37ms c3 invoke acquire k owner b
		37ms c2 invoke acquire k owner b
		37ms c3 ok acquire k owner b
		40ms c4 invoke acquire k owner b
		41ms c2 ok acquire k owner b until 64ms
		46ms c4 ok acquire k owner b until 67ms
		47ms c4 invoke release k owner b
		47ms c4 ok release k owner b
		50ms c2 invoke release k owner b
		51ms c2 fail release k owner b err "lease lost"
		54ms c3 invoke write k owner b value b4
		57ms c3 ok write k owner b value b4 seq 5`, `[S7 S8]`},
	{"a release that was never answered, before one that began later than it was told", `header ttl 21ms drift 2ms fenced
		 2ms c2 invoke acquire k owner c
		 2ms c2 ok acquire k owner c fence 1 until 21ms
		 8ms c3 invoke release k owner c fence 1
		 9ms c2 invoke release k owner c
		10ms c0 invoke acquire k owner a
		11ms c0 ok acquire k owner a fence 2
		13ms c3 fail release k owner c fence 1 began 12ms ended 12ms err "lease lost"`, `[]`},
	{"a rejected holder whose re-entry may have changed the token, and a loss that names the old one", `header ttl 20ms fenced unchecked-release
		 0s c0 invoke acquire k owner a
		 0s c1 invoke acquire k owner a
		 1ms c1 ok acquire k owner a fence 1
		 1ms c0 ok acquire k owner a fence 1
		 9ms c0 invoke release k owner a fence 1
		 9ms c0 ok release k owner a fence 1
		 9ms c0 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 2 ended 10ms
		10ms c2 ok lost k owner a fence 1
		11ms c0 invoke write k owner a fence 2 value a6
		12ms c0 fail write k owner a fence 2 value a6 seq 6 err "stale token"`, `[S4b]`},
	{"a token given again behind an extension that was never sent, and another extension of unknown outcome since", `header ttl 19ms drift 2ms epsilon 3ms fenced
		 3ms c1 invoke acquire k owner b
		 4ms c1 ok acquire k owner b fence 1 until 5ms
		 4ms c1 invoke extend k owner b fence 1
		20ms c1 info extend k owner b fence 1 err "i/o timeout"
		33ms c4 invoke acquire k owner b
		34ms c4 ok acquire k owner b fence 1 until 50ms
		37ms c4 info extend k owner b began 36ms ended 37ms err "i/o timeout"
		43ms link ok receipt never-forwarded of 2`, `[S4b]`},
	{"a token given again behind two extensions of unknown outcome, of which one was never sent", `header ttl 19ms drift 2ms epsilon 3ms fenced
		 3ms c1 invoke acquire k owner b
		 4ms c1 ok acquire k owner b fence 1 until 5ms
		 4ms c1 invoke extend k owner b fence 1
		20ms c1 info extend k owner b fence 1 err "i/o timeout"
		21ms c2 invoke extend k owner b fence 1
		22ms c2 info extend k owner b fence 1 err "i/o timeout"
		33ms c4 invoke acquire k owner b
		34ms c4 ok acquire k owner b fence 1 until 50ms
		43ms link ok receipt never-forwarded of 2`, `[]`},
	{"an extension that gives a stillborn grant a hold, after another's lease was given back", `header ttl 28ms drift 1ms epsilon 3ms
		 4ms c3 invoke acquire k owner d
		 7ms c3 ok acquire k owner d fence 1
		 9ms c0 invoke acquire k owner a mode r
		49ms c3 invoke release k owner d
		51ms c3 ok release k owner d began 50ms ended 51ms
		59ms c0 ok acquire k owner a mode r fence 3 until 36ms ended 36ms
		98ms c0 ok extend k owner a mode r until 124ms began 97ms`, `[S7]`},
	{"a stillborn lease, while an older one goes on whose release was never sent", `header ttl 27ms drift 1ms fenced
		0s c1 invoke acquire k owner b
		0s c1 ok acquire k owner b
		 1ms c1 invoke release k owner b
		 4ms c3 invoke acquire k owner b
		 5ms c3 ok acquire k owner b until 5ms
		10ms c3 invoke write k owner b value "b3"
		42ms link ok receipt never-forwarded of 2
		42ms store ok audit k owner b value "b3" seq 3`, `[S7]`},
	{"a write told late that says itself that it was issued under a lease three grants ago", `header ttl 20ms drift 2ms epsilon 3ms unchecked-release
		0s c2 invoke acquire k owner b
		 1ms c1 invoke write k owner b value "b1" base 0
		 1ms c2 ok acquire k owner b
		22ms c1 info write k owner b value "b1" base 0 began 5ms ended 9ms err "i/o timeout"
		59ms c4 invoke acquire k owner b
		61ms c4 ok acquire k owner b until 77ms
		84ms c5 invoke acquire k owner b
		85ms c5 ok acquire k owner b until 102ms
		130ms store ok audit k owner b value "b1" seq 1`, `[]`},
	{"another's write that arrived between two writes by its number, and was issued before the third", `header ttl 15ms drift 1ms unchecked-release
		 2ms c2 invoke acquire k owner c
		18ms c2 ok acquire k owner c until 16ms
		18ms c2 invoke write k owner c value "c2"
		25ms c2 ok write k owner c value "c2" seq 2
		28ms c2 invoke write k owner c value "c5"
		34ms c2 ok write k owner c value "c5" seq 5 began 29ms ended 30ms
		35ms c2 invoke write k owner c value "c7"
		50ms c0 invoke write k owner a value "a8"
		51ms c2 ok write k owner c value "c7" seq 7
		54ms c0 ok write k owner a value "a8" seq 4 began 50ms ended 52ms`, `[S3z S3z S3z S7 S3 S8]`},
	{"the writer's own release, acknowledged while another process's was under way", `header ttl 27ms drift 2ms epsilon 1ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1 until 26ms
		 7ms c2 invoke acquire k owner a
		 7ms c2 ok acquire k owner a fence 1
		 7ms c2 invoke acquire k owner a
		 9ms c2 ok acquire k owner a fence 1
		15ms c2 invoke release k owner a
		16ms c2 ok release k owner a
		16ms c2 invoke release k owner a fence 1
		17ms c2 ok release k owner a fence 1
		19ms c2 invoke release k owner a
		19ms c3 invoke release k owner a fence 1
		19ms c3 ok release k owner a fence 1
		19ms c3 invoke write k owner a fence 1 value "a7"
		20ms c3 ok write k owner a fence 1 value "a7" seq 6`, `[S8]`},
	{"a token given again, behind a refusal told so late that its lease is the third last", `header ttl 13ms drift 1ms fenced
		38ms c1 invoke acquire k owner a
		40ms c1 ok acquire k owner a fence 4 until 50ms
		42ms c1 invoke release k owner a
		52ms c0 invoke acquire k owner a
		53ms c0 ok acquire k owner a fence 4 until 64ms
		53ms c0 invoke release k owner a fence 4
		54ms c0 ok release k owner a fence 4
		54ms c0 invoke acquire k owner a
		54ms c0 ok acquire k owner a fence 5
		69ms c1 fail release k owner a began 45ms ended 49ms err "lease lost"`, `[S4b]`},
	{"a token of two leases, of which the older one was lost", `header ttl 16ms drift 2ms
		 3ms c2 invoke acquire k owner c
		 4ms c2 ok acquire k owner c fence 1 until 17ms
		 5ms c2 ok lost k owner c
		 7ms c3 invoke acquire k owner c
		 9ms c3 ok acquire k owner c fence 1 until 21ms
		16ms c2 invoke acquire k owner c
		31ms c2 ok acquire k owner c fence 3 until 29ms
		37ms c3 invoke acquire k owner c
		38ms c3 ok acquire k owner c fence 4
		39ms c3 invoke write k owner c fence 1 value "c5"
		40ms store ok audit k owner c fence 1 value "c5" seq 5`, `[S3z S7]`},
	{"a release without a token, when of three leases the two later ones were given back", `header ttl 23ms drift 2ms epsilon 2ms
		10ms c2 invoke acquire k owner a
		12ms c2 ok acquire k owner a fence 3 until 31ms
		42ms c3 invoke release k owner a fence 4
		52ms c5 invoke release k owner a
		55ms c5 ok release k owner a
		66ms c6 invoke write k owner a fence 4 value "a4" base 2
		67ms c6 ok write k owner a fence 4 value "a4" seq 3 base 2 began 67ms ended 67ms`, `[S8]`},
	{"an extension behind a release, and another's grant between that is told behind it", `header ttl 11ms drift 1ms fenced unchecked-release
		0s c1 invoke acquire k owner b
		 1ms c3 invoke acquire k owner c
		 1ms c1 ok acquire k owner b fence 1 until 1ms
		 5ms c1 invoke release k owner b
		 6ms c1 ok release k owner b
		 6ms c3 ok acquire k owner c fence 2 until 11ms began 3ms ended 4ms
		 6ms c1 ok extend k owner b until 15ms began 5ms`, `[S1 S6 S7]`},
	{"an extension, a re-entry, and another's grant before both that is told behind them", `header ttl 13ms fenced
		14ms c3 invoke acquire k owner c
		15ms c3 ok acquire k owner c until 27ms began 14ms ended 15ms
		28ms c1 invoke acquire k owner b
		41ms c3 invoke extend k owner c
		42ms c3 ok extend k owner c until 54ms
		42ms c3 invoke acquire k owner c
		42ms c3 ok acquire k owner c
		45ms c1 ok acquire k owner b until 41ms ended 32ms`, `[S1 S6]`},
	{"a renewal by the process of an older lease that was told late, and its release", `header ttl 29ms drift 2ms epsilon 2ms
		 1ms c1 invoke acquire k owner a
		38ms c0 invoke acquire k owner a
		40ms c0 ok acquire k owner a
		47ms c1 ok acquire k owner a until 48ms began 6ms ended 22ms
		48ms c2 invoke acquire k owner c
		50ms c4 invoke acquire k owner d
		51ms c1 ok extend k owner a until 76ms began 49ms
		53ms c1 invoke release k owner a
		56ms c2 ok acquire k owner c until 75ms
		58ms c1 ok release k owner a
		61ms c4 ok acquire k owner d until 77ms
		61ms nemesis ok phase end`, `[S1]`},
	{"a refusal without a token, when of three leases the two later ones were given back", `header ttl 13ms drift 1ms epsilon 1ms
		13ms c1 invoke acquire k owner b
		15ms c1 ok acquire k owner b fence 2 ended 15ms
		39ms c1 invoke acquire k owner b
		40ms c1 ok acquire k owner b fence 1
		40ms c1 invoke release k owner b fence 1
		40ms c1 ok release k owner b fence 1
		43ms c1 invoke acquire k owner b
		44ms c1 ok acquire k owner b fence 4 until 55ms
		45ms c1 invoke release k owner b fence 4
		48ms c1 info release k owner b fence 4 ended 48ms err "i/o timeout"
		48ms c2 invoke release k owner b
		49ms c2 fail release k owner b err "lease lost"
		51ms c2 invoke write k owner b fence 2 value "b9" base 7
		58ms store ok audit k owner b fence 2 value "b9" seq 10`, `[S4 S8]`},
	{"a write that says itself that it was issued behind a loss which the history told meanwhile", `header ttl 11ms drift 1ms epsilon 1ms
		 5ms c4 invoke acquire k owner e
		 9ms c4 ok acquire k owner e fence 1 until 15ms
		11ms c4 invoke write k owner e fence 1 value "e1"
		17ms c5 ok lost k owner e fence 1
		56ms c4 ok write k owner e fence 1 value "e1" began 36ms ended 40ms`, `[S8]`},
	{"a refusal without a token, when of three leases the two later ones were lost", `header ttl 25ms drift 1ms epsilon 1ms fenced
		 2ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1
		55ms c0 invoke acquire k owner a
		55ms c0 ok acquire k owner a fence 3
		57ms c0 ok lost k owner a
		62ms c0 invoke acquire k owner a
		63ms c0 ok acquire k owner a fence 3
		64ms c0 ok lost k owner a fence 3
		88ms c0 invoke release k owner a
		93ms c0 fail release k owner a err "lease lost"
		93ms c0 invoke write k owner a fence 1 value "a6" base 0
		99ms store ok audit k owner a fence 1 value "a6" seq 6`, `[S8]`},
	{"a write that says itself that it was issued once its late lease had been extended", `header ttl 20ms epsilon 3ms unchecked-release
		 5ms c1 invoke acquire k owner b
		 9ms c1 ok acquire k owner b fence 1
		64ms c1 invoke write k owner b fence 1 value "b4"
		70ms c2 ok extend k owner b fence 1 until 89ms began 69ms
		75ms c1 ok write k owner b fence 1 value "b4" seq 4 began 75ms ended 75ms`, `[]`},
	{"an extension refused that was asked for before the history told of the grant", `header ttl 21ms drift 1ms
		 4ms c0 invoke acquire k owner a
		24ms c4 invoke extend k owner a
		25ms c0 ok acquire k owner a fence 2 ended 5ms
		46ms c4 fail extend k owner a err "lease lost"
		51ms c0 invoke write k owner a fence 2 value "a3" base 2
		59ms store ok audit k owner a fence 2 value "a3" seq 3`, `[S8]`},
	{"a refused extension of a lease that one process took twice, and a stillborn one since", `header ttl 24ms drift 2ms
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 23ms
		 2ms c0 invoke extend k owner a
		 2ms c0 fail extend k owner a err "lease lost"
		 4ms c0 invoke acquire k owner a
		 5ms c0 ok acquire k owner a until 5ms ended 5ms
		11ms c0 invoke acquire k owner a
		12ms c0 fail acquire k owner a err "lock held by another owner"
		12ms c0 invoke write k owner a value "a3"
		16ms c0 ok write k owner a value "a3" seq 4`, `[S7 S8]`},
	{"a token given again that no certain extension kept", `header ttl 27ms epsilon 1ms fenced
		 1ms c1 invoke acquire k owner a
		 2ms c1 ok acquire k owner a fence 1 until 28ms
		33ms c0 ok extend k owner a until 58ms began 31ms
		40ms c0 invoke release k owner a
		45ms c2 invoke acquire k owner a
		46ms c2 ok acquire k owner a fence 2
		50ms c1 invoke extend k owner a fence 1
		77ms c1 ok extend k owner a fence 1 until 77ms
		80ms c3 invoke acquire k owner a
		82ms c3 ok acquire k owner a fence 2 until 107ms`, `[S4 S4b]`},
	{"an extension answered behind a release, with an earlier deadline", `header ttl 25ms drift 1ms
		 4ms c4 invoke acquire k owner e
		 4ms c4 ok acquire k owner e
		 8ms c3 invoke acquire k owner d
		10ms c4 invoke extend k owner e
		34ms c6 ok extend k owner e until 58ms began 34ms
		35ms c3 ok acquire k owner d until 32ms
		37ms c3 ok extend k owner d until 60ms began 36ms
		46ms c7 invoke release k owner e
		47ms c4 ok extend k owner e until 34ms`, `[S7]`},
	{"an extension answered with another token than it was asked with, and an earlier deadline", `header ttl 23ms drift 2ms fenced unchecked-release
		54ms c2 invoke extend k owner c fence 1
		77ms c4 invoke acquire k owner c
		78ms c4 ok acquire k owner c fence 2 until 98ms
		82ms c2 ok extend k owner c fence 2
		85ms c5 invoke acquire k owner a
		85ms c5 ok acquire k owner a fence 3 until 106ms`, `[]`},
	{"a loss that names the third last lease", `header ttl 28ms unchecked-release
		32ms c1 invoke acquire k owner b
		33ms c2 invoke acquire k owner b
		35ms c2 ok acquire k owner b fence 2 began 33ms ended 34ms
		63ms c1 ok acquire k owner b fence 3
		98ms c2 invoke extend k owner b
		99ms c8 invoke acquire k owner b
		100ms c8 ok acquire k owner b fence 4 until 127ms
		102ms c2 ok extend k owner b
		105ms c2 ok lost k owner b fence 2
		106ms c6 invoke acquire k owner e
		108ms c6 ok acquire k owner e fence 3`, `[S4b S7 S4]`},
	{"a token given again, behind an extension of an older lease that came later", `header ttl 12ms epsilon 2ms fenced
		 2ms c5 invoke acquire k owner e
		 2ms c5 ok acquire k owner e fence 2 until 14ms
		19ms c7 invoke acquire k owner e
		22ms c7 ok acquire k owner e fence 3
		24ms c7 invoke extend k owner e fence 2
		26ms c7 ok extend k owner e fence 2 until 26ms
		37ms c7 invoke acquire k owner e
		37ms c7 ok acquire k owner e fence 3 until 49ms`, `[S4 S4b]`},
	{"a refused extension that names the third last lease", `header ttl 25ms drift 2ms fenced
		 1ms c2 invoke acquire k owner c
		 2ms c3 invoke acquire k owner c
		 3ms c0 invoke acquire k owner a
		 5ms c2 ok acquire k owner c fence 2 until 24ms
		 6ms c3 ok acquire k owner c fence 1 until 25ms
		 8ms c3 invoke release k owner c
		 9ms c2 invoke acquire k owner c
		 9ms c2 ok acquire k owner c fence 1 until 32ms
		12ms c2 invoke extend k owner c fence 2
		14ms c2 fail extend k owner c fence 2 err "lease lost"
		18ms c0 ok acquire k owner a fence 4 until 26ms`, `[S4]`},
	{"a write behind the deadline of the latest lease, when the third last goes on", `header ttl 23ms drift 1ms unchecked-release
		 4ms c1 invoke acquire k owner a
		 4ms c1 ok acquire k owner a fence 1 until 26ms
		 5ms c4 ok lost k owner a fence 2
		 6ms c4 invoke acquire k owner a
		 6ms c4 ok acquire k owner a fence 1
		16ms c4 invoke release k owner a fence 1
		17ms c4 ok release k owner a fence 1
		18ms c5 invoke acquire k owner a
		19ms c4 invoke acquire k owner a
		19ms c4 ok acquire k owner a fence 2 until 20ms
		20ms c5 info acquire k owner a err "i/o timeout"
		22ms c4 invoke write k owner a fence 2 value "a4"
		27ms store ok audit k owner a fence 2 value "a4" seq 4`, `[S3z]`},
	{"a late release, and a hold inside of which it was, told behind it", `header ttl 19ms drift 2ms fenced
		 1ms c5 invoke acquire k owner f
		 5ms c5 ok acquire k owner f fence 1
		28ms c2 invoke acquire k owner c
		50ms c6 invoke acquire k owner d
		51ms c2 ok acquire k owner c fence 4 until 45ms
		52ms c2 invoke extend k owner c
		53ms c5 invoke release k owner f fence 1
		53ms c2 ok extend k owner c
		54ms c2 invoke release k owner c
		54ms c5 ok release k owner f fence 1 ended 54ms
		55ms c6 ok acquire k owner d fence 5 ended 52ms
		57ms c2 fail release k owner c err "lease lost"
		59ms c2 invoke acquire k owner c
		59ms c2 ok acquire k owner c fence 6 until 76ms`, `[S6 S6 S1 S7 S5]`},
	{"a renewal that began before its process was granted the key", `header ttl 15ms drift 1ms fenced
		17ms c3 invoke acquire k owner c
		17ms c3 ok acquire k owner c
		22ms c3 invoke release k owner c
		23ms c1 invoke acquire k owner a
		25ms c4 invoke acquire k owner c
		25ms c4 ok acquire k owner c until 26ms
		25ms c4 ok extend k owner c until 37ms began 23ms
		42ms c1 ok acquire k owner a until 37ms began 29ms ended 32ms`, `[S1]`},
	{"two processes that took the key at once, of which one was refused", `header ttl 28ms epsilon 3ms fenced
		32ms c1 invoke acquire k owner b
		33ms c2 invoke acquire k owner b
		35ms c2 ok acquire k owner b until 61ms
		38ms c1 ok acquire k owner b
		44ms c1 invoke extend k owner b
		46ms c1 fail extend k owner b err "lease lost"
		47ms c1 invoke acquire k owner b
		48ms c1 ok acquire k owner b until 49ms
		50ms c2 invoke acquire k owner b
		52ms c2 info acquire k owner b err "i/o timeout"
		53ms c4 invoke write k owner b value "b6"
		57ms c4 ok write k owner b value "b6" seq 6`, `[S3z]`},
	{"a token given again behind its own release, while another process's is under way", `header ttl 23ms epsilon 2ms
		37ms c4 invoke acquire k owner a
		60ms c4 ok acquire k owner a fence 3 until 60ms
		61ms c0 invoke release k owner a
		63ms c4 invoke release k owner a fence 3
		66ms c4 ok release k owner a fence 3
		66ms c4 invoke acquire k owner a
		67ms c4 ok acquire k owner a fence 3 until 89ms`, `[S4 S4b S7]`},
	{"a re-entry into the lease before, when the latest was given back", `header ttl 26ms drift 1ms
		0s c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 2ms c1 ok acquire k owner a fence 1 until 26ms
		 2ms c1 invoke release k owner a fence 1
		 2ms c1 ok release k owner a fence 1
		 2ms c0 ok acquire k owner a fence 2 until 25ms began 1ms ended 1ms
		 5ms c1 invoke acquire k owner a
		 7ms c1 ok acquire k owner a fence 2 until 30ms
		 7ms c0 invoke release k owner a fence 2
		 8ms c0 ok release k owner a fence 2
		 9ms c1 invoke write k owner a fence 2 value "a2"
		10ms c1 ok write k owner a fence 2 value "a2"`, `[]`},
	{"a write that says itself that it was issued behind an extension, after an attempt in vain", `header ttl 28ms
		 4ms c1 invoke acquire k owner b
		 8ms c2 invoke acquire k owner b
		 9ms c1 ok acquire k owner b fence 3 until 32ms
		12ms c2 info acquire k owner b err "i/o timeout"
		40ms c4 invoke extend k owner b
		41ms c1 invoke write k owner b fence 3 value "b3" base 2
		41ms c4 ok extend k owner b until 68ms
		43ms c1 ok write k owner b fence 3 value "b3" seq 3 base 2 began 42ms ended 42ms`, `[]`},
	{"a refused release of an owner whose re-entry changed the token", `header ttl 22ms drift 1ms epsilon 1ms fenced unchecked-release
		0s c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1
		 3ms c1 ok acquire k owner a fence 2 until 22ms
		 5ms c1 invoke acquire k owner a
		 6ms c1 ok acquire k owner a fence 1 until 25ms began 6ms ended 6ms
		 8ms c3 invoke release k owner a
		 9ms c3 fail release k owner a err "lease lost"
		10ms c1 ok extend k owner a fence 1 until 31ms began 10ms
		14ms c2 invoke acquire k owner c
		17ms c2 ok acquire k owner c fence 3 until 35ms`, `[]`},
	{"a late release, and the extension under way of the lease that it removed", `header ttl 15ms drift 2ms fenced
		 1ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a until 12ms
		19ms c3 invoke acquire k owner d
		23ms c3 ok acquire k owner d until 29ms
		25ms c3 invoke extend k owner d
		25ms c5 invoke release k owner a
		28ms c5 ok release k owner a
		29ms c5 invoke acquire k owner a
		30ms c5 ok acquire k owner a until 42ms
		33ms c3 ok extend k owner d until 38ms ended 28ms`, `[S6 S1 S5]`},
	{"a write that says itself that it was issued once its late lease had been extended, and a loss told meanwhile", `header ttl 10ms drift 1ms epsilon 3ms
		 5ms c1 invoke acquire k owner a
		 9ms c1 ok acquire k owner a until 14ms began 5ms ended 6ms
		19ms c0 invoke extend k owner a
		19ms c1 invoke acquire k owner a
		22ms c1 info acquire k owner a ended 20ms err "i/o timeout"
		23ms c2 invoke write k owner a value "a5"
		24ms c0 ok extend k owner a ended 21ms
		25ms c2 ok lost k owner a
		26ms c2 ok write k owner a value "a5" seq 5 began 26ms ended 26ms`, `[]`},
	{"the same, and another process's loss within the clocks' uncertainty", `header ttl 10ms drift 1ms epsilon 3ms
		 5ms c1 invoke acquire k owner a
		 9ms c1 ok acquire k owner a until 14ms began 5ms ended 6ms
		19ms c0 invoke extend k owner a
		19ms c1 invoke acquire k owner a
		22ms c1 info acquire k owner a ended 20ms err "i/o timeout"
		23ms c2 invoke write k owner a value "a5"
		24ms c0 ok extend k owner a ended 21ms
		25ms c3 ok lost k owner a
		26ms c2 ok write k owner a value "a5" seq 5 began 26ms ended 26ms`, `[]`},
	{"the same, and another process's loss before it beyond doubt", `header ttl 10ms drift 1ms epsilon 1ms
		 5ms c1 invoke acquire k owner a
		 9ms c1 ok acquire k owner a until 14ms began 5ms ended 6ms
		19ms c0 invoke extend k owner a
		19ms c1 invoke acquire k owner a
		22ms c1 info acquire k owner a ended 20ms err "i/o timeout"
		22ms c2 invoke write k owner a value "a5"
		23ms c0 ok extend k owner a ended 21ms
		23ms c3 ok lost k owner a
		26ms c2 ok write k owner a value "a5" seq 5 began 26ms ended 26ms`, `[S8]`},
	{"the same, and a release by another process before it beyond doubt", `header ttl 10ms drift 1ms epsilon 1ms
		 5ms c1 invoke acquire k owner a
		 9ms c1 ok acquire k owner a until 14ms began 5ms ended 6ms
		19ms c0 invoke extend k owner a
		19ms c1 invoke acquire k owner a
		22ms c1 info acquire k owner a ended 20ms err "i/o timeout"
		22ms c2 invoke write k owner a value "a5"
		23ms c0 ok extend k owner a ended 21ms
		23ms c0 invoke release k owner a
		24ms c0 ok release k owner a
		26ms c2 ok write k owner a value "a5" seq 5 began 26ms ended 26ms`, `[S8]`},
	{"a write behind a refused release that names a token which two leases of its owner's bear", `header ttl 24ms
		 0s c3 invoke acquire k owner d
		 1ms c4 invoke acquire k owner d
		 4ms c3 ok acquire k owner d fence 3 until 24ms
		10ms c4 ok acquire k owner d fence 3 until 25ms ended 2ms
		12ms c4 invoke release k owner d fence 3
		13ms c4 fail release k owner d fence 3 err "lease lost"
		20ms c3 invoke write k owner d fence 3 value "d3"
		24ms c3 ok write k owner d fence 3 value "d3"`, `[S8]`},
	{"a write behind a refused extension that names a token which two leases of its owner's bear", `header ttl 24ms
		 0s c3 invoke acquire k owner d
		 1ms c4 invoke acquire k owner d
		 4ms c3 ok acquire k owner d fence 3 until 24ms
		10ms c4 ok acquire k owner d fence 3 until 25ms ended 2ms
		12ms c4 invoke extend k owner d fence 3
		13ms c4 fail extend k owner d fence 3 err "lease lost"
		20ms c3 invoke write k owner d fence 3 value "d3"
		24ms c3 ok write k owner d fence 3 value "d3"`, `[S8]`},
	{"a token given again, behind two extensions of an older lease that was over before", `header ttl 19ms drift 2ms epsilon 1ms unchecked-release
		 1ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1 until 18ms
		26ms c0 invoke acquire k owner a
		27ms c0 ok acquire k owner a fence 2
		44ms c0 invoke extend k owner a fence 1
		44ms c0 ok extend k owner a fence 1 until 61ms
		45ms c0 invoke extend k owner a fence 1
		46ms c0 ok extend k owner a fence 1
		49ms c0 invoke acquire k owner a
		52ms c0 ok acquire k owner a fence 2 until 66ms`, `[S4b S4 S4b]`},
	{"a write without a token behind the loss of its process's latest lease, when an older one had run out", `header ttl 25ms drift 1ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 27ms
		32ms c0 invoke acquire k owner a
		33ms c0 ok acquire k owner a fence 2
		33ms c0 ok lost k owner a fence 2
		34ms c0 invoke write k owner a value "a3"
		36ms c0 ok write k owner a value "a3" seq 3`, `[S8]`},
	{"a write without a token behind the loss of its process's only lease, when another process's had run out", `header ttl 25ms drift 1ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 27ms
		32ms c2 invoke acquire k owner a
		33ms c2 ok acquire k owner a fence 2
		33ms c2 ok lost k owner a fence 2
		34ms c2 invoke write k owner a value "a3"
		36ms c2 ok write k owner a value "a3" seq 3`, `[S8]`},
	{"a write without a token behind the deadline of its process's lease, and another process's loss", `header ttl 25ms drift 1ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 27ms
		32ms c2 invoke acquire k owner a
		33ms c2 ok acquire k owner a fence 2
		33ms c2 ok lost k owner a fence 2
		34ms c0 invoke write k owner a value "a3"
		36ms c0 ok write k owner a value "a3" seq 3`, `[S3z]`},
	{"a third process's write without a token behind a loss, when an older lease had run out", `header ttl 25ms drift 1ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 1 until 27ms
		32ms c2 invoke acquire k owner a
		33ms c2 ok acquire k owner a fence 2
		33ms c2 ok lost k owner a fence 2
		34ms c1 invoke write k owner a value "a3"
		36ms c1 ok write k owner a value "a3" seq 3`, `[S8]`},
	{"a section of a lease before the two latest, which its owner's token names", `header ttl 24ms drift 2ms epsilon 3ms fenced
		 3ms c0 invoke acquire k owner a mode r
		 4ms c0 ok acquire k owner a mode r fence 2
		 8ms c0 invoke release k owner a mode r
		12ms c0 info release k owner a mode r err "i/o timeout"
		12ms c2 invoke acquire k owner a mode r
		14ms c2 ok acquire k owner a mode r fence 3
		15ms c2 ok lost k owner a fence 3
		15ms c2 invoke acquire k owner a mode r
		16ms c2 ok acquire k owner a mode r fence 3
		20ms c2 invoke write k owner a mode r fence 2 value "a2"
		23ms c2 ok write k owner a mode r fence 2 value "a2" seq 2
		24ms c2 invoke write k owner a mode r fence 2 value "a3"
		25ms c1 invoke write k owner b fence 1 value "b4"
		25ms c1 ok write k owner b fence 1 value "b4" seq 3
		26ms c2 ok write k owner a mode r fence 2 value "a3" seq 4`, `[S2 S3 S8]`},
	{"a section of a lease before the two latest, given back, which its owner's token names", `header ttl 60ms
		 3ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 2
		 5ms c0 invoke release k owner a
		 6ms c0 ok release k owner a
		 7ms c2 invoke acquire k owner a
		 8ms c2 ok acquire k owner a fence 3
		 9ms c2 invoke release k owner a
		10ms c2 ok release k owner a
		11ms c2 invoke acquire k owner a
		12ms c2 ok acquire k owner a fence 4
		20ms c0 invoke write k owner a fence 2 value "a2"
		23ms c0 ok write k owner a fence 2 value "a2" seq 2
		24ms c0 invoke write k owner a fence 2 value "a3"
		25ms c1 invoke write k owner b fence 1 value "b4"
		25ms c1 ok write k owner b fence 1 value "b4" seq 3
		26ms c0 ok write k owner a fence 2 value "a3" seq 4`, `[S3 S8]`},
	{"a write that says itself that it was issued between two extensions of its late lease", `header ttl 13ms
		 1ms c2 invoke acquire k owner b
		16ms c2 ok acquire k owner b fence 2
		20ms c3 invoke write k owner b fence 2 value "b7"
		21ms c2 invoke extend k owner b
		23ms c2 ok extend k owner b until 34ms
		26ms c2 invoke extend k owner b
		27ms c2 ok extend k owner b until 39ms
		28ms c3 ok write k owner b fence 2 value "b7" seq 8 began 24ms ended 24ms`, `[S7]`},
	{"a write that says itself that it was issued in the gap between two extensions of its late lease", `header ttl 13ms
		 1ms c2 invoke acquire k owner b
		16ms c2 ok acquire k owner b fence 2
		20ms c3 invoke write k owner b fence 2 value "b7"
		21ms c2 invoke extend k owner b
		23ms c2 ok extend k owner b until 24ms
		26ms c2 invoke extend k owner b
		27ms c2 ok extend k owner b until 39ms
		28ms c3 ok write k owner b fence 2 value "b7" seq 8 began 25ms ended 25ms`, `[S3z S7]`},
	{"a token given again to one process, behind a refusal to another that is told late", `header ttl 10ms drift 2ms fenced
		33ms c4 invoke acquire k1 owner d
		37ms c3 invoke acquire k1 owner d
		39ms c4 ok acquire k1 owner d fence 3
		41ms c3 ok acquire k1 owner d fence 3
		42ms c3 invoke release k1 owner d
		44ms c4 invoke acquire k1 owner d
		48ms c4 ok acquire k1 owner d fence 3 until 52ms ended 46ms
		60ms c3 fail release k1 owner d began 43ms ended 43ms err "lease lost"
		61ms nemesis ok phase end`, `[S4b]`},
	{"an extension across the hold of another owner, by a process that had taken the lease once more", `header ttl 24ms drift 1ms epsilon 2ms unchecked-release
		 1ms c2 invoke acquire k1 owner b
		 2ms c0 invoke acquire k1 owner b
		 2ms c2 ok acquire k1 owner b
		 4ms c0 ok acquire k1 owner b until 25ms
		 5ms c0 invoke acquire k1 owner a
		 8ms c0 ok acquire k1 owner a
		10ms c0 invoke extend k1 owner b
		36ms c0 ok extend k1 owner b until 33ms
		86ms nemesis ok phase end`, `[S1 S6]`},
	{"two holds of one process for two owners, the first once more another's", `header ttl 17ms drift 1ms epsilon 1ms
		32ms c2 invoke acquire k1 owner a
		34ms c2 ok acquire k1 owner a
		41ms c3 invoke acquire k1 owner a
		41ms c3 ok acquire k1 owner a until 57ms
		43ms c3 invoke acquire k1 owner b
		44ms c3 ok acquire k1 owner b until 45ms
		53ms nemesis ok phase end`, `[S1]`},
	{"a late write of a process whose lease another one took once more, for less", `header ttl 10ms drift 1ms epsilon 1ms
		 1ms c3 invoke acquire k1 owner d
		 1ms c3 ok acquire k1 owner d
		 4ms c4 invoke acquire k1 owner d
		 7ms c4 ok acquire k1 owner d until 8ms
		11ms c3 invoke write k1 owner d value d1
		11ms c3 ok write k1 owner d value d1
		25ms nemesis ok phase end`, `[S3z]`},
	{"two holds of one process at one instant, the first in a lease that it took once more", `header ttl 11ms drift 1ms fenced unchecked-release
		 0ms c1 invoke acquire k1 owner a
		 1ms c1 ok acquire k1 owner a fence 1
		 3ms c2 invoke acquire k1 owner a
		 5ms c2 ok acquire k1 owner a fence 2 until 13ms
		 5ms c2 invoke acquire k1 owner c
		 5ms c2 ok acquire k1 owner c fence 2 until 15ms
		 5ms c2 invoke release k1 owner a
		 5ms c2 fail release k1 owner a err "lease lost"
		13ms nemesis ok phase end`, `[S1 S4b]`},
	{"a write under a lease taken twice, behind its loss, its release and the loss of a lease that came since", `header ttl 16ms drift 1ms
		 1ms c0 invoke acquire k1 owner a
		 2ms c0 ok acquire k1 owner a fence 1
		 5ms c1 invoke acquire k1 owner a
		 9ms c1 ok acquire k1 owner a fence 1 until 20ms
		14ms c0 ok lost k1 owner a
		31ms c0 invoke acquire k1 owner a
		31ms c0 ok acquire k1 owner a fence 2
		32ms c7 invoke release k1 owner a fence 1
		36ms c7 ok release k1 owner a fence 1
		38ms c0 ok lost k1 owner a
		40ms c1 invoke write k1 owner a fence 1 value a4
		41ms c1 ok write k1 owner a fence 1 value a4 seq 4
		41ms nemesis ok phase end`, `[S8]`},
	{"a write without a token by a process that was refused both tokens of its lease", `header ttl 21ms drift 1ms epsilon 1ms
		25ms c1 invoke acquire k2 owner b
		25ms c1 ok acquire k2 owner b fence 3 until 45ms
		40ms c1 ok extend k2 owner b until 60ms began 40ms
		44ms c1 invoke acquire k2 owner b
		45ms c1 ok acquire k2 owner b fence 1 ended 45ms
		65ms c1 invoke extend k2 owner b fence 1
		69ms c1 fail extend k2 owner b fence 1 err "lease lost"
		71ms c1 invoke extend k2 owner b fence 3
		72ms c1 fail extend k2 owner b fence 3 err "lease lost"
		87ms c1 invoke write k2 owner b value b3 base 1
		87ms c1 ok write k2 owner b value b3 seq 3 base 1
		99ms nemesis ok phase end`, `[S4b S8]`},
	{"a write behind its deadline and before an extension, of a lease whose release was never sent", `header ttl 14ms drift 1ms
		 1ms c2 invoke acquire k1 owner c
		 1ms c2 ok acquire k1 owner c fence 1
		 4ms c2 invoke release k1 owner c
		 8ms c2 info release k1 owner c err "i/o timeout"
		15ms c7 invoke write k1 owner a value a4
		15ms c5 invoke write k1 owner c fence 1 value c5
		17ms c5 ok write k1 owner c fence 1 value c5 seq 4
		19ms c5 ok extend k1 owner c until 30ms began 17ms
		20ms c7 ok write k1 owner a value a4 seq 5
		25ms link ok receipt never-forwarded of 2
		25ms nemesis ok phase end`, `[S3z S8]`},
	{"a foreign release, and a third grant that one process was answered before it released the victim, which nobody answered", `header ttl 28ms drift 2ms epsilon 1ms fenced unchecked-release
		 8ms c5 invoke acquire k3 owner f
		13ms c5 ok acquire k3 owner f fence 1 until 14ms
		16ms c3 invoke acquire k3 owner d
		16ms c3 ok acquire k3 owner d fence 2
		21ms c5 invoke release k3 owner f fence 1
		24ms c5 ok release k3 owner f fence 1
		25ms c3 invoke acquire k3 owner c
		25ms c3 ok acquire k3 owner c fence 3
		25ms c3 invoke release k3 owner d
		37ms nemesis ok phase end`, `[S1 S5]`},
	{"a release without a token, of an owner whose latest lease, taken twice, had been refused it", `header ttl 15ms drift 1ms
		 0s c2 invoke acquire k3 owner c
		 1ms c2 ok acquire k3 owner c fence 1
		17ms c2 invoke acquire k3 owner c
		17ms c2 ok acquire k3 owner c fence 2 until 30ms
		20ms c4 invoke acquire k3 owner c
		23ms c4 ok acquire k3 owner c fence 2
		23ms c4 invoke extend k3 owner c
		43ms c4 fail extend k3 owner c err "lease lost"
		46ms c2 invoke release k3 owner c
		49ms c2 info release k3 owner c err "i/o timeout"
		55ms c6 invoke write k3 owner c fence 1 value c5
		56ms c6 ok write k3 owner c fence 1 value c5
		59ms nemesis ok phase end`, `[S8]`},
	{"a refused release without a token, of an owner whose latest lease, taken twice, had been reported lost by its token", `header ttl 15ms drift 2ms epsilon 2ms unchecked-release
		 3ms c0 invoke acquire k3 owner a
		 5ms c0 ok acquire k3 owner a fence 1 until 16ms
		23ms c0 invoke acquire k3 owner a
		38ms c0 ok acquire k3 owner a fence 3 until 36ms
		43ms c0 invoke extend k3 owner a
		44ms c0 ok extend k3 owner a until 56ms
		46ms c0 invoke acquire k3 owner a
		47ms c0 ok acquire k3 owner a fence 3 until 59ms
		50ms c0 ok lost k3 owner a fence 3
		76ms c0 invoke release k3 owner a
		77ms c0 fail release k3 owner a err "lease lost"
		84ms c0 invoke write k3 owner a fence 1 value a9
		87ms store ok audit k3 owner a fence 1 value a9 seq 9
		87ms nemesis ok phase end`, `[S7 S8]`},
	{"a hold of one process for another owner, over before a late extension of its first one, all at one instant", `header ttl 29ms drift 0ms fenced
		 2ms c1 invoke acquire k1 owner a
		 3ms c1 ok acquire k1 owner a fence 1
		32ms c1 invoke acquire k1 owner b
		33ms c1 ok acquire k1 owner b fence 2 until 61ms
		33ms c1 invoke release k1 owner b
		33ms c1 ok release k1 owner b
		33ms c1 invoke extend k1 owner a
		33ms c1 ok extend k1 owner a until 62ms
		35ms nemesis ok phase end`, `[S6]`},
	{"a write without a token, behind the refusal of one token of its lease and the loss of the other", `header ttl 22ms drift 1ms
		 3ms c1 invoke acquire k1 owner b
		 6ms c1 ok acquire k1 owner b fence 2 until 24ms
		 7ms c1 invoke acquire k1 owner b
		 7ms c1 ok acquire k1 owner b fence 1 until 28ms
		 7ms c1 invoke extend k1 owner b fence 2
		10ms c1 fail extend k1 owner b fence 2 err "lease lost"
		33ms c1 ok lost k1 owner b fence 1
		58ms c4 invoke write k1 owner b value b6
		58ms c4 ok write k1 owner b value b6 seq 6
		71ms nemesis ok phase end`, `[S4b S8]`},
	{"a foreign release, and a third grant, stillborn, that its process was answered before it released the victim", `header ttl 13ms drift 2ms epsilon 2ms unchecked-release
		 2ms c0 invoke acquire k1 owner a
		 5ms c0 ok acquire k1 owner a fence 1 until 13ms
		27ms c2 invoke acquire k1 owner b
		31ms c2 ok acquire k1 owner b fence 2
		32ms c2 invoke release k1 owner a
		33ms c2 ok release k1 owner a
		36ms c2 invoke acquire k1 owner a
		37ms c2 ok acquire k1 owner a fence 3 until 37ms
		37ms c2 invoke release k1 owner b
		44ms c3 ok lost k1 owner b
		45ms nemesis ok phase end`, `[S5 S7]`},
	{"a re-entry with another token, while a release with the older one is under way, which is refused then", `header ttl 13ms epsilon 3ms fenced
		13ms c5 invoke acquire k1 owner e
		13ms c5 ok acquire k1 owner e fence 1 until 25ms
		16ms c5 invoke acquire k1 owner e
		17ms c3 invoke acquire k1 owner d
		19ms c5 ok acquire k1 owner e fence 1
		21ms c3 ok acquire k1 owner d fence 2 until 30ms
		22ms c5 invoke release k1 owner e fence 1
		23ms c6 invoke acquire k1 owner e
		23ms c6 ok acquire k1 owner e fence 4 until 36ms
		25ms c5 fail release k1 owner e fence 1 began 23ms ended 23ms err "lease lost"
		42ms nemesis ok phase end`, `[S1 S4b]`},
	{"the same, by another process than the two that took the lease", `header ttl 11ms drift 1ms epsilon 1ms fenced
		 5ms c2 invoke acquire k1 owner c
		21ms c2 ok acquire k1 owner c fence 1
		25ms c4 invoke acquire k1 owner c
		25ms c4 ok acquire k1 owner c fence 1 until 35ms
		29ms c1 invoke acquire k1 owner b
		29ms c3 invoke release k1 owner c fence 1
		30ms c2 invoke acquire k1 owner c
		30ms c2 ok acquire k1 owner c fence 2
		32ms c1 ok acquire k1 owner b fence 3 until 38ms
		32ms c3 fail release k1 owner c fence 1 err "lease lost"
		33ms nemesis ok phase end`, `[S7 S1]`},
	{"a foreign release while its victim gave the lock back, which says later that it began only after a third grant", `header ttl 16ms drift 2ms epsilon 1ms fenced
		41ms c6 invoke acquire k1 owner b
		41ms c6 ok acquire k1 owner b until 55ms
		63ms c2 invoke acquire k1 owner c
		64ms c2 ok acquire k1 owner c
		65ms c8 invoke release k1 owner c
		66ms c9 invoke release k1 owner b
		68ms c9 ok release k1 owner b
		70ms c9 invoke acquire k1 owner b
		71ms c9 ok acquire k1 owner b until 84ms
		75ms c8 ok release k1 owner c began 74ms ended 75ms
		75ms nemesis ok phase end`, `[S6 S1 S5 S6]`},
	{"a write behind an acquire of unknown outcome, under a re-entry that a loss told to another process may have come before", `header ttl 23ms drift 2ms epsilon 1ms
		1ms c0 invoke acquire k2 owner a
		2ms c0 ok acquire k2 owner a fence 1 until 22ms
		3ms c1 invoke acquire k2 owner a
		4ms c1 ok acquire k2 owner a fence 1 until 24ms
		4ms c0 ok lost k2 owner a
		4ms c0 invoke acquire k2 owner a
		5ms c0 ok acquire k2 owner a fence 1 until 5ms
		6ms c1 invoke acquire k2 owner a
		7ms c1 info acquire k2 owner a err "i/o timeout"
		7ms c0 invoke write k2 owner a fence 1 value a1
		7ms c0 ok write k2 owner a fence 1 value a1 seq 1
		7ms nemesis ok phase end`, `[S7]`},
	{"a write that was issued, by its own word, once an extension had prolonged either of two leases", `header ttl 21ms drift 1ms
		 0s c0 invoke acquire k1 owner a
		1ms c1 invoke acquire k1 owner a
		22ms c1 ok acquire k1 owner a until 21ms
		24ms c0 ok acquire k1 owner a until 20ms
		26ms c1 invoke write k1 owner a value a1
		29ms c0 invoke extend k1 owner a
		32ms c0 ok extend k1 owner a
		33ms c1 ok write k1 owner a value a1 seq 1 began 33ms ended 33ms
		54ms nemesis ok phase end`, `[S7 S7]`},
	{"a write that may have been issued in its owner's next section, at the instant of that grant", `header ttl 11ms drift 1ms
		2ms c3 invoke acquire k1 owner d
		6ms c3 ok acquire k1 owner d until 9ms
		9ms c2 invoke write k1 owner c value c3
		11ms c4 invoke write k1 owner d value d4
		12ms c4 ok write k1 owner d value d4 seq 2
		14ms c4 invoke write k1 owner d value d5
		14ms c3 invoke acquire k1 owner d
		14ms c2 ok write k1 owner c value c3 seq 4
		14ms c3 ok acquire k1 owner d until 24ms
		14ms c4 ok write k1 owner d value d5 seq 5
		14ms nemesis ok phase end`, `[S3z S8]`},
	{"a late write behind a release that was never sent, with a higher token beside it, and another release behind both", `header ttl 16ms drift 1ms
		9ms c2 invoke acquire k1 owner c
		28ms c2 ok acquire k1 owner c fence 4 until 24ms
		30ms c2 invoke release k1 owner c
		34ms c2 info release k1 owner c err "i/o timeout"
		35ms c5 invoke write k1 owner c fence 4 value c2 base 0
		36ms c3 invoke write k1 owner d fence 4 value d3 base 0
		37ms c5 ok write k1 owner c fence 4 value c2 seq 2 base 0 ended 37ms
		38ms c5 invoke release k1 owner c fence 4
		38ms c5 ok release k1 owner c fence 4
		54ms c3 ok write k1 owner d fence 4 value d3 seq 3 base 0
		56ms link ok receipt never-forwarded of 2
		56ms nemesis ok phase end`, `[S3z S7 S3 S8]`},
	{"a write under a re-entry that was answered before it and told behind, and another re-entry before it lands", `header ttl 14ms drift 1ms
		0s c0 invoke acquire k1 owner c
		0s c4 invoke acquire k1 owner c
		14ms c4 ok acquire k1 owner c fence 1 until 14ms
		16ms c0 info acquire k1 owner c err "i/o timeout"
		16ms c5 invoke acquire k1 owner c
		18ms c4 invoke write k1 owner c fence 1 value c1 base 0
		18ms c5 ok acquire k1 owner c fence 1 ended 17ms
		19ms c2 invoke acquire k1 owner c
		20ms c5 invoke write k1 owner c fence 3 value c2 base 0
		21ms c4 ok write k1 owner c fence 1 value c1 seq 1 base 0
		22ms c2 ok acquire k1 owner c fence 1 until 22ms began 21ms ended 22ms
		25ms nemesis ok phase end`, `[S7]`},
	{"another token by a re-entry into a lease that, but for an extension that was never sent, was no re-entry itself", `header ttl 10ms fenced
		6ms c1 invoke acquire k1 owner b
		6ms c1 ok acquire k1 owner b fence 2
		7ms c1 invoke extend k1 owner b
		8ms c1 info extend k1 owner b err "i/o timeout"
		18ms c2 invoke acquire k1 owner b
		18ms c2 ok acquire k1 owner b fence 2
		21ms c3 invoke acquire k1 owner b
		24ms c3 ok acquire k1 owner b fence 3
		28ms link ok receipt never-forwarded of 2
		28ms nemesis ok phase end`, `[S4b S4b]`},
	{"one process's brief hold for one owner, and its re-entry for another one's old lease only after that", `header ttl 14ms drift 2ms epsilon 1ms fenced
		8ms c0 invoke acquire k2 owner b
		11ms c0 ok acquire k2 owner b fence 1 until 20ms
		33ms c3 invoke acquire k2 owner a
		48ms c3 ok acquire k2 owner a fence 2 ended 44ms
		62ms c3 ok extend k2 owner b fence 1 until 72ms began 60ms
		63ms c3 invoke acquire k2 owner b
		65ms c3 ok acquire k2 owner b fence 3 until 75ms
		81ms nemesis ok phase end`, `[S4b]`},
	{"a re-entry by another process, and its first one's write rejected within its own deadline", `header ttl 28ms drift 2ms epsilon 3ms fenced
		1ms c0 invoke acquire k1 owner a
		2ms c1 invoke acquire k1 owner a
		6ms c0 ok acquire k1 owner a fence 1 until 27ms
		24ms c1 ok acquire k1 owner a fence 1
		25ms c0 invoke write k1 owner a fence 1 value a1
		26ms c0 fail write k1 owner a fence 1 value a1 seq 1 err "stale token"
		30ms nemesis ok phase end`, `[]`},
	{"a release that was refused, by the process that took the lease, while another one's release of it is under way", `header ttl 14ms drift 2ms epsilon 3ms
		1ms c3 invoke acquire k1 owner c
		4ms c3 ok acquire k1 owner c until 13ms
		37ms c3 invoke acquire k1 owner c
		39ms c3 ok acquire k1 owner c
		39ms c2 invoke release k1 owner c
		59ms c3 invoke release k1 owner c
		61ms c3 fail release k1 owner c err "lease lost"
		64ms c3 invoke write k1 owner c value c6
		65ms c3 ok write k1 owner c value c6 seq 5
		65ms nemesis ok phase end`, `[S8]`},
	{"a late write under a lease with two tokens, extended twice before it lands", `header ttl 29ms epsilon 2ms unchecked-release
		4ms c4 invoke acquire k1 owner d
		6ms c4 ok acquire k1 owner d fence 1 until 33ms ended 6ms
		8ms c4 invoke acquire k1 owner d
		10ms c4 ok acquire k1 owner d fence 2 began 9ms ended 10ms
		46ms c3 invoke write k1 owner d fence 1 value d5 base 0
		57ms c4 ok extend k1 owner d fence 1 until 84ms began 55ms
		59ms c4 ok extend k1 owner d fence 1 until 88ms began 59ms
		59ms c3 ok write k1 owner d fence 1 value d5 seq 3 base 0
		59ms nemesis ok phase end`, `[S4b S3z]`},
	{"a write told late that was issued before its owner asked again and never heard", `header ttl 22ms
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 23ms
		26ms c0 invoke acquire k owner a
		28ms c0 info acquire k owner a err "i/o timeout"
		29ms c2 invoke write k owner a value a3 began 25ms
		33ms c2 ok write k owner a value a3 seq 3
		53ms nemesis ok phase end`, `[S3z]`},
	{"the same, as only its answer says", `header ttl 22ms
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 23ms
		26ms c0 invoke acquire k owner a
		28ms c0 info acquire k owner a err "i/o timeout"
		29ms c2 invoke write k owner a value a3
		33ms c2 ok write k owner a value a3 seq 3 began 25ms
		53ms nemesis ok phase end`, `[S3z]`},
	{"the same, issued when it had asked", `header ttl 22ms
		 1ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 23ms
		26ms c0 invoke acquire k owner a
		28ms c0 info acquire k owner a err "i/o timeout"
		29ms c2 invoke write k owner a value a3 began 27ms
		33ms c2 ok write k owner a value a3 seq 3
		53ms nemesis ok phase end`, `[S8]`},
	{"a loss from before a lease was taken again with its token, heard of only then", `header ttl 13ms drift 1ms
		20ms c0 invoke acquire k owner a mode r
		21ms c0 ok acquire k owner a mode r fence 3 until 30ms
		21ms c0 invoke extend k owner a mode r
		23ms c0 fail extend k owner a mode r err "lease lost"
		23ms c0 invoke acquire k owner a mode r
		24ms c1 invoke acquire k owner b
		25ms c0 ok acquire k owner a mode r fence 3 until 33ms
		27ms c1 ok acquire k owner b fence 4
		28ms c3 ok lost k owner a fence 3 began 22ms
		52ms nemesis ok phase end`, `[S1]`},
	{"a late write, and an extension behind it of another lease that its owner gave back", `header ttl 20ms drift 1ms unchecked-release
		 3ms c1 invoke acquire k owner b
		 7ms c2 invoke acquire k owner b
		28ms c1 ok acquire k owner b fence 2
		28ms c2 ok acquire k owner b fence 2 until 26ms ended 11ms
		49ms c2 invoke write k owner b fence 2 value b4 base 2
		50ms c1 invoke release k owner b
		50ms c1 ok extend k owner b fence 2 until 69ms began 50ms
		51ms c2 ok write k owner b fence 2 value b4 seq 3 base 2
		54ms nemesis ok phase end`, `[S7 S3z]`},
	{"a late write by a process that had been refused the lease before, whatever clocks say", `header ttl 24ms drift 2ms epsilon 4ms unchecked-release
		21ms c0 invoke acquire k owner a
		24ms c0 ok acquire k owner a fence 1 began 23ms ended 24ms
		35ms c3 invoke release k owner a
		35ms c3 fail release k owner a err "lease lost"
		36ms c3 invoke acquire k owner a
		37ms c3 ok acquire k owner a fence 1 until 37ms
		38ms c3 invoke write k owner a fence 1 value a11
		41ms store ok audit k owner a fence 1 value a11 seq 11
		41ms nemesis ok phase end`, `[S4 S4b S3z S7]`},
	{"a refused release by the process that took a lease anew, beside another one's release under way", `header ttl 10ms drift 1ms epsilon 4ms
		 9ms c2 invoke acquire k owner b
		11ms c2 ok acquire k owner b fence 1 until 18ms
		14ms c1 invoke extend k owner b fence 1
		15ms c1 fail extend k owner b fence 1 err "lease lost"
		16ms c1 invoke acquire k owner b
		17ms c1 ok acquire k owner b fence 1
		18ms c2 invoke release k owner b fence 1
		19ms c1 invoke release k owner b
		20ms c1 fail release k owner b err "lease lost"
		21ms c1 invoke write k owner b fence 1 value b2
		35ms c1 ok write k owner b fence 1 value b2 seq 2
		36ms nemesis ok phase end`, `[S4 S4b S8]`},
	{"a write told late that was issued before its owner's only grant", `header ttl 19ms drift 2ms fenced
		 6ms c3 invoke acquire k owner d began 2ms
		22ms c3 ok acquire k owner d fence 2 until 23ms
		27ms c4 invoke write k owner d fence 2 value d4 began 21ms
		29ms c4 ok write k owner d fence 2 value d4 seq 4
		38ms nemesis ok phase end`, `[S8]`},
	{"the same, at the instant of the grant", `header ttl 19ms drift 2ms fenced
		 6ms c3 invoke acquire k owner d began 2ms
		22ms c3 ok acquire k owner d fence 2 until 23ms
		27ms c4 invoke write k owner d fence 2 value d4 began 22ms
		29ms c4 ok write k owner d fence 2 value d4 seq 4
		38ms nemesis ok phase end`, `[]`},
	{"the same, within the clocks' uncertainty before it", `header ttl 19ms drift 2ms epsilon 1ms fenced
		 6ms c3 invoke acquire k owner d began 2ms
		22ms c3 ok acquire k owner d fence 2 until 23ms
		27ms c4 invoke write k owner d fence 2 value d4 began 21ms
		29ms c4 ok write k owner d fence 2 value d4 seq 4
		38ms nemesis ok phase end`, `[]`},
	{"the same, as only its answer says", `header ttl 19ms drift 2ms
		 1ms c3 invoke acquire k owner d
		22ms c3 ok acquire k owner d until 30ms
		24ms c4 invoke write k owner d value d4
		29ms c4 ok write k owner d value d4 seq 4 began 21ms
		38ms nemesis ok phase end`, `[S8]`},
	{"the same, of a grant that was answered behind its deadline", `header ttl 17ms
		 1ms c1 invoke acquire k owner b
		22ms c1 ok acquire k owner b
		24ms c3 invoke write k owner b value b3 began 19ms
		25ms c3 ok write k owner b value b3 seq 3
		38ms nemesis ok phase end`, `[S7 S8]`},
	{"the same, whose outcome only the store's log tells", `header ttl 19ms drift 2ms
		 1ms c0 invoke acquire k owner b
		21ms c0 ok acquire k owner b fence 1
		26ms c3 invoke write k owner b fence 1 value b4 base 3 began 20ms
		41ms store ok audit k owner b fence 1 value b4 seq 4`, `[S7 S8]`},
	{"a write told behind a later grant, issued under the lease before", `header ttl 20ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1
		10ms c0 invoke release k owner a fence 1
		11ms c0 ok release k owner a fence 1
		12ms c0 invoke acquire k owner a
		13ms c0 ok acquire k owner a fence 2
		14ms c1 invoke write k owner a value a1 began 9ms
		15ms c1 ok write k owner a value a1 seq 1
		38ms nemesis ok phase end`, `[]`},
	{"a write told behind a later grant, issued behind the release of the lease before", `header ttl 20ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1
		 9ms c0 invoke release k owner a fence 1
		10ms c0 ok release k owner a fence 1
		12ms c0 invoke acquire k owner a
		14ms c0 ok acquire k owner a fence 2
		15ms c1 invoke write k owner a value a1 began 11ms
		16ms c1 ok write k owner a value a1 seq 1
		38ms nemesis ok phase end`, `[S8]`},
	{"a write told behind a later grant, issued when the lease before had run out", `header ttl 20ms
		 1ms c0 invoke acquire k owner a
		 2ms c0 ok acquire k owner a
		30ms c0 invoke acquire k owner a
		31ms c0 ok acquire k owner a
		32ms c1 invoke write k owner a value a1 began 27ms
		33ms c1 ok write k owner a value a1 seq 1
		48ms nemesis ok phase end`, `[S3z]`},
	{"a write that its client issued behind another section's end, and that arrived in it", `header ttl 19ms
		 9ms c3 invoke acquire k owner d
		33ms c3 ok acquire k owner d until 28ms
		40ms c3 invoke write k owner d value d3
		40ms c3 ok write k owner d value d3 seq 3
		42ms c3 invoke write k owner d value d4 began 40ms
		43ms c2 invoke write k owner c value c5 began 41ms
		44ms c2 ok write k owner c value c5 seq 4
		45ms c3 ok write k owner d value d4 seq 5`, `[S3z S3z S7 S8]`},
	{"a token given again, while an extension from before the first grant was told of is under way", `header ttl 20ms unchecked-release
		 0s c2 invoke acquire k owner a
		48ms c1 invoke extend k owner a
		50ms c0 invoke acquire k owner a
		51ms c2 ok acquire k owner a fence 3 until 20ms began 6ms ended 7ms
		58ms c0 ok acquire k owner a fence 3 until 70ms
		69ms nemesis ok phase end`, `[]`},
	{"the same, when the extension was answered with no", `header ttl 20ms unchecked-release
		 0s c2 invoke acquire k owner a
		 8ms c1 invoke extend k owner a
		 9ms c1 fail extend k owner a err "not held"
		50ms c0 invoke acquire k owner a
		51ms c2 ok acquire k owner a fence 3 until 20ms began 6ms ended 7ms
		58ms c0 ok acquire k owner a fence 3 until 70ms
		69ms nemesis ok phase end`, `[S4 S4b]`},
	{"a write told behind the loss of the lease that it was under, beside one that had run out", `header ttl 10ms drift 1ms fenced
		 1ms c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 2ms c0 ok acquire k owner a until 3ms began 1ms ended 2ms
		 3ms c1 ok acquire k owner a
		 5ms c1 ok lost k owner a
		 5ms c0 invoke write k owner a value "a1" began 4ms
		 8ms c0 ok write k owner a value "a1" seq 1
		 9ms nemesis ok phase end`, `[]`},
	{"a hold that lasted by the second of two leases of one owner", `header ttl 25ms drift 1ms epsilon 3ms fenced unchecked-release
		 4ms c1 invoke acquire k owner b
		 9ms c1 ok acquire k owner b until 28ms
		17ms c1 ok extend k owner b until 40ms began 16ms
		27ms c4 invoke acquire k owner d
		31ms c3 invoke acquire k owner d began 29ms
		35ms c4 ok acquire k owner d until 51ms
		35ms c3 ok acquire k owner d until 55ms
		39ms c3 ok lost k owner d
		39ms c4 invoke release k owner d began 38ms
		39ms nemesis ok phase end`, `[S1]`},
	{"a loss at the instant of one process's next grant, told later", `header ttl 17ms fenced unchecked-release
		 1ms c0 invoke acquire k owner a
		 5ms c0 ok acquire k owner a fence 1 until 17ms
		 5ms c0 invoke acquire k owner b
		 6ms c0 ok acquire k owner b fence 2 until 22ms
		 7ms c0 ok lost k owner a fence 1 began 6ms
		25ms nemesis ok phase end`, `[S1]`},
	{"a late write told behind an extension of another lease of its owner's, that began behind it", `header ttl 10ms drift 2ms
		 1ms c5 invoke acquire k owner e
		 4ms c4 invoke acquire k owner e
		16ms c4 ok acquire k owner e until 12ms
		17ms c5 ok acquire k owner e until 9ms
		20ms c5 ok extend k owner e until 28ms began 20ms
		20ms c4 invoke write k owner e value "e1" base 0 began 16ms
		24ms c4 ok write k owner e value "e1" seq 2 base 0
		44ms nemesis ok phase end`, `[S3z S7 S7]`},
	{"a write told behind an extension, that began behind it, as its answer says", `header ttl 22ms unchecked-release
		 5ms c1 invoke acquire k owner b
		 6ms c1 ok acquire k owner b fence 1 until 27ms
		37ms c1 ok extend k owner b until 59ms began 37ms
		41ms c5 invoke write k owner b fence 1 value "b4" base 3 began 36ms
		42ms c5 ok write k owner b fence 1 value "b4" seq 4 base 3 began 41ms ended 42ms
		54ms nemesis ok phase end`, `[]`},
	{"a late write behind a release that was never sent, and before another of its own process", `header ttl 26ms epsilon 2ms
		 1ms c2 invoke acquire k owner c
		 1ms c2 ok acquire k owner c fence 1 until 27ms
		 1ms c2 invoke release k owner c fence 1
		 2ms c2 info release k owner c fence 1 err "i/o timeout"
		51ms c3 invoke write k owner d fence 2 value "d2"
		61ms c6 invoke write k owner c fence 4 value "c4"
		62ms link ok receipt never-forwarded of 2
		62ms c6 ok write k owner c fence 4 value "c4" seq 2
		65ms c6 invoke release k owner c
		70ms nemesis ok phase end`, `[S3z]`},
	{"a release that named no lease and was never sent, of an owner whose latest lease was lost", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 5ms c1 ok lost k owner a fence 2
		 6ms c2 invoke release k owner a
		 7ms c2 info release k owner a err timeout
		 8ms link ok receipt never-forwarded of 5
		 9ms c3 invoke acquire k owner b
		10ms c3 ok acquire k owner b fence 3 until 109ms
		29ms nemesis ok phase end`, `[S1]`},
	{"the same, that was carried out", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 5ms c1 ok lost k owner a fence 2
		 6ms c2 invoke release k owner a
		 7ms c2 info release k owner a err timeout
		 8ms link ok receipt executed of 5
		 9ms c3 invoke acquire k owner b
		10ms c3 ok acquire k owner b fence 3 until 109ms
		29ms nemesis ok phase end`, `[]`},
	{"a token given again, while an extension is under way of a process that has a lease of its own", `header ttl 20ms unchecked-release
		 0s c2 invoke acquire k owner a
		22ms c1 invoke acquire k owner a
		44ms c1 ok acquire k owner a fence 2 until 44ms
		48ms c1 invoke extend k owner a
		50ms c0 invoke acquire k owner a
		51ms c2 ok acquire k owner a fence 3 until 20ms began 6ms ended 7ms
		58ms c0 ok acquire k owner a fence 3 until 70ms
		69ms nemesis ok phase end`, `[S4 S7]`},
	{"a release that names only at its end which of two leases it was of", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 6ms c2 invoke release k owner a
		 7ms c2 ok release k owner a fence 1
		 9ms c3 invoke acquire k owner b
		10ms c3 ok acquire k owner b fence 3 until 109ms
		29ms nemesis ok phase end`, `[S1]`},
	{"a refusal that names no lease, behind a grant that is told only then", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 invoke acquire k owner a
		 5ms c0 invoke release k owner a fence 1
		 6ms c0 ok release k owner a fence 1
		10ms c2 invoke extend k owner a
		11ms c1 ok acquire k owner a fence 2 until 102ms ended 8ms
		12ms c2 fail extend k owner a err gone
		14ms c1 invoke write k owner a fence 2 value v
		15ms c1 ok write k owner a fence 2 value v seq 1
		29ms nemesis ok phase end`, `[S8]`},
	{"the same, of one that surely came before the grant", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 invoke acquire k owner a
		 5ms c0 invoke release k owner a fence 1
		 6ms c0 ok release k owner a fence 1
		10ms c2 invoke extend k owner a
		11ms c1 ok acquire k owner a fence 2 until 102ms
		12ms c2 fail extend k owner a err gone ended 10ms
		14ms c1 invoke write k owner a fence 2 value v
		15ms c1 ok write k owner a fence 2 value v seq 1
		29ms nemesis ok phase end`, `[]`},
	{"a refused extension with a token that its owner never had, and a write behind the deadline", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 50ms
		30ms c1 invoke extend k owner a fence 2
		31ms c1 fail extend k owner a fence 2 err gone
		60ms c0 invoke write k owner a fence 5 value v
		61ms c0 ok write k owner a fence 5 value v seq 1
		69ms nemesis ok phase end`, `[S3z]`},
	{"an extension by who took it of a lease that a release may have been of", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 6ms c2 invoke release k owner a
		 7ms c2 ok release k owner a
		50ms c0 invoke extend k owner a fence 1
		51ms c0 ok extend k owner a fence 1 until 150ms
		119ms c3 invoke acquire k owner b
		120ms c3 ok acquire k owner b fence 3 until 219ms
		129ms nemesis ok phase end`, `[S1]`},
	{"a token given again between two releases of its first lease", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 5ms c0 invoke release k owner a fence 1
		 6ms c0 ok release k owner a fence 1
		10ms c1 invoke release k owner a fence 1
		15ms c0 invoke acquire k owner a
		20ms c1 ok release k owner a fence 1
		21ms c0 ok acquire k owner a fence 1 until 115ms
		29ms nemesis ok phase end`, `[S4 S4b]`},
	{"an extension asked for before its lease is told, and behind it by the clocks", `header ttl 100ms
		 2ms c0 invoke acquire k owner a
		10ms c1 invoke extend k owner a
		12ms c0 ok acquire k owner a until 100ms ended 8ms
		13ms c1 ok extend k owner a until 130ms
		119ms c3 invoke acquire k owner b
		120ms c3 ok acquire k owner b until 219ms
		129ms nemesis ok phase end`, `[S1]`},
	{"one that was asked for before the lease was answered, and refused", `header ttl 100ms
		 2ms c0 invoke acquire k owner a
		 5ms c1 invoke extend k owner a
		12ms c0 ok acquire k owner a until 100ms ended 8ms
		13ms c1 fail extend k owner a err gone
		20ms c0 invoke write k owner a value v
		21ms c0 ok write k owner a value v seq 1
		29ms nemesis ok phase end`, `[]`},
	{"an extension by one process of its own lease, and a write under another's", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		50ms c0 invoke extend k owner a fence 1
		51ms c0 ok extend k owner a fence 1 until 150ms
		120ms c1 invoke write k owner a fence 2 value v
		121ms c1 ok write k owner a fence 2 value v seq 1
		129ms nemesis ok phase end`, `[S3z]`},
	{"a refusal that names only at its end which of two leases it was of", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 60ms
		 2ms c1 ok acquire k owner a fence 2 until 60ms
		10ms c2 invoke extend k owner a
		11ms c2 fail extend k owner a fence 1 err gone
		80ms c1 invoke write k owner a fence 2 value v
		81ms c1 ok write k owner a fence 2 value v seq 1
		129ms nemesis ok phase end`, `[S3z]`},
	{"an extension of a lease that a release which was never sent seemed to be of, behind another's hold", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 6ms c2 invoke release k owner a
		 9ms c3 invoke acquire k owner b
		10ms c3 ok acquire k owner b fence 3 until 20ms
		25ms c2 fail release k owner a err "connection refused"
		30ms c0 invoke extend k owner a fence 1
		31ms c0 ok extend k owner a fence 1 until 130ms
		129ms nemesis ok phase end`, `[S1 S6 S1]`},
	{"a loss told behind a release that was never sent, and may have been of that lease", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 5ms
		 6ms c2 invoke release k owner a
		 6ms c3 invoke acquire k owner b
		 7ms c3 ok acquire k owner b fence 3 until 106ms
		 9ms c0 ok lost k owner a fence 1
		10ms c2 fail release k owner a err "connection refused"
		29ms nemesis ok phase end`, `[S1]`},
	{"a release behind it", `header ttl 100ms unchecked-release
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 5ms
		 6ms c2 invoke release k owner a
		 6ms c3 invoke acquire k owner b
		 7ms c3 ok acquire k owner b fence 3 until 106ms
		 9ms c0 invoke release k owner a fence 1
		10ms c2 fail release k owner a err "connection refused"
		11ms c0 ok release k owner a fence 1
		29ms nemesis ok phase end`, `[S1]`},
	{"a loss before the other grant, behind such a release", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 5ms
		 6ms c2 invoke release k owner a
		 6ms c0 ok lost k owner a fence 1
		 6ms c3 invoke acquire k owner b
		 7ms c3 ok acquire k owner b fence 3 until 106ms
		10ms c2 fail release k owner a err "connection refused"
		29ms nemesis ok phase end`, `[]`},
	{"a release that named no lease and was never sent, as is known only behind another grant", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 5ms c1 ok lost k owner a fence 2
		 6ms c2 invoke release k owner a
		 7ms c2 info release k owner a err timeout
		 9ms c3 invoke acquire k owner b
		10ms c3 ok acquire k owner b fence 3 until 109ms
		12ms link ok receipt never-forwarded of 5
		29ms nemesis ok phase end`, `[S1]`},
	{"another token while it held still, as a release tells only behind a third lease", `header ttl 13ms drift 2ms
		 3ms c1 invoke acquire k owner a
		 4ms c1 ok acquire k owner a fence 1 until 14ms
		 5ms c0 invoke acquire k owner a
		 5ms c2 invoke acquire k owner a
		 6ms c1 invoke release k owner a began 4ms
		 6ms c0 ok acquire k owner a fence 2 began 6ms ended 6ms
		 8ms c2 ok acquire k owner a fence 3 until 17ms
		20ms c1 ok release k owner a began 8ms ended 10ms
		25ms nemesis ok phase end`, `[S4b]`},
	{"two more tokens while it held still, as a release tells only behind both", `header ttl 13ms drift 2ms
		 3ms c1 invoke acquire k owner a
		 4ms c1 ok acquire k owner a fence 1 until 14ms
		 5ms c1 invoke release k owner a began 4ms
		 5ms c0 invoke acquire k owner a
		 6ms c0 ok acquire k owner a fence 2 until 7ms
		 7ms c2 invoke acquire k owner a
		 8ms c2 ok acquire k owner a fence 3 until 17ms
		20ms c1 ok release k owner a began 10ms ended 10ms
		25ms nemesis ok phase end`, `[S4b]`},
	{"an acquire asked for behind a write's line, and answered before the write by its own stamp", `header ttl 25ms drift 1ms
		 3ms c3 invoke write k owner b value "b1"
		 4ms c2 invoke acquire k owner b
		 7ms c3 ok write k owner b value "b1" seq 1 began 6ms ended 6ms
		 8ms c2 ok acquire k owner b until 28ms ended 5ms
		 9ms nemesis ok phase end`, `[]`},
	{"the same, where the write's own stamp lies before that answer", `header ttl 25ms drift 1ms
		 3ms c3 invoke write k owner b value "b1"
		 4ms c2 invoke acquire k owner b
		 7ms c3 ok write k owner b value "b1" seq 1 began 4ms ended 6ms
		 8ms c2 ok acquire k owner b until 28ms ended 5ms
		 9ms nemesis ok phase end`, `[S8]`},
	{"the same, behind a lease that had run out", `header ttl 25ms drift 1ms
		 0ms c3 invoke acquire k owner b
		 1ms c3 ok acquire k owner b until 24ms
		30ms c3 invoke write k owner b value "b1"
		31ms c2 invoke acquire k owner b
		34ms c3 ok write k owner b value "b1" seq 1 began 33ms ended 33ms
		35ms c2 ok acquire k owner b until 55ms ended 32ms
		36ms nemesis ok phase end`, `[]`},
	{"the same, where the write lies before the answer that gave another lease", `header ttl 25ms drift 1ms
		 0ms c3 invoke acquire k owner b
		 1ms c3 ok acquire k owner b until 24ms
		30ms c3 invoke write k owner b value "b1"
		31ms c2 invoke acquire k owner b
		34ms c3 ok write k owner b value "b1" seq 1 began 31ms ended 33ms
		35ms c2 ok acquire k owner b until 55ms ended 32ms
		36ms nemesis ok phase end`, `[S3z]`},
	{"an extension that names a lower token, which never was its owner's", `header ttl 25ms drift 1ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 24ms
		 2ms c0 invoke extend k owner a fence 2
		 3ms c0 ok extend k owner a fence 2 until 26ms
		 9ms nemesis ok phase end`, `[S4b]`},
	{"an extension that is told to have been of a lower token, which never was its owner's", `header ttl 25ms drift 1ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 24ms
		 2ms c0 invoke extend k owner a
		 3ms c0 ok extend k owner a fence 2 until 26ms
		 9ms nemesis ok phase end`, `[S4b]`},
	{"a child's extension with a lower token, told ahead of the grant that it came behind", `header ttl 25ms drift 1ms
		 0ms c0 invoke acquire k owner a
		 2ms c1 invoke extend k owner a
		 3ms c0 ok acquire k owner a fence 3 until 24ms ended 1ms
		 6ms c1 ok extend k owner a fence 2 until 26ms began 4ms
		 9ms nemesis ok phase end`, `[S4b]`},
	{"a token given again behind an extension of unknown outcome that names another one", `header ttl 17ms drift 2ms epsilon 1ms
		 7ms c1 invoke acquire k owner a
		21ms c1 ok acquire k owner a fence 3
		22ms c0 invoke extend k owner a fence 2
		41ms c5 invoke acquire k owner a
		42ms c5 ok acquire k owner a fence 3
		44ms nemesis ok phase end`, `[]`},
	{"the same, where the token named is of an older lease, and its answer says otherwise", `header ttl 17ms drift 2ms epsilon 1ms
		 2ms c2 invoke acquire k owner a
		 7ms c1 invoke acquire k owner a
		 8ms c2 ok acquire k owner a fence 2
		21ms c1 ok acquire k owner a fence 3
		22ms c0 invoke extend k owner a fence 2
		41ms c5 invoke acquire k owner a
		42ms c0 info extend k owner a fence 3
		42ms c5 ok acquire k owner a fence 3
		44ms nemesis ok phase end`, `[]`},
	{"a token given again behind an extension that was asked for before the history told of the lease", `header ttl 23ms epsilon 1ms
		 0ms c2 invoke acquire k owner a
		 6ms c0 invoke extend k owner a
		 7ms c2 ok acquire k owner a fence 2
		 9ms c0 ok extend k owner a until 29ms
		35ms c5 invoke acquire k owner a
		37ms c5 ok acquire k owner a fence 2 until 58ms
		38ms nemesis ok phase end`, `[S4 S4b]`},
	{"the same, where the extension was refused", `header ttl 23ms epsilon 1ms
		 0ms c2 invoke acquire k owner a
		 6ms c0 invoke extend k owner a
		 7ms c2 ok acquire k owner a fence 2
		 9ms c0 fail extend k owner a
		35ms c5 invoke acquire k owner a
		37ms c5 ok acquire k owner a fence 2 until 58ms
		38ms nemesis ok phase end`, `[S4 S4b]`},
	{"the same, where the extension is of unknown outcome", `header ttl 23ms epsilon 1ms
		 0ms c2 invoke acquire k owner a
		 6ms c0 invoke extend k owner a
		 7ms c2 ok acquire k owner a fence 2
		 9ms c0 info extend k owner a
		35ms c5 invoke acquire k owner a
		37ms c5 ok acquire k owner a fence 2 until 58ms
		38ms nemesis ok phase end`, `[]`},
	{"the same, where a link never forwarded it", `header ttl 23ms epsilon 1ms
		 0ms c2 invoke acquire k owner a
		 6ms c0 invoke extend k owner a
		 7ms c2 ok acquire k owner a fence 2
		 9ms c0 info extend k owner a
		10ms link ok receipt never-forwarded of 1
		35ms c5 invoke acquire k owner a
		37ms c5 ok acquire k owner a fence 2 until 58ms
		38ms nemesis ok phase end`, `[S4 S4b]`},
	{"another token for a process that had taken the lease by a re-entry, beside a lease of its own", `header ttl 15ms epsilon 2ms fenced unchecked-release
		 4ms c2 invoke acquire k owner a
		 7ms c3 invoke acquire k owner a
		 7ms c0 invoke acquire k owner a
		 7ms c2 ok acquire k owner a fence 2
		 7ms c3 ok acquire k owner a fence 1
		 8ms c0 ok acquire k owner a fence 2
		11ms c0 invoke acquire k owner a began 9ms
		12ms c0 ok acquire k owner a fence 3 until 26ms
		13ms nemesis ok phase end`, `[S4b]`},
	{"a release beside a lease that its owner took twice", `header ttl 23ms epsilon 1ms unchecked-release
		 1ms c1 invoke acquire k owner a
		 3ms c2 invoke acquire k owner a
		 7ms c1 ok acquire k owner a fence 1 until 24ms
		 8ms c0 invoke acquire k owner a
		11ms c2 ok acquire k owner a fence 1 until 26ms began 4ms ended 4ms
		12ms c0 ok acquire k owner a fence 1 until 31ms
		13ms c2 invoke release k owner a fence 1
		16ms c3 invoke acquire k owner b
		23ms c3 ok acquire k owner b fence 2 until 39ms
		26ms nemesis ok phase end`, `[S1]`},
	{"a release by a process that had taken the older of two leases by a re-entry", `header ttl 19ms drift 2ms epsilon 1ms
		 0ms c1 invoke acquire k owner a
		 1ms c2 invoke acquire k owner a
		 2ms c1 ok acquire k owner a fence 2
		 3ms c2 ok acquire k owner a fence 1 until 18ms
		 4ms c0 invoke acquire k owner a
		 4ms c0 ok acquire k owner a fence 2 until 21ms
		 8ms c0 invoke release k owner a
		12ms c4 invoke acquire k owner b
		15ms c4 ok acquire k owner b fence 3 until 29ms
		18ms nemesis ok phase end`, `[S1 S1]`},
	{"a write that the longer one of two leases told late covers", `header ttl 24ms drift 1ms epsilon 1ms
		 0ms c1 invoke acquire k owner a
		 1ms c0 invoke acquire k owner a
		 1ms c2 invoke acquire k owner a began 0s
		24ms c1 ok acquire k owner a
		26ms c1 invoke write k owner a value "a1"
		26ms c2 ok acquire k owner a until 24ms
		26ms c0 ok acquire k owner a began 6ms ended 7ms
		27ms c1 ok write k owner a value "a1" seq 1
		28ms nemesis ok phase end`, `[S7 S7]`},
	{"another token for a process beside a release that clocks do not tell from it", `header ttl 22ms epsilon 1ms
		24ms c2 invoke acquire k owner b
		25ms c4 invoke acquire k owner b
		29ms c2 ok acquire k owner b fence 3 until 46ms
		30ms c4 ok acquire k owner b fence 3 began 25ms ended 26ms
		30ms c4 invoke acquire k owner b
		33ms c4 ok acquire k owner b fence 4
		33ms c2 invoke release k owner b
		36ms nemesis ok phase end`, `[]`},
	{"a write with a token of none, behind refusals that named both of its lease", `header ttl 18ms drift 2ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 16ms
		 4ms c2 invoke acquire k owner a
		 5ms c2 ok acquire k owner a fence 2 until 20ms
		 8ms c1 invoke extend k owner a fence 1
		24ms c1 fail extend k owner a fence 1 err "lease lost"
		25ms c4 invoke write k owner a fence 3 value "a3"
		28ms c2 invoke extend k owner a fence 2
		28ms c2 fail extend k owner a fence 2 err "lease lost"
		32ms c4 ok write k owner a fence 3 value "a3" began 30ms ended 31ms
		36ms nemesis ok phase end`, `[S4b S8]`},
	{"a write behind a lease of two tokens, when a release that named neither was refused", `header ttl 11ms drift 1ms fenced
		1ms c2 invoke acquire k owner a
		1ms c0 invoke acquire k owner a began 0s
		2ms c2 ok acquire k owner a fence 1 until 11ms
		2ms c2 invoke acquire k owner a
		4ms c2 ok acquire k owner a fence 2 until 12ms
		6ms c2 invoke release k owner a began 4ms
		10ms c2 fail release k owner a err "lease lost"
		11ms c0 ok acquire k owner a fence 3
		22ms c1 invoke acquire k owner a
		22ms c1 fail acquire k owner a err "lock held by another owner"
		23ms c2 ok extend k owner a fence 2 until 33ms began 23ms
		25ms c0 invoke write k owner a fence 3 value "a2" began 24ms
		29ms store ok audit k owner a fence 3 value "a2" seq 2
		29ms nemesis ok phase end`, `[S4b S4b S7]`},
	{"a release by a process that took no lease, beside one that was another lease taken once more", `header ttl 19ms drift 2ms
		0s c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 1 until 17ms
		2ms c0 invoke acquire k owner a
		4ms c0 ok acquire k owner a fence 2 until 4ms ended 4ms
		4ms c1 invoke acquire k owner a began 3ms
		7ms c1 ok acquire k owner a fence 3
		9ms c3 invoke acquire k owner b
		10ms c4 invoke release k owner a
		11ms c3 ok acquire k owner b fence 4
		11ms nemesis ok phase end`, `[S1 S4b S7]`},
	{"a write with a token that two re-entries have replaced since, in another lease than its first", `header ttl 19ms
		1ms c0 invoke acquire k owner a
		1ms c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 2 until 3ms
		2ms c0 ok acquire k owner a fence 1 until 20ms
		3ms c1 invoke acquire k owner a
		4ms c1 ok acquire k owner a fence 2 until 22ms
		4ms c1 invoke acquire k owner a
		5ms c1 ok acquire k owner a fence 3
		8ms c2 invoke write k owner a fence 2 value "a2"
		12ms c2 ok write k owner a fence 2 value "a2"
		13ms nemesis ok phase end`, `[S4b S4b]`},
	{"a write with the token of two leases, of which the one that lasts is neither of the latest", `header ttl 10ms
		1ms c2 invoke acquire k owner a
		1ms c0 invoke acquire k owner a
		3ms c2 ok acquire k owner a fence 2 until 3ms
		4ms c1 invoke acquire k owner a
		5ms c0 ok acquire k owner a fence 2 began 2ms ended 2ms
		7ms c1 ok acquire k owner a fence 3 until 7ms
		8ms c0 invoke write k owner a fence 2 value "a1"
		10ms c0 ok write k owner a fence 2 value "a1"
		11ms nemesis ok phase end`, `[S7 S4b S7]`},
	{"a refused acquire behind a release that may have been an inner one", `header ttl 16ms fenced
		0s c1 invoke acquire k owner a
		1ms c1 ok acquire k owner a fence 1 until 16ms
		1ms c0 invoke acquire k owner a
		17ms c2 invoke acquire k owner a
		18ms c2 ok acquire k owner a fence 3
		20ms c2 invoke release k owner a fence 3
		21ms c0 ok acquire k owner a fence 2 until 17ms
		21ms c2 ok release k owner a fence 3
		23ms c2 invoke acquire k owner a
		24ms c2 fail acquire k owner a err "lock held by another owner"
		25ms c0 invoke write k owner a fence 2 value "a1"
		27ms c0 ok write k owner a fence 2 value "a1" seq 1
		28ms nemesis ok phase end`, `[S7]`},
	{"a release that was never sent, and seemed to begin before another process's was refused", `header ttl 14ms drift 1ms fenced
		1ms c2 invoke acquire k owner a
		4ms c2 ok acquire k owner a fence 1 until 14ms
		7ms c0 invoke acquire k owner a began 4ms
		7ms c3 invoke acquire k owner b
		8ms c0 ok acquire k owner a fence 1 until 20ms began 8ms ended 8ms
		9ms c0 invoke release k owner a fence 1
		11ms c0 fail release k owner a fence 1 err "lease lost"
		12ms c2 invoke release k owner a fence 1 began 10ms
		12ms c2 fail release k owner a fence 1 err "dial tcp: connection refused"
		12ms c3 ok acquire k owner b fence 2 until 20ms
		12ms nemesis ok phase end`, `[]`},
	{"a token given again behind an extension given up when its lease was granted", `header ttl 21ms
		2ms c0 invoke acquire k owner a
		3ms c1 invoke extend k owner a
		3ms c1 info extend k owner a err "i/o timeout"
		3ms c0 ok acquire k owner a fence 2 until 3ms
		28ms c4 invoke acquire k owner a
		28ms c4 ok acquire k owner a fence 2 until 49ms
		32ms nemesis ok phase end`, `[S7]`},
	{"a write behind losses that named both tokens of its lease", `header ttl 11ms fenced
		1ms c0 invoke acquire k owner a began 0s
		2ms c0 ok acquire k owner a fence 1 until 12ms
		3ms c2 invoke acquire k owner a
		6ms c2 ok acquire k owner a fence 2 until 7ms
		10ms c2 ok lost k owner a fence 2
		10ms c0 ok lost k owner a fence 1
		12ms c2 invoke write k owner a value "a1"
		18ms c2 ok write k owner a value "a1" seq 1
		27ms nemesis ok phase end`, `[S4b S8]`},
	{"a write that says that it was issued before another process took its lease once more", `header ttl 15ms drift 1ms epsilon 3ms
		0s c0 invoke acquire k owner a
		13ms c1 invoke acquire k owner a
		30ms c0 ok acquire k owner a fence 1
		35ms c1 ok acquire k owner a fence 1
		35ms c0 invoke write k owner a fence 1 value "a1" began 30ms
		36ms c0 ok write k owner a fence 1 value "a1"
		55ms nemesis ok phase end`, `[S3z S7 S7]`},
	{"a refused release of a lease that was given another token and the same deadline meanwhile", `header ttl 24ms drift 2ms
		50ms c0 invoke acquire k owner a
		50ms c0 ok acquire k owner a fence 2 until 72ms
		51ms c4 invoke acquire k owner b
		51ms c2 invoke acquire k owner a
		51ms c0 invoke acquire k owner a
		52ms c2 ok acquire k owner a fence 2
		53ms c2 invoke release k owner a fence 2
		53ms c0 ok acquire k owner a fence 3 until 73ms began 51ms ended 52ms
		54ms c2 fail release k owner a fence 2 err "lease lost"
		54ms c4 ok acquire k owner b fence 1 until 73ms
		54ms nemesis ok phase end`, `[S1 S4 S4b]`},
	{"a release by a process that took no lease, while one of three is extended", `header ttl 16ms drift 2ms
		1ms c2 invoke acquire k owner a began 0s
		2ms c2 ok acquire k owner a fence 1 until 14ms
		3ms c1 invoke acquire k owner a began 0s
		4ms c4 invoke acquire k owner a
		6ms c1 ok acquire k owner a fence 2 until 17ms ended 6ms
		7ms c4 ok acquire k owner a fence 3
		15ms c1 invoke extend k owner a fence 2 began 14ms
		16ms c6 invoke acquire k owner b
		16ms c5 invoke release k owner a
		16ms c1 ok extend k owner a fence 2 until 29ms
		18ms c6 ok acquire k owner b fence 4 until 30ms
		18ms nemesis ok phase end`, `[S4b S1]`},
	{"a refused acquire while a release is under way", `header ttl 16ms drift 2ms epsilon 2ms fenced
		5ms c2 invoke acquire k owner a
		9ms c0 invoke acquire k owner a
		12ms c0 ok acquire k owner a fence 2 until 20ms
		15ms c0 ok extend k owner a fence 2 until 28ms began 14ms
		17ms c0 invoke release k owner a fence 2
		17ms c2 ok acquire k owner a fence 3
		18ms c1 invoke acquire k owner a
		19ms c1 fail acquire k owner a err "lock held by another owner"
		20ms c2 invoke write k owner a fence 3 value "a3"
		27ms c2 ok write k owner a fence 3 value "a3" seq 3
		30ms nemesis ok phase end`, `[]`},
	{"a newest holder turned away, behind a refused release that named an older token", `header ttl 28ms drift 2ms epsilon 1ms fenced unchecked-release
		1ms c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 1
		4ms c1 invoke acquire k owner a
		8ms c1 ok acquire k owner a fence 2 until 30ms
		33ms c1 ok extend k owner a until 57ms began 31ms
		33ms c0 invoke release k owner a fence 1
		33ms c3 invoke acquire k owner a
		34ms c3 ok acquire k owner a fence 3
		36ms c1 ok extend k owner a until 62ms began 36ms
		37ms c3 invoke write k owner a fence 3 value "a5"
		37ms c0 fail release k owner a fence 1 began 33ms ended 36ms err "lease lost"
		38ms c3 fail write k owner a fence 3 value "a5" seq 5 err "stale token"
		38ms nemesis ok phase end`, `[S4b S4b]`},
	{"an acquire of unknown outcome behind an extension that was never sent", `header ttl 26ms drift 1ms epsilon 1ms
		1ms c2 invoke acquire k owner a
		1ms c0 invoke acquire k owner a
		3ms c0 ok acquire k owner a fence 1
		4ms c0 invoke extend k owner a fence 1
		6ms c0 fail extend k owner a fence 1 err "dial tcp: connection refused"
		7ms c2 ok acquire k owner a fence 2 until 7ms
		11ms c2 invoke acquire k owner a
		14ms c2 info acquire k owner a err "i/o timeout"
		14ms c4 invoke write k owner a fence 2 value "a2"
		14ms c4 ok write k owner a fence 2 value "a2" seq 2
		19ms nemesis ok phase end`, `[S3z S7]`},
	{"a newest holder turned away within its own deadline, which was not the latest", `header ttl 11ms drift 2ms epsilon 2ms fenced
		0s c0 invoke acquire k owner a
		1ms c1 invoke acquire k owner a began 0s
		5ms c1 ok acquire k owner a fence 1 until 10ms
		6ms c0 ok acquire k owner a fence 1
		7ms c0 invoke write k owner a fence 1 value "a1"
		8ms c0 fail write k owner a fence 1 value "a1" seq 1 err "stale token"
		9ms nemesis ok phase end`, `[]`},
	{"a release by a process that took no lease, of an owner with three of them", `header ttl 16ms drift 2ms epsilon 1ms fenced unchecked-release
		0s c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 1 until 12ms
		3ms c1 invoke acquire k owner a
		4ms c4 invoke acquire k owner a
		5ms c1 ok acquire k owner a fence 3 until 17ms
		7ms c4 ok acquire k owner a fence 4 until 18ms began 4ms ended 5ms
		9ms c3 invoke acquire k owner b
		10ms c5 invoke release k owner a began 9ms
		10ms c3 ok acquire k owner b fence 5 until 23ms
		10ms nemesis ok phase end`, `[S1 S4b S1]`},
	{"a lower token of a process's own, behind another's of the same height", `header ttl 12ms drift 1ms epsilon 3ms fenced
		13ms c1 invoke write k owner a fence 3 value "a3"
		14ms c1 ok write k owner a fence 3 value "a3"
		15ms c0 invoke write k owner a fence 3 value "a4"
		15ms c0 ok write k owner a fence 3 value "a4"
		17ms c0 invoke write k owner a fence 2 value "a5"
		18ms c0 ok write k owner a fence 2 value "a5" ended 18ms
		18ms nemesis ok phase end`, `[S8 S2 S8 S8]`},
	{"a refused release beside a lease that its owner took twice", `header ttl 17ms
		0s c1 invoke acquire k owner a
		1ms c1 ok acquire k owner a
		1ms c0 invoke acquire k owner a
		3ms c0 ok acquire k owner a until 18ms
		3ms c0 invoke acquire k owner a
		21ms c0 ok acquire k owner a until 20ms
		22ms c1 ok extend k owner a until 39ms began 22ms
		24ms c0 invoke release k owner a
		27ms c4 invoke acquire k owner a began 22ms
		28ms c4 ok acquire k owner a ended 28ms
		30ms c3 invoke acquire k owner b
		33ms c0 fail release k owner a ended 28ms err "lease lost"
		34ms c3 ok acquire k owner b until 44ms ended 32ms
		35ms nemesis ok phase end`, `[S7]`},
	{"a release that began later than told, behind a refusal", `header ttl 20ms drift 2ms fenced
		23ms c3 invoke acquire k owner b
		24ms c5 invoke acquire k owner b
		28ms c3 ok acquire k owner b fence 1
		31ms c5 ok acquire k owner b fence 1
		32ms c0 invoke acquire k owner a began 31ms
		33ms c3 invoke release k owner b fence 1
		33ms c3 fail release k owner b fence 1 err "lease lost"
		34ms c0 ok acquire k owner a fence 2 until 50ms
		35ms c5 invoke release k owner b began 31ms
		37ms c5 ok release k owner b began 35ms ended 36ms
		37ms nemesis ok phase end`, `[S6]`},
	{"an extension behind a refusal that may have been of another lease", `header ttl 21ms drift 2ms epsilon 2ms
		2ms c1 invoke acquire k owner a
		3ms c1 ok acquire k owner a fence 1 until 21ms
		5ms c0 invoke acquire k owner a
		6ms c1 invoke acquire k owner a
		10ms c0 ok acquire k owner a fence 2 until 22ms
		13ms c1 ok acquire k owner a fence 3
		17ms c1 invoke extend k owner a
		18ms c1 fail extend k owner a err "lease lost"
		20ms c5 invoke acquire k owner b
		22ms c0 invoke extend k owner a
		25ms c5 ok acquire k owner b fence 5
		27ms c0 ok extend k owner a until 41ms
		30ms nemesis ok phase end`, `[S4b S1]`},
	{"a token given again behind an extension given up before the history told of its lease", `header ttl 17ms drift 2ms epsilon 1ms unchecked-release
		0s c3 invoke acquire k owner b
		9ms c4 invoke extend k owner b
		12ms c4 info extend k owner b ended 11ms err "i/o timeout"
		28ms c3 ok acquire k owner b fence 2 until 15ms began 3ms ended 3ms
		31ms c3 invoke acquire k owner b
		31ms c3 ok acquire k owner b fence 2 until 46ms
		35ms nemesis ok phase end`, `[]`},
	{"a token given again while an extension of the lease before the latest is under way", `header ttl 27ms drift 1ms
		0s c1 invoke acquire k owner a
		25ms c2 invoke acquire k owner a began 21ms
		26ms c2 ok acquire k owner a fence 1 until 51ms
		27ms c1 ok acquire k owner a fence 2 ended 7ms
		53ms c0 invoke acquire k owner a
		80ms c1 invoke extend k owner a fence 2
		80ms c0 ok acquire k owner a fence 2
		82ms nemesis ok phase end`, `[S4 S7]`},
	{"a loss of a lease granted while a release that was never sent seemed to be under way", `header ttl 16ms fenced
		1ms c0 invoke acquire k owner a began 0s
		2ms c1 invoke acquire k owner a began 0s
		2ms c0 ok acquire k owner a fence 1
		2ms c0 invoke release k owner a fence 1
		2ms c1 ok acquire k owner a fence 1 until 18ms
		4ms c0 fail release k owner a fence 1 err "dial tcp: connection refused"
		8ms c0 ok lost k owner a fence 1
		10ms c1 invoke release k owner a fence 1 began 9ms
		11ms c4 invoke acquire k owner b
		27ms c4 ok acquire k owner b fence 3 until 27ms began 12ms ended 15ms
		30ms nemesis ok phase end`, `[]`},
	{"a refusal to each of two processes, and an acquire of unknown outcome", `header ttl 24ms
		1ms c0 invoke acquire k owner a began 0s
		3ms c1 invoke acquire k owner a
		3ms c1 ok acquire k owner a
		6ms c0 ok acquire k owner a
		6ms c1 invoke release k owner a
		7ms c0 invoke extend k owner a
		8ms c0 fail extend k owner a err "lease lost"
		13ms c0 invoke acquire k owner a
		16ms c1 fail release k owner a err "lease lost"
		17ms c0 ok acquire k owner a until 17ms
		17ms c1 invoke acquire k owner a
		17ms c1 info acquire k owner a err "i/o timeout"
		18ms c0 invoke write k owner a value "a1" began 17ms
		20ms store ok audit k owner a value "a1" seq 1
		20ms nemesis ok phase end`, `[S7 S8]`},
	{"a token in the log of a write that was asked for with none", `header ttl 25ms drift 2ms fenced
		34ms c0 invoke write k owner a fence 1 value "a1"
		35ms c3 invoke write k owner b value "b2"
		42ms store ok audit k owner b fence 2 value "b2" seq 1
		42ms store ok audit k owner a fence 1 value "a1" seq 3
		42ms nemesis ok phase end`, `[S2 S8 S8]`},
	{"a refused extension of another lease than the one that was held", `header ttl 26ms epsilon 1ms unchecked-release
		1ms c2 invoke acquire k owner a
		3ms c0 invoke acquire k owner a
		5ms c2 ok acquire k owner a fence 1 until 27ms
		5ms c2 invoke acquire k owner a
		6ms c0 ok acquire k owner a fence 2 until 26ms
		8ms c3 invoke acquire k owner b
		9ms c2 ok acquire k owner a fence 3 until 10ms
		10ms c2 invoke extend k owner a began 9ms
		11ms c2 fail extend k owner a err "lease lost"
		12ms c3 ok acquire k owner b fence 4 until 34ms
		14ms nemesis ok phase end`, `[S1 S4b S1]`},
	{"a token given again while an extension that named no lease is under way", `header ttl 26ms drift 1ms epsilon 1ms
		1ms c4 invoke acquire k owner b
		3ms c4 ok acquire k owner b fence 1
		4ms c3 invoke acquire k owner b
		5ms c3 ok acquire k owner b fence 2 until 29ms
		9ms c4 invoke extend k owner b
		46ms c6 invoke acquire k owner b
		48ms c6 ok acquire k owner b fence 2 until 49ms
		49ms nemesis ok phase end`, `[]`},
	{"a refused acquire while a release that no process has heard of is under way", `header ttl 21ms drift 1ms fenced
		1ms c3 invoke acquire k owner b
		3ms c3 ok acquire k owner b until 21ms
		4ms c3 invoke release k owner b
		7ms c4 invoke acquire k owner b
		8ms c5 invoke acquire k owner b
		9ms c4 ok acquire k owner b until 9ms
		9ms c5 fail acquire k owner b err "dial tcp: connection refused"
		11ms c4 invoke write k owner b value "b1"
		12ms c4 ok write k owner b value "b1"
		12ms nemesis ok phase end`, `[S3z S7]`},
	{"a release that began before another process took the lease once more and lost it", `header ttl 26ms drift 1ms fenced
		2ms c0 invoke acquire k owner a
		3ms c2 invoke acquire k owner b
		5ms c2 ok acquire k owner b
		7ms c0 ok acquire k owner a
		7ms c1 invoke acquire k owner a
		8ms c1 ok acquire k owner a until 32ms
		9ms c1 ok lost k owner a began 8ms
		10ms c0 invoke release k owner a began 7ms
		11ms nemesis ok phase end`, `[]`},
	{"a write with the older of two leases' tokens, extended behind the other", `header ttl 24ms
		0s c4 invoke acquire k owner b
		1ms c4 ok acquire k owner b fence 1 until 24ms
		2ms c2 invoke acquire k owner b
		2ms c2 ok acquire k owner b fence 2
		26ms c3 invoke acquire k owner b
		26ms c3 ok acquire k owner b fence 3
		53ms c2 ok extend k owner b fence 2 until 77ms began 53ms
		55ms c2 invoke write k owner b fence 2 value "b5"
		60ms c4 invoke release k owner b fence 1
		62ms c4 fail release k owner b fence 1 err "lease lost"
		64ms store ok audit k owner b fence 2 value "b5" seq 3
		64ms nemesis ok phase end`, `[S4b S4b]`},
	{"two holders by an extension of a lease that has had another token", `header ttl 17ms epsilon 2ms fenced
		1ms c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 1 until 18ms
		5ms c0 invoke acquire k owner a
		6ms c0 ok acquire k owner a fence 1 until 22ms ended 6ms
		11ms c2 invoke release k owner a fence 1
		12ms c1 invoke acquire k owner a
		13ms c1 ok acquire k owner a fence 2
		32ms c3 invoke acquire k owner b
		33ms c3 ok acquire k owner b fence 3
		34ms c2 fail release k owner a fence 1 err "lease lost"
		35ms c1 ok extend k owner a until 50ms began 33ms
		88ms nemesis ok phase end`, `[S1 S4b]`},
	{"a write behind a refusal to another process, and a third lease told since", `header ttl 28ms drift 2ms unchecked-release
		2ms c0 invoke acquire k owner a
		35ms c1 invoke acquire k owner a
		62ms c1 ok acquire k owner a
		63ms c0 ok acquire k owner a until 28ms
		65ms c0 invoke release k owner a
		91ms c1 invoke write k owner a value "a3"
		95ms c0 fail release k owner a began 77ms ended 86ms err "lease lost"
		100ms c0 invoke acquire k owner a
		102ms c0 ok acquire k owner a ended 102ms
		107ms c1 ok write k owner a value "a3" seq 4
		117ms nemesis ok phase end`, `[S7 S7 S8]`},
	{"a write behind the release of a lease that was another one taken once more, when both had run out", `header ttl 29ms drift 1ms
		0s c2 invoke acquire k owner a
		0s c2 ok acquire k owner a fence 1
		0s c0 invoke acquire k owner a
		1ms c1 invoke acquire k owner a
		2ms c0 ok acquire k owner a fence 2 until 28ms
		2ms c1 ok acquire k owner a fence 3 until 29ms
		2ms c1 invoke release k owner a fence 3
		31ms c1 ok release k owner a fence 3
		32ms c1 invoke write k owner a value "a1" began 31ms
		34ms c1 ok write k owner a value "a1" seq 1 began 33ms ended 33ms
		36ms nemesis ok phase end`, `[S4b S3z]`},
	{"a refused acquire behind a loss that may have been of another process's own lease", `header ttl 19ms drift 2ms
		1ms c0 invoke acquire k owner a
		1ms c1 invoke acquire k owner a
		2ms c1 ok acquire k owner a fence 1 until 18ms
		2ms c0 ok acquire k owner a fence 1 until 3ms began 2ms ended 2ms
		4ms c0 ok lost k owner a fence 1
		4ms c0 invoke acquire k owner a
		6ms c0 ok acquire k owner a fence 2 until 7ms
		7ms c1 invoke acquire k owner a
		7ms c1 fail acquire k owner a err "dial tcp: connection refused"
		8ms c0 invoke write k owner a fence 2 value "a2"
		10ms c0 ok write k owner a fence 2 value "a2" seq 2
		21ms nemesis ok phase end`, `[S3z]`},
	{"a write behind a loss, under a lease told since that had run out", `header ttl 17ms drift 1ms
		1ms c1 invoke acquire k owner a
		18ms c2 invoke acquire k owner a
		20ms c2 ok acquire k owner a until 34ms
		21ms c0 invoke write k owner a value "a2"
		21ms c2 ok lost k owner a
		22ms c1 ok acquire k owner a
		24ms c0 ok write k owner a value "a2" seq 2 began 23ms ended 24ms
		27ms nemesis ok phase end`, `[S3z S7]`},
	{"an extension answered behind a loss of the lease that it was asked for, and another one with its token", `header ttl 22ms drift 1ms epsilon 2ms fenced
		3ms c2 invoke acquire k owner a
		5ms c0 invoke acquire k owner a
		23ms c0 ok acquire k owner a fence 1 until 26ms
		24ms c1 invoke extend k owner a fence 1
		29ms c0 ok lost k owner a fence 1
		32ms c2 ok acquire k owner a fence 1 until 23ms
		33ms c1 ok extend k owner a fence 1 until 45ms
		35ms c0 invoke acquire k owner a
		37ms c0 ok acquire k owner a fence 2
		37ms nemesis ok phase end`, `[S4b S7]`},
	{"two holders by a token given behind a release, which then was refused", `header ttl 21ms drift 2ms epsilon 3ms
		4ms c1 invoke acquire k owner a
		5ms c2 invoke acquire k owner a
		5ms c2 ok acquire k owner a fence 1 until 24ms
		9ms c1 ok acquire k owner a fence 1 until 23ms
		15ms c1 invoke release k owner a fence 1
		20ms c4 invoke acquire k owner a
		20ms c4 ok acquire k owner a fence 3 until 39ms
		21ms c1 fail release k owner a fence 1 err "lease lost"
		24ms nemesis invoke fault kill-node target n1 instant
		28ms c3 invoke acquire k owner b
		29ms c3 ok acquire k owner b fence 4
		38ms nemesis ok phase end`, `[S1 S10 S4b]`},
	{"an extension of a lease granted behind the release of the one that it seemed to be of", `header ttl 26ms fenced
		4ms c2 invoke acquire k owner a
		7ms c2 ok acquire k owner a fence 3
		9ms c5 invoke release k owner a
		10ms c0 invoke acquire k owner a
		33ms c6 invoke acquire k owner b
		35ms c5 ok release k owner a
		36ms c5 invoke extend k owner a
		37ms c0 ok acquire k owner a fence 4
		38ms c5 ok extend k owner a until 62ms
		38ms c6 ok acquire k owner b fence 5 until 59ms
		39ms nemesis ok phase end`, `[S1 S7]`},
	{"a write behind the release of a lease that was an older one taken once more, as the history tells late", `header ttl 25ms drift 2ms
		1ms c2 invoke acquire k owner b
		27ms c3 invoke acquire k owner b
		27ms c3 ok acquire k owner b fence 2 until 48ms
		28ms c3 invoke release k owner b fence 2
		31ms c2 ok acquire k owner b fence 3 began 6ms ended 8ms
		32ms c3 ok release k owner b fence 2
		33ms c3 invoke write k owner b value "b1"
		38ms c3 ok write k owner b value "b1" seq 1
		40ms nemesis ok phase end`, `[S4 S3z]`},
	{"a refused acquire behind a loss that another process was told", `header ttl 19ms drift 1ms fenced
		1ms c1 invoke acquire k owner a
		1ms c0 invoke acquire k owner a
		20ms c2 invoke acquire k owner a
		20ms c0 ok acquire k owner a fence 1 until 19ms
		21ms c2 ok acquire k owner a fence 1 until 38ms
		23ms c0 ok lost k owner a
		24ms c1 ok acquire k owner a fence 1 until 19ms
		25ms c0 invoke acquire k owner a
		25ms c0 fail acquire k owner a err "dial tcp: connection refused"
		25ms c1 invoke write k owner a fence 1 value "a1"
		25ms c1 ok write k owner a fence 1 value "a1" seq 1
		46ms nemesis ok phase end`, `[S7 S7]`},
	{"a write under a lease whose release was never sent, when two more were granted since", `header ttl 12ms drift 2ms epsilon 1ms fenced unchecked-release
		0s c2 invoke acquire k owner a
		12ms c1 invoke acquire k owner a
		13ms c1 ok acquire k owner a until 22ms
		15ms c1 invoke release k owner a began 13ms
		15ms c2 ok acquire k owner a
		16ms c0 invoke acquire k owner a
		18ms c2 invoke write k owner a value "a1"
		27ms c0 ok acquire k owner a until 26ms
		28ms c2 ok write k owner a value "a1" seq 1
		32ms link ok receipt never-forwarded of 3
		32ms nemesis ok phase end`, `[S7 S7]`},
	{"a write behind the deadline of a hold of which another process gave back its part", `header ttl 12ms epsilon 2ms
		0s c1 invoke acquire k owner a
		0s c1 ok acquire k owner a fence 1 until 12ms
		6ms c0 invoke acquire k owner a
		9ms c0 ok acquire k owner a fence 1
		11ms c0 invoke release k owner a fence 1 began 9ms
		11ms c0 ok release k owner a fence 1
		20ms c1 invoke write k owner a fence 1 value "a3"
		29ms c1 ok write k owner a fence 1 value "a3"
		30ms nemesis ok phase end`, `[]`},
	{"a refused acquire behind a release that was never sent", `header ttl 14ms
		2ms c0 invoke acquire k owner a
		3ms c1 invoke acquire k owner a
		4ms c1 ok acquire k owner a fence 1 until 17ms
		5ms c0 ok acquire k owner a fence 2 until 5ms
		6ms c1 invoke release k owner a fence 1
		8ms c1 info release k owner a fence 1 err "i/o timeout"
		13ms c4 invoke acquire k owner a
		14ms c4 fail acquire k owner a err "lock held by another owner"
		16ms c4 invoke write k owner a value "a5"
		16ms c4 ok write k owner a value "a5" seq 4
		17ms link ok receipt never-forwarded of 4
		17ms nemesis ok phase end`, `[S7]`},
	{"a release that was never sent, and another process's that was refused", `header ttl 20ms epsilon 1ms fenced
		21ms c4 invoke acquire k owner b
		24ms c4 ok acquire k owner b until 41ms
		25ms c2 invoke acquire k owner b
		25ms c3 invoke acquire k owner b
		27ms c4 invoke release k owner b
		28ms c2 ok acquire k owner b
		29ms c2 invoke release k owner b
		30ms c3 ok acquire k owner b
		33ms c2 fail release k owner b err "lease lost"
		35ms c1 invoke acquire k owner a
		35ms c4 fail release k owner b err "dial tcp: connection refused"
		36ms c1 ok acquire k owner a
		37ms nemesis ok phase end`, `[S1]`},
	{"an extension of one of two leases, behind a refusal to a process that took the other", `header ttl 16ms drift 1ms fenced
		1ms c2 invoke acquire k owner a
		2ms c2 ok acquire k owner a fence 1 until 16ms
		2ms c0 invoke acquire k owner a
		3ms c0 ok acquire k owner a fence 2
		7ms c4 invoke acquire k owner a
		8ms c4 ok acquire k owner a fence 1
		9ms c4 invoke extend k owner a
		11ms c3 invoke acquire k owner b
		11ms c4 fail extend k owner a err "lease lost"
		17ms c3 ok acquire k owner b fence 2 until 23ms
		18ms c5 ok extend k owner a until 32ms began 17ms
		19ms nemesis ok phase end`, `[S1 S4 S4b]`},
	{"an early takeover of a lease that has had another token", `header ttl 17ms drift 1ms
		1ms c2 invoke acquire k owner b
		2ms c2 ok acquire k owner b fence 1 until 15ms
		3ms c3 invoke acquire k owner b
		3ms nemesis invoke fault kill-node target n1 instant
		3ms c4 invoke acquire k owner b
		5ms c4 ok acquire k owner b fence 1 until 19ms
		6ms c4 invoke release k owner b fence 1
		7ms c3 ok acquire k owner b fence 2
		10ms c0 invoke acquire k owner a
		11ms c4 fail release k owner b fence 1 err "lease lost"
		16ms c0 ok acquire k owner a fence 2 until 26ms
		22ms nemesis ok phase end`, `[S1 S10 S4b]`},
	{"a write behind a refusal that is told behind it, and a loss in between", `header ttl 23ms drift 1ms
		3ms c2 invoke acquire k owner a began 0s
		6ms c2 ok acquire k owner a fence 1 until 6ms
		7ms c2 invoke release k owner a fence 1
		10ms c2 ok lost k owner a
		11ms c0 invoke write k owner a fence 1 value "a3" began 9ms
		12ms c0 ok write k owner a fence 1 value "a3" seq 3
		15ms c2 fail release k owner a fence 1 ended 8ms err "lease lost"
		17ms nemesis ok phase end`, `[S7 S8]`},
	{"an extension answered before a lease was asked for, and told behind its grant", `header ttl 21ms drift 2ms
		15ms c1 invoke extend k owner a
		18ms c2 invoke acquire k owner a
		19ms c2 ok acquire k owner a fence 2 until 37ms ended 19ms
		21ms c1 ok extend k owner a ended 16ms
		21ms nemesis ok phase end`, `[]`},
	{"the same, with the token of that lease", `header ttl 17ms drift 1ms fenced
		11ms c0 invoke extend k owner a fence 1
		14ms c1 invoke acquire k owner a
		17ms c1 ok acquire k owner a fence 1 until 17ms
		17ms c0 ok extend k owner a fence 1 began 12ms ended 13ms
		22ms nemesis ok phase end`, `[S7]`},
	{"a refused acquire behind the release of a lease that another one may be", `header ttl 15ms drift 2ms epsilon 2ms fenced
		1ms c1 invoke acquire k owner a
		15ms c0 invoke acquire k owner a
		18ms c1 ok acquire k owner a fence 1 until 18ms
		33ms c1 invoke extend k owner a
		33ms c1 ok extend k owner a until 46ms
		35ms c1 invoke release k owner a fence 1
		35ms c0 ok acquire k owner a fence 2 until 28ms
		37ms c1 ok release k owner a fence 1
		37ms c0 invoke acquire k owner a
		38ms c0 fail acquire k owner a err "lock held by another owner"
		38ms c0 invoke write k owner a fence 2 value "a1"
		39ms c0 ok write k owner a fence 2 value "a1" ended 39ms
		39ms nemesis ok phase end`, `[S7 S7]`},
	{"a write before the extension that made another lease the longer one", `header ttl 24ms
		0s c1 invoke acquire k owner a
		0s c1 ok acquire k owner a until 0s
		0s c0 invoke acquire k owner a
		1ms c0 ok acquire k owner a
		6ms c1 invoke extend k owner a
		8ms c1 ok extend k owner a until 30ms
		9ms c0 invoke write k owner a value "a4" began 5ms
		14ms c0 ok extend k owner a until 36ms began 12ms
		16ms store ok audit k owner a value "a4" seq 5
		16ms nemesis ok phase end`, `[S7]`},
	{"an acquire of unknown outcome behind the release of a lease that another one may be", `header ttl 10ms drift 2ms epsilon 1ms
		0s c0 invoke acquire k owner a
		1ms c0 ok acquire k owner a fence 1 until 8ms
		2ms c2 invoke acquire k owner a
		3ms c0 invoke release k owner a fence 1
		3ms c0 ok release k owner a fence 1
		3ms c1 invoke acquire k owner a
		3ms c1 ok acquire k owner a fence 2 until 3ms
		3ms c2 info acquire k owner a err "i/o timeout"
		4ms c1 invoke write k owner a fence 2 value "a1"
		6ms c1 ok write k owner a fence 2 value "a1" seq 1
		11ms nemesis ok phase end`, `[S3z S7]`},
	{"a write before a loss, while an extension is under way", `header ttl 16ms
		2ms c3 invoke acquire k owner b
		25ms c3 ok acquire k owner b fence 1 until 18ms
		27ms c4 invoke extend k owner b
		27ms c2 ok lost k owner b fence 1
		27ms c3 invoke write k owner b fence 1 value "b3" began 25ms
		30ms c3 ok write k owner b fence 1 value "b3" seq 3
		31ms c4 ok extend k owner b until 43ms
		32ms nemesis ok phase end`, `[S3z S7]`},
	{"a write before its owner's grant, and an extension that began before it", `header ttl 23ms drift 2ms fenced
		1ms c3 invoke acquire k owner b
		1ms c4 invoke acquire k owner b
		2ms c3 info acquire k owner b err "i/o timeout"
		3ms c5 invoke write k owner b value "b1"
		4ms c4 ok acquire k owner b fence 1
		4ms c5 ok write k owner b value "b1" seq 1
		4ms c4 ok extend k owner b until 23ms began 2ms
		21ms nemesis ok phase end`, `[S8]`},
	{"an extension that names one lease, and is told to have been of another, beside a reader", `header ttl 19ms drift 1ms
		 1ms c0 invoke acquire k owner a mode r
		 2ms c0 ok acquire k owner a mode r fence 2 until 19ms
		 4ms c0 invoke acquire k owner a
		 6ms c0 ok acquire k owner a fence 1 until 22ms
		12ms c1 invoke acquire k owner b mode r
		14ms c1 ok acquire k owner b mode r fence 3
		15ms c3 invoke extend k owner a fence 1
		15ms c3 ok extend k owner a fence 2 until 33ms
		66ms nemesis ok phase end`, `[S4 S1]`},
	{"a late release that ended a hold whose own release was never sent", `header ttl 22ms drift 2ms
		16ms c1 invoke acquire k owner b
		17ms c1 ok acquire k owner b until 17ms
		19ms c3 invoke acquire k owner c
		23ms c1 invoke release k owner b
		23ms c1 ok release k owner b
		23ms c3 ok acquire k owner c until 39ms began 20ms ended 21ms
		27ms c3 invoke acquire k owner c
		28ms c3 ok acquire k owner c began 27ms ended 28ms
		30ms c3 invoke release k owner c
		31ms c0 invoke acquire k owner a
		31ms c4 invoke release k owner c
		32ms c4 info release k owner c err "i/o timeout"
		33ms c0 ok acquire k owner a until 51ms
		36ms link ok receipt never-forwarded of 8
		36ms link ok receipt never-forwarded of 10
		36ms nemesis ok phase end`, `[S6 S7 S5 S1]`},
	{"the holder of one of several holds turned away, as it gives back another", `header ttl 20ms drift 2ms epsilon 3ms fenced
		 0ms c0 invoke acquire k2 owner a
		 5ms c0 ok acquire k2 owner a fence 1
		 7ms c0 invoke acquire k2 owner a
		 7ms c0 ok acquire k2 owner a fence 1
		17ms c2 invoke write k2 owner a fence 1 value "a4"
		17ms c2 fail write k2 owner a fence 1 value "a4" seq 4 err "stale token"
		18ms c2 invoke release k2 owner a
		47ms nemesis ok phase end`, `[]`},
	{"the same, behind the deadline of the other hold, at the very instant", `header ttl 16ms drift 1ms epsilon 1ms fenced unchecked-release
		13ms c5 invoke acquire k2 owner f
		25ms c5 ok acquire k2 owner f fence 2
		28ms c5 invoke acquire k2 owner f
		32ms c5 ok acquire k2 owner f fence 2
		34ms c5 invoke write k2 owner f fence 2 value "f4"
		36ms c5 fail write k2 owner f fence 2 value "f4" seq 4 err "stale token"
		36ms c5 invoke release k2 owner f
		41ms nemesis ok phase end`, `[]`},
	{"an inner release that says, as it is refused, that it began only when another one held", `header ttl 13ms drift 0s epsilon 0s fenced
		3ms c4 invoke acquire k2 owner c
		4ms c5 invoke acquire k2 owner f
		4ms c4 ok acquire k2 owner c fence 1 until 5ms
		5ms c2 invoke acquire k2 owner c
		6ms c2 ok acquire k2 owner c fence 1 until 18ms
		7ms c2 invoke release k2 owner c
		9ms c5 ok acquire k2 owner f fence 2 until 17ms
		19ms c2 fail release k2 owner c began 13ms ended 14ms err "lease lost"
		51ms nemesis ok phase end`, `[S1]`},
	{"an extension that was asked for before a re-entry, and an inner release", `header ttl 16ms drift 1ms epsilon 0s unchecked-release
		10ms c0 invoke acquire k1 owner a
		11ms c0 ok acquire k1 owner a
		12ms c0 invoke acquire k1 owner a
		16ms c0 ok acquire k1 owner a until 16ms
		16ms c0 ok extend k1 owner a until 29ms began 14ms
		19ms c0 invoke release k1 owner a
		22ms c1 invoke acquire k1 owner b
		23ms c1 ok acquire k1 owner b
		58ms nemesis ok phase end`, `[S1]`},
	{"an extension that names the outer hold, and an inner release", `header ttl 22ms drift 1ms epsilon 0s fenced
		 0s c4 invoke acquire k1 owner e
		 3ms c4 ok acquire k1 owner e fence 2 until 21ms ended 3ms
		 8ms c4 invoke acquire k1 owner e
		 8ms c4 ok acquire k1 owner e fence 1 until 29ms
		 9ms c4 ok extend k1 owner e fence 2 until 28ms began 7ms
		12ms c4 invoke release k1 owner e
		20ms c1 invoke acquire k1 owner b
		25ms c1 ok acquire k1 owner b fence 2 until 41ms ended 22ms
		29ms nemesis ok phase end`, `[S1 S4 S4b S4b]`},
	{"extensions of the outer hold before a re-entry, and of the inner one behind it", `header ttl 16ms drift 1ms epsilon 1ms fenced
		 1ms c1 invoke acquire k2 owner a
		 6ms c1 ok acquire k2 owner a fence 2 until 16ms
		18ms c4 invoke extend k2 owner a fence 2
		20ms c0 invoke acquire k2 owner a
		23ms c4 ok extend k2 owner a fence 2 began 18ms ended 19ms
		29ms c5 invoke acquire k2 owner d
		30ms c4 ok extend k2 owner a fence 2 until 44ms began 29ms
		32ms c0 ok acquire k2 owner a fence 2 until 35ms
		33ms c4 invoke extend k2 owner a
		33ms c4 ok extend k2 owner a until 48ms
		34ms c4 invoke release k2 owner a
		39ms c5 ok acquire k2 owner d fence 3 until 44ms
		57ms nemesis ok phase end`, `[S1]`},
	{"a write turned away behind the outer deadline, when the inner hold had been given back by the same process", `header ttl 100ms epsilon 2ms fenced
		  0ms c1 invoke acquire k owner a
		  1ms c1 ok acquire k owner a fence 1 until 100ms
		 60ms c2 invoke acquire k owner a
		 61ms c2 ok acquire k owner a fence 1 until 160ms
		120ms c2 invoke release k owner a fence 1
		121ms c2 ok release k owner a fence 1
		125ms c2 invoke write k owner a fence 1 value x
		126ms c2 fail write k owner a fence 1 value x seq 1 err "stale token"
		130ms nemesis ok phase end`, `[]`},
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
