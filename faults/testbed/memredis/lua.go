package memredis

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// An engine runs scripts. Making one takes longer than a script does, so that
// servers which are closed leave theirs to others.
type engine struct {
	state  *lua.LState
	server *Server // whose script runs
	known  map[string]*lua.LFunction

	matches  map[match][]lua.LValue // of string.match
	patterns map[string]*pattern    // nil: one that is left to Lua
}

// A match is what string.match was asked.
type match struct{ text, pattern string }

// mostMatches bounds what is remembered.
const mostMatches = 4096

// rememberMatches has string.match, which takes most of the time of a script,
// answer from memory what it was asked before.
func (e *engine) rememberMatches(table *lua.LTable) {
	find := table.RawGetString("match")
	table.RawSetString("match", e.state.NewFunction(func(l *lua.LState) int {
		if l.GetTop() != 2 {
			n := l.GetTop()
			l.Insert(find, 1)
			l.Call(n, lua.MultRet)
			return l.GetTop()
		}
		asked := match{l.CheckString(1), l.CheckString(2)}
		found, known := e.matches[asked]
		if !known {
			if found = e.simpleMatch(asked); found == nil {
				l.Push(find)
				l.Push(lua.LString(asked.text))
				l.Push(lua.LString(asked.pattern))
				l.Call(2, lua.MultRet)
				for i := 3; i <= l.GetTop(); i++ {
					found = append(found, l.Get(i))
				}
				l.SetTop(2)
			}
			if len(e.matches) >= mostMatches {
				clear(e.matches)
			}
			e.matches[asked] = found
		}
		for _, v := range found {
			l.Push(v)
		}
		return len(found)
	}))
}

// simpleMatch answers string.match where its pattern is a simple one, else nil.
func (e *engine) simpleMatch(asked match) (found []lua.LValue) {
	p, known := e.patterns[asked.pattern]
	if !known {
		if read, is := simple(asked.pattern); is {
			p = &read
		}
		if len(e.patterns) >= mostMatches {
			clear(e.patterns)
		}
		e.patterns[asked.pattern] = p
	}
	if p == nil {
		return nil
	}
	captured, matched := p.find(asked.text)
	if !matched {
		return []lua.LValue{lua.LNil}
	}
	for _, text := range captured {
		found = append(found, lua.LString(text))
	}
	return found
}

var (
	idle     []*engine
	idleLock sync.Mutex

	compiled     = map[string]*lua.FunctionProto{} // by digest; never changed once it is there
	digests      = map[string]string{}             // by text of what was compiled
	compiledLock sync.Mutex
)

func acquireEngine() *engine {
	idleLock.Lock()
	defer idleLock.Unlock()
	if n := len(idle); n > 0 {
		e := idle[n-1]
		idle = idle[:n-1]
		return e
	}
	return newEngine()
}

func (e *engine) release() {
	if e == nil {
		return
	}
	e.server = nil
	idleLock.Lock()
	defer idleLock.Unlock()
	idle = append(idle, e)
}

// newEngine makes a Lua without anything that reaches out of a script.
func newEngine() *engine {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	for _, name := range []string{"dofile", "loadfile", "print", "collectgarbage", "module", "require", "newproxy"} {
		l.SetGlobal(name, lua.LNil)
	}
	if m, is := l.GetGlobal(lua.MathLibName).(*lua.LTable); is { // the process's own random numbers
		m.RawSetString("random", lua.LNil)
		m.RawSetString("randomseed", lua.LNil)
	}
	e := &engine{state: l, known: map[string]*lua.LFunction{}, matches: map[match][]lua.LValue{}, patterns: map[string]*pattern{}}
	if t, is := l.GetGlobal(lua.StringLibName).(*lua.LTable); is {
		e.rememberMatches(t)
	}
	redis := l.NewTable()
	l.SetFuncs(redis, map[string]lua.LGFunction{
		"call":  func(l *lua.LState) int { return e.call(l, true) },
		"pcall": func(l *lua.LState) int { return e.call(l, false) },
		"error_reply": func(l *lua.LState) int {
			text := l.CheckString(1)
			if !strings.HasPrefix(text, "-") && !strings.Contains(text, " ") {
				text = "ERR " + text
			}
			return pushField(l, "err", strings.TrimPrefix(text, "-"))
		},
		"status_reply": func(l *lua.LState) int { return pushField(l, "ok", l.CheckString(1)) },
		"sha1hex":      func(l *lua.LState) int { l.Push(lua.LString(digest(l.CheckString(1)))); return 1 },
		"log":          func(*lua.LState) int { return 0 },
	})
	l.SetGlobal("redis", redis)
	guard := l.NewTable()
	l.SetFuncs(guard, map[string]lua.LGFunction{
		"__index": func(l *lua.LState) int {
			l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.ToString(2))
			return 0
		},
		"__newindex": func(l *lua.LState) int {
			l.RaiseError("Attempt to modify a readonly table")
			return 0
		},
	})
	l.SetMetatable(l.G.Global, guard)
	return e
}

func pushField(l *lua.LState, name, text string) int {
	t := l.NewTable()
	t.RawSetString(name, lua.LString(text))
	l.Push(t)
	return 1
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// compile makes a script ready to run, or says what is wrong with it.
func compile(sha, text string) (*lua.FunctionProto, error) {
	compiledLock.Lock()
	defer compiledLock.Unlock()
	if p := compiled[sha]; p != nil {
		return p, nil
	}
	chunk, err := parse.Parse(strings.NewReader(text), "@user_script")
	if err != nil {
		return nil, err
	}
	p, err := lua.Compile(chunk, "@user_script")
	if err == nil {
		p.IsVarArg &^= lua.VarArgNeedsArg // a table in each run that Lua 5.1 does not make for a chunk
		compiled[sha], digests[text] = p, sha
	}
	return p, err
}

// scriptDigest is the digest of a script, which is remembered once it was compiled: each
// new connection loads the same scripts.
func scriptDigest(text string) string {
	compiledLock.Lock()
	sha := digests[text]
	compiledLock.Unlock()
	if sha == "" {
		sha = digest(text)
	}
	return sha
}

func scriptCommand(s *Server, args []string) any {
	switch strings.ToUpper(args[1]) {
	case "LOAD":
		if len(args) != 3 {
			return wrongNumber("script|load")
		}
		sha := scriptDigest(args[2])
		if _, err := compile(sha, args[2]); err != nil {
			return notCompiled(err)
		}
		s.scripts[sha] = args[2]
		return sha
	case "EXISTS":
		out := []any{}
		for _, sha := range args[2:] {
			n := int64(0)
			if s.scripts[strings.ToLower(sha)] != "" {
				n = 1
			}
			out = append(out, n)
		}
		return out
	case "FLUSH":
		clear(s.scripts)
		return ok
	}
	return failure(fmt.Sprintf("ERR unknown subcommand '%.128s'. Try SCRIPT HELP.", args[1]))
}

func notCompiled(err error) failure {
	return failure("ERR Error compiling script (new function): " + err.Error())
}

func eval(s *Server, args []string) any {
	sha := scriptDigest(args[1])
	if s.scripts[sha] == "" {
		if _, err := compile(sha, args[1]); err != nil {
			return notCompiled(err)
		}
		s.scripts[sha] = args[1]
	}
	return s.runScript(sha, args)
}

func evalsha(s *Server, args []string) any {
	sha := strings.ToLower(args[1])
	if s.scripts[sha] == "" {
		return errNoScript
	}
	return s.runScript(sha, args)
}

// runScript runs a script that is known, with the arguments of EVAL.
func (s *Server) runScript(sha string, args []string) any {
	n, isInt := integer(args[2])
	switch {
	case !isInt:
		return errNotInt
	case n > int64(len(args)-3):
		return failure("ERR Number of keys can't be greater than number of args")
	case n < 0:
		return failure("ERR Number of keys can't be negative")
	}
	if s.script {
		return failure("ERR This Redis command is not allowed from script")
	}
	if s.readOnly {
		return failure("READONLY You can't write against a read only replica.")
	}
	if s.lua == nil {
		s.lua = acquireEngine()
	}
	s.script = true
	defer func() { s.script = false }()
	return s.lua.run(s, sha, args[3:3+n], args[3+n:])
}

func (e *engine) run(s *Server, sha string, keys, argv []string) any {
	f := e.known[sha]
	if f == nil {
		p, err := compile(sha, s.scripts[sha])
		if err != nil {
			return notCompiled(err)
		}
		f = e.state.NewFunctionFromProto(p)
		e.known[sha] = f
	}
	l := e.state
	e.server = s
	l.G.Global.RawSetString("KEYS", list(l, keys))
	l.G.Global.RawSetString("ARGV", list(l, argv))
	defer l.SetTop(0)
	if err := l.CallByParam(lua.P{Fn: f, NRet: 1, Protect: true}); err != nil {
		return raised(err, sha)
	}
	return fromLua(l.Get(-1))
}

func list(l *lua.LState, all []string) *lua.LTable {
	t := l.CreateTable(len(all), 0)
	for i, text := range all {
		t.RawSetInt(i+1, lua.LString(text))
	}
	return t
}

// raised is the reply to a script that ended with an error: what a command
// answered, or what Lua says.
func raised(err error, sha string) failure {
	var api *lua.ApiError
	if !errors.As(err, &api) {
		return failure("ERR " + err.Error())
	}
	suffix := " script: " + sha + ", on @user_script"
	if t, is := api.Object.(*lua.LTable); is {
		if text, is := t.RawGetString("err").(lua.LString); is {
			return failure(string(text) + suffix)
		}
		return failure("ERR unknown error" + suffix)
	}
	return failure("ERR " + api.Object.String() + suffix)
}

// call is redis.call and redis.pcall.
func (e *engine) call(l *lua.LState, raise bool) int {
	args := make([]string, l.GetTop())
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = number(float64(v))
		default:
			return e.answer(l, failure("ERR Lua redis lib command arguments must be strings or integers"), raise)
		}
	}
	if len(args) == 0 {
		return e.answer(l, failure("ERR Please specify at least one argument for this redis.call() call"), raise)
	}
	return e.answer(l, e.server.fromScript(args), raise)
}

// fromScript executes a command of a script.
func (s *Server) fromScript(args []string) any {
	switch name := strings.ToUpper(args[0]); {
	case name == "SUBSCRIBE", name == "UNSUBSCRIBE", name == "EVAL", name == "EVALSHA", name == "SCRIPT", name == "CLIENT", name == "HELLO":
		return failure("ERR This Redis command is not allowed from script")
	case commands[name].do == nil:
		return failure("ERR Unknown Redis command called from script")
	}
	reply := s.execute(args)
	if f, bad := reply.(failure); bad && strings.HasPrefix(string(f), "ERR wrong number of arguments") {
		return failure("ERR Wrong number of args calling Redis command from script")
	}
	return reply
}

func (e *engine) answer(l *lua.LState, reply any, raise bool) int {
	v := toLua(l, reply)
	if _, bad := reply.(failure); bad && raise {
		l.Error(v, 1)
	}
	l.Push(v)
	return 1
}

// number prints a Lua number as Redis hands it to a command.
func number(f float64) string {
	if f == float64(int64(f)) && f < 1e17 && f > -1e17 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

func toLua(l *lua.LState, reply any) lua.LValue {
	named := func(name, text string) lua.LValue {
		t := l.CreateTable(0, 1)
		t.RawSetString(name, lua.LString(text))
		return t
	}
	switch r := reply.(type) {
	case int64:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case status:
		return named("ok", string(r))
	case failure:
		return named("err", string(r))
	case []any:
		t := l.CreateTable(len(r), 0)
		for i, item := range r {
			t.RawSetInt(i+1, toLua(l, item))
		}
		return t
	}
	return lua.LFalse
}

// fromLua turns what a script returns into a reply.
func fromLua(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return int64(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
		return nil
	case *lua.LTable:
		if text, is := v.RawGetString("err").(lua.LString); is {
			return failure(text)
		}
		if text, is := v.RawGetString("ok").(lua.LString); is {
			return status(text)
		}
		out := []any{}
		for i := 1; ; i++ {
			item := v.RawGetInt(i)
			if item == lua.LNil {
				return out
			}
			out = append(out, fromLua(item))
		}
	}
	return nil
}
