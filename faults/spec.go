package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults/watch"
)

// A Spec is one step as text: a line of a scenario file, of the command line,
// or of plan.json. Zeros stand for the fault's own choice.
type Spec struct {
	// Since the main phase began
	At time.Duration `yaml:"at"`
	// Phase lock: the first such moment after At; AtTime for none at all
	On watch.Moment `yaml:"on" zero:"name a moment, or leave it out"`
	// Of this client only
	By string `yaml:"by" zero:"name a client, or leave it out"`
	// Pause between the moment and the fault
	Then time.Duration `yaml:"then"`
	// How long to wait for the moment
	Within time.Duration `yaml:"within" zero:"say how long to wait, or leave it out to wait for the rest of the run"`
	// The moment to take when that one did not come within that time
	Else  watch.Moment `yaml:"else" zero:"name a moment, or leave it out"`
	Fault string       `yaml:"fault"`
	// How long; 0 is the fault's own choice
	For time.Duration `yaml:"for" zero:"say how long, or leave it out for the fault's own length"`
	// Healed at this moment of another client than the victim, with the same key, if it comes before that
	Until watch.Moment `yaml:"until" zero:"name a moment, or leave it out"`
	// Again and again, this far apart
	Every time.Duration `yaml:"every" zero:"say how far apart, or leave it out with times"`
	// How often; 0 is once
	Times  int `yaml:"times" zero:"1 or more, or leave it out for once"`
	Params `yaml:",inline"`
}

// Spec returns the line that would make s again. A fault that does not come
// from the catalogue shows its name alone.
func (s Step) Spec() Spec {
	spec := Spec{
		At: s.When.After, On: s.When.On, By: s.When.By, Then: s.When.Then, Within: s.When.Within, Else: s.When.Else,
		Fault: s.Fault.Name(), For: s.For, Until: s.Until,
	}
	if spec.On == "" {
		spec.On = AtTime
	}
	if f, ok := s.Fault.(interface{ params() Params }); ok {
		spec.Params = f.params()
	}
	return spec
}

// MarshalJSON prints the step's Spec.
func (s Step) MarshalJSON() ([]byte, error) { return json.Marshal(s.Spec()) }

// A setting is one field of a Spec, by its name in text.
type setting struct {
	name    string
	index   []int
	instead string // what to write in place of a zero; empty where a zero may stand
}

// settings are those of a Spec, in the order in which they are printed.
var settings = func() (all []setting) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		if !f.Anonymous {
			all = append(all, setting{name: f.Tag.Get("yaml"), index: f.Index, instead: f.Tag.Get("zero")})
		}
	}
	return all
}()

func (x setting) of(s *Spec) reflect.Value { return reflect.ValueOf(s).Elem().FieldByIndex(x.index) }

// text is what the setting looks like in text: a string or a number; ok says
// whether there is anything to print.
func (x setting) text(s *Spec) (value any, ok bool) {
	v := x.of(s)
	switch d := v.Interface().(type) {
	case time.Duration:
		if d == Constant && x.name == "jitter" {
			d = 0
		}
		return d.String(), !v.IsZero() || x.name == "at"
	}
	return v.Interface(), !v.IsZero() || x.name == "fault"
}

// parse sets the setting from text.
func (x setting) parse(s *Spec, text string) error {
	v := x.of(s)
	switch v.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		v.SetInt(int64(d))
		return err
	case int, int64:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return err
	}
	v.SetString(text)
	return nil
}

// check says what is wrong with a setting that was given as zero or empty,
// which stands for one that was not given, and keeps what can be honoured: no
// jitter.
func (x setting) check(s *Spec) error {
	zero := x.of(s).IsZero()
	switch {
	case x.name == "jitter" && s.Jitter < 0:
		return fmt.Errorf("jitter: %v: must not be negative", s.Jitter)
	case x.name == "jitter" && zero:
		s.Jitter = Constant
	case x.instead != "" && zero:
		return fmt.Errorf("%s: is zero or empty: %s", x.name, x.instead)
	}
	return nil
}

// Set sets what key names, as on a command line. A list of names takes "+"
// between, since the comma parts faults.
func (s *Spec) Set(key, value string) error {
	i := slices.IndexFunc(settings, func(x setting) bool { return x.name == key && key != "fault" })
	if i < 0 {
		var known []string
		for _, x := range settings {
			if x.name != "fault" {
				known = append(known, x.name)
			}
		}
		return fmt.Errorf("unknown setting %q%s", key, Suggest(key, known))
	}
	if err := settings[i].parse(s, strings.ReplaceAll(value, "+", ",")); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if key == "at" && s.At == 0 {
		return fmt.Errorf("at: 0s: at=1ms is the beginning; leave it out for a time drawn from the seed")
	}
	return settings[i].check(s)
}

// MarshalJSON prints s with durations as text, as a scenario file has them.
func (s Spec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for _, x := range settings {
		value, ok := x.text(&s)
		if !ok {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", x.name, text)
	}
	return append(append([]byte("{"), b.Bytes()[1:]...), '}'), nil // "at" is always there
}

// UnmarshalJSON reads what MarshalJSON prints.
func (s *Spec) UnmarshalJSON(text []byte) error {
	var read map[string]json.RawMessage
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	var name string
	_ = json.Unmarshal(read["fault"], &name) // where it is no text, its own turn tells
	*s = Spec{}
	for _, x := range settings {
		if value, ok := read[x.name]; ok {
			if err := x.unmarshal(s, value); err != nil {
				return fmt.Errorf("read fault %s: %w", name, err)
			}
		}
	}
	return nil
}

func (x setting) unmarshal(s *Spec, value json.RawMessage) error {
	if _, ok := x.of(s).Interface().(time.Duration); !ok {
		return json.Unmarshal(value, x.of(s).Addr().Interface())
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text == "" {
		return err
	}
	if err := x.parse(s, text); err != nil {
		return err
	}
	return x.check(s)
}

// MarshalYAML prints s as MarshalJSON does.
func (s Spec) MarshalYAML() (any, error) {
	line := &yaml.Node{Kind: yaml.MappingNode}
	for _, x := range settings {
		value, ok := x.text(&s)
		if !ok {
			continue
		}
		var key, node yaml.Node
		key.SetString(x.name)
		if err := node.Encode(value); err != nil {
			return nil, err
		}
		line.Content = append(line.Content, &key, &node)
	}
	return line, nil
}

// UnmarshalYAML reads a step of a scenario file.
func (s *Spec) UnmarshalYAML(n *yaml.Node) error {
	type plain Spec // without this method
	if err := n.Decode((*plain)(s)); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := slices.IndexFunc(settings, func(x setting) bool { return x.name == key.Value })
		if at < 0 {
			continue
		}
		if err := settings[at].check(s); err != nil {
			return fmt.Errorf("line %d: fault %s: %w", key.Line, s.Fault, err)
		}
	}
	return nil
}
