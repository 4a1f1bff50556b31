package history

import "fmt"

// A decoder reads events from lines of JSON. It is written by hand because
// reading would otherwise cost ten times what judging does. Fields may come in
// any order; those that it does not know are skipped.
type decoder struct {
	buf  []byte
	pos  int
	seen fieldSet

	names  interner // keys, owners and other words that come again
	values interner // written values, which come once or twice
}

// A fieldSet is a set of fields of a line.
type fieldSet uint32

const (
	fIndex fieldSet = 1 << iota
	fTime
	fProcess
	fKind
	fOp
	fKey
	fOwner
	fMode
	fFence
	fValidUntil
	fValue
	fSeq
	fBase
	fErr
	fBegan
	fEnded
	fIntended
	fFault
	fTarget
	fReceipt
	fInstant
	fOf
	fNode
	fPTTL
	fHolder
	fLag
	fNote
	fHost

	fRequired = fIndex | fTime | fProcess | fKind | fOp
)

// event reads one line into e.
func (d *decoder) event(line []byte, e *Event) error {
	*e = Event{}
	d.buf, d.pos, d.seen = line, 0, 0
	if d.straight(e) {
		return nil
	}
	*e = Event{}
	d.pos = 0
	if d.peek() != '{' {
		return d.broken("an event, as in " + `{"index":0,"time_ns":1000,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}`)
	}
	d.pos++
	if d.peek() == '}' {
		return d.finish()
	}
	for {
		if err := d.member(e); err != nil {
			return err
		}
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			return d.finish()
		default:
			return d.broken(`"," or "}"`)
		}
	}
}

// finish reads the closing brace and asks for the fields that every event has.
func (d *decoder) finish() error {
	d.pos++
	if d.peek() != 0 || d.pos < len(d.buf) {
		return d.broken("one object a line")
	}
	if missing := fRequired &^ d.seen; missing != 0 {
		names := [...]string{"index", "time_ns", "process", "kind", "op"}
		for i, name := range names {
			if missing&(1<<i) != 0 {
				return fmt.Errorf("the event has no %s: every event has index, time_ns, process, kind and op", name)
			}
		}
	}
	return nil
}

// member reads one field, its name and its value.
func (d *decoder) member(e *Event) error {
	if d.peek() != '"' {
		return d.broken("a field's name in quotes")
	}
	name, err := d.text()
	if err != nil {
		return err
	}
	if d.peek() != ':' {
		return d.broken(`":"`)
	}
	d.pos++
	if d.peek() == 0 {
		return d.broken("a value")
	}
	if err := d.hotField(name, e); err != nil {
		return fmt.Errorf("field %.40s: %w", name, err)
	}
	return nil
}

// hotField reads the value of a field that most events have.
func (d *decoder) hotField(name []byte, e *Event) error {
	switch string(name) {
	case "index":
		return number(d, fIndex, &e.Index)
	case "time_ns":
		return number(d, fTime, &e.Time)
	case "process":
		return number(d, fProcess, &e.Process)
	case "kind":
		return d.word(fKind, func(w []byte) (ok bool) { e.Kind, ok = kindOf(w); return ok }, kindNames[:])
	case "op":
		return d.word(fOp, func(w []byte) (ok bool) { e.Op, ok = opOf(w); return ok }, opNames[:])
	case "key":
		return d.string(fKey, &d.names, &e.Key)
	case "owner":
		return d.string(fOwner, &d.names, &e.Owner)
	case "host":
		return d.string(fHost, &d.names, &e.Host)
	case "fence":
		present, err := d.count(fFence, &e.Fence)
		return fromOne(present, e.Fence, err)
	case "valid_until_ns":
		return optional(d, fValidUntil, HasValidUntil, e, &e.ValidUntil)
	case "value":
		return d.string(fValue, &d.values, &e.Value)
	case "seq":
		err := d.sequence(fSeq, HasSeq, e, &e.Seq)
		return fromOne(e.HasAll(HasSeq), e.Seq, err)
	case "base":
		return d.sequence(fBase, HasBase, e, &e.Base)
	}
	return d.coldField(name, e)
}

// coldField reads the value of a field that few events have.
func (d *decoder) coldField(name []byte, e *Event) error {
	switch string(name) {
	case "mode":
		return d.word(fMode, func(w []byte) (ok bool) { e.Mode, ok = modeOf(w); return ok }, modeNames[:])
	case "err":
		return d.string(fErr, &d.names, &e.Err)
	case "began_ns":
		return optional(d, fBegan, HasBegan, e, &e.Began)
	case "ended_ns":
		return optional(d, fEnded, HasEnded, e, &e.Ended)
	case "intended_ns":
		return optional(d, fIntended, HasIntended, e, &e.Intended)
	case "lag_ns":
		return optional(d, fLag, HasLag, e, &e.Lag)
	case "pttl_ms":
		return optional(d, fPTTL, HasPTTL, e, &e.PTTL)
	case "of":
		return optional(d, fOf, HasOf, e, &e.Of)
	case "fault":
		return d.string(fFault, &d.names, &e.Fault)
	case "receipt":
		return d.string(fReceipt, &d.values, &e.Receipt)
	case "node":
		return d.string(fNode, &d.names, &e.Node)
	case "holder":
		return d.string(fHolder, &d.names, &e.Holder)
	case "note":
		return d.string(fNote, &d.values, &e.Note)
	case "target":
		return d.targetField(e)
	case "instant":
		return d.instantField(e)
	}
	_, err := d.value()
	return err
}
