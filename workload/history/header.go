package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	headerType = "history"
	wantHeader = `want {"type":"history","version":1,…} first`
)

// parseHeader reads the first line. cut says that the file broke off within
// it, or before it.
func parseHeader(line []byte, cut bool) (h Header, err error) {
	bad := func(msg string) (Header, error) { return Header{}, &FormatError{1, msg} }
	var start struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
	}
	err = json.Unmarshal(line, &start)
	typed := errors.As(err, new(*json.UnmarshalTypeError))
	switch {
	case len(bytes.TrimSpace(line)) == 0 && cut:
		return bad("the header is missing, the file breaks off before it: " + wantHeader)
	case len(bytes.TrimSpace(line)) == 0:
		return bad("the header is missing: " + wantHeader)
	case err != nil && !typed || start.Type != headerType:
		return bad(noHeader(line, cut && !json.Valid(line)))
	case err != nil:
		return bad("broken header: " + mistyped(err))
	case start.Version != Version:
		return bad(fmt.Sprintf("version %d is unknown: want %d", start.Version, Version))
	}
	if name := doubled(line); name != "" {
		return bad(fmt.Sprintf("broken header: field %.40s is given twice: want it once", name))
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return bad("broken header: " + mistyped(err))
	}
	if msg := h.check(); msg != "" {
		return bad("broken header: " + msg)
	}
	return h, nil
}

// shownBytes is how much of a line an error shows.
const shownBytes = 40

// noHeader says what the first line is instead of a header.
func noHeader(line []byte, cut bool) string {
	switch {
	case bytes.HasPrefix(line, []byte("\xef\xbb\xbf")):
		return "a byte order mark stands before the header: want UTF-8 without one"
	case bytes.HasPrefix(line, []byte("\xff\xfe")), bytes.HasPrefix(line, []byte("\xfe\xff")):
		return "the file is UTF-16: want UTF-8"
	case cut && line[0] == '{':
		return "no header: the file breaks off within it; " + wantHeader
	case !utf8.Valid(line):
		return "no header but binary data: want lines of JSON, plain or compressed by zstd or gzip"
	}
	line = bytes.TrimRight(line, "\r\n")
	text := string(bytes.ToValidUTF8(line[:min(len(line), shownBytes)], nil))
	return fmt.Sprintf("no header: %s, and the line begins with %q", wantHeader, text)
}

// mistyped describes a value of the wrong type.
func mistyped(err error) string {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) || e.Field == "" {
		return err.Error()
	}
	want := "a whole number"
	switch e.Type.Kind() {
	case reflect.String:
		want = "a text in quotes"
	case reflect.Bool:
		want = "true or false"
	case reflect.Map:
		want = "an object"
	case reflect.Slice:
		want = "a list"
	}
	article := "a"
	if e.Value == "array" || e.Value == "object" {
		article = "an"
	}
	return fmt.Sprintf("field %s: want %s, not %s %s", e.Field, want, article, e.Value)
}

// doubled names a field that is given twice within one object of the header,
// or "". Names are compared as encoding/json compares them.
func doubled(line []byte) string {
	dec := json.NewDecoder(bytes.NewReader(line))
	var open []map[string]bool // names seen in each object that is open; nil for a list
	for name := false; ; {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		name = inObject && !name
		switch text, _ := t.(string); {
		case t == json.Delim('{'):
			open, name = append(open, map[string]bool{}), false
		case t == json.Delim('['):
			open, name = append(open, nil), false
		case t == json.Delim('}'), t == json.Delim(']'):
			open, name = open[:len(open)-1], false
		case name:
			if folded := strings.ToLower(strings.ToUpper(text)); open[len(open)-1][folded] {
				return text
			} else {
				open[len(open)-1][folded] = true
			}
		}
	}
}

// unknownFields names the fields of the header that the format does not have, each with the one
// that may be meant. They are ignored, so that old readers can read new files; a misspelt field
// is missing.
func unknownFields(line []byte) (all []string) {
	var given map[string]json.RawMessage
	if json.Unmarshal(line, &given) != nil {
		return nil
	}
	var known []string
	of := reflect.TypeFor[Header]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		known = append(known, name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) { // as encoding/json compares
			continue
		}
		text := fmt.Sprintf("%.40q", name)
		if near := slices.IndexFunc(known, func(k string) bool { return near(name, k) }); near >= 0 {
			text += fmt.Sprintf(" (did you mean %q?)", known[near])
		}
		all = append(all, text)
	}
	if more := len(all) - shownFields; more > 0 {
		all = append(all[:shownFields], fmt.Sprintf("and %d more", more))
	}
	return all
}

// shownFields is how many unknown fields are named.
const shownFields = 5

// near reports whether name is likely known, misspelt.
func near(name, known string) bool {
	return strings.EqualFold(name, known) || oneLetterOff(name, known) || oneLetterOff(name+"_ns", known) || name+"_ns" == known
}

type namedNumber struct {
	name  string
	value int64
}

// The bounds that a header may declare, by name.
const (
	BoundRetry        = "retry_ns"             // a contender's pause between two attempts; the TTL unless declared
	BoundLoss         = "loss_ns"              // the library's documented delay of reporting a loss (S11)
	BoundWait         = "wait_ns"              // longest wait for a grant while nothing is wrong (L3)
	BoundRecovery     = "recovery_ns"          // from a heal to the next grant (L4)
	BoundAvailability = "availability_percent" // of acquires definitely answered, per phase (L6)
	BoundUndo         = "undo_ns"              // by when what a failed attempt took, and a released lease, are gone from a node that can be reached (L8)
	BoundWake         = "wake_ns"              // by when somebody who waits for a key that is free has it (L2)
	BoundWoken        = "woken_ns"             // by when somebody has a key that was given back while he waited for it: the release wakes him (L2)
	BoundRounds       = "livelock_rounds"      // lost rounds that make a livelock (L7)
)

// bounds are these names. Other names are ignored, so that old readers can read new files,
// except for likely misspellings of one of these.
var bounds = []string{BoundAvailability, BoundRounds, BoundLoss, BoundRecovery, BoundRetry, BoundUndo, BoundWait, BoundWake, BoundWoken}

// misspelt returns the bound that name was likely meant to be, or "".
func misspelt(name string) string {
	if slices.Contains(bounds, name) {
		return ""
	}
	for _, known := range bounds {
		if near(name, known) {
			return known
		}
	}
	return ""
}

// oneLetterOff reports whether a letter left out, put in or replaced, or two that changed
// places, tell a from b.
func oneLetterOff(a, b string) bool {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		restA, restB := a[min(i, len(a)):], b[min(i, len(b)):]
		swapped := len(restA) > 1 && len(restB) > 1 && restA[0] == restB[1] && restA[1] == restB[0] && restA[2:] == restB[2:]
		return swapped || restA != "" && (restA[1:] == restB || restB != "" && restA[1:] == restB[1:]) || restB != "" && restB[1:] == restA
	}
	return false
}

// check says what cannot be in a header, or "".
func (h *Header) check() string {
	numbers := []namedNumber{
		{"nodes", int64(h.Nodes)}, {"quorum", int64(h.Quorum)},
		{"ttl_ns", int64(h.TTL)}, {"drift_ns", int64(h.Drift)}, {"epsilon_ns", int64(h.Epsilon)},
	}
	for _, name := range slices.Sorted(maps.Keys(h.Bounds)) {
		if near := misspelt(name); near != "" {
			return fmt.Sprintf("bounds: %.40q is unknown: did you mean %q?", name, near)
		}
		numbers = append(numbers, namedNumber{"bounds." + name, h.Bounds[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(h.Floors)) {
		numbers = append(numbers, namedNumber{"floors." + name, int64(h.Floors[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(h.Hosts)) {
		if name == "" {
			return "hosts: a host has no name: want one, as events have it"
		}
		numbers = append(numbers, namedNumber{"hosts." + name + ".epsilon_ns", int64(h.Hosts[name].Epsilon)})
	}
	for _, n := range numbers {
		switch {
		case n.value < 0:
			return fmt.Sprintf("%s %d: want 0 or more", n.name, n.value)
		case n.value > int64(MaxTime) && n.name != "ttl_ns":
			return fmt.Sprintf("%s %d: want at most %d", n.name, n.value, int64(MaxTime))
		}
	}
	if h.Nodes > 0 && h.Quorum > h.Nodes {
		return fmt.Sprintf("quorum %d: want at most nodes, %d", h.Quorum, h.Nodes)
	}
	return ""
}
