package history

import (
	"fmt"
	"strings"
	"time"
)

// Parse reads a small history that is written for people, one event a line:
//
//	header ttl 100ms drift 2ms nodes 5 quorum 3 fenced
//	 0ms  c0 invoke acquire k
//	10ms  c0 ok acquire k until 110ms fence 3   # comments run to the end
//	      c0 invoke write k value v1
//	      c0 info write k value v1 err "i/o timeout"
//	      nemesis ok fault client-pause target c0 receipt "c0 stopped"
//	      store ok audit k seq 1 value v1 owner c0
//	      witness ok key k node n1 pttl 40 holder c0
//	      link ok receipt executed of 2
//	      nemesis ok stall began 12ms ended 40ms
//	      nemesis ok phase end
//
// A line is [time] process kind op [object] {word value}. Empty lines and
// comments are skipped. Indices count the events from 0.
//
//   - time is a Go duration since the run began; without one, the event comes
//     1 ms after the event before it (the first at 0).
//   - process is a number, c and a number (c7 and c07 are process 7), one of
//     nemesis, store, witness, link, or any other name: named processes are
//     numbered 1000, 1001, … as they appear.
//   - kind is invoke, ok, fail or info; op as in the format.
//   - object is the key; for fault and heal the fault; for phase its name, for
//     receipt its value. It may be left out where nothing or a word follows,
//     but a key named like a word must be quoted.
//
// The words: key, owner, host, mode (x or r), fence, until, value, seq, base, err,
// began, ended, due (the intended time), target, receipt, node, pttl (in ms),
// holder, of, lag, note; and instant, which has no value. Values with spaces
// are quoted as in Go; a target may be a JSON object. The owner of an event of
// a client is its process's name as written, unless said otherwise.
//
// The header line, if any, comes first: lock, scenario, seed, nodes, quorum,
// ttl, drift, epsilon, floors (as in grants=3,contended=1), hosts with their
// clocks' bounds (as in h1=1ms,h2=2ms) expected and
// accepted (as in S1,S3) with a value; fenced, unchecked-release and truncated without. The
// defaults are ttl 1s, one node, quorum 1, unfenced, and not truncated, end
// event or no.
//
// Parse does not ask that completions have invocations; Validate does.
func Parse(text string) (History, error) {
	p := textParser{named: map[string]int{}}
	p.h.Header = Header{
		Type: headerType, Version: Version,
		Scenario: "text", Lock: "text", Nodes: 1, Quorum: 1, TTL: time.Second,
	}
	for i, line := range strings.Split(text, "\n") {
		words, err := splitWords(line)
		if err == nil && len(words) > 0 {
			err = p.line(words)
		}
		if err != nil {
			return History{}, &FormatError{Line: i + 1, Msg: err.Error()}
		}
	}
	return p.h, nil
}

// A textParser is the state of Parse between lines.
type textParser struct {
	h     History
	began bool // a header or an event was read
	named map[string]int
	words []textWord // what is left of the line
}

func (p *textParser) line(words []textWord) error {
	first := !p.began
	p.began, p.words = true, words
	if words[0].text != "header" {
		return p.event()
	}
	if !first {
		return fmt.Errorf("header after other lines: want it first")
	}
	p.next()
	return p.header()
}

// next takes the next word.
func (p *textParser) next() (w textWord, ok bool) {
	if len(p.words) == 0 {
		return w, false
	}
	w, p.words = p.words[0], p.words[1:]
	return w, true
}

func (p *textParser) event() error {
	e := Event{Index: len(p.h.Events)}
	var last time.Duration
	if e.Index > 0 {
		last = p.h.Events[e.Index-1].Time
		e.Time = last + time.Millisecond
	}
	if d, ok := leadingTime(p.words[0].text); ok {
		e.Time = d
		p.next()
	}
	if e.Time < last {
		return fmt.Errorf("time %v is before %v: want times that never decrease", e.Time, last)
	}
	if err := p.subject(&e); err != nil {
		return err
	}
	p.object(&e)
	for len(p.words) > 0 {
		if err := p.field(&e); err != nil {
			return err
		}
	}
	p.h.Events = append(p.h.Events, e)
	return nil
}

// leadingTime reads a duration with a unit. A bare number is a process.
func leadingTime(s string) (time.Duration, bool) {
	d, err := time.ParseDuration(s)
	return d, err == nil && strings.Trim(s, "+-0123456789.") != ""
}

// subject reads process, kind and op.
func (p *textParser) subject(e *Event) error {
	if len(p.words) < 3 {
		return fmt.Errorf("want [time] process kind op …, as in: 10ms c0 ok acquire k until 110ms")
	}
	process, _ := p.next()
	kind, _ := p.next()
	op, _ := p.next()
	e.Process = p.process(process.text)
	var ok bool
	if e.Kind, ok = kindOf([]byte(kind.text)); !ok {
		return fmt.Errorf("unknown kind %q: want one of %s", kind.text, list(kindNames[:]))
	}
	if e.Op, ok = opOf([]byte(op.text)); !ok {
		return fmt.Errorf("unknown op %q: want one of %s", op.text, list(opNames[:]))
	}
	if e.Process >= 0 && e.Op != Phase {
		e.Owner = process.text
	}
	return nil
}

// object reads the word after the op, unless it names a field.
func (p *textParser) object(e *Event) {
	if len(p.words) == 0 || !p.words[0].quoted && isField(p.words[0].text) {
		return
	}
	w, _ := p.next()
	switch e.Op {
	case Fault, Heal:
		e.Fault = w.text
	case Phase, Receipt:
		e.Value = w.text
	default:
		e.Key = w.text
	}
}
