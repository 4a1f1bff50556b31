package history

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestParse(t *testing.T) {
	tests := []struct {
		line string
		want Event
	}{
		{"c0 ok acquire k", Event{Kind: OK, Op: Acquire, Key: "k", Owner: "c0"}},
		{"10ms c07 ok acquire k until 110ms fence 3  # granted",
			Event{Time: 10 * ms, Process: 7, Kind: OK, Op: Acquire, Key: "k", Owner: "c07", Fence: 3, ValidUntil: 110 * ms, Has: HasValidUntil}},
		{"3 fail acquire k owner a err held", Event{Process: 3, Kind: Fail, Op: Acquire, Key: "k", Owner: "a", Err: "held"}},
		{"alice invoke write \"until\" value v1 base 0 mode r",
			Event{Process: 1000, Kind: Invoke, Op: Write, Key: "until", Owner: "alice", Value: "v1", Has: HasBase, Mode: Shared}},
		{`1.5ms c1 info write k value v1 err "i/o timeout # here"`,
			Event{Time: 1500 * time.Microsecond, Process: 1, Kind: Info, Op: Write, Key: "k", Owner: "c1", Value: "v1", Err: "i/o timeout # here"}},
		{`nemesis ok fault kill target {"nodes": ["n1"]} instant receipt "n1 is gone"`,
			Event{Process: Nemesis, Kind: OK, Op: Fault, Fault: "kill", Target: target(`{"nodes": ["n1"]}`), Instant: true, Receipt: "n1 is gone"}},
		{"nemesis invoke heal pause target c0", Event{Process: Nemesis, Kind: Invoke, Op: Heal, Fault: "pause", Target: NamedTarget("c0")}},
		{"store fail audit k seq 4 value v1 owner c0",
			Event{Process: Store, Kind: Fail, Op: Audit, Key: "k", Owner: "c0", Value: "v1", Seq: 4, Has: HasSeq}},
		{"witness ok key k node n1 pttl -2 holder c0",
			Event{Process: Witness, Kind: OK, Op: Key, Key: "k", Node: "n1", PTTL: -2, Has: HasPTTL, Holder: "c0"}},
		{"link ok receipt executed of 2", Event{Process: Link, Kind: OK, Op: Receipt, Value: "executed", Of: 2, Has: HasOf}},
		{"nemesis ok stall began 1ms ended 9ms host h1",
			Event{Process: Nemesis, Kind: OK, Op: Stall, Began: ms, Ended: 9 * ms, Has: HasBegan | HasEnded, Host: "h1"}},
		{"nemesis ok phase end", Event{Process: Nemesis, Kind: OK, Op: Phase, Value: PhaseEnd}},
		{"c0 ok phase main lag 2ms note calm", Event{Kind: OK, Op: Phase, Value: PhaseMain, Lag: 2 * ms, Has: HasLag, Note: "calm"}},
		{"c0 ok extend k began 1ms ended 2ms due 0s until 9ms",
			Event{Kind: OK, Op: Extend, Key: "k", Owner: "c0", Began: ms, Ended: 2 * ms, ValidUntil: 9 * ms,
				Has: HasBegan | HasEnded | HasIntended | HasValidUntil}},
	}
	for _, test := range tests {
		h, err := Parse("\n# a comment\n" + test.line + "\n")
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		if len(h.Events) != 1 || !reflect.DeepEqual(h.Events[0], test.want) {
			t.Errorf("%s:\nread %+v\nwant %+v", test.line, h.Events, test.want)
		}
	}
}

func TestParseTimes(t *testing.T) {
	h, err := Parse("c0 ok read k\n c0 ok read k\n 10ms c0 ok read k\n alice ok read k\n bob ok read k\n alice ok read k")
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	for i, e := range h.Events {
		if e.Index != i {
			t.Errorf("event %d has index %d", i, e.Index)
		}
		got = append(got, e.Time)
	}
	if want := []time.Duration{0, ms, 10 * ms, 11 * ms, 12 * ms, 13 * ms}; !reflect.DeepEqual(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
	if a, b := h.Events[3].Process, h.Events[4].Process; a != 1000 || b != 1001 || h.Events[5].Process != a {
		t.Errorf("alice is %d then %d, bob %d", a, h.Events[5].Process, b)
	}
}

func TestParseHeader(t *testing.T) {
	h, err := Parse("header ttl 100ms drift 2ms epsilon 1ms nodes 5 quorum 3 fenced lock redlock seed 7 floors grants=3,contended=1 expected S1,S3 hosts h1=1ms,h2=3ms unchecked-release truncated")
	if err != nil {
		t.Fatal(err)
	}
	want := Header{
		Type: "history", Version: 1, Scenario: "text", Lock: "redlock", Seed: 7, Nodes: 5, Quorum: 3,
		TTL: 100 * ms, Drift: 2 * ms, Epsilon: ms, Fenced: true,
		Floors: map[string]int{"grants": 3, "contended": 1}, Expected: []string{"S1", "S3"}, OwnerCheckedRelease: new(bool),
		Hosts: map[string]Host{"h1": {ms}, "h2": {3 * ms}},
	}
	if !reflect.DeepEqual(h.Header, want) || !h.Truncated {
		t.Errorf("read %+v\nwant %+v", h, want)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"c0 ok", "line 1: want [time] process kind op"},
		{"\nc0 done acquire k", `line 2: unknown kind "done"`},
		{"c0 ok seize k", `line 1: unknown op "seize"`},
		{"c0 ok acquire k untill 3ms", `unknown word "untill"`},
		{"c0 ok acquire k until", "until has no value"},
		{"c0 ok acquire k until 3", "until: "},
		{"c0 ok acquire k mode w", `unknown mode "w"`},
		{"5ms c0 ok read k\n4ms c0 ok read k", "line 2: time 4ms is before 5ms"},
		{"c0 ok read k\nheader ttl 3s", "line 2: header after other lines"},
		{"header ttl", "ttl has no value"},
		{"header colour red", "unknown directive"},
		{"header floors grants", "want name=number"},
		{"header hosts h1", `host "h1": want name=bound`},
		{"c0 ok acquire k fence 0", "fence: 0 is refused"},
		{"c0 ok write k value v seq 0", "seq: 0 is refused"},
		{`c0 info read k err "broken`, "broken quotes"},
		{`nemesis ok fault f target {"a":`, "broken object"},
	}
	for _, test := range tests {
		_, err := Parse(test.text)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.text, err, test.want)
		}
	}
}
