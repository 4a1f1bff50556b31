package checker

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

// counterfactual replays the writes as they land.
type counterfactual struct {
	j   *Judge
	out Counterfactual
}

// fenceState is a key's highest token, offered and accepted under each policy.
type fenceState struct {
	offered uint64
	top     [policies]uint64
}

func (*counterfactual) ids() []string { return []string{"counterfactual"} }
func (*counterfactual) wants() []what { return []what{landed, rejected} }
func (*counterfactual) finish()       {}

func newCounterfactual(j *Judge) *counterfactual {
	c := &counterfactual{j: j, out: Counterfactual{Policies: make([]Policy, policies)}}
	for i := range c.out.Policies {
		c.out.Policies[i].Name = policyNames[i]
	}
	return c
}

func (c *counterfactual) see(f *fact) {
	o, k := f.op, f.key
	if o.seq == 0 {
		return
	}
	late := c.late(o)
	stale := o.fence != 0 && o.fence < k.fence.offered
	if o.settled != 0 {
		stale = o.behind(o.seq)
	}
	k.fence.offered = max(k.fence.offered, o.fence)
	c.out.Writes++
	if late {
		c.out.Late++
	}
	if stale {
		c.out.Stale++
	}
	for p := range policies {
		c.offer(p, f, late, stale)
	}
}

// late says whether o was issued without a lease that held.
func (c *counterfactual) late(o *op) bool {
	return o.use != useHeld || o.grant == nil || c.j.test.zombie(o.inv, o.grant.d, c.j.from(o.grant, o.host))
}

func (c *counterfactual) offer(p int, f *fact, late, stale bool) {
	o, out, top := f.op, &c.out.Policies[p], &f.key.fence.top[p]
	accept := true
	switch p {
	case policyAtLeast:
		accept = o.fence >= *top
	case policyGreater:
		accept = o.fence > *top
	case policyDeadline:
		accept = o.grant != nil && o.inv < o.grant.d
	}
	if !accept {
		if !late && !stale {
			out.GoodRefused++
		}
		return
	}
	*top = max(*top, o.fence)
	out.Accepted++
	if late {
		out.LateAccepted++
	}
	if stale {
		out.StaleAccepted++
	}
	if (late || stale) && len(out.Witness) < policyWitnesses {
		out.Witness = append(out.Witness, o.okIdx)
	}
}
