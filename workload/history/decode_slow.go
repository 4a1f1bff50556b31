package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	errNotWhole = errors.New("want a whole number")
	errNegative = errors.New("want a whole number, 0 or more")
	errTooLarge = errors.New("number too large: want one of 64 bits")
	errNotText  = errors.New("want a text in quotes")
	errNotUTF8  = errors.New("not UTF-8: want a text that every reader understands alike, two that differ must not become one")
	errTwice    = errors.New("given twice")                                                       // what two readers could understand differently is not evidence
	errZero     = errors.New("0 is refused: want 1 or more, or leave it out where there is none") // to another reader it might mean that there is none
)

const wantEvent = `an event, as in {"index":0,"time_ns":1000,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}`

// slow reads any line by encoding/json, and says what is wrong with it.
func (d *decoder) slow(line []byte, e *Event) error {
	d.seen = 0
	in := json.NewDecoder(bytes.NewReader(line))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("broken JSON at byte %d: want %s", len(line)-len(bytes.TrimLeft(line, " \t\r\n"))+1, wantEvent)
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return broken(in, err)
		}
		var value json.RawMessage
		if err = in.Decode(&value); err != nil {
			err = broken(in, err)
		} else {
			err = d.field(name.(string), value, e)
		}
		if err != nil {
			return fmt.Errorf("field %.40s: %w", name, err)
		}
	}
	if _, err := in.Token(); err != nil {
		return broken(in, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("broken JSON at byte %d: want one object a line", in.InputOffset()+1)
	}
	for i, name := range [...]string{"index", "time_ns", "process", "kind", "op"} {
		if d.seen&(1<<i) == 0 {
			return fmt.Errorf("the event has no %s: every event has index, time_ns, process, kind and op", name)
		}
	}
	return nil
}

// broken says that the line is not JSON, and at which byte that shows.
func broken(in *json.Decoder, err error) error {
	at := in.InputOffset() + 1
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		at = syntax.Offset
	}
	return fmt.Errorf("broken JSON at byte %d: %w", at, err)
}

// field reads the value of one field. A null is as good as no field.
func (d *decoder) field(name string, value json.RawMessage, e *Event) error {
	p := placeOf([]byte(name), e)
	if p.dst == nil || string(value) == "null" {
		return nil
	}
	if d.seen&p.bit != 0 {
		return errTwice
	}
	d.seen |= p.bit
	e.Has |= p.has
	switch dst := p.dst.(type) {
	case *uint64:
		return count(value, p.bit&fFromOne != 0, dst)
	case *int:
		return whole(value, dst)
	case *int64:
		return whole(value, dst)
	case *time.Duration:
		return whole(value, dst)
	case *bool:
		if err := json.Unmarshal(value, dst); err != nil {
			return errors.New("want true or false")
		}
		return nil
	case **Target:
		t, err := ParseTarget(value)
		*dst = t
		return err
	}
	s, err := text(value)
	if err != nil {
		return err
	}
	known, words := true, []string(nil)
	switch dst := p.dst.(type) {
	case *string:
		*dst = d.intern([]byte(s), p.bit)
	case *Kind:
		*dst, known = kindOf([]byte(s))
		words = kindNames[:]
	case *Op:
		*dst, known = opOf([]byte(s))
		words = opNames[:]
	case *Mode:
		*dst, known = modeOf([]byte(s))
		words = modeNames[:]
	}
	if !known {
		return fmt.Errorf("unknown %.40q: want one of %s", s, list(words))
	}
	return nil
}

// whole reads a whole number.
func whole[T int | int64 | time.Duration](value []byte, dst *T) error {
	if err := wholeForm(value); err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return errTooLarge
	}
	*dst = T(n)
	return nil
}

// count reads a whole number that is not negative, and not 0 where it counts
// from 1.
func count(value []byte, fromOne bool, dst *uint64) error {
	err := wholeForm(value)
	switch {
	case err != nil:
		return err
	case value[0] == '-':
		return errNegative
	}
	if *dst, err = strconv.ParseUint(string(value), 10, 64); err != nil {
		return errTooLarge
	}
	if fromOne && *dst == 0 {
		return errZero
	}
	return nil
}

// wholeForm refuses a JSON value that is not written as a whole number.
func wholeForm(value []byte) error {
	if c := value[0]; c != '-' && c-'0' > 9 || bytes.ContainsAny(value, ".eE") {
		return errNotWhole
	}
	return nil
}

// text reads a string.
func text(value []byte) (s string, err error) {
	switch {
	case value[0] != '"':
		return "", errNotText
	case !utf8.Valid(value):
		return "", errNotUTF8
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return "", err
	}
	// Half a surrogate pair, which is no character, becomes U+FFFD, as what was one does.
	if strings.Count(s, replacement) != bytes.Count(value, []byte(replacement))+countFFFD(value) {
		return "", errNotUTF8
	}
	return s, nil
}

const replacement = "\ufffd"

// countFFFD counts the escapes in a JSON string that are U+FFFD itself.
func countFFFD(raw []byte) (n int) {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i+6 <= len(raw) && bytes.EqualFold(raw[i:i+6], []byte(`\uFFFD`)) {
			n++
		}
		i++ // what is escaped begins no escape
	}
	return n
}
