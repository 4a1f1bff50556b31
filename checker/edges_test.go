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
