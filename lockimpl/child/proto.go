package child

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A request is one line to the child; "t" and "id" are added when it is sent.
type request map[string]any

// A message is one line of the child. Pointers tell an absent number from zero.
type message struct {
	T        string `json:"t"`
	Re       uint64 `json:"re"`
	Handle   string `json:"h"`
	US0      *int64 `json:"us0"`
	US1      *int64 `json:"us1"`
	US       *int64 `json:"us"`
	Until    *int64 `json:"until_us"`
	Fence    uint64 `json:"fence"`
	N        uint64 `json:"n"`
	Held     bool   `json:"held"`
	Definite bool   `json:"definite"`
	Why      string `json:"why"`
	Text     string `json:"text"`
	Caps     string `json:"caps"`
	Clock    string `json:"clock"`

	Keys *string `json:"keys"` // those that bear leases: see leaseKeys

	recv  int64 // when the harness had read it
	began time.Time
	ended time.Time
}

func parse(line []byte) (*message, error) {
	m := &message{recv: micros()}
	return m, json.Unmarshal(line, m)
}

// unread says why a line is no message.
func unread(err error) string {
	if wrong, typed := errors.AsType[*json.UnmarshalTypeError](err); typed {
		return fmt.Sprintf("%s is %s: want %s", cmp.Or(wrong.Field, "it"), wrong.Value, kinds[wrong.Type.Kind()])
	}
	return "want one flat JSON object"
}

// kinds are what the fields of messages hold.
var kinds = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int64: "an integer", reflect.Uint64: "an integer of 0 or more", reflect.Struct: "an object",
}

// knownAbilities are the words that an init_ok's caps may have.
var knownAbilities = strings.Fields("ttl extend until fence lost watchdog renewed reentrant rw cancel check parallel")

// checkAbilities returns an error for a word that is none of them.
func checkAbilities(caps map[string]bool) error {
	for _, word := range slices.Sorted(maps.Keys(caps)) {
		if !slices.Contains(knownAbilities, word) {
			return fmt.Errorf("caps: unknown ability %q: want some of %s, with commas between them", word, strings.Join(knownAbilities, " "))
		}
	}
	return nil
}

// abilities is the set of words in an init_ok's caps.
func abilities(caps string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.FieldsFunc(caps, func(r rune) bool { return r == ',' || r == ' ' }) {
		set[word] = true
	}
	return set
}

// keyMark stands for the resource's name in the names of the keys that bear its leases.
const keyMark = "{key}"

// leaseKeys reads what an init_ok says of the keys that bear leases: their names, with commas
// between them, each with keyMark in it. No name at all is for a lock without such keys.
func leaseKeys(said string) (func(key string) []string, error) {
	var names []string
	for name := range strings.SplitSeq(said, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !strings.Contains(name, keyMark) {
			return nil, fmt.Errorf("keys %q: %q is the same for every resource: want %s in its place, as in lock:%[3]s", said, name, keyMark)
		}
		names = append(names, name)
	}
	return func(key string) (all []string) {
		for _, name := range names {
			all = append(all, strings.ReplaceAll(name, keyMark, key))
		}
		return all
	}, nil
}

// micros is CLOCK_MONOTONIC in microseconds: one origin for all processes of a
// machine.
func micros() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("read the monotonic clock: " + err.Error()) // it cannot fail on a kernel that runs Go
	}
	return ts.Nano() / 1000
}

// An anchor is one instant by both clocks: that of this process's times and CLOCK_MONOTONIC.
type anchor struct {
	at time.Time
	us int64
}

// anchored is read once: whoever reads two clocks one after the other may be set aside in
// between, and what had happened at one time by one of them would seem to have at another.
var anchored = newAnchor()

func newAnchor() (best anchor) {
	const tries = 64
	closest := int64(math.MaxInt64)
	for range tries {
		before := micros()
		at := time.Now()
		if after := micros(); after-before < closest {
			closest, best = after-before, anchor{at, before + (after-before)/2}
		}
	}
	return best
}

// instant turns CLOCK_MONOTONIC microseconds into a time of this process.
func instant(us int64) time.Time {
	return anchored.at.Add(time.Duration(us-anchored.us) * time.Microsecond)
}

// place sets when the operation began and ended: by the child's stamps where sent ≤ us0 ≤ us1 ≤
// recv, and otherwise the wider [sent, recv]. It reports whether the child's stamps counted.
func (m *message) place(sent int64, trusted bool) bool {
	us0, us1, ok := sent, m.recv, false
	if trusted && m.US0 != nil && m.US1 != nil {
		ok = sent <= *m.US0 && *m.US0 <= *m.US1 && *m.US1 <= m.recv
	}
	if ok {
		us0, us1 = *m.US0, *m.US1
	}
	m.began, m.ended = instant(us0), instant(us1)
	return ok
}
