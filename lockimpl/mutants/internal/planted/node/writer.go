// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"strconv"
	"strings"

	"locktorture/lockimpl/mutants/internal/planted/script"
)

// A Writer encodes commands for the connection that they are about to be
// written to.
type Writer struct {
	buf    []byte
	run    string // run id of the server at the other end
	record string // its admission record, as last seen, or ""
	eval   bool   // send the script's text
	named  bool   // something in the buffer names the server
	faulty map[*script.Script]*script.Script

	// Resent is set when a copy of the call was sent before, and may yet arrive.
	Resent bool
}

// Script begins a command with so many keys and arguments.
func (w *Writer) Script(s *script.Script, keys, args int) {
	w.array(3 + keys + args)
	w.script(s)
	w.Int(int64(keys))
}

func (w *Writer) script(s *script.Script) {
	if f := w.faulty[s]; f != nil {
		s = f
	}
	if w.eval {
		w.Str("EVAL")
		w.Str(s.Source)
	} else {
		w.Str("EVALSHA")
		w.Str(s.SHA)
	}
}

func (w *Writer) array(n int) {
	w.buf = append(w.buf, '*')
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	w.buf = append(w.buf, '\r', '\n')
}

// Str writes a key or an argument.
func (w *Writer) Str(s string) {
	w.size(len(s))
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Strs writes several.
func (w *Writer) Strs(all ...string) {
	for _, s := range all {
		w.Str(s)
	}
}

func (w *Writer) size(n int) {
	w.buf = append(w.buf, '$')
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	w.buf = append(w.buf, '\r', '\n')
}

// Int writes a number as an argument.
func (w *Writer) Int(v int64) {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], v, 10)
	w.size(len(d))
	w.buf = append(w.buf, d...)
	w.buf = append(w.buf, '\r', '\n')
}

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
