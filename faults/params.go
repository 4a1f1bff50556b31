package faults

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"locktorture/faults/link"
)

// Params are the parameters of the catalogue's faults. Each fault uses some of them; a zero
// means the fault's own choice.
//
// A new parameter is a line here: its name in scenario files, on the command line and in
// plan.json, and what to write where somebody has written a zero.
type Params struct {
	// A role or names, see RoleHolder and its like
	Client string `yaml:"client" zero:"name clients or a role, or leave it out"`
	// A role or names, or StoreNode for faults of links
	Node string `yaml:"node" zero:"name nodes or a role, or leave it out"`
	// Latency: added each way; slow-node: of every command; slicer: after every piece; slow-close: of the end; cancel-context: between cancellations, on average
	Delay time.Duration `yaml:"delay" zero:"a positive delay, or leave it out for the fault's own"`
	// Latency: ± around Delay; Constant for none
	Jitter time.Duration `yaml:"jitter"`
	// Latency: how the delays are distributed
	Spread link.Spread `yaml:"spread" zero:"uniform, exponential or heavy-tail, or leave it out"`
	// Bandwidth: bytes per second
	Rate int64 `yaml:"rate" zero:"a positive number of bytes per second, or leave it out for the fault's own (cut and partition-… let nothing pass)"`
	// Slicer: size of a piece; limit-data: of replies, before the end
	Bytes int64 `yaml:"bytes" zero:"a positive number, or leave it out for the fault's own"`
	// Latency, bandwidth: "request" or "response"; empty: both
	Direction string `yaml:"direction" zero:"request or response, or leave it out for both"`
	// Clock: how far, forward when positive
	Jump time.Duration `yaml:"jump" zero:"a clock that does not move is none that jumps; leave it out for the fault's own"`
}

// Constant is the Params.Jitter of a delay without any: zero stands for the
// fault's own choice.
const Constant time.Duration = -1

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

// Or fills p's zeros from q.
func (p Params) Or(q Params) Params {
	to, from := reflect.ValueOf(&p).Elem(), reflect.ValueOf(q)
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return p
}

// params makes a fault that embeds Params printable in full.
func (p Params) params() Params { return p }

// given lists the parameters in p that are no zero.
func (p Params) given() (names []string) {
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Tag.Get("yaml"))
		}
	}
	return names
}

// Settings names what a fault of nodes can be told beside its time. A fault that
// takes more, or less, says so by a method of its own.
func (p Params) Settings() []string { return []string{"client", "node"} }

// timing are the settings of a step that are the same for every fault.
var timing = []string{"at", "on", "by", "then", "within", "else", "for", "until", "every", "times"}

// Unused says which parameters in p the fault has no use for.
func (p Params) Unused(f Fault) error {
	settable, ok := f.(Settable)
	if !ok {
		return nil
	}
	takes := settable.Settings()
	for _, name := range p.given() {
		if !slices.Contains(takes, name) {
			return fmt.Errorf("it has no use for %s: it takes %s", name, strings.Join(append(slices.Clone(takes), timing...), ", "))
		}
	}
	return nil
}
