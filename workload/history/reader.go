package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the length in bytes of the longest line, newline included.
const MaxLine = 1 << 20

// maxBlank is how many bytes of empty lines may stand at the end of a file.
const maxBlank = MaxLine

// maxSkip is how far a Reader looks for the end of a line beyond MaxLine
// before it calls the file broken rather than cut off.
const maxSkip = 16 * MaxLine

// A FormatError says which line of a history breaks the format, and what
// would be right. Line 1 is the header.
type FormatError struct {
	Line int
	Msg  string
}

func (e *FormatError) Error() string { return fmt.Sprintf("history line %d: %s", e.Line, e.Msg) }

// A Reader reads a history event by event, and checks it. Its memory does not
// grow with the events: a line, two fixed tables of names, four bytes for
// each process, and the faults whose injection is open.
type Reader struct {
	src    *bufio.Reader
	long   []byte // a line that is longer than src's buffer
	line   int
	blank  int // line of the first empty line since the last event
	header Header
	odd    []string // fields of the header that are none
	rules  validator
	dec    decoder

	cut   bool // the source ended within a line or was itself cut off
	ended bool // the last event is the end of a complete history
	err   error
}

// NewReader reads the header from r. A source that ends with
// io.ErrUnexpectedEOF counts as cut off, not as failed.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{src: bufio.NewReaderSize(r, 64<<10)}
	line, whole, err := rd.readLine()
	if err != nil && err != io.EOF {
		return nil, err
	}
	if rd.header, err = parseHeader(line, rd.cut || len(line) > 0 && !whole); err != nil {
		return nil, err
	}
	rd.cut, rd.odd = !whole, unknownFields(line)
	return rd, nil
}

// UnknownFields names, in quotes, the fields of the header that are none, each with the
// one that it may be meant to be. They are ignored.
func (r *Reader) UnknownFields() []string { return r.odd }

// Header returns the first line.
func (r *Reader) Header() Header { return r.header }

// Truncated reports, once Next has returned io.EOF, whether the history ends
// without its end event, within a line, or in a stream that was cut off.
func (r *Reader) Truncated() bool { return r.cut || !r.ended }

// Open lists the processes whose operation has not completed so far, in
// ascending order. At the end, a judge counts these operations as info.
func (r *Reader) Open() []int { return r.rules.procs.open() }

// Next reads the next event into e, all of it. It returns io.EOF after the
// last event, a *FormatError for a line that breaks the format, and any other
// error when the source fails. Strings may be kept.
func (r *Reader) Next(e *Event) error {
	if r.err == nil {
		r.err = r.next(e)
	}
	return r.err
}

func (r *Reader) next(e *Event) error {
	line, whole, err := r.readLine()
	for skipped := 0; err == nil && line[0] <= ' ' && len(bytes.TrimLeft(line, " \t\r\n")) == 0; {
		if r.blank == 0 {
			r.blank = r.line
		}
		if skipped += len(line); skipped > maxBlank {
			return &FormatError{r.blank, fmt.Sprintf("empty lines from here on, over %d bytes of them: want an event on every line", maxBlank)}
		}
		line, whole, err = r.readLine()
	}
	if err != nil {
		return err
	}
	if r.blank != 0 {
		return &FormatError{r.blank, "empty line: want an event on every line"}
	}
	if err := r.dec.event(line, e); err != nil {
		if !whole && !json.Valid(line) {
			r.cut = true
			return io.EOF
		}
		if _, second := parseHeader(line, false); second == nil {
			return &FormatError{r.line, "a second header: want one history in a file"}
		}
		return &FormatError{r.line, err.Error()}
	}
	if msg := r.rules.check(e); msg != "" {
		return &FormatError{r.line, msg}
	}
	if e.Host != "" && !r.known(e.Host) {
		return &FormatError{r.line, fmt.Sprintf("host %.40q is not among the header's hosts: want one of those, so that its clock's bound is known", e.Host)}
	}
	if r.endless(e) {
		return &FormatError{r.line, e.Op.String() + " without valid_until_ns, and the header has no ttl_ns: want one of the two"}
	}
	r.ended = e.Op == Phase && e.Value == PhaseEnd
	return nil
}

// known reports whether the header has a bound for the clock of e's host, where it has any.
func (r *Reader) known(host string) bool {
	_, known := r.header.Hosts[host]
	return known || len(r.header.Hosts) == 0
}

// endless reports whether e is a lease of unknown length.
func (r *Reader) endless(e *Event) bool {
	return r.header.TTL == 0 && e.Kind == OK && (e.Op == Acquire || e.Op == Extend) && !e.HasAll(HasValidUntil)
}

// readLine returns the next line, valid until the next call, and whether its
// newline is there. It returns io.EOF when no byte is left.
func (r *Reader) readLine() (line []byte, whole bool, err error) {
	line, err = r.src.ReadSlice('\n')
	if err == nil {
		r.line++
		return line, true, nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.readLong(line)
	}
	if len(line) > 0 {
		r.line++
	}
	switch {
	case err == nil:
		return line, true, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.cut = true
	case !errors.Is(err, io.EOF):
		return nil, false, r.failed(err)
	}
	if len(line) == 0 {
		return nil, false, io.EOF
	}
	return line, false, nil
}

// failed names the line at which the source failed. A source that can tell
// that the file itself is broken says so by a FormatError without a line.
func (r *Reader) failed(err error) error {
	var format *FormatError
	if errors.As(err, &format) {
		return &FormatError{max(format.Line, r.line+1), format.Msg}
	}
	return fmt.Errorf("read history after line %d: %w", r.line, err)
}

// readLong gathers a line that does not fit src's buffer, up to MaxLine. What
// is longer and never ends counts as a cut-off line.
func (r *Reader) readLong(head []byte) ([]byte, error) {
	r.long = append(r.long[:0], head...)
	for skipped := len(head); ; {
		part, err := r.src.ReadSlice('\n')
		skipped += len(part)
		if skipped <= MaxLine {
			r.long = append(r.long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && skipped <= maxSkip:
		case skipped > MaxLine && (err == nil || errors.Is(err, bufio.ErrBufferFull)):
			return nil, &FormatError{r.line + 1, fmt.Sprintf("longer than %d bytes: want shorter lines", MaxLine)}
		default:
			return r.long, err
		}
	}
}

// ReadAll reads a whole history into memory.
func ReadAll(r io.Reader) (History, error) {
	rd, err := NewReader(r)
	if err != nil {
		return History{}, err
	}
	h := History{Header: rd.header}
	for {
		var e Event
		switch err := rd.Next(&e); {
		case err == nil:
			h.Events = append(h.Events, e)
		case errors.Is(err, io.EOF):
			h.Truncated = rd.Truncated()
			return h, nil
		default:
			return h, err
		}
	}
}

// A Decoder reads single lines of a history, each for itself: how they follow one
// another, a Reader checks.
type Decoder struct{ dec decoder }

// Event reads a line, which is no header, into e, all of it. Strings may be kept.
func (d *Decoder) Event(line []byte, e *Event) error { return d.dec.event(line, e) }
