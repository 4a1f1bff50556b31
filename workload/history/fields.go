package history

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// once notes that a field was read, and refuses it a second time: what two
// readers could understand differently is not evidence.
func (d *decoder) once(f fieldSet) error {
	if d.seen&f != 0 {
		return errors.New("given twice")
	}
	d.seen |= f
	return nil
}

func (d *decoder) targetField(e *Event) error {
	raw, err := d.target()
	if err != nil || raw == nil {
		return err
	}
	if !utf8.Valid(raw) {
		return errNotUTF8
	}
	e.Target = slices.Clone(raw)
	return d.once(fTarget)
}

func (d *decoder) instantField(e *Event) (err error) {
	if e.Instant, err = d.boolean(); err != nil {
		return err
	}
	return d.once(fInstant)
}

func (d *decoder) string(f fieldSet, in *interner, dst *string) error {
	b, err := d.text()
	if err != nil || b == nil {
		return err
	}
	*dst = in.get(b)
	return d.once(f)
}

// word reads one of a few names.
func (d *decoder) word(f fieldSet, set func([]byte) bool, names []string) error {
	b, err := d.text()
	if err != nil || b == nil {
		return err
	}
	if !set(b) {
		return fmt.Errorf("unknown %.40q: want one of %s", b, list(names))
	}
	return d.once(f)
}

func (d *decoder) count(f fieldSet, dst *uint64) (present bool, err error) {
	n, present, err := d.unsigned()
	if err != nil || !present {
		return false, err
	}
	*dst = n
	return true, d.once(f)
}

// fromOne refuses a zero where numbers count from 1: to another reader it might
// mean that there is none.
func fromOne(present bool, n uint64, err error) error {
	if err == nil && present && n == 0 {
		return errors.New("0 is refused: want 1 or more, or leave it out where there is none")
	}
	return err
}

func (d *decoder) sequence(f fieldSet, has Field, e *Event, dst *uint64) error {
	present, err := d.count(f, dst)
	if present {
		e.Has |= has
	}
	return err
}

func number[T int | int64 | time.Duration](d *decoder, f fieldSet, dst *T) error {
	n, present, err := d.signed()
	if err != nil || !present {
		return err
	}
	*dst = T(n)
	return d.once(f)
}

func optional[T int | int64 | time.Duration](d *decoder, f fieldSet, has Field, e *Event, dst *T) error {
	n, present, err := d.signed()
	if err != nil || !present {
		return err
	}
	*dst = T(n)
	e.Has |= has
	return d.once(f)
}
