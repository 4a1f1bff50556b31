package node

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/redlock/internal/script"
)

// A Writer makes commands for the connection that they are about to be sent on.
type Writer struct {
	args   []any   // of one command after the other
	from   int     // where the one that is being written begins
	run    *string // identity of the server at the other end
	record *record // its admission record, as last seen
	eval   bool    // send the script's text
	named  bool    // something written names the server
	values bool    // write no references: hooks of a caller's client look at what is sent

	// Resent is set when a copy of the call was sent before, and may yet arrive.
	Resent bool
}

// Again reports whether the call was sent before, and may come behind calls that were
// queued after it: the server may have executed it, or has forgotten its script.
func (w *Writer) Again() bool { return w.Resent || w.eval }

// command returns what was written as a command.
func (w *Writer) command(ctx context.Context) *redis.Cmd {
	return redis.NewCmd(ctx, w.args[w.from:len(w.args):len(w.args)]...)
}

// Script begins a command with so many keys.
func (w *Writer) Script(s *script.Script, keys int) {
	w.from = len(w.args)
	name, text := "evalsha", &s.SHA
	if w.eval {
		name, text = "eval", &s.Source
	}
	w.Str(name)
	w.Ref(text)
	w.args = append(w.args, keys)
}

// Str writes a key or an argument.
func (w *Writer) Str(s string) { w.args = append(w.args, s) }

// Ref is Str without a copy: what s points to must stay as it is until the answer.
func (w *Writer) Ref(s *string) {
	if w.values {
		w.Str(*s)
		return
	}
	w.args = append(w.args, s)
}

// Refs writes several.
func (w *Writer) Refs(all ...*string) {
	for _, s := range all {
		w.Ref(s)
	}
}

// Int writes a number as an argument.
func (w *Writer) Int(v int64) { w.args = append(w.args, v) }

// IntRef is Int without a copy: what v points to must stay as it is until the answer.
func (w *Writer) IntRef(v *int64) {
	if w.values {
		w.Int(*v)
		return
	}
	w.args = append(w.args, v)
}

// Run writes the identity of the server that the command goes to.
func (w *Writer) Run() {
	w.named = true
	w.Ref(w.run)
}

// Record writes the node's admission record as last seen, when token and ttl
// (ms) are within what it allows without a change: floor < token <= hw and
// ttl <= maxttl. Otherwise it writes the identity alone.
func (w *Writer) Record(token, ttl int64) {
	if r := w.record; r.run == *w.run && r.floor < token && token <= r.hw && ttl <= r.maxTTL {
		w.named = true
		w.Ref(&r.text)
		return
	}
	w.Run()
}

// A record is what a node says about its admission: "run floor hw maxttl". The zero
// value says nothing.
type record struct {
	text, run         string
	floor, hw, maxTTL int64
}

// parseRecord reads a record; of one that is none nothing is known.
func parseRecord(text string) *record {
	r := record{text: text}
	if n, err := fmt.Sscanf(text, "%s %d %d %d", &r.run, &r.floor, &r.hw, &r.maxTTL); n != 4 || err != nil {
		return new(record)
	}
	return &r
}
