package rule

import (
	"slices"

	"locktorture/checker/internal/ledger"
)

// A panel is the rules, and which kinds of facts each of them wants.
type panel struct {
	of       *ledger.Ledger
	Rules    []Rule
	wanting  [ledger.Kinds][]Rule // which rules see which facts
	dead     []Rule
	Crashed  []Crash
	Happened [ledger.Kinds]bool // which kinds of facts there were
	turn     int                // among the rules that want the fact being dispatched, which one is observing it
}

// A Rule decides one property, or a few that need the same state. The other
// rules go on when it panics.
type Rule interface {
	// IDs names the properties that it decides.
	IDs() []string
	// Wants names the facts that it sees from the first event on. It may wake to
	// more of them.
	Wants() []ledger.Kind
	// Observe is called with every fact of the kinds that it wants, in their order.
	Observe(f *ledger.Fact)
	// Finish judges what was left open. No fact comes after it.
	Finish()
}

// A Remembering rule needs something that the ledger keeps only on demand.
type Remembering interface {
	Remembers() ledger.Memory
}

// A Limited rule may leave something unjudged because it keeps a bounded amount of state.
type Limited interface {
	// Unplaced says what was not judged for that reason, and how much of it; "" when
	// everything was.
	Unplaced() string
}

// Dispatch has every rule observe f that wants it and has not panicked. Rules dispatch
// nothing themselves.
func (p *panel) Dispatch(f *ledger.Fact) {
	p.turn = 0
	p.Happened[f.Kind] = true
	p.dispatchRest(f)
}

// dispatchRest has the rules from the current turn on observe f. A rule that panics observes
// nothing from then on; those after it observe f all the same.
func (p *panel) dispatchRest(f *ledger.Fact) {
	defer func() {
		if p.turn != noTurn {
			p.bury(p.wanting[f.Kind][p.turn], recover())
			p.turn++
			p.dispatchRest(f)
		}
	}()
	for rules := p.wanting[f.Kind]; p.turn < len(rules); p.turn++ {
		rules[p.turn].Observe(f)
	}
	p.turn = noTurn
}

// noTurn is no rule's turn.
const noTurn = -1

// Enlist adds a rule.
func (p *panel) Enlist(r Rule) {
	for _, w := range r.Wants() {
		p.wanting[w] = append(p.wanting[w], r)
		p.of.Wanted[w] = true
	}
	if m, ok := r.(Remembering); ok {
		p.of.Memory |= m.Remembers()
	}
	p.Rules = append(p.Rules, r)
}

// Wake adds kinds of facts to those that r observes, from here on; the order of the rules
// stays.
func (p *panel) Wake(r Rule, more ...ledger.Kind) {
	place := slices.Index(p.Rules, r)
	for _, w := range more {
		at := 0
		for at < len(p.wanting[w]) && slices.Index(p.Rules, p.wanting[w][at]) < place {
			at++
		}
		p.wanting[w] = slices.Insert(p.wanting[w], at, r)
		p.of.Wanted[w] = true
	}
}

// FinishRules has every rule that has not panicked judge what it left open.
func (p *panel) FinishRules() {
	for _, r := range p.Rules {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					p.bury(r, cause)
				}
			}()
			if !slices.Contains(p.dead, r) {
				r.Finish()
			}
		}()
	}
}

// bury removes a rule that panicked.
func (p *panel) bury(r Rule, cause any) {
	p.Crashed = append(p.Crashed, Crash{r.IDs(), cause, p.of.Seen})
	p.dead = append(p.dead, r)
	for w := range p.wanting {
		for i, x := range p.wanting[w] {
			if x == r {
				p.wanting[w][i] = buried{}
			}
		}
	}
}

// A Crash is a rule that panicked.
type Crash struct {
	Ids    []string
	Cause  any
	Events int // seen until then
}

type buried struct{}

func (buried) IDs() []string        { return nil }
func (buried) Wants() []ledger.Kind { return nil }
func (buried) Observe(*ledger.Fact) {}
func (buried) Finish()              {}
