package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Target says whom a fault affects. In a file it is an object of these fields, or, from other
// writers, any other object or a text; those are kept as they are. A nil Target is none.
type Target struct {
	Clients   []string `json:"clients,omitempty"`
	Nodes     []string `json:"nodes,omitempty"`
	Key       string   `json:"key,omitempty"`       // the lease that it was aimed at
	Direction string   `json:"direction,omitempty"` // request or response; both when empty

	source string // as it stands in the file that it was read from, on one line
}

var errNoTarget = errors.New("want an object or a text")

// NamedTarget is a target that is known by a text alone.
func NamedTarget(name string) *Target {
	return &Target{source: string(appendString(nil, name))}
}

// ParseTarget reads a target from its JSON text, an object or a string. Names
// that are numbers there become texts.
func ParseTarget(text []byte) (*Target, error) {
	var line bytes.Buffer
	switch err := json.Compact(&line, text); {
	case err != nil || line.Len() == 0 || line.Bytes()[0] != '{' && line.Bytes()[0] != '"':
		return nil, errNoTarget
	case !utf8.Valid(text):
		return nil, errNotUTF8
	}
	t := &Target{source: line.String()}
	var object struct {
		Client, Clients, Node, Nodes, Key, Direction names
	}
	if json.Unmarshal(line.Bytes(), &object) == nil {
		t.Clients = slices.Concat(object.Client, object.Clients)
		t.Nodes = slices.Concat(object.Node, object.Nodes)
		t.Key, t.Direction = object.Key.first(), object.Direction.first()
	}
	return t, nil
}

// String is the target's JSON text, as it stands in a file; "" for none.
func (t *Target) String() string {
	if t == nil {
		return ""
	}
	text, err := t.MarshalJSON()
	if err != nil {
		panic(err) // texts alone cannot fail to marshal
	}
	return string(text)
}

// MarshalJSON implements json.Marshaler.
func (t *Target) MarshalJSON() ([]byte, error) {
	if t.source != "" {
		return []byte(t.source), nil
	}
	type fields Target // without its methods
	return json.Marshal((*fields)(t))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Target) UnmarshalJSON(text []byte) error {
	read, err := ParseTarget(text)
	if err == nil {
		*t = *read
	}
	return err
}

// Name is the text of a target that is known by a text alone; "" for any other.
func (t *Target) Name() string {
	if t == nil || t.source == "" || t.source[0] != '"' {
		return ""
	}
	var name string
	_ = json.Unmarshal([]byte(t.source), &name) // it was read before
	return name
}

// names are the names that a field of a target holds: one, or a list, of texts
// or numbers.
type names []string

// UnmarshalJSON implements json.Unmarshaler.
func (n *names) UnmarshalJSON(text []byte) error {
	var value any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&value); err != nil {
		return err
	}
	all, isList := value.([]any)
	if !isList {
		all = []any{value}
	}
	for _, one := range all {
		switch one := one.(type) {
		case string:
			*n = append(*n, one)
		case json.Number:
			*n = append(*n, one.String())
		}
	}
	return nil
}

func (n names) first() string {
	if len(n) == 0 {
		return ""
	}
	return n[0]
}

// Plain describes a target that names neither clients nor nodes nor a key, such as a step whose
// moment did not come: its text, or the fields of its object, "at 2s, on renewal-due". It
// leaves out the field fault, which the caller names.
func (t *Target) Plain() string {
	if name := t.Name(); t == nil || name != "" {
		return name
	}
	in := json.NewDecoder(strings.NewReader(t.String()))
	in.UseNumber()
	return strings.Join(fieldWords(in, ""), ", ")
}

// fieldWords reads one value, and returns a phrase for each text, number or truth
// value in it, with the name of its field.
func fieldWords(in *json.Decoder, field string) (words []string) {
	token, err := in.Token()
	if err != nil {
		return nil
	}
	open, nested := token.(json.Delim)
	if !nested {
		if text := strings.TrimSpace(field + " " + fmt.Sprint(token)); token != nil && field != "fault" {
			words = append(words, text)
		}
		return words
	}
	for in.More() {
		name := field
		if open == '{' {
			key, err := in.Token()
			if err != nil {
				return words
			}
			name = fmt.Sprint(key)
		}
		words = append(words, fieldWords(in, name)...)
	}
	_, _ = in.Token() // the end of what was opened
	return words
}
