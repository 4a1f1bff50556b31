package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// firstNamed is the number of the first process that goes by a name.
const firstNamed = 1000

var harnessNames = map[string]int{"nemesis": Nemesis, "store": Store, "witness": Witness, "link": Link}

// process turns a process's name into its number.
func (p *textParser) process(name string) int {
	if n, ok := harnessNames[name]; ok {
		return n
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "c")); err == nil {
		return n
	}
	n, ok := p.named[name]
	if !ok {
		n = firstNamed + len(p.named)
		p.named[name] = n
	}
	return n
}

// A setter puts a word's value into an event.
type setter func(e *Event, value string) error

var setters = map[string]setter{
	"key":     textSetter(func(e *Event) *string { return &e.Key }),
	"owner":   textSetter(func(e *Event) *string { return &e.Owner }),
	"host":    textSetter(func(e *Event) *string { return &e.Host }),
	"value":   textSetter(func(e *Event) *string { return &e.Value }),
	"err":     textSetter(func(e *Event) *string { return &e.Err }),
	"receipt": textSetter(func(e *Event) *string { return &e.Receipt }),
	"node":    textSetter(func(e *Event) *string { return &e.Node }),
	"holder":  textSetter(func(e *Event) *string { return &e.Holder }),
	"note":    textSetter(func(e *Event) *string { return &e.Note }),
	"until":   timeSetter(HasValidUntil, func(e *Event) *time.Duration { return &e.ValidUntil }),
	"due":     timeSetter(HasIntended, func(e *Event) *time.Duration { return &e.Intended }),
	"began":   timeSetter(HasBegan, func(e *Event) *time.Duration { return &e.Began }),
	"ended":   timeSetter(HasEnded, func(e *Event) *time.Duration { return &e.Ended }),
	"lag":     timeSetter(HasLag, func(e *Event) *time.Duration { return &e.Lag }),
	"fence":   countSetter(0, 1, func(e *Event) *uint64 { return &e.Fence }),
	"seq":     countSetter(HasSeq, 1, func(e *Event) *uint64 { return &e.Seq }),
	"base":    countSetter(HasBase, 0, func(e *Event) *uint64 { return &e.Base }),
	"mode":    setMode,
	"of":      setOf,
	"pttl":    setPTTL,
	"target":  setTarget,
}

func isField(word string) bool { return setters[word] != nil || word == "instant" }

// field reads one word and its value.
func (p *textParser) field(e *Event) error {
	w, _ := p.next()
	if w.text == "instant" {
		e.Instant = true
		return nil
	}
	set := setters[w.text]
	if set == nil {
		return fmt.Errorf("unknown word %q: want one of those that Parse documents", w.text)
	}
	value, ok := p.next()
	if !ok {
		return fmt.Errorf("%s has no value", w.text)
	}
	if err := set(e, value.text); err != nil {
		return fmt.Errorf("%s: %w", w.text, err)
	}
	return nil
}

func textSetter(field func(*Event) *string) setter {
	return func(e *Event, value string) error {
		*field(e) = value
		return nil
	}
}

func timeSetter(has Field, field func(*Event) *time.Duration) setter {
	return func(e *Event, value string) (err error) {
		e.Has |= has
		*field(e), err = time.ParseDuration(value)
		return err
	}
}

// countSetter sets a number that counts from least.
func countSetter(has Field, least uint64, field func(*Event) *uint64) setter {
	return func(e *Event, value string) error {
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return err
		}
		if n < least {
			return errZero
		}
		e.Has |= has
		*field(e) = n
		return nil
	}
}

func setMode(e *Event, value string) (err error) {
	var ok bool
	if e.Mode, ok = modeOf([]byte(value)); !ok {
		return fmt.Errorf("unknown mode %q: want x or r", value)
	}
	return nil
}

func setOf(e *Event, value string) (err error) {
	e.Has |= HasOf
	e.Of, err = strconv.Atoi(value)
	return err
}

func setPTTL(e *Event, value string) (err error) {
	e.Has |= HasPTTL
	e.PTTL, err = strconv.ParseInt(value, 10, 64)
	return err
}

// setTarget takes a JSON object as it stands, and any other word as a text.
func setTarget(e *Event, value string) (err error) {
	e.Target = NamedTarget(value)
	if strings.HasPrefix(value, "{") {
		e.Target, err = ParseTarget([]byte(value))
	}
	return err
}

// A textWord is one word of a line; a quoted one is never a keyword.
type textWord struct {
	text   string
	quoted bool
}

// splitWords cuts a line into words, quoted strings and JSON objects, up to
// its comment.
func splitWords(line string) (words []textWord, err error) {
	for {
		line = strings.TrimLeft(line, " \t\r")
		switch {
		case line == "" || line[0] == '#':
			return words, nil
		case line[0] == '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("broken quotes at %s", line)
			}
			text, _ := strconv.Unquote(quoted)
			words = append(words, textWord{text, true})
			line = line[len(quoted):]
		case line[0] == '{':
			in := json.NewDecoder(strings.NewReader(line))
			var object json.RawMessage
			if err := in.Decode(&object); err != nil {
				return nil, fmt.Errorf("broken object at %s", line)
			}
			words = append(words, textWord{string(object), true})
			line = line[in.InputOffset():]
		default:
			end := strings.IndexAny(line+" ", " \t\r")
			words = append(words, textWord{line[:end], false})
			line = line[end:]
		}
	}
}
