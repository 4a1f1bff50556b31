package faults

import (
	"encoding/json"
	"fmt"
	"time"

	"locktorture/faults/link"
)

// specText is a Spec as plan.json and scenario files show it.
type specText struct {
	At        string      `json:"at" yaml:"at"`
	On        Moment      `json:"on,omitempty" yaml:"on,omitempty"`
	By        string      `json:"by,omitempty" yaml:"by,omitempty"`
	Then      string      `json:"then,omitempty" yaml:"then,omitempty"`
	Within    string      `json:"within,omitempty" yaml:"within,omitempty"`
	Fault     string      `json:"fault" yaml:"fault"`
	For       string      `json:"for,omitempty" yaml:"for,omitempty"`
	Every     string      `json:"every,omitempty" yaml:"every,omitempty"`
	Times     int         `json:"times,omitempty" yaml:"times,omitempty"`
	Client    string      `json:"client,omitempty" yaml:"client,omitempty"`
	Node      string      `json:"node,omitempty" yaml:"node,omitempty"`
	Delay     string      `json:"delay,omitempty" yaml:"delay,omitempty"`
	Jitter    string      `json:"jitter,omitempty" yaml:"jitter,omitempty"`
	Spread    link.Spread `json:"spread,omitempty" yaml:"spread,omitempty"`
	Rate      int64       `json:"rate,omitempty" yaml:"rate,omitempty"`
	Bytes     int64       `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	Direction string      `json:"direction,omitempty" yaml:"direction,omitempty"`
	Jump      string      `json:"jump,omitempty" yaml:"jump,omitempty"`
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
