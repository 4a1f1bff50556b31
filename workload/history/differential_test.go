package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// reference reads a line by encoding/json, field by field.
func reference(line []byte) (e Event, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return e, err
	}
	if m == nil {
		return e, errors.New("null")
	}
	present := func(name string) bool { return m[name] != nil && string(m[name]) != "null" }
	into := func(name string, dst any) {
		if present(name) {
			err = errors.Join(err, json.Unmarshal(m[name], dst))
		}
	}
	for name, dst := range map[string]any{
		"index": &e.Index, "time_ns": &e.Time, "process": &e.Process, "key": &e.Key, "owner": &e.Owner,
		"fence": &e.Fence, "value": &e.Value, "err": &e.Err, "fault": &e.Fault, "receipt": &e.Receipt,
		"instant": &e.Instant, "node": &e.Node, "holder": &e.Holder, "note": &e.Note, "host": &e.Host,
	} {
		into(name, dst)
	}
	for name, opt := range optionals(&e) {
		into(name, opt.dst)
		if present(name) {
			e.Has |= opt.has
		}
	}
	for name, set := range map[string]func(string) bool{
		"kind": func(s string) (ok bool) { e.Kind, ok = find[Kind](kindNames[:], s); return ok },
		"op":   func(s string) (ok bool) { e.Op, ok = find[Op](opNames[:], s); return ok },
		"mode": func(s string) (ok bool) { e.Mode, ok = find[Mode](modeNames[:], s); return ok },
	} {
		var word string
		into(name, &word)
		if present(name) && !set(word) {
			err = errors.Join(err, fmt.Errorf("%s %q", name, word))
		}
	}
	if present("target") {
		var target error
		e.Target, target = ParseTarget(m["target"])
		err = errors.Join(err, target)
	}
	for _, name := range []string{"index", "time_ns", "process", "kind", "op"} {
		if !present(name) {
			err = errors.Join(err, errors.New("no "+name))
		}
	}
	return e, err
}

type optionalField struct {
	dst any
	has Field
}

func optionals(e *Event) map[string]optionalField {
	return map[string]optionalField{
		"valid_until_ns": {&e.ValidUntil, HasValidUntil}, "seq": {&e.Seq, HasSeq}, "base": {&e.Base, HasBase},
		"began_ns": {&e.Began, HasBegan}, "ended_ns": {&e.Ended, HasEnded}, "intended_ns": {&e.Intended, HasIntended},
		"of": {&e.Of, HasOf}, "pttl_ms": {&e.PTTL, HasPTTL}, "lag_ns": {&e.Lag, HasLag},
	}
}

func find[T ~uint8](names []string, s string) (T, bool) {
	i := slices.Index(names, s)
	return T(max(i, 0)), i >= 0 && s != ""
}

// agree fails when the decoder and encoding/json see different events.
func agree(t interface{ Fatalf(string, ...any) }, line []byte) {
	var d decoder
	var got Event
	err := d.event(line, &got)
	want, wantErr := reference(line)
	if err == nil && wantErr != nil {
		t.Fatalf("line %s\naccepted, but encoding/json says %v", line, wantErr)
	}
	if err != nil && wantErr == nil && !repeats(line) && !stricter(line, err, &want) {
		t.Fatalf("line %s\nencoding/json accepts it, the decoder says %v", line, err)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("line %s\nread %+v\nwant %+v", line, got, want)
	}
}

// stricter reports whether err refuses what encoding/json reads as something
// else than it says: a text that is none, a number of nothing.
func stricter(line []byte, err error, e *Event) bool {
	if errors.Is(err, errNotUTF8) {
		return !utf8.Valid(line) || bytes.Contains(bytes.ToLower(line), []byte(`\ud`))
	}
	return strings.Contains(err.Error(), "field fence: 0 is") && e.Fence == 0 ||
		strings.Contains(err.Error(), "field seq: 0 is") && e.Seq == 0
}

// repeats reports whether an object names a field twice, of which
// encoding/json takes the last and the decoder none.
func repeats(line []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(line))
	_, err := dec.Token()
	for seen := map[any]bool{}; err == nil && dec.More(); {
		name, nameErr := dec.Token()
		if nameErr != nil || seen[name] {
			return nameErr == nil
		}
		seen[name] = true
		var value json.RawMessage
		err = dec.Decode(&value)
	}
	return false
}

func genEvent(t *rapid.T) Event {
	text := rapid.OneOf(rapid.Just(""), rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"k", "k12", "c07", "é\"\\\n\x00\x7f\u2028", "🔒"}))
	number := rapid.OneOf(rapid.Int64Range(0, 1<<40), rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64}))
	e := Event{
		Index: rapid.Int().Draw(t, "index"), Time: rapid.Map(number, duration).Draw(t, "time"),
		Process: rapid.IntRange(-4, 50).Draw(t, "process"),
		Kind:    Kind(rapid.IntRange(1, 4).Draw(t, "kind")), Op: Op(rapid.IntRange(1, int(Stall)).Draw(t, "op")),
		Mode: Mode(rapid.IntRange(0, 1).Draw(t, "mode")),
		Has:  Field(rapid.IntRange(0, int(HasIntended)*2-1).Draw(t, "has")),
		Key:  text.Draw(t, "key"), Owner: text.Draw(t, "owner"), Value: text.Draw(t, "value"),
		Err: text.Draw(t, "err"), Note: text.Draw(t, "note"),
		Host: text.Draw(t, "host"), Fence: rapid.Uint64().Draw(t, "fence"),
	}
	for _, opt := range optionals(&e) {
		if e.HasAll(opt.has) {
			set(reflect.ValueOf(opt.dst).Elem(), number.Draw(t, "number"))
		}
	}
	if e.HasAll(HasSeq) && e.Seq == 0 {
		e.Seq = 1
	}
	if rapid.Bool().Draw(t, "harness") {
		e.Fault, e.Receipt, e.Node, e.Holder = text.Draw(t, "fault"), text.Draw(t, "receipt"), text.Draw(t, "node"), text.Draw(t, "holder")
		e.Instant = rapid.Bool().Draw(t, "instant")
		e.Target, _ = ParseTarget([]byte(rapid.SampledFrom([]string{`{"clients":[0,1]}`, `"all"`, `{}`, `{"a":{"b":[{}, "}"]}}`}).Draw(t, "target")))
	}
	return e
}

func duration(n int64) time.Duration { return time.Duration(n) }

// set stores n in a signed or unsigned number.
func set(v reflect.Value, n int64) {
	if v.CanUint() {
		v.SetUint(uint64(n))
		return
	}
	v.SetInt(n)
}

// TestRoundTrip writes any event and reads the same one.
func TestRoundTrip(t *testing.T) {
	var d decoder // one for all lines, so that its tables are used
	rapid.Check(t, func(t *rapid.T) {
		want := genEvent(t)
		line := AppendEvent(nil, &want)
		if bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		var got Event
		if err := d.event(line, &got); err != nil {
			t.Fatalf("line %s: %v", line, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v\nwant %+v", got, want)
		}
		agree(t, line)
	})
}

// TestDifferential reads lines in other orders, with unknown fields, nulls,
// white space and damage, as encoding/json does.
func TestDifferential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genEvent(t)
		var m map[string]json.RawMessage
		if err := json.Unmarshal(AppendEvent(nil, &e), &m); err != nil {
			t.Fatal(err)
		}
		odd := rapid.SampledFrom([]string{
			`null`, `1e3`, `-0`, `0.0`, `"\u0061\ud83d\ude00\ud800\/"`, `"\x"`, `[1,{"a":"]"}]`, `{"a":"}"}`, `tru`, `true`, `01`,
			`18446744073709551615`, `18446744073709551616`, `-9223372036854775808`, "\"\xff\"", "\"tab\t\"", ` 7 `, `""`, `-`, `{"a" 1}`,
		})
		names := append(fieldNames(), "later", "Index", "índex", "")
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			m[rapid.SampledFrom(names).Draw(t, "name")] = json.RawMessage(odd.Draw(t, "value"))
		}
		line := join(m, rapid.Uint64().Draw(t, "order"))
		if rapid.Bool().Draw(t, "damage") {
			line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		agree(t, line)
	})
}

func fieldNames() []string {
	names := []string{"index", "time_ns", "process", "kind", "op", "key", "owner", "fence", "value", "err", "fault",
		"receipt", "instant", "host", "node", "holder", "note", "target", "mode"}
	for name := range optionals(new(Event)) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// join writes an object in an order drawn from seed, its white space too.
func join(m map[string]json.RawMessage, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	line := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			line = append(line, " ,"[rng.IntN(2):]...)
		}
		line = appendString(line, name)
		line = append(line, "\t:"[rng.IntN(2):]...)
		line = append(line, m[name]...)
	}
	return append(line, '}')
}
