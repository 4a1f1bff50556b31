// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/mutants/internal/planted/script"
)

// A Writer makes commands for the connection that they are about to be sent on.
type Writer struct {
	args   []any
	run    string // identity of the server at the other end
	record string // its admission record, as last seen, or ""
	eval   bool   // send the script's text
	named  bool   // something written names the server
	faulty map[*script.Script]*script.Script

	// Resent is set when a copy of the call was sent before, and may yet arrive.
	Resent bool
}

// command returns what was written as a command.
func (w *Writer) command(ctx context.Context) *redis.Cmd {
	cmd := redis.NewCmd(ctx, w.args...)
	w.args = nil
	return cmd
}

// Script begins a command with so many keys and arguments.
func (w *Writer) Script(s *script.Script, keys, args int) {
	if f := w.faulty[s]; f != nil {
		s = f
	}
	w.args = make([]any, 0, 3+keys+args)
	if w.eval {
		w.args = append(w.args, "eval", s.Source)
	} else {
		w.args = append(w.args, "evalsha", s.SHA)
	}
	w.args = append(w.args, keys)
}

// Str writes a key or an argument.
func (w *Writer) Str(s string) { w.args = append(w.args, s) }

// Strs writes several.
func (w *Writer) Strs(all ...string) {
	for _, s := range all {
		w.Str(s)
	}
}

// Int writes a number as an argument.
func (w *Writer) Int(v int64) { w.args = append(w.args, v) }

// Run writes the identity of the server that the command goes to.
func (w *Writer) Run() {
	w.named = true
	w.Str(w.run)
}

// Record writes the node's admission record as last seen, when token and ttl
// (ms) are within what it allows without a change: floor < token <= hw and
// ttl <= maxttl. Otherwise it writes the identity alone.
func (w *Writer) Record(token, ttl int64) {
	if w.record != "" && within(w.record, w.run, token, ttl) {
		w.named = true
		w.Str(w.record)
		return
	}
	w.Run()
}

// within reads a record "run floor hw maxttl".
func within(record, run string, token, ttl int64) bool {
	rest, ok := strings.CutPrefix(record, run+" ")
	if !ok {
		return false
	}
	var v [3]int64
	for i := range v {
		field, after, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return false
		}
		v[i], rest = n, after
	}
	return v[0] < token && token <= v[1] && ttl <= v[2]
}
