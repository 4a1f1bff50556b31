package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A boundary is a history in which {} stands for an instant, a length or a number,
// and what some of its values make of it: the last one on one side of an edge, and the
// first one on the other.
type boundary struct {
	name    string
	header  string
	bounds  map[string]int64
	history string
	edges   []edge
}

// An edge is a value, and what is found then: "S1 [1 3]" is a violation, "S1? [1 3]" a
// suspicion, "L4! [3]" a breach, "V5" what is not decided.
type edge struct {
	value string
	found []string
}

func found(value string, finds ...string) edge { return edge{value, finds} }

// finds lists all that a report says, in short.
func finds(r Report) []string {
	var out []string
	for mark, all := range map[string][]Finding{"": r.Violations, "?": r.Suspicious, "!": r.Breaches} {
		for _, f := range short(all) {
			out = append(out, strings.Replace(f, " ", mark+" ", 1))
		}
	}
	for _, f := range slices.Concat(r.Inconclusive, r.Harness) {
		out = append(out, f.ID)
	}
	slices.Sort(out)
	return out
}

func runBoundaries(t *testing.T, all []boundary) {
	t.Helper()
	for _, b := range all {
		for _, e := range b.edges {
			t.Run(b.name+"/"+e.value, func(t *testing.T) {
				h := parse(t, strings.ReplaceAll(b.header, "{}", e.value), strings.ReplaceAll(b.history, "{}", e.value))
				h.Header.Bounds = b.bounds
				r := Check(t.Context(), h, Options{SecondOpinion: true})
				slices.Sort(e.found)
				if got := finds(r); !slices.Equal(got, e.found) {
					t.Errorf("found %q, want %q", got, e.found)
				}
				checkTexts(t, r)
			})
		}
	}
}

// TestAuditBoundaries judges sections by the store's log, where one of three writes is
// of unknown outcome.
func TestAuditBoundaries(t *testing.T) {
	const (
		first = `
			 0ms a invoke acquire k
			 1ms a ok acquire k fence 1 until 10ms
			 2ms a invoke write k fence 1 value a1
			 3ms a %s`
		between = `
			11ms b invoke acquire k
			12ms b ok acquire k fence 2 until 31ms
			13ms b invoke write k fence 2 value b1
			14ms b %s`
		last = `
			15ms a1 invoke write k owner a fence 1 value a2
			16ms a1 %s`
		known1, known2, known3       = "ok write k fence 1 value a1 seq 1", "ok write k fence 2 value b1 seq 2", "ok write k owner a fence 1 value a2 seq 3"
		unknown1, unknown2, unknown3 = "info write k fence 1 value a1", "info write k fence 2 value b1", "info write k owner a fence 1 value a2"
		log                          = `
			40ms store ok audit k owner a fence 1 value a1 seq 1 {}
			40ms store ok audit k owner b fence 2 value b1 seq 2
			40ms store ok audit k owner a fence 1 value a2 seq 3 {}`
		rejected = `
			40ms store ok audit k owner a fence 1 value a1 seq 1
			40ms store fail audit k owner b fence 2 value b1 seq 2
			40ms store ok audit k owner a fence 1 value a2 seq 3`
	)
	whole := func(one, two, three, log string) string {
		return fmt.Sprintf(first, one) + fmt.Sprintf(between, two) + fmt.Sprintf(last, three) + log
	}
	const reader = "mode r"
	runBoundaries(t, []boundary{
		{name: "the first is unknown", header: "ttl 10ms", history: whole(unknown1, known2, known3, log),
			edges: []edge{found("", "S3 [10 11 12]", "S3z [1 5 9]")}},
		{name: "a writer's between two unknown ones of a reader", header: "ttl 10ms", history: whole(unknown1, known2, unknown3, log),
			edges: []edge{found(reader, "S3 [10 11 12]", "S3z [1 5 12]")}},
		{name: "the one between is unknown", header: "ttl 10ms", history: whole(known1, unknown2, known3, log),
			edges: []edge{found("", "S3 [10 11 12]", "S3z [1 5 9]")}},
		{name: "the last is unknown", header: "ttl 10ms", history: whole(known1, known2, unknown3, log),
			edges: []edge{found("", "S3 [10 11 12]", "S3z [1 5 12]")}},
		{name: "none is unknown", header: "ttl 10ms", history: whole(known1, known2, known3, log),
			edges: []edge{found("", "S3 [3 7 9]", "S3z [1 5 9]")}},
		{name: "the one between is unknown, and was rejected", header: "ttl 10ms", history: whole(known1, unknown2, known3, rejected),
			edges: []edge{found("", "S3z [1 5 9]")}},
		{name: "the one between is unknown, and a reader's", header: "ttl 10ms",
			history: strings.Replace(whole(known1, unknown2, known3, log), "value b1 seq 2", "value b1 seq 2 {}", 1),
			edges:   []edge{found("", "S3 [10 11 12]", "S3z [1 5 9]"), found(reader, "S3z [1 5 9]")}},
		{name: "an unknown write behind another's, without tokens", header: "ttl 10ms", history: `
			 0ms b invoke acquire k
			 1ms b ok acquire k until 10ms
			 2ms b invoke write k value b1
			 3ms b ok write k value b1 seq 1
			11ms a invoke acquire k
			12ms a ok acquire k until 21ms
			13ms a invoke write k value a1
			14ms a info write k value a1
			40ms store ok audit k owner b value b1 seq 1
			40ms store ok audit k owner a value a1 seq 2`, edges: []edge{found("")}},
	})
}

// TestOwnWords judges by what a completion says of when it really began and ended, and
// of what it was: until its answer was told it is believed, behind that it is not.
func TestOwnWords(t *testing.T) {
	runBoundaries(t, []boundary{
		{name: "a lower token, asked for by its own word at", header: "ttl 30ms", history: `
			 0ms a invoke acquire k
			 1ms b invoke acquire k
			 4ms a ok acquire k fence 5 until 8ms
			 5ms a invoke release k
			 6ms a ok release k
			 9ms b ok acquire k fence 4 until 20ms began {}`, edges: []edge{
			found("1ms", "S4? [2 5]"), found("4ms", "S4? [2 5]"), found("4.1ms", "S4 [2 5]"), found("9ms", "S4 [2 5]")}},
		{name: "a lower token, asked for by its own word before it was", header: "ttl 30ms", history: `
			 3ms a invoke acquire k
			 4ms a ok acquire k fence 5 until 8ms
			 5ms a invoke release k
			 6ms a ok release k
			 7ms b invoke acquire k
			 9ms b ok acquire k fence 4 until 20ms began {}`, edges: []edge{
			found("1ms", "S4? [1 5]"), found("4ms", "S4? [1 5]"), found("4.1ms", "S4 [1 5]"), found("7ms", "S4 [1 5]")}},
		{name: "granted by its own word at", header: "ttl 30ms", history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 8ms
			 5ms b invoke acquire k
			10ms b ok acquire k until 20ms ended {}`, edges: []edge{
			found("4ms", "S1? [1 3]"), found("5ms", "S1 [1 3]"), found("7.9ms", "S1 [1 3]"), found("8ms", "S1? [1 3]"), found("10ms", "S1? [1 3]")}},
		{name: "a version that only the answer names", header: "ttl 100ms", history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 100ms
			 2ms a invoke write k value a1
			 3ms a ok write k value a1 seq 1 base 0
			 4ms a invoke release k
			 5ms a ok release k
			 6ms b invoke acquire k
			 7ms b ok acquire k until 106ms
			 8ms b invoke write k value b1
			 9ms b ok write k value b1 seq 2 base {}`, edges: []edge{found("0", "S3 [3 9]"), found("1")}},
		{name: "a value that only the answer names", header: "ttl 10ms", history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			12ms a invoke write k
			13ms a info write k value a1
			20ms store {} audit k value a1 seq 1 owner a`, edges: []edge{found("ok", "S3z [1 4]"), found("fail")}},
		{name: "rejected, with a token while the newest that was granted is", header: "ttl 100ms fenced", history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k fence 3 until 100ms
			 2ms b invoke acquire l
			 3ms b ok acquire l fence 9 until 100ms
			 4ms a invoke extend k
			 5ms a ok extend k fence {} until 104ms
			 6ms a0 invoke write k fence 3 value a1 owner a
			 7ms a0 fail write k fence 3 value a1 seq 1 owner a`, edges: []edge{found("3", "R4 [1 7]"), found("4", "S4b [1 5]")}},
	})
}

// TestUnknownReads counts reads of unknown outcome as well.
func TestUnknownReads(t *testing.T) {
	for answer, want := range map[string]int{"ok": 0, "info": 1} {
		r := judge(t, "ttl 10ms", "a invoke acquire k\na ok acquire k until 10ms\nb invoke read k\nb "+answer+" read k")
		if r.Evidence.Unknown != want {
			t.Errorf("%s: %d unknown, want %d", answer, r.Evidence.Unknown, want)
		}
	}
}

// TestBookBoundaries judges the store's books at their edges.
func TestBookBoundaries(t *testing.T) {
	const held = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 10ms`
	const handedOver = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 50ms
		 2ms a invoke release k
		 3ms a ok release k
		 4ms b invoke acquire k
		 5ms b ok acquire k fence 2 until 50ms
		 6ms b invoke release k
		 7ms b ok release k
		 8ms a invoke acquire k
		 9ms a ok acquire k fence 3 until 50ms
		10ms a1 invoke write k owner a value a1 fence {}
		11ms a1 ok write k owner a value a1 seq 1 fence {}`
	const logged = held + `
		 2ms a invoke write k fence 1 value a1
		 3ms a ok write k fence 1 value a1 seq 1
		20ms store {} audit k owner a fence 1 value a1 seq 1`
	runBoundaries(t, []boundary{
		{name: "the newest holder rejected at", header: "ttl 10ms fenced", history: held + `
			 2ms a invoke write k fence 1 value a1
			{} a fail write k fence 1 value a1 seq 1`, edges: []edge{found("9.999999ms", "R4 [1 3]"), found("10ms")}},
		{name: "the newest holder rejected, with clocks apart, at", header: "ttl 10ms fenced epsilon 2ms", history: held + `
			 4ms a1 invoke write k owner a fence 1 value a1
			{} a1 fail write k owner a fence 1 value a1 seq 1`, edges: []edge{found("7.999999ms", "R4 [1 3]"), found("8ms")}},
		{name: "a holder rejected, when another had asked to write with the token", header: "ttl 10ms fenced", history: held + `
			 2ms b invoke write k fence {} value b1
			 3ms b fail write k fence {} value b1 err "connection refused"
			 4ms a invoke write k fence 1 value a1
			 5ms a fail write k fence 1 value a1 seq 1`, edges: []edge{found("1", "R4 [1 5]"), found("2")}},
		{name: "a holder rejected, while another's write is open with the token", header: "ttl 10ms fenced", history: held + `
			 2ms b invoke write k fence {} value b1
			 4ms a invoke write k fence 1 value a1
			 5ms a fail write k fence 1 value a1 seq 1`, edges: []edge{found("1", "R4 [1 4]"), found("2")}},
		{name: "a holder's own tokens and another's, by turns", header: "ttl 50ms", history: handedOver, edges: []edge{
			found("1", "S8 [2 11]"), found("2", "R5 [5 11]"), found("3"), found("4")}},
		{name: "one that waits for a bound, with another's token", header: "ttl 50ms", bounds: map[string]int64{"wait_ns": 90 * ms}, history: handedOver,
			edges: []edge{found("2", "R5 [5 11]"), found("3")}},
		{name: "a lease that came back with another's token", header: "ttl 50ms", history: `
			 0ms b invoke acquire k
			 1ms b ok acquire k fence 2 until 50ms
			 2ms b invoke release k
			 3ms b ok release k
			 4ms a invoke acquire k
			 5ms a ok acquire k fence 3 until 50ms
			 6ms a invoke extend k
			 7ms a ok extend k fence {} until 55ms
			 8ms a invoke write k value a1 fence 2
			 9ms a ok write k value a1 seq 1 fence 2`, edges: []edge{found("3", "R5 [1 9]"), found("2", "S4b [5 7]")}},
		{name: "the log says twice of a write what became of it, the second time", header: "ttl 10ms", history: logged + `
			20ms store fail audit k owner a fence 1 value a1 seq 1`, edges: []edge{found("ok"), found("fail", "R1 [3]")}},
		{name: "the log says of a write, the first time, that it was rejected, and then", header: "ttl 10ms", history: strings.Replace(logged, "{}", "fail", 1) + `
			20ms store {} audit k owner a fence 1 value a1 seq 1`, edges: []edge{found("ok"), found("fail", "R1 [3]")}},
		{name: "a history that broke off, and its log says", header: "ttl 10ms truncated", history: logged,
			edges: []edge{found("ok", "V5"), found("fail", "R1 [3]", "V5")}},
	})
}

// TestWriteBoundaries judges writes by what their owner knew, and by their order where
// the store numbers none.
func TestWriteBoundaries(t *testing.T) {
	const asked = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		{} a1 invoke acquire k owner a
		11ms a1 fail acquire k owner a err held
		11ms a invoke write k value a1
		12ms a ok write k value a1 seq 1`
	const refusedAgain = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		 3ms a1 invoke acquire k owner a
		 4ms a1 fail acquire k owner a err held
		{} a invoke write k value a1
		12ms a ok write k value a1 seq 1`
	const unnumbered = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 3ms
		 3ms b invoke acquire k
		 4ms b ok acquire k fence 2 until 7ms
		 5ms b invoke write k fence 2 value b1
		 6ms b ok write k fence 2 value b1
		{} a invoke write k fence 1 value a1
		 8ms c invoke acquire k
		 8ms c ok acquire k fence 3 until 50ms
		 9ms c invoke write k fence 3 value c1
		10ms c ok write k fence 3 value c1
		11ms c invoke write k fence 3 value c2
		12ms c ok write k fence 3 value c2
		13ms a ok write k fence 1 value a1`
	const inTurn = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence {} until 3ms
		 2ms a invoke write k fence {} value a1
		 3ms a ok write k fence {} value a1
		 3ms b invoke acquire k
		 4ms b ok acquire k fence 3 until 7ms
		 5ms b invoke write k fence 3 value b1
		 6ms b ok write k fence 3 value b1
		 7ms c invoke acquire k
		 7ms c ok acquire k fence 4 until 10ms
		 8ms a invoke write k fence 2 value a2
		 9ms a ok write k fence 2 value a2`
	runBoundaries(t, []boundary{
		{name: "three writes without numbers, the first with token", header: "ttl 3ms fenced", history: inTurn, edges: []edge{
			found("1", "S2 [7 11]"), found("2", "S2 [7 11]", "S3 [3 7 11]")}},
		{name: "a holder that asked once more and was refused writes at", header: "ttl 10ms", history: refusedAgain, edges: []edge{
			found("4ms"), found("9.999999ms"), found("10ms", "S3z? [1 5]")}},
		{name: "a holder that was refused writes when its lease is over, having asked once more at", header: "ttl 10ms", history: asked, edges: []edge{
			found("2ms", "S3z [1 5]"), found("9.999999ms", "S3z [1 5]"), found("10ms", "S8 [5]")}},
		{name: "a holder that was not answered writes when its lease is over, having asked once more at", header: "ttl 10ms", history: strings.Replace(asked, "fail acquire k owner a err held", "info acquire k owner a", 1), edges: []edge{
			found("2ms", "S3z [1 5]"), found("9.999999ms", "S3z [1 5]"), found("10ms", "S8 [5]")}},
		{name: "a holder that was refused writes behind its release, having asked once more at", header: "ttl 20ms", history: strings.NewReplacer("until 10ms", "until 19ms", "{} a1", "3ms a invoke release k\n4ms a ok release k\n{} a1").Replace(asked), edges: []edge{
			found("5ms", "S8 [2 7]")}},
		{name: "behind a newer one by events, issued at", header: "ttl 3ms fenced", history: unnumbered, edges: []edge{
			found("6ms", "S3z? [1 3 13]"), found("6.000001ms", "S2 [5 13]")}},
		{name: "the same with clocks apart", header: "ttl 3ms fenced epsilon 1ms", history: unnumbered, edges: []edge{
			found("7ms", "S3z? [1 3 13]"), found("7.000001ms", "S2 [5 13]")}},
	})
}

// TestBlame says who broke its word where two sections met: whoever granted the key to
// both, else the client that went on.
func TestBlame(t *testing.T) {
	const server, client = "server granted twice", "client outlived its lease"
	const interleaved = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 20ms
		 2ms a invoke write k value a1
		 3ms a ok write k value a1 seq 1
		 4ms b invoke acquire k
		 5ms b ok acquire k until 30ms
		 6ms b invoke write k value b1
		 7ms b ok write k value b1 seq 2
		{} a invoke write k value a2
		25ms a ok write k value a2 seq 3`
	const after = `
		 0ms b invoke acquire k
		 1ms b ok acquire k until {}
		10ms a invoke acquire k
		11ms a ok acquire k until 40ms
		12ms a invoke write k value a1
		13ms a ok write k value a1 seq 1
		14ms b invoke write k value b1
		15ms b ok write k value b1 seq 2
		16ms a invoke write k value a2
		17ms a ok write k value a2 seq 3`
	const meanwhile = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 40ms
		 2ms a invoke write k value a1
		 3ms a ok write k value a1 seq 1
		 4ms b invoke write k value b1
		 5ms b ok write k value b1 seq 2
		 6ms b invoke acquire k
		{} b ok acquire k until 30ms
		 9ms a invoke write k value a2
		10ms a ok write k value a2 seq 3`
	for _, c := range []struct{ name, history, value, want string }{
		{"both held", interleaved, "8ms", server},
		{"until just before the end", interleaved, "19.999999ms", server},
		{"until the end", interleaved, "20ms", client},
		{"the other's lease had just ended", after, "11ms", client},
		{"the other's lease had not ended", after, "11.000001ms", server},
		{"the other was granted it before", meanwhile, "8.999999ms", server},
		{"the other was granted it in that instant", meanwhile, "9ms", client},
		{"the other never held", strings.Replace(meanwhile, "ok acquire k until 30ms", "fail acquire k", 1), "8ms", client},
	} {
		r := judge(t, "ttl 20ms", strings.ReplaceAll(c.history, "{}", c.value))
		i := slices.IndexFunc(r.Violations, func(f Finding) bool { return f.ID == "S3" })
		if i < 0 {
			t.Errorf("%s: no S3 in %v", c.name, short(r.Violations))
		} else if got := r.Violations[i].Blame; got != c.want {
			t.Errorf("%s: %s is blamed, want %s", c.name, got, c.want)
		}
	}
}

// TestIssueBoundaries judges writes by when their clients say that they were issued.
func TestIssueBoundaries(t *testing.T) {
	const passedOn = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		10ms b invoke acquire k
		11ms b ok acquire k until 13ms
		13ms c invoke acquire k
		14ms c ok acquire k until 40ms
		41ms a0 invoke write k owner a value a1 began {}
		42ms a0 ok write k owner a value a1 seq 1`
	const within = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 40ms
		 2ms a invoke write k value a1
		 3ms a ok write k value a1 seq 1
		 9ms b invoke write k value b1 began {}
		10ms b ok write k value b1 seq 2
		11ms a invoke write k value a2 began 8ms
		12ms a ok write k value a2 seq 3`
	runBoundaries(t, []boundary{
		{name: "whose lease a late write ran into", header: "ttl 3ms", history: passedOn, edges: []edge{
			found("10.5ms", "S3z [1 7]"), found("11ms", "S3z [1 3 7]"), found("12ms", "S3z [1 3 7]"), found("13.5ms", "S3z [1 3 7]"),
			found("14ms", "S3z [1 5 7]"), found("40ms", "S3z [1 5 7]")}},
		{name: "whose lease a late write ran into, where two held", header: "ttl 10ms",
			history: strings.Replace(strings.Replace(passedOn, "until 40ms", "until 15ms", 1), "until 13ms", "until 30ms", 1), edges: []edge{
				found("14ms", "S1 [3 5]", "S3z [1 5 7]"), found("15ms", "S1 [3 5]", "S3z [1 3 7]"),
				found("29.999999ms", "S1 [3 5]", "S3z [1 3 7]"), found("30ms", "S1 [3 5]", "S3z [1 5 7]")}},
		{name: "a write that arrived within a section, issued at", header: "ttl 40ms", history: within, edges: []edge{
			found("0.999999ms", "S3? [3 5 7]", "S8 [5]"), found("1ms", "S3 [3 5 7]", "S8 [5]"),
			found("8ms", "S3 [3 5 7]", "S8 [5]"), found("8.000001ms", "S3? [3 5 7]", "S8 [5]")}},
	})
}

// TestReceiptOfANode takes the word of a link to the only node for the lock's, and that
// of a link to one of several for nothing.
func TestReceiptOfANode(t *testing.T) {
	runBoundaries(t, []boundary{{name: "a release that never reached n1, of nodes", header: "ttl 100ms nodes {} quorum 1", history: `
		0ms a invoke acquire k
		1ms a ok acquire k until 100ms
		2ms a invoke release k
		3ms a info release k
		4ms link ok receipt never-forwarded of 2 node n1
		5ms b invoke acquire k
		6ms b ok acquire k until 105ms`, edges: []edge{found("1", "S1 [1 6]"), found("2")}}})
}
