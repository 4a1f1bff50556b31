package memredis

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

func hset(s *Server, args []string) any {
	if len(args)%2 != 0 {
		return wrongNumber("hset")
	}
	e, err := s.made(args[1], kindHash)
	if err != nil {
		return err
	}
	var added int64
	for i := 2; i < len(args); i += 2 {
		if _, there := e.hash[args[i]]; !there {
			added++
		}
		e.hash[args[i]] = args[i+1]
	}
	return added
}

func hsetnx(s *Server, args []string) any {
	e, err := s.made(args[1], kindHash)
	if err != nil {
		return err
	}
	if _, there := e.hash[args[2]]; there {
		return int64(0)
	}
	e.hash[args[2]] = args[3]
	return int64(1)
}

func hget(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil {
		return err
	}
	return field(e, args[2])
}

func field(e *entry, name string) any {
	if e == nil {
		return nil
	}
	if text, there := e.hash[name]; there {
		return text
	}
	return nil
}

func hmget(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil {
		return err
	}
	out := make([]any, 0, len(args)-2)
	for _, name := range args[2:] {
		out = append(out, field(e, name))
	}
	return out
}

func hgetall(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil {
		return err
	}
	out := []any{}
	if e == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(e.hash)) {
		out = append(out, name, e.hash[name])
	}
	return out
}

func hdel(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil || e == nil {
		return orZero(err)
	}
	var n int64
	for _, name := range args[2:] {
		if _, there := e.hash[name]; there {
			delete(e.hash, name)
			n++
		}
	}
	s.tidy(args[1])
	return n
}

// orZero is an error, or 0 where there is none.
func orZero(err any) any {
	if err != nil {
		return err
	}
	return int64(0)
}

func hexists(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil || field(e, args[2]) == nil {
		return orZero(err)
	}
	return int64(1)
}

func hlen(s *Server, args []string) any {
	e, err := s.of(args[1], kindHash)
	if err != nil || e == nil {
		return orZero(err)
	}
	return int64(len(e.hash))
}

func hincrby(s *Server, args []string) any {
	by, isInt := integer(args[3])
	if !isInt {
		return errNotInt
	}
	e, err := s.of(args[1], kindHash)
	if err != nil {
		return err
	}
	var n int64
	if text, there := field(e, args[2]).(string); there {
		if n, isInt = integer(text); !isInt {
			return failure("ERR hash value is not an integer")
		}
	}
	if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
		return failure("ERR increment or decrement would overflow")
	}
	if e == nil {
		e, _ = s.made(args[1], kindHash)
	}
	e.hash[args[2]] = strconv.FormatInt(n+by, 10)
	return n + by
}
