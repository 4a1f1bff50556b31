package history

import (
	"errors"
	"strings"
	"testing"
)

const testHeader = `{"type":"history","version":1,"scenario":"s","lock":"l","ttl_ns":1000}` + "\n"

// lines makes events of their fields after index, time and process; a line
// that begins with a brace is taken as it stands.
func lines(events ...string) string {
	return testHeader + strings.Join(events, "\n") + "\n"
}

const (
	invokeAcquire = `{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}`
	okAcquire     = `{"index":1,"time_ns":6,"process":0,"kind":"ok","op":"acquire","key":"k"}`
	end           = `{"index":2,"time_ns":7,"process":-1,"kind":"ok","op":"phase","value":"end"}`
)

func TestMalformed(t *testing.T) {
	tests := []struct {
		name, file string
		line       int
		want       string
	}{
		{"empty file", "", 1, "header is missing"},
		{"blank file", "\n\n", 1, "header is missing"},
		{"no header", invokeAcquire + "\n" + okAcquire + "\n", 1, "no header"},
		{"cut header", testHeader[:30], 1, "no header: the file breaks off within it"},
		{"header of another file", `{"type":"trace","version":1}` + "\n", 1, "no header"},
		{"unknown version", `{"type":"history","version":2}` + "\n" + invokeAcquire + "\n", 1, "version 2 is unknown: want 1"},
		{"no version", `{"type":"history"}` + "\n", 1, "version 0 is unknown: want 1"},
		{"header of wrong types", `{"type":"history","version":1,"ttl_ns":"1s"}` + "\n", 1, "broken header: field ttl_ns: want a whole number, not a string"},
		{"version of a wrong type", `{"type":"history","version":"1"}` + "\n", 1, "broken header: field version: want a whole number, not a string"},
		{"fenced of a wrong type", `{"type":"history","version":1,"fenced":1}` + "\n", 1, "broken header: field fenced: want true or false, not a number"},
		{"floors of a wrong type", `{"type":"history","version":1,"floors":[1]}` + "\n", 1, "broken header: field floors: want an object, not an array"},
		{"began of a wrong form", `{"type":"history","version":1,"began":"now"}` + "\n", 1, "broken header"},
		{"negative TTL", `{"type":"history","version":1,"ttl_ns":-1}` + "\n", 1, "broken header: ttl_ns -1: want 0 or more"},
		{"negative uncertainty", `{"type":"history","version":1,"epsilon_ns":-1}` + "\n", 1, "broken header: epsilon_ns -1: want 0 or more"},
		{"a floor below zero", `{"type":"history","version":1,"floors":{"grants":-3}}` + "\n", 1, "broken header: floors.grants -3: want 0 or more"},
		{"quorum beyond the nodes", `{"type":"history","version":1,"nodes":3,"quorum":4}` + "\n", 1, "broken header: quorum 4: want at most nodes, 3"},
		{"another text", "hello\n", 1, `no header: want {"type":"history","version":1,…} first, and the line begins with "hello"`},
		{"byte order mark", "\ufeff" + testHeader, 1, "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00\"\x00", 1, "UTF-16: want UTF-8"},
		{"binary", "PK\x03\x04\x9f\x00", 1, "binary data: want lines of JSON, plain or compressed by zstd or gzip"},
		{"lease of no length", `{"type":"history","version":1}` + "\n" + invokeAcquire + "\n" + okAcquire + "\n", 3,
			"acquire without valid_until_ns, and the header has no ttl_ns: want one of the two"},
		{"second history", lines(invokeAcquire, okAcquire, end) + testHeader, 5, "a second header: want one history in a file"},
		{"broken line", lines(invokeAcquire, `{"index":1,"time_ns":`, end), 3, "broken JSON"},
		{"not JSON", lines(invokeAcquire, "hello", end), 3, "broken JSON at byte 1"},
		{"array", lines("[1]"), 2, "broken JSON at byte 1"},
		{"empty line", lines(invokeAcquire, "", okAcquire), 3, "empty line"},
		{"two objects", lines(invokeAcquire + okAcquire), 2, "want one object a line"},
		{"no comma", lines(`{"index":0 "time_ns":5}`), 2, "broken JSON at byte 11: invalid character '\"' after object key:value pair"},
		{"trailing comma", lines(`{"index":0,}`), 2, "broken JSON at byte 11: invalid character '}'"},
		{"index gap", lines(invokeAcquire, strings.Replace(okAcquire, `"index":1`, `"index":2`, 1)), 3, "index 2: want 1"},
		{"index from 1", lines(okAcquire), 2, "index 1: want 0"},
		{"index twice", lines(invokeAcquire, invokeAcquire), 3, "index 0: want 1"},
		{"time backwards", lines(invokeAcquire, strings.Replace(okAcquire, `"time_ns":6`, `"time_ns":4`, 1)), 3, "time_ns 4 is before 5"},
		{"negative time", lines(strings.Replace(invokeAcquire, `"time_ns":5`, `"time_ns":-1`, 1)), 2, "time_ns -1 is before 0"},
		{"completion alone", lines(strings.Replace(okAcquire, `"index":1`, `"index":0`, 1)), 2, "without having invoked it"},
		{"completion of another op", lines(invokeAcquire, strings.Replace(okAcquire, "acquire", "release", 1)), 3, "want a completion of acquire"},
		{"completion on another key", lines(invokeAcquire, strings.Replace(okAcquire, `"k"`, `"l"`, 1)), 3, `key "l", which is not the key that it invoked it with`},
		{"invocation on an empty key", lines(strings.Replace(invokeAcquire, `"k"`, `""`, 1), okAcquire), 2, `acquire of process 0 has no key: want the resource, as in "key":"k"`},
		{"write on no key", lines(`{"index":0,"time_ns":5,"process":7,"kind":"invoke","op":"write","owner":"a","value":"v"}`), 2, "write of process 7 has no key"},
		{"release of no key", lines(`{"index":0,"time_ns":5,"process":7,"kind":"invoke","op":"release","owner":"a"}`), 2, "release of process 7 has no key"},
		{"renewal of no key", lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"extend","owner":"a","began_ns":1,"valid_until_ns":9}`), 2, "extend of process 0 has no key"},
		{"read of no key, then of one", lines(`{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":"read"}`, `{"index":1,"time_ns":6,"process":0,"kind":"ok","op":"read","key":"k"}`), 3, `key "k", which is not the key`},
		{"completion for another owner", lines(invokeAcquire, strings.Replace(okAcquire, `"k"`, `"k","owner":"b"`, 1)), 3, `owner "b", who is not the owner`},
		{"two open", lines(invokeAcquire, strings.Replace(invokeAcquire, `"index":0`, `"index":1`, 1)), 3, "while its acquire is open"},
		{"used after info", lines(invokeAcquire, strings.Replace(okAcquire, `"ok"`, `"info"`, 1),
			`{"index":2,"time_ns":7,"process":0,"kind":"invoke","op":"read"}`), 4, "process 0 was retired"},
		{"no index", lines(`{"time_ns":5,"process":0,"kind":"invoke","op":"read"}`), 2, "no index"},
		{"no time", lines(`{"index":0,"process":0,"kind":"invoke","op":"read"}`), 2, "no time_ns"},
		{"no process", lines(`{"index":0,"time_ns":5,"kind":"invoke","op":"read"}`), 2, "no process"},
		{"no kind", lines(`{"index":0,"time_ns":5,"process":0,"op":"read"}`), 2, "no kind"},
		{"null op", lines(`{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":null}`), 2, "no op"},
		{"no field at all", lines(`{}`), 2, "no index"},
		{"unknown kind", lines(strings.Replace(invokeAcquire, "invoke", "begin", 1)), 2, `field kind: unknown "begin": want one of invoke, ok, fail, info`},
		{"unknown op", lines(strings.Replace(invokeAcquire, "acquire", "lock", 1)), 2, `field op: unknown "lock": want one of acquire`},
		{"unknown mode", lines(strings.Replace(invokeAcquire, `"key"`, `"mode":"w","key"`, 1)), 2, `field mode: unknown "w": want one of x, r`},
		{"text for index", lines(`{"index":"0"}`), 2, "field index: want a whole number"},
		{"fraction", lines(`{"index":0.5}`), 2, "field index: want a whole number"},
		{"exponent", lines(`{"index":1e3}`), 2, "field index: want a whole number"},
		{"leading zero", lines(`{"index":00}`), 2, "broken JSON at byte"},
		{"too large", lines(`{"index":9223372036854775808}`), 2, "field index: number too large"},
		{"far too large", lines(`{"fence":18446744073709551616}`), 2, "field fence: number too large"},
		{"negative fence", lines(`{"fence":-1}`), 2, "field fence: want a whole number, 0 or more"},
		{"number for key", lines(`{"key":3}`), 2, "field key: want a text in quotes"},
		{"number for instant", lines(`{"instant":1}`), 2, "field instant: want true or false"},
		{"list for target", lines(`{"target":[1]}`), 2, "field target: want an object or a text"},
		{"broken unknown field", lines(`{"later":{"a":[}}`), 2, "field later: broken JSON"},
		{"control character", lines("{\"key\":\"a\x01b\"}"), 2, "field key: broken JSON"},
		{"field twice", lines(`{"index":0,"index":0}`), 2, "field index: given twice"},
		{"too deep", lines(`{"later":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}"), 2, "exceeded max depth"},
		{"too long", lines(invokeAcquire, `{"note":"`+strings.Repeat("x", MaxLine)+`"}`, end), 3, "longer than 1048576 bytes: want shorter lines"},
		{"lost by halves", lines(`{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":"lost"}`), 2, "lost with kind invoke"},
		{"client injects", lines(`{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":"fault"}`), 2, "op fault of process 0"},
		{"nemesis acquires", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"invoke","op":"acquire"}`), 2, "op acquire of process -1"},
		{"heal alone", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"ok","op":"heal","fault":"cut"}`), 2, "completes heal cut"},
		{"store reads", lines(`{"index":0,"time_ns":5,"process":-2,"kind":"ok","op":"read"}`), 2, "op read of process -2: want audit"},
		{"audit in doubt", lines(`{"index":0,"time_ns":5,"process":-2,"kind":"info","op":"audit"}`), 2, "audit with kind info"},
		{"receipt of the future", lines(`{"index":0,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","of":3}`), 2, "receipt of no earlier event"},
		{"receipt of a time before all", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","of":-1,"value":"executed"}`), 3, "receipt of no earlier event"},
		{"receipt of nothing", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","value":"executed"}`), 3, "receipt of no earlier event"},
		{"receipt that says nothing", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","of":0}`), 3, `receipt with value "": want never-forwarded or executed`},
		{"receipt of another word", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","of":0,"value":"exectued"}`), 3, `receipt with value "exectued": want never-forwarded or executed`},
		{"receipt of no number", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-4,"kind":"ok","op":"receipt","of":NaN,"value":"executed"}`), 3, "field of: broken JSON"},
		{"unknown process", lines(`{"index":0,"time_ns":5,"process":-5,"kind":"ok","op":"phase"}`), 2, "process -5: want"},
		{"renewal without owner", lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"extend","key":"k","began_ns":1,"valid_until_ns":9}`), 2, "extend of process 0 has no owner: want the one who acts"},
		{"acquire without owner", lines(strings.Replace(invokeAcquire, `,"owner":"a"`, "", 1)), 2, "acquire of process 0 has no owner"},
		{"extend without owner", lines(`{"index":0,"time_ns":5,"process":7,"kind":"invoke","op":"extend","key":"k"}`), 2, "extend of process 7 has no owner"},
		{"release without owner", lines(`{"index":0,"time_ns":5,"process":7,"kind":"invoke","op":"release","key":"k","owner":""}`), 2, "release of process 7 has no owner"},
		{"write without owner", lines(`{"index":0,"time_ns":5,"process":7,"kind":"invoke","op":"write","key":"k","value":"v"}`), 2, "write of process 7 has no owner"},
		{"token of 0", lines(invokeAcquire, `{"index":1,"time_ns":6,"process":0,"kind":"ok","op":"acquire","key":"k","owner":"a","fence":0}`), 3, "field fence: 0 is refused: want 1 or more, or leave it out"},
		{"token of 0, among other fields", lines(`{"fence":0,"index":0}`), 2, "field fence: 0 is"},
		{"write number 0", lines(`{"index":0,"time_ns":5,"process":-2,"kind":"ok","op":"audit","key":"k","owner":"a","value":"v","seq":0}`), 2, "field seq: 0 is"},
		{"write number 0, behind its time", lines(`{"seq":0,"index":0}`), 2, "field seq: 0 is"},
		{"key not UTF-8", lines("{\"key\":\"k\xff\"}"), 2, "field key: not UTF-8"},
		{"owner of half a character", lines(`{"owner":"\ud800"}`), 2, "field owner: not UTF-8"},
		{"owner of half a character, and a whole one", lines(`{"owner":"\ufffd\ud83d\ude00\udc00"}`), 2, "field owner: not UTF-8"},
		{"value not UTF-8", lines("{\"value\":\"\xc3\x28\"}"), 2, "field value: not UTF-8"},
		{"node not UTF-8", lines("{\"node\":\"\xed\xa0\x80\"}"), 2, "field node: not UTF-8"},
		{"target not UTF-8", lines("{\"target\":{\"a\":\"\xff\"}}"), 2, "field target: not UTF-8"},
		{"beyond all time", lines(strings.Replace(invokeAcquire, `:5`, `:1152921504606846977`, 1)), 2, "time_ns 1152921504606846977: want nanoseconds since the run began, at most 1152921504606846976 (36 years)"},
		{"began before all time", lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"extend","key":"k","owner":"a","began_ns":-9223372036854775808,"valid_until_ns":9}`), 2, "began_ns -9223372036854775808: want"},
		{"ended beyond all time", lines(invokeAcquire, `{"index":1,"time_ns":6,"process":0,"kind":"ok","op":"acquire","ended_ns":9223372036854775807}`), 3, "ended_ns 9223372036854775807: want"},
		{"due beyond all time", lines(strings.Replace(invokeAcquire, `"key"`, `"intended_ns":2000000000000000000,"key"`, 1)), 2, "intended_ns 2000000000000000000: want"},
		{"no time to live", lines(`{"index":0,"time_ns":5,"process":-3,"kind":"ok","op":"key","key":"k","node":"n","pttl_ms":-3}`), 2, "pttl_ms -3: want 0 or more, -1 for"},
		{"drift beyond all time", `{"type":"history","version":1,"drift_ns":9223372036854775807}` + "\n", 1, "broken header: drift_ns 9223372036854775807: want at most"},
		{"bound beyond all time", `{"type":"history","version":1,"bounds":{"retry_ns":9223372036854775807}}` + "\n", 1, "broken header: bounds.retry_ns 9223372036854775807: want at most"},
		{"bound without a letter", `{"type":"history","version":1,"bounds":{"los_ns":5}}` + "\n", 1, `broken header: bounds: "los_ns" is unknown: did you mean "loss_ns"?`},
		{"bound with a letter too many", `{"type":"history","version":1,"bounds":{"loss_nss":5}}` + "\n", 1, `did you mean "loss_ns"?`},
		{"bound with another letter", `{"type":"history","version":1,"bounds":{"waif_ns":5}}` + "\n", 1, `did you mean "wait_ns"?`},
		{"bound with two letters changed", `{"type":"history","version":1,"bounds":{"rerty_ns":5}}` + "\n", 1, `did you mean "retry_ns"?`},
		{"bound in capitals", `{"type":"history","version":1,"bounds":{"Recovery_NS":5}}` + "\n", 1, `did you mean "recovery_ns"?`},
		{"bound without its unit", `{"type":"history","version":1,"bounds":{"undo":5}}` + "\n", 1, `did you mean "undo_ns"?`},
		{"negative bound", `{"type":"history","version":1,"bounds":{"loss_ns":-5}}` + "\n", 1, "broken header: bounds.loss_ns -5: want 0 or more"},
		{"header field twice", `{"type":"history","version":1,"ttl_ns":1,"ttl_ns":1000}` + "\n", 1, "broken header: field ttl_ns is given twice: want it once"},
		{"header field twice, in other letters", `{"type":"history","version":1,"ttl_ns":1,"TTL_NS":1000}` + "\n", 1, "broken header: field TTL_NS is given twice"},
		{"floor twice", `{"type":"history","version":1,"expected":["S1"],"floors":{"grants":1,"grants":1000}}` + "\n", 1, "broken header: field grants is given twice"},
		{"host without a name", `{"type":"history","version":1,"hosts":{"":{"epsilon_ns":1}}}` + "\n", 1, "broken header: hosts: a host has no name"},
		{"host with a negative bound", `{"type":"history","version":1,"hosts":{"h1":{"epsilon_ns":-1}}}` + "\n", 1, "broken header: hosts.h1.epsilon_ns -1: want 0 or more"},
		{"host of no known bound", `{"type":"history","version":1,"ttl_ns":9,"hosts":{"h1":{"epsilon_ns":1}}}` + "\n" +
			strings.Replace(invokeAcquire, `"key"`, `"host":"h2","key"`, 1) + "\n", 2, `host "h2" is not among the header's hosts`},
		{"many empty lines", testHeader + strings.Repeat("\n", 2*maxBlank), 2, "empty lines from here on, over 1048576 bytes of them: want an event on every line"},
		{"many blank lines", lines(invokeAcquire) + strings.Repeat(strings.Repeat(" ", 99)+"\n", maxBlank/99), 3, "empty lines from here on"},
		{"stall by halves", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"invoke","op":"stall","began_ns":1,"ended_ns":2}`), 2, "stall with kind invoke: want ok"},
		{"stall without an end", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"ok","op":"stall","began_ns":1}`), 2, "stall without began_ns and ended_ns: want both"},
		{"stall backwards", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"ok","op":"stall","began_ns":3,"ended_ns":2}`), 2, "stall from began_ns 3 to ended_ns 2"},
		{"stall longer than its interval", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"ok","op":"stall","began_ns":1,"ended_ns":3,"lag_ns":3}`), 2, "stall of lag_ns 3 from began_ns 1 to ended_ns 3"},
		{"stall of less than nothing", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"ok","op":"stall","began_ns":1,"ended_ns":3,"lag_ns":-1}`), 2, "stall of lag_ns -1"},
		{"client stalls", lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"stall","began_ns":1,"ended_ns":2}`), 2, "op stall of process 0"},
		{"fault of another event", lines(invokeAcquire, `{"index":1,"time_ns":5,"process":-1,"kind":"invoke","op":"fault","fault":"cut"}`,
			`{"index":2,"time_ns":5,"process":-1,"kind":"ok","op":"fault","fault":"cut","of":0}`), 4, "completes fault cut of event 0, which is no open invocation of it"},
		{"fault completed twice", lines(`{"index":0,"time_ns":5,"process":-1,"kind":"invoke","op":"fault","fault":"cut"}`,
			`{"index":1,"time_ns":5,"process":-1,"kind":"invoke","op":"fault","fault":"cut"}`,
			`{"index":2,"time_ns":5,"process":-1,"kind":"ok","op":"fault","fault":"cut","of":1}`,
			`{"index":3,"time_ns":5,"process":-1,"kind":"ok","op":"fault","fault":"cut","of":1}`), 5, "of event 1, which is no open invocation"},
		{"renewal without bounds", lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"extend","began_ns":1}`), 2, "without having invoked it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadAll(strings.NewReader(test.file))
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("error %v, want a FormatError", err)
			}
			if format.Line != test.line || !strings.Contains(format.Msg, test.want) {
				t.Errorf("line %d: %s\nwant line %d and %q", format.Line, format.Msg, test.line, test.want)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	whole := lines(invokeAcquire, okAcquire, end)
	tests := []struct {
		name, file string
		events     int
		truncated  bool
	}{
		{"whole", whole, 3, false},
		{"no last newline", strings.TrimSuffix(whole, "\n"), 3, false},
		{"blank lines at the end", whole + " \n\n", 3, false},
		{"carriage returns", strings.ReplaceAll(whole, "\n", "\r\n"), 3, false},
		{"no end", lines(invokeAcquire, okAcquire), 2, true},
		{"events after the end", whole + `{"index":3,"time_ns":8,"process":-1,"kind":"ok","op":"phase","value":"x"}` + "\n", 4, true},
		{"header alone", testHeader, 0, true},
		{"header without newline", strings.TrimSuffix(testHeader, "\n"), 0, true},
		{"cut in the last line", strings.TrimSuffix(whole, "}\n"), 2, true},
		{"cut after a brace", whole + "{", 3, true},
		{"zeros at the end", whole + strings.Repeat("\x00", 3*MaxLine), 3, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := ReadAll(strings.NewReader(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Events) != test.events || h.Truncated != test.truncated {
				t.Errorf("%d events, truncated %v; want %d, %v", len(h.Events), h.Truncated, test.events, test.truncated)
			}
		})
	}
}

// TestCutAnywhere cuts a history at every byte: never an error after the
// header, always a prefix, and complete only when nothing is missing.
func TestCutAnywhere(t *testing.T) {
	whole := lines(invokeAcquire, okAcquire, end)
	for n := len(testHeader); n <= len(whole); n++ {
		h, err := ReadAll(strings.NewReader(whole[:n]))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if complete := n >= len(whole)-1; h.Truncated == complete {
			t.Errorf("cut at byte %d of %d: truncated %v", n, len(whole), h.Truncated)
		}
	}
}

// TestBoundsOfLaterWriters ignores bounds that no known one was meant by, and knows all
// that it documents.
func TestBoundsOfLaterWriters(t *testing.T) {
	for _, name := range append([]string{"renewal_ns", "queue_length", "x", ""}, bounds...) {
		h := Header{Bounds: map[string]int64{name: 1}}
		if msg := h.check(); msg != "" {
			t.Errorf("%q: %s", name, msg)
		}
	}
}

func TestAccepted(t *testing.T) {
	tests := map[string]string{
		"overlapping faults": `
			nemesis invoke fault a
			nemesis invoke fault b
			nemesis invoke fault a
			nemesis ok fault b
			nemesis info fault a
			nemesis fail fault a
			nemesis invoke heal b`,
		"automatic renewals": `
			c0 ok extend k began 0s until 9ms
			c0 fail extend k began 0s err lost
			c0 invoke write k value v
			c0 info extend k began 0s
			c0 ok extend k began 0s until 9ms
			c0 info write k value v
			c0 ok extend k began 0s until 9ms
			c0 ok lost k`,
		"extend by hand of a child": `
			c0 invoke extend k
			c0 ok extend k began 0s until 9ms
			c0 invoke release k`,
		"stalls": `
			nemesis ok stall began 0s ended 3ms
			c0 invoke write k value v
			nemesis ok stall began 1ms ended 2ms host h1
			c0 ok write k value v`,
		"faults by their invocation": `
			nemesis invoke fault a
			nemesis invoke fault a
			nemesis ok fault a of 1
			nemesis info fault a of 0
			nemesis invoke heal a
			nemesis ok heal a of 4`,
		"leases without end": `
			c0 invoke acquire k
			c0 ok acquire k until 2562047h47m16.854775807s
			witness ok key k node n1 pttl 9223372036854775807 holder c0`,
		"observers": `
			nemesis ok phase main
			c0 invoke write k value v
			store ok audit k seq 1 value v
			store fail audit k seq 2 value w
			witness ok key k node n1
			link ok receipt executed of 1
			c0 ok phase final`,
		"odd process numbers": `
			9000000000000000000 invoke read k
			16777216 invoke read k
			16777215 invoke read k
			9000000000000000000 ok read k`,
	}
	for name, text := range tests {
		h, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(h.Events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderListsOpenOperations(t *testing.T) {
	const open = `{"index":1,"time_ns":6,"process":99999999,"kind":"invoke","op":"read"}`
	r, err := NewReader(strings.NewReader(lines(invokeAcquire, open)))
	if err != nil {
		t.Fatal(err)
	}
	var e Event
	for r.Next(&e) == nil {
	}
	if got := r.Open(); len(got) != 2 || got[0] != 0 || got[1] != 99999999 {
		t.Errorf("open are %v, want 0 and 99999999", got)
	}
}
