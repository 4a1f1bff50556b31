package history

import "time"

// straight reads a line that is laid out just as AppendEvent lays it out and
// that has the hot fields alone, which nearly all lines do. It reports false
// for any other line, right or wrong; e may then be half filled.
func (d *decoder) straight(e *Event) bool {
	index, ok1 := d.plainNumber(`{"index":`)
	at, ok2 := d.plainNumber(`,"time_ns":`)
	process, ok3 := d.plainNumber(`,"process":`)
	if !ok3 {
		process, ok3 = d.plainNumber(`,"process":-`)
		process = -process
	}
	kind, ok4 := d.plainText(`,"kind":"`)
	op, ok5 := d.plainText(`,"op":"`)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return false
	}
	e.Index, e.Time, e.Process = int(index), time.Duration(at), int(process)
	if e.Kind, ok1 = kindOf(kind); !ok1 {
		return false
	}
	if e.Op, ok1 = opOf(op); !ok1 {
		return false
	}
	if key, ok := d.plainText(`,"key":"`); ok {
		e.Key = d.names.get(key)
	}
	if owner, ok := d.plainText(`,"owner":"`); ok {
		e.Owner = d.names.get(owner)
	}
	if d.buf[d.pos] != '}' && !d.straightTail(e) {
		return false
	}
	return string(d.buf[d.pos:]) == "}\n" || string(d.buf[d.pos:]) == "}"
}

// straightTail reads what follows the owner. It reports false for a line that
// may have to be refused.
func (d *decoder) straightTail(e *Event) bool {
	if rest := d.buf[d.pos:]; len(rest) > 2 && rest[2] == 'h' {
		if host, ok := d.plainText(`,"host":"`); ok {
			e.Host = d.names.get(host)
		}
	}
	fence, fenced := d.plainNumber(`,"fence":`)
	e.Fence = uint64(fence)
	if until, ok := d.plainNumber(`,"valid_until_ns":`); ok {
		e.ValidUntil = time.Duration(until)
		e.Has |= HasValidUntil
	}
	if value, ok := d.plainText(`,"value":"`); ok {
		e.Value = d.values.get(value)
	}
	seq, numbered := d.plainNumber(`,"seq":`)
	if e.Seq = uint64(seq); numbered {
		e.Has |= HasSeq
	}
	if base, ok := d.plainNumber(`,"base":`); ok {
		e.Base = uint64(base)
		e.Has |= HasBase
	}
	return (!fenced || fence > 0) && (!numbered || seq > 0)
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

// plainNumber reads name and a whole number of 1 to 18 digits that something
// follows. Unless it can, it stays where it is.
func (d *decoder) plainNumber(name string) (n int64, ok bool) {
	if !d.expect(name) {
		return 0, false
	}
	i := d.pos
	for ; i < len(d.buf) && d.buf[i]-'0' <= 9; i++ {
		n = n*10 + int64(d.buf[i]-'0')
	}
	digits := i - d.pos
	if digits == 0 || digits > 18 || digits > 1 && d.buf[d.pos] == '0' || i == len(d.buf) {
		d.pos -= len(name)
		return 0, false
	}
	d.pos = i
	return n, true
}

// plainText reads name, which ends with a quote, and a text without escapes
// that something follows. Unless it can, it stays where it is.
func (d *decoder) plainText(name string) (text []byte, ok bool) {
	if !d.expect(name) {
		return nil, false
	}
	for i := d.pos; i < len(d.buf)-1; i++ {
		if plain[d.buf[i]] {
			continue
		}
		if d.buf[i] != '"' {
			break
		}
		text, d.pos = d.buf[d.pos:i], i+1
		return text, true
	}
	d.pos -= len(name)
	return nil, false
}
