package faults

import (
	"testing"
	"time"

	"locktorture/faults/link"
)

// The second step of an acquire is a request about a key that was sent when the first one had its answer, and that is not the
// same again.
func TestSecondStep(t *testing.T) {
	const began = time.Second
	type ask struct {
		command, key, script string
		reply                bool // in place of a request: the answer to the one before
		refused              bool // which is an error
		first                bool // wanted of it: that was the first step
		second               bool // wanted of a request
		began                time.Duration
	}
	for name, asks := range map[string][]ask{
		"two commands":              {{command: "SETNX", key: "k"}, {reply: true, first: true}, {command: "EXPIRE", key: "k", second: true}},
		"a token, and the key":      {{command: "INCR", key: "fence"}, {reply: true, first: true}, {command: "SET", key: "k", second: true}},
		"two scripts":               {{command: "EVALSHA", key: "k", script: "a"}, {reply: true, first: true}, {command: "EVALSHA", key: "k", script: "b", second: true}},
		"one pipeline":              {{command: "SETNX", key: "k"}, {command: "EXPIRE", key: "k"}},
		"the same, in a pipeline":   {{command: "SET", key: "k"}, {command: "SET", key: "k"}, {reply: true}},
		"another key":               {{command: "SET", key: "k"}, {reply: true, first: true}, {command: "SET", key: "fence", second: true}},
		"it listens to a pattern":   {{command: "PSUBSCRIBE", key: "freed*"}, {reply: true}, {command: "SET", key: "k"}},
		"it listens no more":        {{command: "SET", key: "k"}, {reply: true, first: true}, {command: "UNSUBSCRIBE", key: "freed"}},
		"who is there, and a step":  {{command: "INFO"}, {reply: true}, {command: "EVALSHA", key: "k", script: "a"}},
		"a transaction's beginning": {{command: "SETNX", key: "k"}, {reply: true, first: true}, {command: "MULTI"}, {command: "SET", key: "k", second: true}},
		"it listens, and asks":      {{command: "SUBSCRIBE", key: "freed"}, {reply: true}, {command: "SET", key: "k"}},
		"a poll":                    {{command: "SET", key: "k"}, {reply: true, first: true}, {command: "SET", key: "k"}, {reply: true, first: true}, {command: "SET", key: "k"}},
		"it looks twice, and takes": {{command: "GET", key: "k"}, {reply: true, first: true}, {command: "GET", key: "k"}, {reply: true, first: true}, {command: "SET", key: "k", second: true}},
		"a script that is unknown":  {{command: "EVALSHA", key: "k", script: "a"}, {reply: true, refused: true}, {command: "EVAL", key: "k", script: "a"}, {reply: true, first: true}, {command: "SET", key: "k", second: true}},
		"the node is another":       {{command: "SET", key: "k"}, {reply: true, refused: true}, {command: "GET", key: "k"}},
		"another acquire":           {{command: "SETNX", key: "k"}, {reply: true, first: true}, {command: "EXPIRE", key: "k", began: 2 * began}},
	} {
		t.Run(name, func(t *testing.T) {
			m := midway{first: map[askedNode]firstStep{}}
			last := link.TapEvent{Client: "c00", Node: "n1"}
			for i, a := range asks {
				if a.reply {
					last.Error = a.refused
					if f, is := m.isAnswer(last); is != a.first || is && f.began != began {
						t.Errorf("%d: the answer to the first step %t, of an acquire that began at %v", i+1, is, f.began)
					}
					continue
				}
				last.Request++
				last.Command, last.Key, last.Script = a.command, a.key, a.script
				if got := isStep(last) && m.isSecond(last, max(a.began, began)); got != a.second {
					t.Errorf("%d, %s: second %t", i+1, a.command, got)
				}
			}
			if len(m.first) > 1 {
				t.Errorf("keeps %d", len(m.first))
			}
		})
	}
}

// An answer on another connection, or to another request, is none to the first step; nor does one node's step count at another.
func TestFirstStepsAreToldApart(t *testing.T) {
	m := midway{first: map[askedNode]firstStep{}}
	first := link.TapEvent{Client: "c00", Node: "n1", Conn: 1, Request: 7, Command: "SETNX", Key: "k"}
	second := link.TapEvent{Client: "c00", Node: "n1", Conn: 1, Request: 8, Command: "EXPIRE", Key: "k"}
	m.isSecond(first, 0)
	for _, other := range []link.TapEvent{
		{Client: "c00", Node: "n1", Conn: 2, Request: 7}, {Client: "c00", Node: "n1", Conn: 1, Request: 6},
		{Client: "c00", Node: "n2", Conn: 1, Request: 7}, {Client: "c01", Node: "n1", Conn: 1, Request: 7},
	} {
		if _, is := m.isAnswer(other); is || m.isSecond(second, 0) {
			t.Errorf("%+v is taken for the answer", other)
		}
	}
	if _, is := m.isAnswer(first); !is {
		t.Error("the answer is taken for another")
	}
	elsewhere := second
	elsewhere.Node = "n2"
	if m.isSecond(elsewhere, 0) {
		t.Error("at a node that was not asked before")
	}
	if !m.isSecond(second, 0) {
		t.Error("no second step")
	}
}
