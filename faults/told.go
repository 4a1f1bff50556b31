package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults/link"
)

// Constant is the Params.Jitter of a delay without any: zero stands for the
// fault's own choice.
const Constant time.Duration = -1

// Settings names what a fault of nodes can be told beside its time. A fault that
// takes more, or less, says so by a method of its own.
func (p Params) Settings() []string { return []string{"client", "node"} }

// Settings names what the kind of impairment can be told.
func (f roadFault) Settings() []string {
	of := map[link.Kind][]string{
		link.Delay:     {"delay", "jitter", "spread", "direction"},
		link.Bandwidth: {"rate", "direction"},
		link.Slicer:    {"bytes", "delay"},
		link.LimitData: {"bytes"},
		link.SlowClose: {"delay"},
	}
	return append(f.Params.Settings(), of[f.kind]...)
}

// Settings names what the commands of the fault can be told.
func (f serverFault) Settings() []string { return append(f.Params.Settings(), f.more...) }

// Settings adds how far the clock moves.
func (f clockJump) Settings() []string { return append(f.Params.Settings(), "jump") }

// Settings adds how far the clock moves in a TTL.
func (f clockDrift) Settings() []string { return append(f.Params.Settings(), "jump") }

// Settings leaves out the node: the client stands still for all of them.
func (f pauseClient) Settings() []string { return []string{"client"} }

// Settings leaves out the node: the client ends for all of them.
func (f crashClient) Settings() []string { return []string{"client"} }

// Settings adds the time between cancellations.
func (f cancelContext) Settings() []string { return []string{"client", "delay"} }

// Settings adds how far the clock moves.
func (f clientClock) Settings() []string { return []string{"client", "jump"} }

// Settings leaves out the node.
func (f clientClockStuck) Settings() []string { return []string{"client"} }

// Settings is empty: every client of the process suffers.
func (f starveCPU) Settings() []string { return nil }

// timing are the settings of a step that are the same for every fault.
var timing = []string{"at", "on", "by", "then", "within", "for", "every", "times"}

// told lists the settings in p that are no zero.
func (p Params) told() (all []string) {
	for _, s := range []struct {
		name string
		told bool
	}{
		{"client", p.Client != ""}, {"node", p.Node != ""}, {"delay", p.Delay != 0}, {"jitter", p.Jitter != 0}, {"spread", p.Spread != ""},
		{"rate", p.Rate != 0}, {"bytes", p.Bytes != 0}, {"direction", p.Direction != ""}, {"jump", p.Jump != 0},
	} {
		if s.told {
			all = append(all, s.name)
		}
	}
	return all
}

// unused says which settings of p the fault has no use for.
func (p Params) unused(f Fault) error {
	takes, ok := f.(interface{ Settings() []string })
	if !ok {
		return nil
	}
	settings := takes.Settings()
	for _, name := range p.told() {
		if !slices.Contains(settings, name) {
			return fmt.Errorf("it has no use for %s: it takes %s", name, strings.Join(append(slices.Clone(settings), timing...), ", "))
		}
	}
	return nil
}

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
