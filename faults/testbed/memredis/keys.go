package memredis

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ms is the server's time of day in milliseconds.
func (s *Server) ms() int64 { return s.now().UnixMilli() }

// find returns what a key holds, or nil. A key whose time has come is gone.
func (s *Server) find(key string) *entry {
	e := s.keys[key]
	if e == nil {
		return nil
	}
	if e.expires > 0 && s.ms() > e.expires {
		delete(s.keys, key)
		return nil
	}
	return e
}

// of returns what a key holds, which must be of a kind; nil where there is none.
func (s *Server) of(key string, k kind) (*entry, any) {
	e := s.find(key)
	if e != nil && e.kind != k {
		return nil, errWrongType
	}
	return e, nil
}

// made is of, with an empty entry where there is none.
func (s *Server) made(key string, k kind) (*entry, any) {
	e, err := s.of(key, k)
	if err != nil || e != nil {
		return e, err
	}
	e = &entry{kind: k}
	switch k {
	case kindHash:
		e.hash = map[string]string{}
	case kindZSet:
		e.scores = map[string]float64{}
	}
	s.keys[key] = e
	return e, nil
}

// tidy removes a key that has become empty.
func (s *Server) tidy(key string) {
	if e := s.keys[key]; e != nil && e.isEmpty() {
		delete(s.keys, key)
	}
}

// names lists the keys that are there, sorted.
func (s *Server) names() []string {
	var all []string
	for key := range s.keys {
		all = append(all, key)
	}
	slices.Sort(all)
	return slices.DeleteFunc(all, func(key string) bool { return s.find(key) == nil })
}

func integer(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > 1 && (text[0] == '0' || text[0] == '+' || strings.HasPrefix(text, "-0")) {
		return 0, false
	}
	return n, true
}

func exists(s *Server, args []string) any {
	var n int64
	for _, key := range args[1:] {
		if s.find(key) != nil {
			n++
		}
	}
	return n
}

func del(s *Server, args []string) any {
	var n int64
	for _, key := range args[1:] {
		if s.find(key) != nil {
			delete(s.keys, key)
			n++
		}
	}
	return n
}

func typeOf(s *Server, args []string) any {
	if e := s.find(args[1]); e != nil {
		return status(e.kind)
	}
	return status("none")
}

// glob is a subset of Redis' patterns: *, ?, […] and \.
func glob(pattern, name string) bool {
	const slash = "\x00" // path.Match stops at slashes, Redis does not
	hit, err := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(name, "/", slash))
	return err == nil && hit
}

func keysLike(s *Server, args []string) any {
	return texts(slices.DeleteFunc(s.names(), func(name string) bool { return !glob(args[1], name) }))
}

// scan gives everything at once.
func scan(s *Server, args []string) any {
	pattern := "*"
	for i := 2; i < len(args); i += 2 {
		if i+1 == len(args) {
			return errSyntax
		}
		switch strings.ToUpper(args[i]) {
		case "MATCH":
			pattern = args[i+1]
		case "COUNT":
		default:
			return errSyntax
		}
	}
	if args[1] != "0" {
		return []any{"0", []any{}}
	}
	return []any{"0", keysLike(s, []string{"keys", pattern})}
}

// left makes TTL, PTTL, EXPIRETIME and PEXPIRETIME.
func left(unit int64, absolute bool) func(*Server, []string) any {
	return func(s *Server, args []string) any {
		e := s.find(args[1])
		switch {
		case e == nil:
			return int64(-2)
		case e.expires == 0:
			return int64(-1)
		case absolute && unit == 1:
			return e.expires
		case absolute:
			return (e.expires + 500) / unit
		}
		ms := max(e.expires-s.ms(), 0)
		if unit == 1 {
			return ms
		}
		return (ms + 500) / unit
	}
}

// expire makes EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT.
func expire(unit int64, absolute bool) func(*Server, []string) any {
	return func(s *Server, args []string) any {
		n, isInt := integer(args[2])
		if !isInt {
			return errNotInt
		}
		at := n * unit
		if !absolute {
			at += s.ms()
		}
		var nx, xx, gt, lt bool
		for _, option := range args[3:] {
			switch strings.ToUpper(option) {
			case "NX":
				nx = true
			case "XX":
				xx = true
			case "GT":
				gt = true
			case "LT":
				lt = true
			default:
				return failure("ERR Unsupported option " + option)
			}
		}
		if nx && (xx || gt || lt) {
			return failure("ERR NX and XX, GT or LT options at the same time are not compatible")
		}
		if gt && lt {
			return failure("ERR GT and LT options at the same time are not compatible")
		}
		e := s.find(args[1])
		switch {
		case e == nil, nx && e.expires > 0, xx && e.expires == 0,
			gt && (e.expires == 0 || at <= e.expires), lt && e.expires > 0 && at >= e.expires:
			return int64(0)
		case at <= s.ms():
			delete(s.keys, args[1])
		default:
			e.expires = at
		}
		return int64(1)
	}
}

func persist(s *Server, args []string) any {
	e := s.find(args[1])
	if e == nil || e.expires == 0 {
		return int64(0)
	}
	e.expires = 0
	return int64(1)
}

func timeOfDay(s *Server, _ []string) any {
	us := s.now().UnixMicro()
	return []any{strconv.FormatInt(us/1e6, 10), strconv.FormatInt(us%1e6, 10)}
}

func flush(s *Server, _ []string) any {
	clear(s.keys)
	return ok
}

func info(s *Server, args []string) any {
	sections := map[string]string{
		"server":      "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:" + s.run + "\r\n",
		"replication": "# Replication\r\nrole:master\r\nmaster_replid:" + s.history + "\r\n",
	}
	if len(args) == 1 {
		return sections["server"] + "\r\n" + sections["replication"]
	}
	var b strings.Builder
	for _, name := range args[1:] {
		b.WriteString(sections[strings.ToLower(name)])
	}
	return b.String()
}

// clientCommand knows what client libraries send of their own accord.
func clientCommand(_ *Server, args []string) any {
	switch strings.ToUpper(args[1]) {
	case "SETNAME", "SETINFO":
		return ok
	}
	return failure(fmt.Sprintf("ERR unknown subcommand '%.128s'. Try CLIENT HELP.", args[1]))
}

func hello(s *Server, args []string) any {
	if len(args) > 1 && args[1] != "2" {
		return failure("NOPROTO unsupported protocol version")
	}
	return []any{"server", "redis", "version", "7.0.15", "proto", int64(2), "id", int64(1), "mode", "standalone", "role", "master", "modules", []any{}}
}
