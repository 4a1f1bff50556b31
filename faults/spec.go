package faults

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// A Spec is one step as text: a line of a scenario file, of the command line,
// or of plan.json. Zeros stand for the fault's own choice.
type Spec struct {
	At     time.Duration `yaml:"at"`     // since the main phase began
	On     watch.Moment  `yaml:"on"`     // phase lock: the first such moment after At; "time" for none at all
	By     string        `yaml:"by"`     // of this client only
	Then   time.Duration `yaml:"then"`   // pause between the moment and the fault
	Within time.Duration `yaml:"within"` // how long to wait for the moment
	Fault  string        `yaml:"fault"`
	For    time.Duration `yaml:"for"`   // how long; 0 is the fault's own choice
	Every  time.Duration `yaml:"every"` // again and again, this far apart
	Times  int           `yaml:"times"` // how often; 0 is once
	Params `yaml:",inline"`
}

// specText is a Spec as plan.json and scenario files show it.
type specText struct {
	At        string       `json:"at" yaml:"at"`
	On        watch.Moment `json:"on,omitempty" yaml:"on,omitempty"`
	By        string       `json:"by,omitempty" yaml:"by,omitempty"`
	Then      string       `json:"then,omitempty" yaml:"then,omitempty"`
	Within    string       `json:"within,omitempty" yaml:"within,omitempty"`
	Fault     string       `json:"fault" yaml:"fault"`
	For       string       `json:"for,omitempty" yaml:"for,omitempty"`
	Every     string       `json:"every,omitempty" yaml:"every,omitempty"`
	Times     int          `json:"times,omitempty" yaml:"times,omitempty"`
	Client    string       `json:"client,omitempty" yaml:"client,omitempty"`
	Node      string       `json:"node,omitempty" yaml:"node,omitempty"`
	Delay     string       `json:"delay,omitempty" yaml:"delay,omitempty"`
	Jitter    string       `json:"jitter,omitempty" yaml:"jitter,omitempty"`
	Spread    link.Spread  `json:"spread,omitempty" yaml:"spread,omitempty"`
	Rate      int64        `json:"rate,omitempty" yaml:"rate,omitempty"`
	Bytes     int64        `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	Direction string       `json:"direction,omitempty" yaml:"direction,omitempty"`
	Jump      string       `json:"jump,omitempty" yaml:"jump,omitempty"`
}

func spanText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func jitterText(d time.Duration) string {
	if d == Constant {
		return "0s"
	}
	return spanText(d)
}

// MarshalJSON prints s with durations as text, as a scenario file has them.
func (s Spec) MarshalJSON() ([]byte, error) { return json.Marshal(s.text()) }

func (s Spec) text() specText {
	return specText{
		At: s.At.String(), On: s.On, By: s.By, Then: spanText(s.Then), Within: spanText(s.Within),
		Fault: s.Fault, For: spanText(s.For), Every: spanText(s.Every), Times: s.Times,
		Client: s.Client, Node: s.Node, Delay: spanText(s.Delay), Jitter: jitterText(s.Jitter),
		Spread: s.Spread, Rate: s.Rate, Bytes: s.Bytes, Direction: s.Direction, Jump: spanText(s.Jump),
	}
}

// UnmarshalJSON reads what MarshalJSON prints.
func (s *Spec) UnmarshalJSON(text []byte) error {
	var x specText
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	*s = Spec{On: x.On, By: x.By, Fault: x.Fault, Times: x.Times, Params: Params{Client: x.Client, Node: x.Node, Spread: x.Spread, Rate: x.Rate, Bytes: x.Bytes, Direction: x.Direction}}
	for _, span := range []struct {
		key, text string
		to        *time.Duration
	}{
		{"at", x.At, &s.At}, {"then", x.Then, &s.Then}, {"within", x.Within, &s.Within}, {"for", x.For, &s.For}, {"every", x.Every, &s.Every},
		{"delay", x.Delay, &s.Delay}, {"jitter", x.Jitter, &s.Jitter}, {"jump", x.Jump, &s.Jump},
	} {
		if span.text == "" {
			continue
		}
		d, err := time.ParseDuration(span.text)
		if err != nil {
			return fmt.Errorf("read fault %s: %w", x.Fault, err)
		}
		*span.to = d
		if err := s.explicit(span.key); err != nil {
			return fmt.Errorf("read fault %s: %w", x.Fault, err)
		}
	}
	return nil
}

// Spec returns the line that would make s again. A fault that does not come
// from the catalogue shows its name alone.
func (s Step) Spec() Spec {
	spec := Spec{
		At: s.When.After, On: s.When.On, By: s.When.By, Then: s.When.Then, Within: s.When.Within,
		Fault: s.Fault.Name(), For: s.For,
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

// explicit says what is wrong with a setting that was given as zero or empty,
// which stands for one that was not given, and keeps what can be honoured: no
// jitter.
func (s *Spec) explicit(key string) error {
	if key == "jitter" && s.Jitter < 0 {
		return fmt.Errorf("jitter: %v: must not be negative", s.Jitter)
	}
	instead := map[string]struct {
		zero  bool
		right string
	}{
		"for":       {s.For == 0, "say how long, or leave it out for the fault's own length"},
		"within":    {s.Within == 0, "say how long to wait, or leave it out to wait for the rest of the run"},
		"every":     {s.Every == 0, "say how far apart, or leave it out with times"},
		"times":     {s.Times == 0, "1 or more, or leave it out for once"},
		"delay":     {s.Delay == 0, "a positive delay, or leave it out for the fault's own"},
		"rate":      {s.Rate == 0, "a positive number of bytes per second, or leave it out for the fault's own (cut and partition-… let nothing pass)"},
		"bytes":     {s.Bytes == 0, "a positive number, or leave it out for the fault's own"},
		"jump":      {s.Jump == 0, "a clock that does not move is none that jumps; leave it out for the fault's own"},
		"on":        {s.On == "", "name a moment, or leave it out"},
		"by":        {s.By == "", "name a client, or leave it out"},
		"client":    {s.Client == "", "name clients or a role, or leave it out"},
		"node":      {s.Node == "", "name nodes or a role, or leave it out"},
		"spread":    {s.Spread == "", "uniform, exponential or heavy-tail, or leave it out"},
		"direction": {s.Direction == "", "request or response, or leave it out for both"},
	}
	if key == "jitter" && s.Jitter == 0 {
		s.Jitter = Constant
	}
	if wrong, ok := instead[key]; ok && wrong.zero {
		return fmt.Errorf("%s: is zero or empty: %s", key, wrong.right)
	}
	return nil
}

// UnmarshalYAML reads a step of a scenario file.
func (s *Spec) UnmarshalYAML(n *yaml.Node) error {
	type fields Spec // without this method
	if err := n.Decode((*fields)(s)); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := s.explicit(n.Content[i].Value); err != nil {
			return fmt.Errorf("line %d: fault %s: %w", n.Content[i].Line, s.Fault, err)
		}
	}
	return nil
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (s Spec) MarshalYAML() (any, error) { return s.text(), nil }

// Set sets the field that key names. A list of names takes "+" between, since
// the comma parts faults.
func (s *Spec) Set(key, value string) (err error) {
	times := map[string]*time.Duration{
		"at": &s.At, "then": &s.Then, "within": &s.Within, "for": &s.For, "every": &s.Every,
		"delay": &s.Delay, "jitter": &s.Jitter, "jump": &s.Jump,
	}
	words := map[string]*string{"on": (*string)(&s.On), "by": &s.By, "client": &s.Client, "node": &s.Node, "spread": (*string)(&s.Spread), "direction": &s.Direction}
	switch {
	case times[key] != nil:
		*times[key], err = time.ParseDuration(value)
	case words[key] != nil:
		*words[key] = strings.ReplaceAll(value, "+", ",")
	case key == "rate":
		s.Rate, err = strconv.ParseInt(value, 10, 64)
	case key == "bytes":
		s.Bytes, err = strconv.ParseInt(value, 10, 64)
	case key == "times":
		s.Times, err = strconv.Atoi(value)
	default:
		known := []string{"at", "on", "by", "then", "within", "for", "every", "times", "client", "node", "delay", "jitter", "spread", "rate", "bytes", "direction", "jump"}
		return fmt.Errorf("unknown setting %q%s", key, Suggest(key, known))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if key == "at" && s.At == 0 {
		return fmt.Errorf("at: 0s: at=1ms is the beginning; leave it out for a time drawn from the seed")
	}
	return s.explicit(key)
}
