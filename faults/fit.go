package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
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
func (s Schedule) Fit(main time.Duration, t *Target) error {
	errs := []error{s.name(t)}
	for i, step := range s {
		errs = append(errs, step.fit(main), s.collision(i))
	}
	return errors.Join(errs...)
}

// name says which steps of s name nobody.
func (s Schedule) name(t *Target) error {
	bound := s.binds()
	var errs []error
	for _, step := range s {
		errs = append(errs, step.whom(t, bound))
	}
	return errors.Join(errs...)
}

func (s Step) fit(main time.Duration) error {
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
func (s Schedule) binds() []string {
	var all []string
	for _, step := range s {
		p := step.Spec().Params
		for _, text := range []string{p.Client, p.Node} {
			if _, name := splitRole(text, ""); name != "" {
				all = append(all, name)
			}
		}
	}
	return all
}

// whom checks whom a step names: clients, nodes, roles, and names that some
// step binds.
func (s Step) whom(t *Target, bound []string) error {
	p := s.Spec().Params
	clients := append(names(t.Clients), bound...)
	nodes := append(names(t.Testbed.Nodes()), bound...)
	_, onLinks := s.Fault.(interface{ hurtsLinks() })
	if onLinks {
		nodes = append(nodes, StoreNode)
	}
	if len(t.Clients) > 0 {
		roles := []string{RoleAny, RoleAll, RoleHolder, RoleWaiter}
		if err := s.known("client", p.Client, roles, clients); err != nil {
			return err
		}
		if err := s.known("by", s.When.By, nil, clients); err != nil {
			return err
		}
	}
	tapped, isTapped := s.When.On.tap()
	if err := s.known("on", tapped.node, nil, append(nodes, StoreNode)); err != nil {
		return err
	}
	roles := []string{RoleAny, RoleAll, RoleMinority, RoleMajority, RoleSwing}
	if isTapped {
		roles = append(roles, RoleThat)
	}
	if err := s.known("node", p.Node, roles, nodes); err != nil {
		return err
	}
	role, _ := splitRole(p.Node, "")
	if n := len(t.Testbed.Nodes()); role == RoleMinority && n <= t.Quorum {
		return &MisfitError{s.Fault.Name(), fmt.Sprintf("node minority: of %d with a quorum of %d none can be spared", n, t.Quorum), "name one, such as node=n1, or use more nodes"}
	}
	return nil
}

// known says what of a list of names, or a role, does not exist.
func (s Step) known(what, text string, roles, some []string) error {
	role, _ := splitRole(text, "")
	if role == "" || slices.Contains(roles, role) {
		return nil
	}
	for _, name := range strings.Split(role, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(some, name) {
			return &MisfitError{
				Fault: s.Fault.Name(), Why: fmt.Sprintf("%s %q does not exist", what, name),
				Would: "there are " + strings.Join(append(slices.Clone(roles), few(some)), ", "),
			}
		}
	}
	return nil
}

// collision says which earlier step has the victim that step i names, at a time
// at which only one of both can have it.
func (s Schedule) collision(i int) error {
	for _, other := range s[:i] {
		name := shareVictim(other, s[i])
		from, to := other.When.After, other.When.After+other.For
		if name == "" || s[i].When.On != "" || other.When.On != "" || s[i].When.After >= to || s[i].When.After+s[i].For < from {
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
func shareVictim(a, b Step) string {
	for _, x := range a.claims() {
		if slices.Contains(b.claims(), x) {
			return x
		}
	}
	return ""
}

// claims lists the victims that a step names and takes for itself.
func (s Step) claims() []string {
	p := s.Spec().Params
	text := p.Node
	switch s.Fault.(type) {
	case pauseClient, crashClient:
		text = p.Client
	case kill, failover, pauseNode, serverFault, clockJump, clockDrift:
	default:
		return nil
	}
	role, _ := splitRole(text, "")
	if slices.Contains([]string{"", RoleAny, RoleAll, RoleHolder, RoleWaiter, RoleMinority, RoleMajority, RoleSwing, RoleThat, StoreNode}, role) {
		return nil
	}
	return strings.Split(role, ",")
}

// window is the part of a main phase in which faults without a time of their
// own are laid.
func (t *Target) window(main time.Duration) (lead, length time.Duration) {
	lead, tail := min(t.TTL/2, main/10), min(t.TTL, main/5)
	return lead, main - tail - lead
}

// enough is the shortest main phase whose window is as long as need.
func (t *Target) enough(need time.Duration) time.Duration {
	main := ceil(need)
	for {
		if _, length := t.window(main); length >= need {
			return main
		}
		main += 100 * time.Millisecond
	}
}

// overfull says which of the faults without a time of their own do not fit, one
// after another.
func (t *Target) overfull(specs []Spec, gap func(Spec) time.Duration, main time.Duration) error {
	var need time.Duration
	var over []string
	_, length := t.window(main)
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
		Would: fmt.Sprintf("--duration %v would do", t.enough(need)),
	}
}
