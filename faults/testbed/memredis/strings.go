package memredis

import (
	"math"
	"strconv"
	"strings"
)

func get(s *Server, args []string) any {
	e, err := s.of(args[1], kindString)
	switch {
	case err != nil:
		return err
	case e == nil:
		return nil
	}
	return e.text
}

func mget(s *Server, args []string) any {
	out := make([]any, len(args)-1)
	for i, key := range args[1:] {
		if e := s.find(key); e != nil && e.kind == kindString {
			out[i] = e.text
		}
	}
	return out
}

func put(s *Server, key, text string, expires int64) {
	s.keys[key] = &entry{kind: kindString, text: text, expires: expires}
}

// set is SET with its options but those of LCS and the like.
func set(s *Server, args []string) any {
	key, text := args[1], args[2]
	var nx, xx, keep, wantOld, timed bool
	var expires int64
	for i := 3; i < len(args); i++ {
		option := strings.ToUpper(args[i])
		switch option {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "KEEPTTL":
			keep = true
		case "GET":
			wantOld = true
		case "EX", "PX", "EXAT", "PXAT":
			if i+1 == len(args) || timed || keep {
				return errSyntax
			}
			i++
			at, err := s.deadline("set", option, args[i])
			if err != nil {
				return err
			}
			expires, timed = at, true
		default:
			return errSyntax
		}
	}
	if nx && xx || keep && timed {
		return errSyntax
	}
	e := s.find(key)
	if wantOld && e != nil && e.kind != kindString {
		return errWrongType
	}
	var old any
	if wantOld && e != nil {
		old = e.text
	}
	if nx && e != nil || xx && e == nil {
		return old // nil where it is not asked for
	}
	if keep && e != nil {
		expires = e.expires
	}
	put(s, key, text, expires)
	if wantOld {
		return old
	}
	return ok
}

// deadline reads an expiry in ms of the server's clock.
func (s *Server) deadline(command, option, text string) (int64, any) {
	n, isInt := integer(text)
	if !isInt {
		return 0, errNotInt
	}
	if n <= 0 || strings.HasPrefix(option, "EX") && n > math.MaxInt64/1000 {
		return 0, failure("ERR invalid expire time in '" + command + "' command")
	}
	if strings.HasPrefix(option, "EX") {
		n *= 1000
	}
	if strings.HasSuffix(option, "AT") {
		return n, nil
	}
	if now := s.ms(); n <= math.MaxInt64-now {
		return n + now, nil
	}
	return 0, failure("ERR invalid expire time in '" + command + "' command")
}

func setnx(s *Server, args []string) any {
	if s.find(args[1]) != nil {
		return int64(0)
	}
	put(s, args[1], args[2], 0)
	return int64(1)
}

// setex makes SETEX and PSETEX.
func setex(name, option string) func(*Server, []string) any {
	return func(s *Server, args []string) any {
		at, err := s.deadline(name, option, args[2])
		if err != nil {
			return err
		}
		put(s, args[1], args[3], at)
		return ok
	}
}

func getset(s *Server, args []string) any {
	old := get(s, args)
	if _, bad := old.(failure); !bad {
		put(s, args[1], args[2], 0)
	}
	return old
}

func getdel(s *Server, args []string) any {
	old := get(s, args)
	if _, is := old.(string); is {
		delete(s.keys, args[1])
	}
	return old
}

// incr makes INCR, DECR, INCRBY and DECRBY.
func incr(sign int64) func(*Server, []string) any {
	return func(s *Server, args []string) any {
		by := sign
		if len(args) > 2 {
			n, isInt := integer(args[2])
			if !isInt {
				return errNotInt
			}
			by *= n
		}
		e, err := s.of(args[1], kindString)
		if err != nil {
			return err
		}
		var n int64
		if e != nil {
			var isInt bool
			if n, isInt = integer(e.text); !isInt {
				return errNotInt
			}
		} else {
			e = &entry{kind: kindString}
		}
		if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
			return failure("ERR increment or decrement would overflow")
		}
		e.text = strconv.FormatInt(n+by, 10)
		s.keys[args[1]] = e
		return n + by
	}
}

func strlen(s *Server, args []string) any {
	e, err := s.of(args[1], kindString)
	switch {
	case err != nil:
		return err
	case e == nil:
		return int64(0)
	}
	return int64(len(e.text))
}
