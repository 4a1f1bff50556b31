package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDepth is how deep a value within an event may be nested.
const maxDepth = 32

// plain marks the bytes that stand for themselves within a JSON string and
// that need no decoding.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

var (
	errNotWhole = errors.New("want a whole number")
	errNegative = errors.New("want a whole number, 0 or more")
	errTooLarge = errors.New("number too large: want one of 64 bits")
	errNotUTF8  = errors.New("not UTF-8: want a text that every reader understands alike, two that differ must not become one")
)

// peek skips white space and returns the byte after it, or 0 at the end.
func (d *decoder) peek() byte {
	for d.pos < len(d.buf) {
		switch c := d.buf[d.pos]; c {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

// broken says that the line is not JSON at the current position.
func (d *decoder) broken(want string) error {
	return fmt.Errorf("broken JSON at byte %d: want %s", d.pos+1, want)
}

// null consumes a null.
func (d *decoder) null() error {
	if !bytes.HasPrefix(d.buf[d.pos:], []byte("null")) {
		return d.broken("a value")
	}
	d.pos += len("null")
	return nil
}

// text reads a string. Its bytes are valid until the next line is read.
// A null reads as nil.
func (d *decoder) text() ([]byte, error) {
	switch d.peek() {
	case '"':
	case 'n':
		return nil, d.null()
	default:
		return nil, errors.New("want a text in quotes")
	}
	start := d.pos + 1
	for i := start; i < len(d.buf); i++ {
		c := d.buf[i]
		if plain[c] {
			continue
		}
		if c == '"' {
			d.pos = i + 1
			return d.buf[start:i], nil
		}
		return d.escapedText()
	}
	return nil, d.broken(`a closing quote`)
}

// escapedText reads a string that holds escapes or more than ASCII.
func (d *decoder) escapedText() ([]byte, error) {
	end, err := d.stringEnd(d.pos)
	if err != nil {
		return nil, err
	}
	raw := d.buf[d.pos:end]
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, d.broken("a JSON string")
	}
	// What encoding/json cannot read becomes U+FFFD, as what was one does.
	if strings.Count(s, replacement) != bytes.Count(raw, []byte(replacement))+countFFFD(raw) {
		return nil, errNotUTF8
	}
	d.pos = end
	return []byte(s), nil
}

const replacement = "\ufffd"

// countFFFD counts the escapes in raw, a JSON string, that are U+FFFD itself.
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

// stringEnd returns the position after the string that opens at i.
func (d *decoder) stringEnd(i int) (int, error) {
	for i++; i < len(d.buf); i++ {
		switch d.buf[i] {
		case '\\':
			i++
		case '"':
			return i + 1, nil
		}
	}
	return i, d.broken("a closing quote")
}

// digits reads an unsigned whole number below 2^64.
func (d *decoder) digits() (uint64, error) {
	start, i, n := d.pos, d.pos, uint64(0)
	for i < len(d.buf) {
		c := d.buf[i] - '0'
		if c > 9 {
			break
		}
		n = n*10 + uint64(c)
		i++
	}
	d.pos = i
	switch {
	case i == start:
		return 0, errNotWhole
	case d.buf[start] == '0' && i > start+1:
		return 0, d.broken("a number without leading zeros")
	case i < len(d.buf) && (d.buf[i] == '.' || d.buf[i]|0x20 == 'e'):
		return 0, errNotWhole
	case i-start > 19:
		n, err := strconv.ParseUint(string(d.buf[start:i]), 10, 64)
		if err != nil {
			return 0, errTooLarge
		}
		return n, nil
	}
	return n, nil
}

// unsigned reads a whole number ≥ 0. present is false for null.
func (d *decoder) unsigned() (n uint64, present bool, err error) {
	switch d.peek() {
	case 'n':
		return 0, false, d.null()
	case '-':
		return 0, true, errNegative
	}
	n, err = d.digits()
	return n, true, err
}

// signed reads a whole number. present is false for null.
func (d *decoder) signed() (n int64, present bool, err error) {
	c := d.peek()
	if c == 'n' {
		return 0, false, d.null()
	}
	if c == '-' {
		d.pos++
	}
	u, err := d.digits()
	switch {
	case err != nil:
		return 0, true, err
	case c == '-' && u <= -math.MinInt64:
		return -int64(u), true, nil
	case c != '-' && u <= math.MaxInt64:
		return int64(u), true, nil
	}
	return 0, true, errTooLarge
}

// boolean reads true or false; null reads as false.
func (d *decoder) boolean() (bool, error) {
	d.peek()
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(d.buf[d.pos:], []byte(word)) {
			d.pos += len(word)
			return word == "true", nil
		}
	}
	return false, errors.New("want true or false")
}

// target reads an object or a string as it stands; null reads as nil. The
// bytes are valid until the next line is read.
func (d *decoder) target() ([]byte, error) {
	switch d.peek() {
	case '{', '"':
		return d.value()
	case 'n':
		return nil, d.null()
	}
	return nil, errors.New("want an object or a text")
}

// value reads any value as it stands.
func (d *decoder) value() ([]byte, error) {
	d.peek()
	end, err := d.valueEnd()
	if err != nil {
		return nil, err
	}
	raw := d.buf[d.pos:end]
	if !json.Valid(raw) {
		return nil, d.broken("a value")
	}
	d.pos = end
	return raw, nil
}

// valueEnd returns the position after the value that begins here, provided
// that it is valid JSON.
func (d *decoder) valueEnd() (int, error) {
	for i, depth := d.pos, 0; i < len(d.buf); i++ {
		switch d.buf[i] {
		case '"':
			end, err := d.stringEnd(i)
			if err != nil || depth == 0 {
				return end, err
			}
			i = end - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, fmt.Errorf("nested deeper than %d: want fewer levels", maxDepth)
			}
		case '}', ']':
			if depth <= 1 {
				return i + depth, nil
			}
			depth--
		case ',', ' ', '\t', '\r':
			if depth == 0 {
				return i, nil
			}
		}
	}
	return 0, d.broken("the end of a value")
}
