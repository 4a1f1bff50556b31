package memredis

import (
	"fmt"
	"math"
	"strings"
)

var (
	errStreamID   = failure("ERR Invalid stream ID specified as stream command argument")
	errStreamTail = failure("ERR The ID specified in XADD is equal or smaller than the target stream top item")
)

// streamID reads "ms-seq"; without seq it is the given one.
func streamID(text string, seq int64) (ms, n int64, valid bool) {
	first, second, both := strings.Cut(text, "-")
	ms, valid = integer(first)
	if n = seq; valid && both {
		n, valid = integer(second)
	}
	return ms, n, valid && ms >= 0 && n >= 0
}

// xadd is XADD with an id that is spelled out.
func xadd(s *Server, args []string) any {
	if len(args)%2 == 0 {
		return wrongNumber("xadd")
	}
	ms, seq, valid := streamID(args[2], 0)
	if !valid {
		return errStreamID
	}
	if ms == 0 && seq == 0 {
		return failure("ERR The ID specified in XADD must be greater than 0-0")
	}
	e, err := s.of(args[1], kindStream)
	if err != nil {
		return err
	}
	if e == nil {
		e = &entry{kind: kindStream}
	}
	if n := len(e.stream); n > 0 {
		if last := e.stream[n-1]; ms < last.ms || ms == last.ms && seq <= last.seq {
			return errStreamTail
		}
	}
	e.stream = append(e.stream, streamEntry{ms, seq, append([]string(nil), args[3:]...)})
	s.keys[args[1]] = e
	return fmt.Sprintf("%d-%d", ms, seq)
}

func xlen(s *Server, args []string) any {
	e, err := s.of(args[1], kindStream)
	if err != nil || e == nil {
		return orZero(err)
	}
	return int64(len(e.stream))
}

// rangeEnd reads one end of a range.
func rangeEnd(text string, seq int64) (ms, n int64, valid bool) {
	switch text {
	case "-":
		return 0, 0, true
	case "+":
		return math.MaxInt64, math.MaxInt64, true
	}
	return streamID(text, seq)
}

func xrange(s *Server, args []string) any {
	fromMS, fromSeq, valid := rangeEnd(args[2], 0)
	if !valid {
		return errStreamID
	}
	toMS, toSeq, valid := rangeEnd(args[3], math.MaxInt64)
	if !valid {
		return errStreamID
	}
	limit := int64(-1)
	switch {
	case len(args) == 4:
	case len(args) == 6 && strings.EqualFold(args[4], "COUNT"):
		if limit, valid = integer(args[5]); !valid {
			return errNotInt
		}
	default:
		return errSyntax
	}
	e, err := s.of(args[1], kindStream)
	if err != nil {
		return err
	}
	out := []any{}
	if e == nil {
		return out
	}
	for _, x := range e.stream {
		if limit >= 0 && int64(len(out)) >= limit {
			break
		}
		if x.ms < fromMS || x.ms == fromMS && x.seq < fromSeq || x.ms > toMS || x.ms == toMS && x.seq > toSeq {
			continue
		}
		out = append(out, []any{fmt.Sprintf("%d-%d", x.ms, x.seq), texts(x.fields)})
	}
	return out
}
