// Package resp reads the protocol of Redis off a stream as it passes.
package resp

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"hash"
	"strconv"
)

// Bounds on what a Scanner remembers.
const (
	maxLine     = 1 << 16 // of a header line, or an inline command
	maxWord     = 128     // of a command's word
	wordsWanted = 4       // the name, and up to the first key of a script
)

// A Scanner follows one direction of a RESP2 or RESP3 connection as its bytes
// pass, in pieces of any size. It calls Whole after each complete top-level
// value, with the words of the command when it scans requests. Bytes that are
// not RESP make it blind for good.
type Scanner struct {
	Requests bool // commands, in place of replies
	Whole    func(first byte, nothing bool, words [][]byte)

	Blind   bool   // what comes is not RESP
	Seen    int64  // bytes up to the end of the value being reported
	line    []byte // header line so far
	skip    int    // bytes of a payload still to come, its CRLF included
	want    int    // of those, bytes to remember
	depth   []int  // values still missing in each open aggregate
	words   [][]byte
	first   byte // type of the top-level value
	nothing bool // it is null, or an empty aggregate
	leaf    byte // what its first scalar is like, see Shape; 0 before it
	script  hash.Hash
	body    int // bytes of a script still to come
}

// Feed scans p.
func (s *Scanner) Feed(p []byte) {
	for len(p) > 0 && !s.Blind {
		if s.skip > 0 {
			p = s.payload(p)
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line = append(s.line, p...)
			s.Seen += int64(len(p))
			s.Blind = len(s.line) > maxLine
			return
		}
		line := append(s.line, p[:i]...)
		p = p[i+1:]
		s.Seen += int64(i + 1)
		s.header(bytes.TrimSuffix(line, []byte("\r")))
		s.line = line[:0]
	}
}

// Inside reports whether the bytes so far end in the middle of a value.
func (s *Scanner) Inside() bool {
	return !s.Blind && (len(s.line) > 0 || s.skip > 0 || len(s.depth) > 0)
}

// payload takes the bytes of a bulk value.
func (s *Scanner) payload(p []byte) []byte {
	n := min(len(p), s.skip)
	s.Seen += int64(n)
	if keep := min(n, s.want); keep > 0 {
		last := len(s.words) - 1
		s.words[last] = append(s.words[last], p[:keep]...)
		s.want -= keep
	}
	if body := min(n, s.body); body > 0 {
		s.script.Write(p[:body])
		s.body -= body
	}
	if s.skip -= n; s.skip == 0 {
		s.value()
	}
	return p[n:]
}

// header takes one line: a scalar, or the beginning of something longer.
func (s *Scanner) header(line []byte) {
	if len(line) == 0 {
		s.Blind = !s.Requests || len(s.depth) > 0 // an empty inline command is none
		return
	}
	if len(s.depth) == 0 {
		s.first, s.nothing, s.words, s.script, s.leaf = line[0], line[0] == '_', s.words[:0], nil, 0
		if s.Requests && line[0] != '*' {
			s.inline(line)
			return
		}
	}
	switch line[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		s.scalar(line)
		s.value()
		return
	}
	n, err := strconv.Atoi(string(line[1:]))
	if err != nil {
		s.Blind = true
		return
	}
	s.sized(line[0], n)
}

// sized takes the header of a value of n bytes or elements.
func (s *Scanner) sized(kind byte, n int) {
	switch kind {
	case '$', '=', '!':
		s.bulk(kind, n)
		if n < 0 {
			s.nothing = len(s.depth) == 0
			s.value()
			return
		}
		s.remember(n)
		s.skip = n + len("\r\n")
		return
	case '%':
		n *= 2
	case '|': // attributes come before the value that they belong to
		n = 2*n + 1
	case '*', '~', '>':
	default:
		s.Blind = true
		return
	}
	if n <= 0 {
		s.nothing = len(s.depth) == 0
		s.value()
		return
	}
	s.depth = append(s.depth, n)
}

// remember prepares for a word of n bytes.
func (s *Scanner) remember(n int) {
	s.want, s.body = 0, 0
	if !s.Requests || len(s.depth) != 1 || len(s.words) >= wordsWanted {
		return
	}
	if len(s.words) == 1 && bytes.EqualFold(s.words[0], []byte("EVAL")) {
		s.script, s.body = sha1.New(), n
	}
	s.want = min(n, maxWord)
	if len(s.words) < cap(s.words) { // the memory of an earlier command's word
		s.words = s.words[:len(s.words)+1]
		s.words[len(s.words)-1] = s.words[len(s.words)-1][:0]
		return
	}
	s.words = append(s.words, make([]byte, 0, s.want))
}

// value notes that one value is complete, and with it perhaps those around it.
func (s *Scanner) value() {
	for len(s.depth) > 0 {
		top := len(s.depth) - 1
		if s.depth[top]--; s.depth[top] > 0 {
			return
		}
		s.depth = s.depth[:top]
	}
	s.Whole(s.first, s.nothing, s.words)
}

// inline takes a command typed by hand.
func (s *Scanner) inline(line []byte) {
	for i, word := range bytes.Fields(line) {
		if i < wordsWanted {
			s.words = append(s.words, bytes.Clone(word[:min(len(word), maxWord)]))
		}
	}
	s.Whole('*', len(s.words) == 0, s.words)
}

// Digest returns the SHA-1 of the script that an EVAL carried.
func (s *Scanner) Digest() string {
	if s.script == nil {
		return ""
	}
	return hex.EncodeToString(s.script.Sum(nil))
}
