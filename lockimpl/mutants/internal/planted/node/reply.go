// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Fate says what became of a call.
type Fate int

const (
	// FateNone: the script did not run, and never will.
	FateNone Fate = iota
	// FateDone: the script ran.
	FateDone
	// FateUnknown: it may have run, or may run yet.
	FateUnknown
)

// A Reply is the answer to a call. Err is nil when Fate is FateDone. Its
// numbers are those of a list, or the one that the server answered.
type Reply struct {
	Err  error
	Fate Fate
	// Doubt is set when a copy of the call may still be under way.
	Doubt bool

	ints [6]int64
	strs [6]string
	n    int
}

// Int returns the reply, or the first element of it, as a number.
func (r *Reply) Int() int64 { return r.ints[0] }

// At returns element i of a reply that is a list of numbers.
func (r *Reply) At(i int) int64 { return r.ints[i] }

// Str returns element i of a reply that is a list.
func (r *Reply) Str(i int) string { return r.strs[i] }

// A ServerError is an error that a server answered: the script changed
// nothing that matters.
type ServerError string

func (e ServerError) Error() string { return string(e) }

// Code returns the first word, such as LOADING.
func (e ServerError) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// isTransient reports whether the server may answer otherwise soon.
func (e ServerError) isTransient() bool {
	switch e.Code() {
	case "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN":
		return true
	}
	return false
}

// IsPermanent reports whether the server answered an error that asking again
// cannot mend: wrong credentials, keys that hold something else, a server that
// cannot run scripts. A server that is loading its data, busy with a script,
// out of memory or not a master at this moment may answer otherwise soon.
func IsPermanent(err error) bool {
	if errors.Is(err, ErrAnonymous) {
		return true
	}
	var se ServerError
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() {
	case "WRONGTYPE", "NOAUTH", "WRONGPASS", "NOPERM":
		return true
	}
	return strings.Contains(string(se), "WRONGTYPE")
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

var errProtocol = errors.New("not a reply of the Redis protocol")

// No server that the lock speaks to answers anything larger.
const (
	maxBulk = 1 << 20 // bytes of a string; INFO takes some kilobytes
	maxList = 1 << 10 // elements of a list; scripts answer up to six
)

// readReply reads one reply. An error is one of the connection; what the
// server answered as an error is in the reply.
func readReply(br *bufio.Reader) (Reply, error) {
	var r Reply
	err := r.read(br, false)
	if err == nil && r.Err == nil {
		r.Fate = FateDone
	}
	return r, err
}

func (r *Reply) read(br *bufio.Reader, nested bool) error {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < 3 {
		return errProtocol
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		r.put(0, string(text))
	case '-':
		r.Err = ServerError(text)
	case ':':
		n, err := parseInt(text)
		if err != nil {
			return err
		}
		r.put(n, "")
	case '$':
		return r.bulk(br, text)
	case '*':
		n, err := parseInt(text)
		if err != nil || nested && n > 0 || n > maxList {
			return errProtocol
		}
		for range n {
			if err := r.read(br, true); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%w: %q", errProtocol, kind)
	}
	return nil
}

func (r *Reply) bulk(br *bufio.Reader, text []byte) error {
	n, err := parseInt(text)
	switch {
	case err != nil:
		return err
	case n > maxBulk:
		return fmt.Errorf("%w: a string of %d bytes", errProtocol, n)
	case n < 0:
		r.put(0, "")
		return nil
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(br, b); err != nil {
		return err
	}
	r.put(0, string(b[:n]))
	return nil
}

func (r *Reply) put(n int64, s string) {
	if r.n < len(r.ints) {
		r.ints[r.n], r.strs[r.n] = n, s
		r.n++
	}
}

func parseInt(text []byte) (int64, error) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return n, nil
}
