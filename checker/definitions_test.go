package checker_test

import (
	"fmt"
	"testing"

	"locktorture/checker"
	"locktorture/workload/history"
)

// TestDefinitions judges histories that were written, with what is owed, from the definitions
// alone: one or two at each edge of each of them. The reference must not object either.
func TestDefinitions(t *testing.T) {
	for _, c := range definitions {
		h, err := history.Parse(c.history + "\n900ms nemesis ok phase end")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := history.Validate(h.Events); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if wrong := disagreements(t, h); len(wrong) > 0 {
			t.Errorf("%s: %v", c.name, wrong)
		}
		var got []string
		for _, f := range checker.Check(t.Context(), h, checker.Options{}).Violations {
			got = append(got, f.ID)
		}
		if fmt.Sprint(got) != c.violations {
			t.Errorf("%s: violations %v, want %s", c.name, got, c.violations)
		}
	}
}

var definitions = []struct{ name, history, violations string }{
	{"child write behind info release, nothing says began, in time", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 info release k owner a err timeout
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms`, "[]"},
	{"the same behind the deadline", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 info release k owner a err timeout
		 130ms c1 invoke write k owner a value v
		 131ms c1 ok write k owner a value v seq 1 began 130ms`, "[S3z]"},
	{"release says began", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 info release k owner a began 11ms err timeout
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms`, "[S8]"},
	{"no stamp of the writer's own", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 info release k owner a err timeout
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1`, "[S8]"},
	{"write issued before the release by own stamp, arrives after", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 ok release k owner a
		 30ms c1 invoke write k owner a value v began 9ms
		 31ms c1 ok write k owner a value v seq 1 began 9ms`, "[]"},
	{"write behind release ok by own stamp", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 ok release k owner a
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms`, "[S8]"},
	{"within eps behind release ok", `header ttl 100ms epsilon 25ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 ok release k owner a
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1`, "[]"},
	{"own order at equal stamps, eps", `header ttl 100ms epsilon 25ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 20ms c0 invoke release k owner a
		 20ms c0 ok release k owner a
		 20ms c0 invoke write k owner a value v
		 20ms c0 ok write k owner a value v seq 1`, "[S8]"},
	{"touching holds", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 99ms c1 invoke acquire k owner b
		 100ms c1 ok acquire k owner b until 199ms`, "[]"},
	{"one ms overlap", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 98ms c1 invoke acquire k owner b
		 99ms c1 ok acquire k owner b until 198ms`, "[S1]"},
	{"overlap of eps", `header ttl 100ms epsilon 1ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 98ms c1 invoke acquire k owner b
		 99ms c1 ok acquire k owner b until 198ms`, "[]"},
	{"overlap of eps, one process for both owners", `header ttl 100ms epsilon 50ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 98ms c0 invoke acquire k owner b
		 99ms c0 ok acquire k owner b until 198ms`, "[S1]"},
	{"hold ends by unknown release", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 11ms c1 invoke acquire k owner b
		 12ms c1 ok acquire k owner b until 111ms
		 20ms c0 info release k owner a err timeout`, "[]"},
	{"release certainly not sent ends nothing", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 11ms c1 invoke acquire k owner b
		 12ms c1 ok acquire k owner b until 111ms
		 20ms c0 fail release k owner a err "connection refused"`, "[S1]"},
	{"unknown extension leaves D", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 50ms c0 invoke extend k owner a
		 60ms c0 info extend k owner a err timeout
		 119ms c1 invoke acquire k owner b
		 120ms c1 ok acquire k owner b until 219ms`, "[]"},
	{"extension that a link saw executed", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 50ms c0 invoke extend k owner a
		 60ms c0 info extend k owner a err timeout
		 61ms link ok receipt executed of 2
		 119ms c1 invoke acquire k owner b
		 120ms c1 ok acquire k owner b until 219ms`, "[]"},
	{"refused extension, next grant, then write", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 50ms c0 invoke extend k owner a
		 51ms c0 fail extend k owner a err lost
		 60ms c1 invoke acquire k owner b
		 61ms c1 ok acquire k owner b until 160ms
		 62ms c0 invoke write k owner a value v
		 63ms c0 ok write k owner a value v seq 1`, "[S8]"},
	{"unknown acquire beside a hold, and its write", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 5ms c1 invoke acquire k owner b
		 6ms c1 info acquire k owner b err timeout
		 7ms c2 invoke write k owner b value v
		 8ms c2 ok write k owner b value v seq 1`, "[S8]"},
	{"unknown acquire that a link saw executed, and its write", `header ttl 100ms
		 5ms c1 invoke acquire k owner b
		 6ms c1 info acquire k owner b err timeout
		 7ms c2 invoke write k owner b value v
		 8ms c2 ok write k owner b value v seq 1
		 9ms link ok receipt executed of 0
		 10ms c3 invoke acquire k owner c
		 110ms c3 ok acquire k owner c until 200ms`, "[S8]"},
	{"stale accepted by seq against stamps", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 30ms c1 invoke acquire k owner b
		 31ms c1 ok acquire k owner b fence 2 until 130ms
		 32ms c0 invoke write k owner a fence 1 value v
		 33ms c0 ok write k owner a fence 1 value v seq 2
		 34ms c1 invoke write k owner b fence 2 value w
		 35ms c1 ok write k owner b fence 2 value w seq 1`, "[S2]"},
	{"stamps reversed, seq in order", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 50ms
		 10ms c0 invoke release k owner a fence 1
		 11ms c0 ok release k owner a fence 1
		 12ms c1 invoke acquire k owner b
		 13ms c1 ok acquire k owner b fence 2 until 130ms
		 14ms c1 invoke write k owner b fence 2 value w
		 15ms c1 ok write k owner b fence 2 value w seq 2
		 16ms c2 invoke write k owner a fence 1 value v began 5ms
		 17ms c2 ok write k owner a fence 1 value v seq 1 began 5ms`, "[]"},
	{"no seq, one process, lower token accepted later", `header ttl 100ms fenced epsilon 50ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 21ms c0 invoke acquire k owner b
		 22ms c0 ok acquire k owner b fence 2 until 121ms
		 23ms c0 invoke write k owner b fence 2 value w
		 24ms c0 ok write k owner b fence 2 value w
		 24ms c0 invoke write k owner a fence 1 value v
		 24ms c0 ok write k owner a fence 1 value v`, "[S2]"},
	{"no seq, two processes within eps", `header ttl 100ms fenced epsilon 50ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 71ms c1 invoke acquire k owner b
		 72ms c1 ok acquire k owner b fence 2 until 171ms
		 73ms c1 invoke write k owner b fence 2 value w
		 74ms c1 ok write k owner b fence 2 value w
		 75ms c0 invoke write k owner a fence 1 value v
		 76ms c0 ok write k owner a fence 1 value v`, "[]"},
	{"interleaved section", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke write k owner a fence 1 value a1
		 3ms c0 ok write k owner a fence 1 value a1 seq 1
		 4ms c1 invoke acquire k owner b
		 5ms c1 ok acquire k owner b fence 2 until 104ms
		 6ms c1 invoke write k owner b fence 2 value b1
		 7ms c1 ok write k owner b fence 2 value b1 seq 2
		 8ms c0 invoke write k owner a fence 1 value a2
		 9ms c0 ok write k owner a fence 1 value a2 seq 3`, "[S1 S3]"},
	{"middle one rejected", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke write k owner a fence 1 value a1
		 3ms c0 ok write k owner a fence 1 value a1 seq 1
		 6ms c1 invoke write k owner b value b1
		 7ms c1 fail write k owner b value b1 seq 2
		 8ms c0 invoke write k owner a fence 1 value a2
		 9ms c0 ok write k owner a fence 1 value a2 seq 3`, "[]"},
	{"lost update, readers aside", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 2ms c0 invoke write k owner a fence 1 value a1 base 0
		 3ms c0 ok write k owner a fence 1 value a1 seq 1 base 0
		 24ms c1 invoke acquire k owner b
		 25ms c1 ok acquire k owner b fence 2 until 124ms
		 26ms c1 invoke write k owner b fence 2 value b1 base 0
		 27ms c1 ok write k owner b fence 2 value b1 seq 2 base 0`, "[S3]"},
	{"retry of unknown from the same base", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke write k owner a fence 1 value a1 base 0
		 3ms c0 info write k owner a fence 1 value a1 base 0 err timeout
		 4ms c2 invoke write k owner a fence 1 value a2 base 0
		 5ms c2 ok write k owner a fence 1 value a2 seq 2 base 0
		 9ms store ok audit k owner a value a1 seq 1
		 9ms store ok audit k owner a value a2 seq 2`, "[]"},
	{"zombie within eps of D", `header ttl 100ms epsilon 5ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 104ms c1 invoke write k owner a value v
		 105ms c1 ok write k owner a value v seq 1`, "[]"},
	{"zombie within eps of D, own order", `header ttl 100ms epsilon 5ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 104ms c0 invoke write k owner a value v
		 105ms c0 ok write k owner a value v seq 1`, "[S3z]"},
	{"zombie fenced, no newer token seen", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 104ms c0 invoke write k owner a fence 1 value v
		 105ms c0 ok write k owner a fence 1 value v seq 1`, "[]"},
	{"fence save", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 101ms c1 invoke acquire k owner b
		 102ms c1 ok acquire k owner b fence 2 until 200ms
		 102ms c1 invoke write k owner b fence 2 value w
		 103ms c1 ok write k owner b fence 2 value w seq 1
		 104ms c0 invoke write k owner a fence 1 value v
		 105ms c0 fail write k owner a fence 1 value v seq 2`, "[]"},
	{"rightful holder rejected", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 4ms c0 invoke write k owner a fence 1 value v
		 5ms c0 fail write k owner a fence 1 value v seq 1`, "[R4]"},
	{"tokens equal for consecutive grants", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 50ms
		 60ms c1 invoke acquire k owner b
		 61ms c1 ok acquire k owner b fence 3 until 160ms`, "[S4 S4b]"},
	{"windows overlap, tokens reversed", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner b
		 2ms c0 ok acquire k owner a fence 3 until 20ms
		 25ms c1 ok acquire k owner b fence 2 until 101ms`, "[]"},
	{"readers share a token, a writer takes it too", `header ttl 100ms
		 0ms c0 invoke acquire k owner a mode r
		 1ms c0 ok acquire k owner a mode r fence 3 until 50ms
		 2ms c1 invoke acquire k owner b mode r
		 3ms c1 ok acquire k owner b mode r fence 3 until 50ms
		 60ms c2 invoke acquire k owner c
		 61ms c2 ok acquire k owner c fence 3 until 160ms`, "[S4 S4b]"},
	{"reader and writer", `header ttl 100ms
		 0ms c0 invoke acquire k owner a mode r
		 1ms c0 ok acquire k owner a mode r until 50ms
		 2ms c1 invoke acquire k owner b
		 3ms c1 ok acquire k owner b until 50ms`, "[S1]"},
	{"extension changes the token", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 50ms
		 2ms c0 invoke extend k owner a fence 3
		 3ms c0 ok extend k owner a fence 4 until 102ms`, "[S4b]"},
	{"re-entry in the drift window keeps its token", `header ttl 100ms drift 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 90ms
		 95ms c0 invoke acquire k owner a
		 96ms c0 ok acquire k owner a fence 3 until 185ms`, "[]"},
	{"a hold whose release was not answered is re-entered again and again", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 100ms
		 2ms c0 invoke release k owner a fence 3
		 3ms c0 info release k owner a fence 3
		 10ms c1 invoke acquire k owner a
		 11ms c1 ok acquire k owner a fence 3 until 110ms
		 12ms c1 invoke release k owner a fence 3
		 13ms c1 ok release k owner a fence 3
		 20ms c1 invoke acquire k owner a
		 21ms c1 ok acquire k owner a fence 3 until 120ms
		 22ms c1 invoke release k owner a fence 3
		 23ms c1 ok release k owner a fence 3
		 30ms c1 invoke acquire k owner a
		 31ms c1 ok acquire k owner a fence 3 until 130ms
		 32ms c1 invoke release k owner a fence 3
		 33ms c1 ok release k owner a fence 3
		 40ms c1 invoke acquire k owner a
		 41ms c1 ok acquire k owner a fence 3 until 140ms
		 42ms c1 invoke release k owner a fence 3
		 43ms c1 ok release k owner a fence 3`, "[]"},
	{"such a hold has run out", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 100ms
		 2ms c0 invoke release k owner a fence 3
		 3ms c0 info release k owner a fence 3
		 10ms c1 invoke acquire k owner a
		 11ms c1 ok acquire k owner a fence 3 until 110ms
		 12ms c1 invoke release k owner a fence 3
		 13ms c1 ok release k owner a fence 3
		 20ms c1 invoke acquire k owner a
		 21ms c1 ok acquire k owner a fence 3 until 120ms
		 22ms c1 invoke release k owner a fence 3
		 23ms c1 ok release k owner a fence 3
		 130ms c1 invoke acquire k owner a
		 131ms c1 ok acquire k owner a fence 3 until 230ms`, "[S4 S4b]"},
	{"the same token long after the TTL", `header ttl 100ms drift 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 3 until 90ms
		 195ms c0 invoke acquire k owner a
		 196ms c0 ok acquire k owner a fence 3 until 285ms`, "[S4 S4b]"},
	{"foreign release", `header ttl 100ms unchecked-release
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 101ms c1 invoke acquire k owner b
		 102ms c1 ok acquire k owner b until 201ms
		 110ms c0 invoke release k owner a
		 111ms c0 ok release k owner a
		 112ms c2 invoke acquire k owner c
		 113ms c2 ok acquire k owner c until 212ms`, "[S1 S5]"},
	{"late release, nobody harmed", `header ttl 100ms unchecked-release
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 101ms c1 invoke acquire k owner b
		 102ms c1 ok acquire k owner b until 201ms
		 110ms c0 invoke release k owner a
		 111ms c0 ok release k owner a
		 202ms c2 invoke acquire k owner c
		 213ms c2 ok acquire k owner c until 300ms`, "[]"},
	{"release across another's hold", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 101ms c1 invoke acquire k owner b
		 102ms c1 ok acquire k owner b until 201ms
		 110ms c1 invoke release k owner b
		 111ms c1 ok release k owner b
		 120ms c0 invoke release k owner a
		 121ms c0 ok release k owner a`, "[S6]"},
	{"inner release across another's hold", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 2ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a until 100ms
		 101ms c1 invoke acquire k owner b
		 102ms c1 ok acquire k owner b until 201ms
		 110ms c1 invoke release k owner b
		 111ms c1 ok release k owner b
		 120ms c0 invoke release k owner a
		 121ms c0 ok release k owner a`, "[S6]"},
	{"stillborn", `header ttl 100ms epsilon 50ms
		 0ms c0 invoke acquire k owner a
		 100ms c0 ok acquire k owner a until 100ms`, "[S7]"},
	{"answered later than a lease lasts, with no deadline promised", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 101ms c0 ok acquire k owner a`, "[S7]"},
	{"waited for inside the lock for longer than a lease lasts, with no deadline promised", `header ttl 100ms
		 0ms c0 invoke acquire k owner a note wait
		 101ms c0 ok acquire k owner a`, "[]"},
	{"written within a lease from the answer to whoever waited inside the lock", `header ttl 100ms
		 0ms c0 invoke acquire k owner a note wait
		 60ms c0 ok acquire k owner a
		 150ms c0 invoke write k owner a value a1
		 151ms c0 ok write k owner a value a1 seq 1`, "[]"},
	{"written later than a lease from the answer to whoever waited inside the lock", `header ttl 100ms
		 0ms c0 invoke acquire k owner a note wait
		 60ms c0 ok acquire k owner a
		 161ms c0 invoke write k owner a value a1
		 162ms c0 ok write k owner a value a1 seq 1`, "[S3z]"},
	{"waited for inside the lock, with a deadline promised that is over", `header ttl 100ms
		 0ms c0 invoke acquire k owner a note wait
		 101ms c0 ok acquire k owner a until 100ms`, "[S7]"},
	{"told lost, then next grant in the TTL", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 20ms c0 ok lost k owner a
		 30ms c1 invoke acquire k owner b
		 31ms c1 ok acquire k owner b until 130ms`, "[]"},
	{"loss told after the next grant", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 30ms c1 invoke acquire k owner b
		 31ms c1 ok acquire k owner b until 130ms
		 40ms c0 ok lost k owner a`, "[S1]"},
	{"acked, missing in the log", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 2ms c0 invoke write k owner a value v
		 3ms c0 ok write k owner a value v seq 1
		 4ms c0 invoke write k owner a value w
		 5ms c0 ok write k owner a value w seq 2
		 6ms store ok audit k owner a value w seq 2`, "[R1]"},
	{"log of unknowns only", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 2ms c0 invoke write k owner a value v
		 3ms c0 ok write k owner a value v seq 1
		 4ms c0 invoke write k owner a value w
		 5ms c0 info write k owner a value w err timeout
		 6ms store ok audit k owner a value w seq 2`, "[]"},
	{"log has another token of an unknown", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 100ms
		 4ms c0 invoke write k owner a fence 5 value w
		 5ms c0 info write k owner a fence 5 value w err timeout
		 6ms store ok audit k owner a fence 6 value w seq 2`, "[R2]"},
	{"log names another owner", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 100ms
		 4ms c0 invoke write k owner a fence 5 value w
		 5ms c0 ok write k owner a fence 5 value w seq 2
		 6ms store ok audit k owner b fence 5 value w seq 2`, "[R2]"},
	{"log has a token where none was asked with, and another's token", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 100ms
		 4ms c0 invoke write k owner a value w
		 5ms c0 ok write k owner a value w seq 2
		 6ms store ok audit k owner a fence 9 value w seq 2`, "[]"},
	{"retry of one write under two tokens, log has the first", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 10ms
		 4ms c0 invoke write k owner a fence 5 value w
		 5ms c0 info write k owner a fence 5 value w err timeout
		 20ms c1 invoke acquire k owner a
		 21ms c1 ok acquire k owner a fence 6 until 120ms
		 22ms c1 invoke write k owner a fence 6 value w
		 23ms c1 ok write k owner a fence 6 value w seq 2
		 26ms store ok audit k owner a fence 5 value w seq 2`, "[]"},
	{"rejected, and in the log as accepted", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 10ms
		 24ms c0 invoke write k owner a fence 5 value w
		 25ms c0 fail write k owner a fence 5 value w seq 1
		 26ms store ok audit k owner a fence 5 value w seq 1`, "[R2]"},
	{"nobody asked", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 10ms
		 26ms store ok audit k owner a fence 5 value w seq 1`, "[R2]"},
	{"one seq twice on a key", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 100ms
		 4ms c0 invoke write k owner a fence 5 value w
		 5ms c0 ok write k owner a fence 5 value w seq 1
		 6ms c0 invoke write k owner a fence 5 value x
		 7ms c0 ok write k owner a fence 5 value x seq 1`, "[R3]"},
	{"somebody else's token", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 10ms
		 20ms c1 invoke acquire k owner b
		 21ms c1 ok acquire k owner b fence 6 until 119ms
		 24ms c1 invoke write k owner b fence 5 value w
		 25ms c1 ok write k owner b fence 5 value w seq 1`, "[R5]"},
	{"inner release, hold goes on", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1 until 102ms
		 4ms c0 invoke release k owner a fence 1
		 5ms c0 ok release k owner a fence 1
		 6ms c1 invoke acquire k owner b
		 7ms c1 ok acquire k owner b fence 2 until 106ms`, "[S1]"},
	{"both given back", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1 until 102ms
		 4ms c0 invoke release k owner a fence 1
		 5ms c0 ok release k owner a fence 1
		 5ms c0 invoke release k owner a fence 1
		 5ms c0 ok release k owner a fence 1
		 6ms c1 invoke acquire k owner b
		 7ms c1 ok acquire k owner b fence 2 until 106ms`, "[]"},
	{"inner refused: the whole hold is gone", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke acquire k owner a
		 3ms c0 ok acquire k owner a fence 1 until 102ms
		 4ms c0 invoke release k owner a fence 1
		 5ms c0 fail release k owner a fence 1 err gone
		 6ms c1 invoke acquire k owner b
		 7ms c1 ok acquire k owner b fence 2 until 106ms
		 8ms c0 invoke write k owner a fence 1 value v
		 9ms c0 ok write k owner a fence 1 value v seq 1`, "[S8]"},
	{"re-entry by another process, which releases; the first holds on", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 invoke acquire k owner a
		 3ms c1 ok acquire k owner a fence 1 until 102ms
		 4ms c1 invoke release k owner a fence 1
		 5ms c1 ok release k owner a fence 1
		 6ms c2 invoke acquire k owner b
		 7ms c2 ok acquire k owner b fence 2 until 106ms`, "[S1]"},
	{"a renewal told late, asked for before the other grant", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 110ms c1 invoke acquire k owner b
		 111ms c1 ok acquire k owner b until 210ms
		 112ms c0 ok extend k owner a began 50ms until 150ms`, "[S1]"},
	{"renewal that began behind the other's grant and its end", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 110ms c1 invoke acquire k owner b
		 111ms c1 ok acquire k owner b until 210ms
		 112ms c1 invoke release k owner b
		 113ms c1 ok release k owner b
		 122ms c0 ok extend k owner a began 115ms until 215ms`, "[S1 S6]"},
	{"two leases of an owner, tokenless release of a third process refused to connect", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 0ms c1 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c1 ok acquire k owner a fence 2 until 100ms
		 5ms c1 ok lost k owner a fence 2
		 6ms c2 invoke release k owner a
		 7ms c2 fail release k owner a err "connection refused"
		 9ms c3 invoke acquire k owner b
		 10ms c3 ok acquire k owner b fence 3 until 109ms`, "[S1]"},
	{"late release of an older lease says nothing of the newer", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 30ms c1 invoke acquire k owner a
		 31ms c1 ok acquire k owner a fence 2 until 130ms
		 32ms c0 invoke release k owner a fence 1
		 33ms c0 fail release k owner a fence 1 err gone
		 34ms c1 invoke write k owner a fence 2 value v
		 35ms c1 ok write k owner a fence 2 value v seq 1
		 36ms c2 invoke acquire k owner b
		 37ms c2 ok acquire k owner b fence 3 until 136ms`, "[S1]"},
	{"release without effect", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 11ms c0 ok release k owner a
		 20ms c1 invoke acquire k owner b
		 21ms c1 fail acquire k owner b err held
		 30ms c1 invoke acquire k owner b
		 31ms c1 fail acquire k owner b err held
		 40ms c1 invoke acquire k owner b
		 41ms c1 fail acquire k owner b err held
		 50ms c1 invoke acquire k owner b
		 51ms c1 fail acquire k owner b err held
		 105ms c1 invoke acquire k owner b
		 106ms c1 ok acquire k owner b until 205ms`, "[L9]"},
	{"hosts: within one host's bound", `header ttl 100ms epsilon 1ms hosts h1=0ms,h2=5ms
		 0ms c0 invoke acquire k owner a host h1
		 1ms c0 ok acquire k owner a until 100ms host h1
		 93ms c1 invoke acquire k owner b host h2
		 95ms c1 ok acquire k owner b until 193ms host h2`, "[]"},
	{"hosts: on one host of bound 0", `header ttl 100ms epsilon 10ms hosts h1=0ms,h2=5ms
		 0ms c0 invoke acquire k owner a host h1
		 1ms c0 ok acquire k owner a until 100ms host h1
		 93ms c1 invoke acquire k owner b host h1
		 95ms c1 ok acquire k owner b until 193ms host h1`, "[S1]"},
	{"R1: acked seq against another in the log", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 2ms c0 invoke write k owner a value v
		 3ms c0 ok write k owner a value v seq 1
		 6ms store ok audit k owner a value v seq 2`, "[R1]"},
	{"one write twice in the log under two numbers", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 2ms c0 invoke write k owner a value v
		 3ms c0 ok write k owner a value v seq 1
		 6ms store ok audit k owner a value v seq 1
		 6ms store ok audit k owner a value v seq 2`, "[]"},
	{"one write that the log has twice, around another's", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 20ms
		 2ms c0 invoke write k owner a fence 1 value v
		 3ms c0 info write k owner a fence 1 value v err timeout
		 24ms c1 invoke acquire k owner b
		 25ms c1 ok acquire k owner b fence 2 until 120ms
		 26ms c1 invoke write k owner b fence 2 value w
		 27ms c1 ok write k owner b fence 2 value w seq 2
		 36ms store ok audit k owner a fence 1 value v seq 1
		 36ms store ok audit k owner b fence 2 value w seq 2
		 36ms store ok audit k owner a fence 1 value v seq 3`, "[]"},
	{"fenced: the log shows a write again behind a higher token", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 10ms
		 2ms c0 invoke write k owner a fence 1 value v
		 3ms c0 info write k owner a fence 1 value v err timeout
		 24ms c1 invoke acquire k owner b
		 25ms c1 ok acquire k owner b fence 2 until 120ms
		 26ms c1 invoke write k owner b fence 2 value w
		 27ms c1 ok write k owner b fence 2 value w seq 2
		 36ms store ok audit k owner a fence 1 value v seq 1
		 36ms store ok audit k owner b fence 2 value w seq 2
		 36ms store ok audit k owner a fence 1 value v seq 3`, "[S2]"},
	{"unfenced tokens reversed at the store", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c0 invoke write k owner a fence 1 value a1
		 3ms c0 ok write k owner a fence 1 value a1 seq 2
		 10ms c0 invoke release k owner a
		 11ms c0 ok release k owner a
		 12ms c1 invoke acquire k owner b
		 13ms c1 ok acquire k owner b fence 2 until 111ms
		 14ms c1 invoke write k owner b fence 2 value b1
		 15ms c1 ok write k owner b fence 2 value b1 seq 1`, "[]"},
	{"write of unknown outcome that landed by the log after the release of its own section", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c2 invoke write k owner a fence 1 value a1
		 3ms c2 info write k owner a fence 1 value a1 err timeout
		 10ms c0 invoke release k owner a fence 1
		 11ms c0 ok release k owner a fence 1
		 12ms c1 invoke acquire k owner b
		 13ms c1 ok acquire k owner b fence 2 until 111ms
		 14ms c1 invoke write k owner b fence 2 value b1
		 15ms c1 ok write k owner b fence 2 value b1 seq 1
		 16ms store ok audit k owner b fence 2 value b1 seq 1
		 17ms store ok audit k owner a fence 1 value a1 seq 2`, "[]"},
	{"the same at a fenced store", `header ttl 100ms fenced
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 1 until 100ms
		 2ms c2 invoke write k owner a fence 1 value a1
		 3ms c2 info write k owner a fence 1 value a1 err timeout
		 10ms c0 invoke release k owner a fence 1
		 11ms c0 ok release k owner a fence 1
		 12ms c1 invoke acquire k owner b
		 13ms c1 ok acquire k owner b fence 2 until 111ms
		 14ms c1 invoke write k owner b fence 2 value b1
		 15ms c1 ok write k owner b fence 2 value b1 seq 1
		 16ms store ok audit k owner b fence 2 value b1 seq 1
		 17ms store ok audit k owner a fence 1 value a1 seq 2`, "[S2]"},
	{"reader among writers of one key, reader's write", `header ttl 100ms
		 0ms c0 invoke acquire k owner a mode r
		 1ms c0 ok acquire k owner a mode r until 100ms
		 2ms c1 invoke acquire k owner b mode r
		 3ms c1 ok acquire k owner b mode r until 100ms
		 4ms c2 invoke acquire k owner c
		 5ms c2 ok acquire k owner c until 100ms`, "[S1 S1]"},
	{"two processes of one owner each with own tokens, one refused, other writes", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1 until 100ms
		 3ms c1 ok acquire k owner a fence 2 until 101ms
		 5ms c0 invoke extend k owner a fence 1
		 6ms c0 fail extend k owner a fence 1 err gone
		 7ms c1 invoke write k owner a fence 2 value v
		 8ms c1 ok write k owner a fence 2 value v seq 1`, "[]"},
	{"two processes of one owner each with own tokens, one refused, it writes", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c1 invoke acquire k owner a
		 2ms c0 ok acquire k owner a fence 1 until 100ms
		 3ms c1 ok acquire k owner a fence 2 until 101ms
		 5ms c0 invoke extend k owner a fence 1
		 6ms c0 fail extend k owner a fence 1 err gone
		 7ms c0 invoke write k owner a fence 1 value v
		 8ms c0 ok write k owner a fence 1 value v seq 1`, "[S8]"},
	{"eps: refused extension told to another process within eps", `header ttl 100ms epsilon 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 5ms c0 invoke extend k owner a
		 6ms c0 fail extend k owner a err gone
		 12ms c1 invoke write k owner a value v
		 18ms c1 ok write k owner a value v seq 1`, "[]"},
	{"eps: beyond", `header ttl 100ms epsilon 5ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 5ms c0 invoke extend k owner a
		 6ms c0 fail extend k owner a err gone
		 12ms c1 invoke write k owner a value v
		 18ms c1 ok write k owner a value v seq 1`, "[S8]"},
	{"overflow of time: TTL without end", `header ttl 2540400h
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a
		 2ms c1 invoke acquire k owner b
		 3ms c1 ok acquire k owner b`, "[S1]"},
	{"acquire acked with a promise beyond its TTL; other within", `header ttl 10ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 50ms
		 20ms c1 invoke acquire k owner b
		 21ms c1 ok acquire k owner b until 30ms`, "[S1]"},
	{"extension shortens the lease: D moves to its own", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 5ms c0 invoke extend k owner a
		 6ms c0 ok extend k owner a until 20ms
		 25ms c1 invoke acquire k owner b
		 26ms c1 ok acquire k owner b until 125ms`, "[]"},
	{"lost told by began stamp before the other's grant", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 30ms c1 invoke acquire k owner b
		 31ms c1 ok acquire k owner b until 130ms
		 40ms c0 ok lost k owner a began 20ms`, "[]"},
	{"S6 by eps: other's hold of eps", `header ttl 100ms epsilon 5ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 111ms c1 invoke acquire k owner b
		 112ms c1 ok acquire k owner b until 211ms
		 117ms c1 invoke release k owner b
		 118ms c1 ok release k owner b
		 130ms c0 invoke extend k owner a
		 131ms c0 ok extend k owner a until 230ms`, "[]"},
	{"S4 with eps between processes", `header ttl 100ms epsilon 50ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 2 until 20ms
		 30ms c1 invoke acquire k owner b
		 31ms c1 ok acquire k owner b fence 1 until 130ms`, "[]"},
	{"R5 excused by a later grant that had been asked for before", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a fence 5 until 10ms
		 2ms c2 invoke acquire k owner b
		 20ms c1 invoke acquire k owner b
		 21ms c1 ok acquire k owner b fence 6 until 119ms
		 24ms c1 invoke write k owner b fence 5 value w
		 25ms c1 ok write k owner b fence 5 value w seq 1
		 30ms c2 ok acquire k owner b fence 5 until 102ms`, "[S4 S4b]"},
	{"two readers overlap, one upgraded by another process", `header ttl 100ms
		 0ms c0 invoke acquire k owner a mode r
		 1ms c0 ok acquire k owner a mode r until 100ms
		 2ms c1 invoke acquire k owner b mode r
		 3ms c1 ok acquire k owner b mode r until 100ms
		 4ms c0 invoke acquire k owner a
		 5ms c0 ok acquire k owner a until 104ms`, "[S1]"},
	{"release that a link saw executed only behind the child's write, by own stamp", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 20ms c0 info release k owner a err timeout
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms
		 40ms link ok receipt executed of 2`, "[]"},
	{"the same, answered ok, with its own stamps behind the write", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms
		 40ms c0 ok release k owner a began 35ms ended 36ms`, "[]"},
	{"open at the end", `header ttl 100ms
		 0ms c0 invoke acquire k owner a
		 1ms c0 ok acquire k owner a until 100ms
		 10ms c0 invoke release k owner a
		 30ms c1 invoke write k owner a value v
		 31ms c1 ok write k owner a value v seq 1 began 30ms`, "[]"},
}
