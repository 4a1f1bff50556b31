package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/faults/link"
)

// Params are what the faults of the catalogue can be told. Each uses those
// that mean something to it; a zero stands for the fault's own choice.
type Params struct {
	Client    string        `yaml:"client"`    // a role or names, see RoleHolder and its like
	Node      string        `yaml:"node"`      // a role or names, or StoreNode for faults of links
	Delay     time.Duration `yaml:"delay"`     // latency: added each way; slow-node: of every command; slicer: after every piece; slow-close: of the end; cancel-context: between cancellations, on average
	Jitter    time.Duration `yaml:"jitter"`    // latency: ± around Delay; Constant for none
	Spread    link.Spread   `yaml:"spread"`    // latency: how the delays are distributed
	Rate      int64         `yaml:"rate"`      // bandwidth: bytes per second
	Bytes     int64         `yaml:"bytes"`     // slicer: size of a piece; limit-data: of replies, before the end
	Direction string        `yaml:"direction"` // latency, bandwidth: "request" or "response"; empty: both
	Jump      time.Duration `yaml:"jump"`      // clock: how far, forward when positive
}

// Toward is the way that Direction names; empty for both, and for one that is
// unknown.
func (p Params) Toward() link.Direction {
	switch p.Direction {
	case "request":
		return link.Up
	case "response":
		return link.Down
	}
	return ""
}

// params makes a fault that embeds Params printable in full.
func (p Params) params() Params { return p }

// Or fills p's zeros from q.
func (p Params) Or(q Params) Params {
	return Params{
		Client:    cmp.Or(p.Client, q.Client),
		Node:      cmp.Or(p.Node, q.Node),
		Delay:     cmp.Or(p.Delay, q.Delay),
		Jitter:    cmp.Or(p.Jitter, q.Jitter),
		Spread:    cmp.Or(p.Spread, q.Spread),
		Rate:      cmp.Or(p.Rate, q.Rate),
		Bytes:     cmp.Or(p.Bytes, q.Bytes),
		Direction: cmp.Or(p.Direction, q.Direction),
		Jump:      cmp.Or(p.Jump, q.Jump),
	}
}

// Constant is the Params.Jitter of a delay without any: zero stands for the
// fault's own choice.
const Constant time.Duration = -1

// Settings names what a fault of nodes can be told beside its time. A fault that
// takes more, or less, says so by a method of its own.
func (p Params) Settings() []string { return []string{"client", "node"} }

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

// Unused says which settings of p the fault has no use for.
func (p Params) Unused(f Fault) error {
	takes, ok := f.(Settable)
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
