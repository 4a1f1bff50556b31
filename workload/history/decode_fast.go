package history

import (
	"time"
	"unicode/utf8"
)

// plain marks the bytes that stand for themselves within a JSON string and
// that need no decoding.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// fast reads a line that is an object of numbers and of texts without escapes.
// It reports false for any other line, right or wrong; e may then be half filled.
func (d *decoder) fast(line []byte, e *Event) bool {
	d.buf, d.pos, d.seen = line, 0, 0
	if !d.inOrder(e) {
		return false
	}
	switch {
	case d.seen != 0 && string(d.buf[d.pos:]) == "}\n":
		return true // nearly every line
	case d.seen == 0 && !d.consume('{'):
		return false
	}
	for first := d.seen == 0; ; first = false {
		switch {
		case !first && d.consume('}'):
			return d.peek() == 0 && d.pos == len(d.buf) && d.seen&fRequired == fRequired
		case !first && !d.consume(','):
			return false
		case !d.member(e):
			return false
		}
	}
}

// inOrder reads the fields that nearly every line has, as far as they come in
// AppendEvent's order. It reports false for a line that may have to be refused.
func (d *decoder) inOrder(e *Event) bool {
	index, ok1 := d.namedNumber(`{"index":`)
	at, ok2 := d.namedNumber(`,"time_ns":`)
	process, ok3 := d.namedNumber(`,"process":`)
	if !ok3 {
		process, ok3 = d.namedNumber(`,"process":-`)
		process = -process
	}
	kind, ok4 := d.namedText(`,"kind":"`)
	op, ok5 := d.namedText(`,"op":"`)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		d.pos = 0
		return true // another order
	}
	e.Index, e.Time, e.Process, d.seen = int(index), time.Duration(at), int(process), fRequired
	if e.Kind, ok1 = kindOf(kind); !ok1 {
		return false
	}
	if e.Op, ok1 = opOf(op); !ok1 {
		return false
	}
	if key, ok := d.namedText(`,"key":"`); ok {
		e.Key, d.seen = d.names.get(key), d.seen|fKey
	}
	if owner, ok := d.namedText(`,"owner":"`); ok {
		e.Owner, d.seen = d.names.get(owner), d.seen|fOwner
	}
	return d.buf[d.pos] == '}' || d.inOrderTail(e)
}

// inOrderTail reads what follows the owner.
func (d *decoder) inOrderTail(e *Event) bool {
	if rest := d.buf[d.pos:]; len(rest) > 2 && rest[2] == 'h' {
		if host, ok := d.namedText(`,"host":"`); ok {
			e.Host, d.seen = d.names.get(host), d.seen|fHost
		}
	}
	fence, fenced := d.namedNumber(`,"fence":`)
	if e.Fence = uint64(fence); fenced {
		d.seen |= fFence
	}
	if until, ok := d.namedNumber(`,"valid_until_ns":`); ok {
		e.ValidUntil, e.Has, d.seen = time.Duration(until), e.Has|HasValidUntil, d.seen|fValidUntil
	}
	if value, ok := d.namedText(`,"value":"`); ok {
		e.Value, d.seen = d.values.get(value), d.seen|fValue
	}
	seq, numbered := d.namedNumber(`,"seq":`)
	if e.Seq = uint64(seq); numbered {
		e.Has, d.seen = e.Has|HasSeq, d.seen|fSeq
	}
	if base, ok := d.namedNumber(`,"base":`); ok {
		e.Base, e.Has, d.seen = uint64(base), e.Has|HasBase, d.seen|fBase
	}
	return (!fenced || fence > 0) && (!numbered || seq > 0)
}

// member reads one field, its name and its value.
func (d *decoder) member(e *Event) bool {
	name, ok := d.quoted()
	if !ok || !d.consume(':') {
		return false
	}
	p := placeOf(name, e)
	switch {
	case d.peek() == 'n':
		return d.expect("null")
	case d.seen&p.bit != 0:
		return false
	}
	d.seen |= p.bit
	e.Has |= p.has
	switch dst := p.dst.(type) {
	case *int:
		return signed(d, dst)
	case *int64:
		return signed(d, dst)
	case *time.Duration:
		return signed(d, dst)
	case *uint64:
		n, ok := d.digits()
		*dst = uint64(n)
		return ok && (n > 0 || p.bit&fFromOne == 0)
	}
	if p.dst == nil && d.peek() != '"' {
		var skipped int64
		return signed(d, &skipped)
	}
	text, ok := d.quoted()
	if !ok {
		return false
	}
	switch dst := p.dst.(type) {
	case *string:
		*dst = d.intern(text, p.bit)
	case *Kind:
		*dst, ok = kindOf(text)
	case *Op:
		*dst, ok = opOf(text)
	case *Mode:
		*dst, ok = modeOf(text)
	case nil:
	default:
		return false
	}
	return ok
}

// peek skips white space and returns the byte after it, or 0 at the end.
func (d *decoder) peek() byte {
	for ; d.pos < len(d.buf); d.pos++ {
		switch c := d.buf[d.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// consume takes c, if it is what comes next but for white space.
func (d *decoder) consume(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

// quoted reads a text without escapes.
func (d *decoder) quoted() (text []byte, ok bool) {
	if !d.consume('"') {
		return nil, false
	}
	return d.plainText()
}

// signed reads a whole number.
func signed[T int | int64 | time.Duration](d *decoder, dst *T) bool {
	negative := d.consume('-')
	n, ok := d.digits()
	if negative {
		n = -n
	}
	*dst = T(n)
	return ok
}

// digits reads a whole number of 1 to 18 digits that something follows.
func (d *decoder) digits() (n int64, ok bool) {
	d.peek()
	return d.plainNumber()
}

// namedNumber reads name and a whole number. Unless it can, it stays where it is.
func (d *decoder) namedNumber(name string) (n int64, ok bool) {
	if !d.expect(name) {
		return 0, false
	}
	if n, ok = d.plainNumber(); !ok {
		d.pos -= len(name)
	}
	return n, ok
}

// namedText reads name, which ends with a quote, and a text without escapes.
// Unless it can, it stays where it is.
func (d *decoder) namedText(name string) (text []byte, ok bool) {
	if !d.expect(name) {
		return nil, false
	}
	if text, ok = d.plainText(); !ok {
		d.pos -= len(name)
	}
	return text, ok
}

// expect consumes s, if it is what comes next and is not the end.
func (d *decoder) expect(s string) bool {
	rest := d.buf[d.pos:]
	if len(rest) <= len(s) || string(rest[:len(s)]) != s {
		return false
	}
	d.pos += len(s)
	return true
}

// plainNumber reads a whole number of 1 to 18 digits that more of the object
// follows. Unless it can, it stays where it is.
func (d *decoder) plainNumber() (n int64, ok bool) {
	i := d.pos
	for ; i < len(d.buf) && d.buf[i]-'0' <= 9; i++ {
		n = n*10 + int64(d.buf[i]-'0')
	}
	digits := i - d.pos
	if digits == 0 || digits > 18 || digits > 1 && d.buf[d.pos] == '0' || i == len(d.buf) {
		return 0, false
	}
	d.pos = i
	return n, true
}

// plainText reads a text without escapes up to its closing quote, which something
// follows. Unless it can, it stays where it is.
func (d *decoder) plainText() (text []byte, ok bool) {
	wide := false // beyond ASCII
	for i := d.pos; i < len(d.buf)-1; i++ {
		switch c := d.buf[i]; {
		case plain[c]:
		case c >= utf8.RuneSelf:
			wide = true
		case c == '"':
			text = d.buf[d.pos:i]
			if wide && !utf8.Valid(text) {
				return nil, false
			}
			d.pos = i + 1
			return text, true
		default:
			return nil, false
		}
	}
	return nil, false
}
