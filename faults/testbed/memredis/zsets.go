package memredis

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

var errMinMax = failure("ERR min or max is not a float")

func score(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f)
}

func zadd(s *Server, args []string) any {
	var nx, xx, ch bool
	i := 2
options:
	for ; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "CH":
			ch = true
		default:
			break options
		}
	}
	pairs := args[i:]
	if len(pairs) == 0 || len(pairs)%2 != 0 {
		return errSyntax
	}
	if nx && xx {
		return failure("ERR XX and NX options at the same time are not compatible")
	}
	scores := make([]float64, len(pairs)/2)
	for i := range scores {
		f, isFloat := score(pairs[2*i])
		if !isFloat {
			return errNotFloat
		}
		scores[i] = f
	}
	e, err := s.made(args[1], kindZSet)
	if err != nil {
		return err
	}
	var n int64
	for i, f := range scores {
		name := pairs[2*i+1]
		was, there := e.scores[name]
		if there && nx || !there && xx {
			continue
		}
		if !there || ch && was != f {
			n++
		}
		e.scores[name] = f
	}
	s.tidy(args[1])
	return n
}

func zrem(s *Server, args []string) any {
	e, err := s.of(args[1], kindZSet)
	if err != nil || e == nil {
		return orZero(err)
	}
	var n int64
	for _, name := range args[2:] {
		if _, there := e.scores[name]; there {
			delete(e.scores, name)
			n++
		}
	}
	s.tidy(args[1])
	return n
}

func zscore(s *Server, args []string) any {
	e, err := s.of(args[1], kindZSet)
	if err != nil {
		return err
	}
	if e == nil {
		return nil
	}
	if f, there := e.scores[args[2]]; there {
		return formatScore(f)
	}
	return nil
}

func zcard(s *Server, args []string) any {
	e, err := s.of(args[1], kindZSet)
	if err != nil || e == nil {
		return orZero(err)
	}
	return int64(len(e.scores))
}

func zrank(s *Server, args []string) any {
	e, err := s.of(args[1], kindZSet)
	if err != nil || e == nil {
		return err
	}
	for i, m := range e.sorted() {
		if m.name == args[2] {
			return int64(i)
		}
	}
	return nil
}

// zrange is ZRANGE by rank.
func zrange(s *Server, args []string) any {
	scores := false
	for _, option := range args[4:] {
		if !strings.EqualFold(option, "WITHSCORES") {
			return errSyntax
		}
		scores = true
	}
	from, isInt := integer(args[2])
	to, alsoInt := integer(args[3])
	if !isInt || !alsoInt {
		return errNotInt
	}
	e, err := s.of(args[1], kindZSet)
	if err != nil {
		return err
	}
	if e == nil {
		return []any{}
	}
	all := e.sorted()
	n := int64(len(all))
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n-1)
	if from > to {
		return []any{}
	}
	return members(all[from:to+1], scores)
}

func members(all []member, scores bool) []any {
	out := []any{}
	for _, m := range all {
		if out = append(out, m.name); scores {
			out = append(out, formatScore(m.score))
		}
	}
	return out
}

// A span is a range of scores.
type span struct {
	min, max            float64
	beyondMin, belowMax bool // the ends are not part of it
}

func parseSpan(low, high string) (sp span, valid bool) {
	low, sp.beyondMin = strings.CutPrefix(low, "(")
	high, sp.belowMax = strings.CutPrefix(high, "(")
	var a, b bool
	sp.min, a = score(low)
	sp.max, b = score(high)
	return sp, a && b
}

func (sp span) has(f float64) bool {
	return (f > sp.min || f == sp.min && !sp.beyondMin) && (f < sp.max || f == sp.max && !sp.belowMax)
}

// within returns the members of a sorted set in a span.
func (s *Server) within(args []string) ([]member, any) {
	sp, valid := parseSpan(args[2], args[3])
	if !valid {
		return nil, errMinMax
	}
	e, err := s.of(args[1], kindZSet)
	if err != nil || e == nil {
		return nil, err
	}
	return slices.DeleteFunc(e.sorted(), func(m member) bool { return !sp.has(m.score) }), nil
}

func zrangebyscore(s *Server, args []string) any {
	scores, offset, limit := false, int64(0), int64(-1)
	for i := 4; i < len(args); i++ {
		switch option := strings.ToUpper(args[i]); {
		case option == "WITHSCORES":
			scores = true
		case option == "LIMIT" && i+2 < len(args):
			var a, b bool
			offset, a = integer(args[i+1])
			limit, b = integer(args[i+2])
			if !a || !b {
				return errNotInt
			}
			i += 2
		default:
			return errSyntax
		}
	}
	found, err := s.within(args)
	if err != nil {
		return err
	}
	if offset < 0 || offset >= int64(len(found)) {
		return []any{}
	}
	found = found[offset:]
	if limit >= 0 && limit < int64(len(found)) {
		found = found[:limit]
	}
	return members(found, scores)
}

func zcount(s *Server, args []string) any {
	found, err := s.within(args)
	if err != nil {
		return err
	}
	return int64(len(found))
}

func zremrangebyscore(s *Server, args []string) any {
	found, err := s.within(args)
	if err != nil {
		return err
	}
	for _, m := range found {
		delete(s.keys[args[1]].scores, m.name)
	}
	s.tidy(args[1])
	return int64(len(found))
}
