package memredis

import (
	"fmt"
	"strconv"
	"strings"
)

// A reply is one of: status, failure, int64, string (a bulk string), nil (the
// null bulk string), nullArray, []any.
type (
	status    string
	failure   string
	nullArray struct{}
)

const ok = status("OK")

var (
	errSyntax    = failure("ERR syntax error")
	errNotInt    = failure("ERR value is not an integer or out of range")
	errNotFloat  = failure("ERR value is not a valid float")
	errWrongType = failure("WRONGTYPE Operation against a key holding the wrong kind of value")
	errNoScript  = failure("NOSCRIPT No matching script. Please use EVAL.")
)

// encode appends a reply in RESP2.
func encode(b []byte, reply any) []byte {
	switch r := reply.(type) {
	case nil:
		return append(b, "$-1\r\n"...)
	case nullArray:
		return append(b, "*-1\r\n"...)
	case status:
		return line(b, '+', string(r))
	case failure:
		return line(b, '-', string(r))
	case int64:
		b = append(b, ':')
		return append(strconv.AppendInt(b, r, 10), '\r', '\n')
	case string:
		b = append(b, '$')
		b = append(strconv.AppendInt(b, int64(len(r)), 10), '\r', '\n')
		return append(append(b, r...), '\r', '\n')
	case []any:
		b = append(b, '*')
		b = append(strconv.AppendInt(b, int64(len(r)), 10), '\r', '\n')
		for _, item := range r {
			b = encode(b, item)
		}
		return b
	}
	panic(fmt.Sprintf("memredis: a reply of type %T", reply))
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

func line(b []byte, first byte, text string) []byte {
	return append(append(append(b, first), oneLine.Replace(text)...), '\r', '\n')
}

// texts makes a reply of bulk strings.
func texts(all []string) []any {
	out := make([]any, len(all))
	for i, t := range all {
		out[i] = t
	}
	return out
}

// A parser takes commands out of a stream of bytes.
type parser struct{ rest []byte }

// next returns the next whole command, or nil while there is none. broken says
// that the bytes are not a command.
func (p *parser) next() (args []string, broken bool) {
	b := p.rest
	n, at, state := header(b, 0, '*')
	if state != whole {
		return nil, state == wrong
	}
	args = make([]string, 0, max(n, 0))
	for range n {
		var size int
		if size, at, state = header(b, at, '$'); state != whole {
			return nil, state == wrong
		}
		if size < 0 {
			return nil, true
		}
		if at+size+2 > len(b) {
			return nil, false
		}
		args = append(args, string(b[at:at+size]))
		at += size + 2
	}
	p.rest = b[at:]
	return args, false
}

type completeness int

const (
	whole completeness = iota
	partial
	wrong
)

// header reads a type byte and a number, and returns where what follows begins.
func header(b []byte, at int, first byte) (n, next int, state completeness) {
	if at >= len(b) {
		return 0, 0, partial
	}
	if b[at] != first {
		return 0, 0, wrong
	}
	end := at + 1
	for end < len(b) && b[end] != '\r' {
		end++
	}
	if end+1 >= len(b) {
		return 0, 0, partial
	}
	n, err := strconv.Atoi(string(b[at+1 : end]))
	if err != nil {
		return 0, 0, wrong
	}
	return n, end + 2, whole
}
