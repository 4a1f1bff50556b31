package opinion

import (
	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
)

// A Counterfactual says what other stores would have made of the same writes.
// The writes are those that were really offered, in the store's own order; a
// client that had been refused might have gone on differently.
type Counterfactual struct {
	Writes   int      `json:"writes"` // offered: accepted or rejected, with a sequence number
	Late     int      `json:"late"`   // of those, issued without a lease that held
	Stale    int      `json:"stale"`  // of those, behind a write with a newer token
	Policies []Policy `json:"policies"`
}

// A Policy is one way in which a store may check a write.
type Policy struct {
	Name          string `json:"policy"`            // none, at-least, greater, deadline
	Accepted      int    `json:"accepted"`          //
	LateAccepted  int    `json:"late_accepted"`     // issued without a lease that held, and let through
	StaleAccepted int    `json:"stale_accepted"`    // behind a newer token, and let through
	GoodRefused   int    `json:"good_refused"`      // neither late nor stale, and refused all the same
	Witness       []int  `json:"witness,omitempty"` // the first writes wrongly let through
}

// witnessed is how many wrongly accepted writes a Policy names.
const policyWitnesses = 3

// The policies, in the order of Counterfactual.Policies.
const (
	policyNone     = iota // every write is accepted
	policyAtLeast         // a token not lower than the highest one accepted
	policyGreater         // a token higher than the highest one accepted
	policyDeadline        // a write issued before its lease's deadline
	policies
)

var policyNames = [policies]string{"none", "at-least", "greater", "deadline"}

// Replay replays the writes as they land.
type Replay struct {
	j    *rule.Env
	Out  Counterfactual
	keys rule.Table[fenceState]
}

// fenceState is a key's highest token, offered and accepted under each policy.
type fenceState struct {
	offered uint64
	top     [policies]uint64
}

func (*Replay) IDs() []string        { return []string{"counterfactual"} }
func (*Replay) Wants() []ledger.Kind { return []ledger.Kind{ledger.Landed, ledger.Rejected} }
func (*Replay) Finish()              {}

func NewReplay(j *rule.Env) *Replay {
	c := &Replay{j: j, Out: Counterfactual{Policies: make([]Policy, policies)}}
	for i := range c.Out.Policies {
		c.Out.Policies[i].Name = policyNames[i]
	}
	return c
}

func (c *Replay) Observe(f *ledger.Fact) {
	o, k := f.Op, c.keys.At(f.Key.No)
	if o.Seq == 0 {
		return
	}
	late := c.late(o)
	stale := o.Fence != 0 && o.Fence < k.offered
	if o.Settled != 0 {
		stale = o.Behind(o.Seq)
	}
	k.offered = max(k.offered, o.Fence)
	c.Out.Writes++
	if late {
		c.Out.Late++
	}
	if stale {
		c.Out.Stale++
	}
	for p := range policies {
		c.offer(p, f, late, stale)
	}
}

// late says whether o was issued without a lease that held.
func (c *Replay) late(o *ledger.Op) bool {
	return o.Use != ledger.UseHeld || o.Grant == nil || o.Inv-c.j.From(o.Grant, o.By()) > o.Grant.Deadline
}

func (c *Replay) offer(p int, f *ledger.Fact, late, stale bool) {
	o, out, top := f.Op, &c.Out.Policies[p], &c.keys.At(f.Key.No).top[p]
	accept := true
	switch p {
	case policyAtLeast:
		accept = o.Fence >= *top
	case policyGreater:
		accept = o.Fence > *top
	case policyDeadline:
		accept = o.Grant != nil && o.Inv < o.Grant.Deadline
	}
	if !accept {
		if !late && !stale {
			out.GoodRefused++
		}
		return
	}
	*top = max(*top, o.Fence)
	out.Accepted++
	if late {
		out.LateAccepted++
	}
	if stale {
		out.StaleAccepted++
	}
	if (late || stale) && len(out.Witness) < policyWitnesses {
		out.Witness = append(out.Witness, o.OKIdx)
	}
}
