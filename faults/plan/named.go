package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/watch"
)

// Named makes a plan of faults that a person asked for. Those with a time of
// their own keep it; the others are repeated by turns, one after another,
// until the main phase is full. A fault that t cannot suffer is an error that
// names who can.
func Named(entries map[string]catalogue.Entry, specs []faults.Spec, main time.Duration, t *faults.Target, rng *rand.Rand) (Plan, error) {
	asked, err := Build(entries, specs, t.TTL)
	if err != nil {
		return Plan{}, err
	}
	if err := errors.Join(asked.Check(t), FitNamed(entries, specs, main, t)); err != nil {
		return Plan{}, err
	}
	fixed, loose := parted(entries, specs, t.TTL)
	lead, length := window(t, main)
	gap := afterNodes(entries, t, t.TTL/2)
	l := sequence{specs: repeat(loose, length, gap), gap: gap}
	laid, _ := l.lay(length, rng)
	for i := range laid {
		laid[i].At += lead
	}
	steps, err := Build(entries, append(fixed, roundAt(laid)...), t.TTL)
	return Plan{Steps: steps, Asked: len(asked)}, err
}

// FitNamed says which of the faults that a person asked for cannot take place
// in a main phase of a given length, or name nobody. It asks nothing of t's
// testbed but its nodes' names.
func FitNamed(entries map[string]catalogue.Entry, specs []faults.Spec, main time.Duration, t *faults.Target) error {
	asked, err := Build(entries, specs, t.TTL)
	if err != nil {
		return err
	}
	fixed, loose := parted(entries, specs, t.TTL)
	timed, err := Build(entries, fixed, t.TTL)
	if err != nil {
		return err
	}
	return errors.Join(checkNames(asked, t), Fit(timed, main, t), overfull(t, loose, afterNodes(entries, t, t.TTL/2), main))
}

// parted parts specs into those with a time of their own and the others, which
// get their length.
func parted(entries map[string]catalogue.Entry, specs []faults.Spec, ttl time.Duration) (fixed, loose []faults.Spec) {
	for _, s := range specs {
		if s.At > 0 || s.Times > 0 {
			fixed = append(fixed, s)
			continue
		}
		if s.For == 0 {
			s.For = entries[s.Fault].For(ttl)
		}
		loose = append(loose, s)
	}
	return fixed, loose
}

// repeat lists specs by turns until they fill the window, each once at least.
func repeat(specs []faults.Spec, window time.Duration, gap func(faults.Spec) time.Duration) []faults.Spec {
	var all []faults.Spec
	var used time.Duration
	for i := 0; len(specs) > 0; i++ {
		s := specs[i%len(specs)]
		used += s.For + gap(s)
		if i >= len(specs) && used > window {
			break
		}
		all = append(all, s)
	}
	return all
}

// Forgetful is the plan against locks that trust a quorum which can forget: a
// client is cut off from as many nodes as the quorum can spare; when it has
// been granted a key it stands still, within its lease, and one of the nodes
// that made up its quorum loses its memory. Another client then finds a quorum
// among the rest. The compound is repeated while the main phase lasts. late
// keeps the node down until the lease has ended, which is the remedy.
func Forgetful(main time.Duration, late bool, t *faults.Target) (Plan, error) {
	if err := needMinority(t, "forgetful quorum"); err != nil {
		return Plan{}, err
	}
	slot := 9*t.TTL/4 + t.Quarantine
	kill := "kill-empty"
	if late {
		kill = "kill-late"
	}
	var specs []faults.Spec
	for i := 1; time.Duration(i)*slot-t.Quarantine <= main; i++ {
		at := t.TTL/8 + time.Duration(i-1)*slot
		victim, asleep := fmt.Sprintf("victim-%d", i), fmt.Sprintf("asleep-%d", i)
		specs = append(specs,
			faults.Spec{At: at, Fault: "cut", For: 2 * t.TTL, Params: faults.Params{Client: "any as " + victim, Node: faults.RoleMinority}},
			faults.Spec{At: at, Fault: "pause-client", On: watch.AcquireReplied, By: victim, Within: t.TTL, For: 3 * t.TTL / 4, Params: faults.Params{Client: victim + " as " + asleep}},
			faults.Spec{At: at, Fault: kill, On: faults.Bound, By: asleep, Within: 2 * t.TTL, Params: faults.Params{Client: asleep, Node: faults.RoleSwing}},
		)
	}
	if len(specs) == 0 {
		return Plan{}, tooShort("forgetful quorum", main, slot-t.Quarantine, t.TTL)
	}
	steps, err := Build(catalogue.All(), specs, t.TTL)
	if err == nil {
		err = steps.Check(t)
	}
	return Plan{Steps: steps}, err
}

func tooShort(plan string, main, takes, ttl time.Duration) error {
	return &MisfitError{
		Fault: plan, Why: fmt.Sprintf("a duration of %v is too short: one attempt takes %v at a TTL of %v", main, takes, ttl),
		Would: fmt.Sprintf("--duration %v would do", ceil(takes)),
	}
}

// needMinority refuses a plan that cuts off nodes where none can be spared.
func needMinority(t *faults.Target, plan string) error {
	if n := len(t.Testbed.Nodes()); n <= t.Quorum {
		return fmt.Errorf("%s: %d nodes and a quorum of %d: no node to cut off", plan, n, t.Quorum)
	}
	return nil
}

// Restarts is the plan against locks that trust single nodes to remember:
// nodes come back empty at once, one after another at random, and each fourth
// time a quorum of them together. All the while a minority of nodes is cut off
// from a client, another one each TTL.
func Restarts(main time.Duration, t *faults.Target, rng *rand.Rand) (Plan, error) {
	if err := needMinority(t, "restarts"); err != nil {
		return Plan{}, err
	}
	round, first := t.Quarantine+t.TTL, t.TTL/8
	if first+round > main {
		return Plan{}, tooShort("restarts", main, first+round, t.TTL)
	}
	var specs []faults.Spec
	for at := first; at+t.TTL <= main; at += t.TTL {
		specs = append(specs, faults.Spec{At: at, Fault: "cut", For: t.TTL - t.TTL/8, Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}})
	}
	for i, at := 1, first; at+round <= main; i, at = i+1, at+round {
		node := []string{faults.RoleAny, faults.RoleSwing}[rng.IntN(2)]
		if i%4 == 0 {
			node = faults.RoleMajority
		}
		specs = append(specs, faults.Spec{At: at, Fault: "kill-empty", Params: faults.Params{Node: node}})
	}
	steps, err := Build(catalogue.All(), specs, t.TTL)
	if err == nil {
		err = steps.Check(t)
	}
	return Plan{Steps: steps}, err
}
