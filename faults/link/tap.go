package link

import (
	"strings"
	"time"

	"locktorture/faults/link/internal/resp"
)

// A Tapper reports the commands and replies on a link as they pass, so that a
// fault can be locked to a step of a lock that knows nothing of it.
type Tapper interface {
	// Tap calls report for every command and reply until stop. It is called on
	// the client's own goroutine: for a command before its last byte leaves,
	// for a reply before the client sees its last byte. Until it returns, the
	// client waits.
	Tap(report func(TapEvent)) (stop func())
}

// A Shape is what a reply looks like to one who does not know the script that
// gave it.
type Shape = resp.Shape

// A TapEvent is one command or reply at the client's end of a link. Replies
// name the command that they answer; messages that answer none (push, and all
// that comes after a SUBSCRIBE or MONITOR) are not reported.
type TapEvent struct {
	Client, Node string
	Time         time.Time
	Conn         uint64 // number of the connection on its link, from 1
	Request      uint64 // number of the command on its connection, from 1
	Reply        bool   // a reply, in place of a command
	Command      string // in upper case
	Key          string // first key, cut at 128 bytes; empty for commands without keys
	Script       string // SHA-1 of the script of an EVAL or EVALSHA
	Error        bool   // the reply is an error
	Nothing      bool   // the reply is null or empty, as of a refused SET NX
	Shape        Shape  // what the reply looks like
}

// A tap is one registered observer.
type tap struct{ report func(TapEvent) }

// Tap implements Tapper.
func (l *proxyLink) Tap(report func(TapEvent)) (stop func()) {
	t := &tap{report: report}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setTaps(append(l.tapped(), t))
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		var rest []*tap
		for _, other := range l.tapped() {
			if other != t {
				rest = append(rest, other)
			}
		}
		l.setTaps(rest)
	}
}

// tapped returns the taps; nobody changes the slice.
func (l *proxyLink) tapped() []*tap {
	if p := l.taps.Load(); p != nil {
		return (*p)[:len(*p):len(*p)]
	}
	return nil
}

func (l *proxyLink) setTaps(taps []*tap) { l.taps.Store(&taps) }

func (l *proxyLink) emit(e TapEvent) {
	for _, t := range l.tapped() {
		t.report(e)
	}
}

// keyless are the common commands whose second word is no key, and may be a
// secret.
var keyless = map[string]bool{
	"ACL": true, "AUTH": true, "CLIENT": true, "CLUSTER": true, "COMMAND": true, "CONFIG": true, "DBSIZE": true, "DEBUG": true,
	"DISCARD": true, "ECHO": true, "EXEC": true, "FLUSHALL": true, "FLUSHDB": true, "FUNCTION": true, "HELLO": true, "INFO": true,
	"MONITOR": true, "MULTI": true, "PING": true, "QUIT": true, "RESET": true, "ROLE": true, "SCAN": true, "SCRIPT": true,
	"SELECT": true, "TIME": true, "UNWATCH": true, "WAIT": true,
}

// describe fills in what the words of a command say.
func (e *TapEvent) describe(words [][]byte, digest string) {
	if len(words) == 0 {
		return
	}
	e.Command = strings.ToUpper(string(words[0]))
	switch e.Command {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		if len(words) > 1 && strings.HasPrefix(e.Command, "EVALSHA") {
			digest = string(words[1])
		}
		e.Script = digest
		if len(words) > 3 && string(words[2]) != "0" {
			e.Key = string(words[3])
		}
	default:
		if len(words) > 1 && !keyless[e.Command] {
			e.Key = string(words[1])
		}
	}
}
