package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v4"

	"locktorture/faults"
)

// Faults is what the nemesis does: the name of a plan ("standard", "none") or
// a comma-separated list of faults, or the steps themselves.
type Faults struct {
	Plan  string
	Steps []faults.Spec
}

// Any reports whether faults are asked for at all.
func (f Faults) Any() bool { return len(f.Steps) > 0 || f.Plan != "" && f.Plan != "none" }

// UnmarshalYAML takes a text or a list of steps.
func (f *Faults) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		f.Steps = nil
		return n.Decode(&f.Plan)
	case yaml.SequenceNode:
		f.Plan = ""
		return n.Decode(&f.Steps)
	}
	return fmt.Errorf("line %d: faults is a plan's name, a comma-separated list of faults, or a list of steps", n.Line)
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (f Faults) MarshalYAML() (any, error) { return f.plain(), nil }

// MarshalJSON writes what UnmarshalYAML reads.
func (f Faults) MarshalJSON() ([]byte, error) { return json.Marshal(f.plain()) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (f *Faults) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		f.Steps = nil
		return json.Unmarshal(b, &f.Plan)
	}
	f.Plan = ""
	return json.Unmarshal(b, &f.Steps)
}

func (f Faults) plain() any {
	if len(f.Steps) > 0 {
		return f.Steps
	}
	return f.Plan
}
