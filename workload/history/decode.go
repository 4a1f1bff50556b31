package history

// A decoder reads events from lines of JSON. Nearly all lines are read by a fast
// path of its own, because reading would otherwise cost ten times what judging
// does; whatever is unusual, and all that is wrong, goes to encoding/json. Fields
// may come in any order; those that it does not know are skipped.
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
	fFromOne  = fFence | fSeq             // numbers that count from 1
	fOnce     = fValue | fReceipt | fNote // texts that come once or twice
)

// event reads one line into e.
func (d *decoder) event(line []byte, e *Event) error {
	*e = Event{}
	if d.fast(line, e) {
		return nil
	}
	*e = Event{}
	return d.slow(line, e)
}

// A place is where a field's value is stored: one of *int, *int64, *uint64, *time.Duration,
// *string, *bool, *Kind, *Op, *Mode and **Target.
type place struct {
	dst any
	bit fieldSet
	has Field // of an optional number
}

// placeOf finds the place of a field in e; none for a name that the format does
// not have.
func placeOf(name []byte, e *Event) place {
	switch string(name) {
	case "index":
		return place{&e.Index, fIndex, 0}
	case "time_ns":
		return place{&e.Time, fTime, 0}
	case "process":
		return place{&e.Process, fProcess, 0}
	case "kind":
		return place{&e.Kind, fKind, 0}
	case "op":
		return place{&e.Op, fOp, 0}
	case "key":
		return place{&e.Key, fKey, 0}
	case "owner":
		return place{&e.Owner, fOwner, 0}
	case "host":
		return place{&e.Host, fHost, 0}
	case "mode":
		return place{&e.Mode, fMode, 0}
	case "fence":
		return place{&e.Fence, fFence, 0}
	case "valid_until_ns":
		return place{&e.ValidUntil, fValidUntil, HasValidUntil}
	case "value":
		return place{&e.Value, fValue, 0}
	case "seq":
		return place{&e.Seq, fSeq, HasSeq}
	case "base":
		return place{&e.Base, fBase, HasBase}
	case "err":
		return place{&e.Err, fErr, 0}
	}
	return rarePlace(name, e)
}

// rarePlace finds the place of a field that few events have.
func rarePlace(name []byte, e *Event) place {
	switch string(name) {
	case "began_ns":
		return place{&e.Began, fBegan, HasBegan}
	case "ended_ns":
		return place{&e.Ended, fEnded, HasEnded}
	case "intended_ns":
		return place{&e.Intended, fIntended, HasIntended}
	case "lag_ns":
		return place{&e.Lag, fLag, HasLag}
	case "pttl_ms":
		return place{&e.PTTL, fPTTL, HasPTTL}
	case "of":
		return place{&e.Of, fOf, HasOf}
	case "fault":
		return place{&e.Fault, fFault, 0}
	case "target":
		return place{&e.Target, fTarget, 0}
	case "instant":
		return place{&e.Instant, fInstant, 0}
	case "receipt":
		return place{&e.Receipt, fReceipt, 0}
	case "node":
		return place{&e.Node, fNode, 0}
	case "holder":
		return place{&e.Holder, fHolder, 0}
	case "note":
		return place{&e.Note, fNote, 0}
	}
	return place{}
}

// intern makes the text of a field.
func (d *decoder) intern(text []byte, bit fieldSet) string {
	if bit&fOnce != 0 {
		return d.values.get(text)
	}
	return d.names.get(text)
}
