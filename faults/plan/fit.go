package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
)

// A MisfitError says which fault that was asked for cannot take place, why, and
// what would do.
type MisfitError struct {
	Fault string
	Why   string
	Would string
}

func (e *MisfitError) Error() string {
	return fmt.Sprintf("fault %s: %s; %s", e.Fault, e.Why, e.Would)
}

// Fit says which steps of s cannot take place as they were asked for, of a main
// phase of a given length on t: those that begin or end beyond it, and those
// that name nobody.
func Fit(s faults.Schedule, main time.Duration, t *faults.Target) error {
	errs := []error{checkNames(s, t)}
	for i, step := range s {
		errs = append(errs, fit(step, main), collision(s, i))
	}
	return errors.Join(errs...)
}

// checkNames says which steps of s name nobody.
func checkNames(s faults.Schedule, t *faults.Target) error {
	bound := binds(s)
	var errs []error
	for _, step := range s {
		errs = append(errs, checkVictims(step, t, bound))
	}
	return errors.Join(errs...)
}

func fit(s faults.Step, main time.Duration) error {
	ends := s.When.After + max(0, s.When.Then) + s.For
	if ends <= main && s.When.After < main {
		return nil
	}
	return &MisfitError{
		Fault: s.Fault.Name(), Why: fmt.Sprintf("at %v for %v it does not fit into a duration of %v", s.When.After, s.For, main),
		Would: fmt.Sprintf("--duration %v would do", ceil(max(ends, s.When.After+time.Millisecond))),
	}
}

// ceil rounds up to what is easy to type.
func ceil(d time.Duration) time.Duration {
	const unit = 100 * time.Millisecond
	return (d + unit - 1) / unit * unit
}

// binds lists the names that steps give to their victims.
func binds(s faults.Schedule) []string {
	var all []string
	for _, step := range s {
		p := step.Spec().Params
		for _, text := range []string{p.Client, p.Node} {
			if _, name := faults.SplitRole(text, ""); name != "" {
				all = append(all, name)
			}
		}
	}
	return all
}

// checkVictims checks whom a step names: clients, nodes, roles, and names that some
// step binds.
func checkVictims(s faults.Step, t *faults.Target, bound []string) error {
	p := s.Spec().Params
	clients := append(phrase.Names(t.Clients), bound...)
	nodes := append(phrase.Names(t.Testbed.Nodes()), bound...)
	_, onLinks := s.Fault.(faults.LinkFault)
	if onLinks {
		nodes = append(nodes, faults.StoreNode)
	}
	if len(t.Clients) > 0 {
		roles := append([]string{faults.RoleAny, faults.RoleAll}, faults.OneClient()...)
		if err := known(s, "client", p.Client, roles, clients); err != nil {
			return err
		}
		if err := knownOne(s, "by", s.When.By, clients); err != nil {
			return err
		}
	}
	tapped, _ := faults.ParseTap(s.When.On)
	if err := knownOne(s, "on", tapped.Node, append(nodes, faults.StoreNode)); err != nil {
		return err
	}
	roles := []string{faults.RoleAny, faults.RoleAll, faults.RoleMinority, faults.RoleMajority, faults.RoleSwing, faults.RoleMaster}
	if faults.Tapped(s.When.On) {
		roles = append(roles, faults.RoleThat)
	}
	if err := known(s, "node", p.Node, roles, nodes); err != nil {
		return err
	}
	role, _ := faults.SplitRole(p.Node, "")
	if n := len(t.Testbed.Nodes()); role == faults.RoleMinority && n <= t.Quorum {
		return &MisfitError{s.Fault.Name(), fmt.Sprintf("node minority: of %d with a quorum of %d none can be spared", n, t.Quorum), "name one, such as node=n1, or use more nodes"}
	}
	return nil
}

// known says what of a list of names, or a role, does not exist.
func known(s faults.Step, what, text string, roles, some []string) error {
	role, _ := faults.SplitRole(text, "")
	if role == "" || slices.Contains(roles, role) {
		return nil
	}
	for _, name := range faults.SplitNames(role) {
		if !slices.Contains(some, name) {
			return unknown(s, what, name, append(slices.Clone(roles), phrase.Few(some)))
		}
	}
	return nil
}

// knownOne says so of a text that must be one name, as it is.
func knownOne(s faults.Step, what, text string, some []string) error {
	if text == "" || slices.Contains(some, text) {
		return nil
	}
	return unknown(s, what, text, []string{phrase.Few(some)})
}

func unknown(s faults.Step, what, name string, there []string) error {
	return &MisfitError{
		Fault: s.Fault.Name(), Why: fmt.Sprintf("%s %q does not exist", what, name),
		Would: "there are " + strings.Join(there, ", "),
	}
}

// collision says which earlier step has the victim that step i names, at a time
// at which only one of both can have it.
func collision(s faults.Schedule, i int) error {
	for _, other := range s[:i] {
		name := shareVictim(other, s[i])
		to := other.When.After + other.For
		if name == "" || s[i].When.On != "" || other.When.On != "" || s[i].When.After >= to {
			continue
		}
		return &MisfitError{
			Fault: s[i].Fault.Name(), Why: fmt.Sprintf("at %v %s has %s until %v", s[i].When.After, other.Fault.Name(), name, to),
			Would: fmt.Sprintf("at=%v would do", to),
		}
	}
	return nil
}

// shareVictim returns a node or client that both steps name and that only one
// of them can have at a time.
func shareVictim(a, b faults.Step) string {
	for _, x := range claims(a) {
		if slices.Contains(claims(b), x) {
			return x
		}
	}
	return ""
}

// claims lists the victims that a step names and takes for itself.
func claims(s faults.Step) []string {
	claimer, ok := s.Fault.(faults.Claimer)
	if !ok {
		return nil
	}
	role, _ := faults.SplitRole(claimer.Claims(), "")
	if slices.Contains(faults.OneClient(), role) || slices.Contains([]string{"", faults.RoleAny, faults.RoleAll, faults.RoleMinority, faults.RoleMajority, faults.RoleSwing, faults.RoleMaster, faults.RoleThat, faults.StoreNode}, role) {
		return nil
	}
	return faults.SplitNames(role)
}

// window is the part of a main phase in which faults without a time of their
// own are laid.
func window(t *faults.Target, main time.Duration) (lead, length time.Duration) {
	lead, tail := min(t.TTL/2, main/10), min(t.TTL, main/5)
	return lead, main - tail - lead
}

// enough is the shortest main phase whose window is as long as need.
func enough(t *faults.Target, need time.Duration) time.Duration {
	main := ceil(need)
	for {
		if _, length := window(t, main); length >= need {
			return main
		}
		main += 100 * time.Millisecond
	}
}

// overfull says which of the faults without a time of their own do not fit, one
// after another.
func overfull(t *faults.Target, specs []faults.Spec, gap func(faults.Spec) time.Duration, main time.Duration) error {
	var need time.Duration
	var over []string
	_, length := window(t, main)
	for _, s := range specs {
		if need += s.For + gap(s); need > length {
			over = append(over, s.Fault)
		}
	}
	if len(over) == 0 {
		return nil
	}
	return &MisfitError{
		Fault: strings.Join(over, ", "),
		Why:   fmt.Sprintf("with the time to recover, %v of faults do not fit into a duration of %v", need, main),
		Would: fmt.Sprintf("--duration %v would do", enough(t, need)),
	}
}
