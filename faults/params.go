package faults

import (
	"cmp"
	"fmt"
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

// params makes a fault that embeds Params printable in full.
func (p Params) params() Params { return p }

// or fills p's zeros from q.
func (p Params) or(q Params) Params {
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

// needLinks says whether t has links to hurt.
func needLinks(t *Target) error {
	if t.Link == nil {
		return fmt.Errorf("needs links between clients and nodes, which this run does without")
	}
	return nil
}

// needClients says whether t has clients to hurt.
func needClients(t *Target) error {
	if len(t.Clients) == 0 {
		return fmt.Errorf("needs clients that can be paused and crashed; none are given")
	}
	return nil
}

// needNodes says whether every node of t can do T, and who could.
func needNodes[T any](t *Target, what, who string) error {
	for _, n := range t.Testbed.Nodes() {
		if _, ok := n.(T); !ok {
			return fmt.Errorf("%s testbed: %s cannot be %s; %s can", t.Testbed.Name(), n.Name(), what, who)
		}
	}
	return nil
}

// few prints names, cut short when there are many.
func few(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s … %s (%d)", names[0], names[len(names)-1], len(names))
	}
	return strings.Join(names, ",")
}

func round(d time.Duration) time.Duration {
	if d > 100*time.Millisecond {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

func join(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}
