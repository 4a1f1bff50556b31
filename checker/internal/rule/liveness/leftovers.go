package liveness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Leftovers decides L8: a node keeps no lease's key for longer than somebody may own the lease,
// nor one without an expiry. It knows the keys of leases alone: what else a lock stores, its
// adapter does not declare.
type Leftovers struct {
	*rule.Env
	Idle  *Idle
	keys  rule.Table[map[string][]*leftover] // reported, by node
	awake bool                               // something was found that a lease may explain
}

func (*Leftovers) IDs() []string        { return []string{"L8"} }
func (*Leftovers) Wants() []ledger.Kind { return []ledger.Kind{ledger.Witnessed} }
func (*Leftovers) Finish()              {}

// A leftover is a key that was reported. A lease that is told of late may turn out to explain
// one that was to stay for too long.
type leftover struct {
	t, left   time.Duration // when it was seen, and how long it was to stay
	over      time.Duration // how long it had stayed too long, where it was to be gone
	by        ledger.Stamper
	open      bool // an acquire or an extension was under way
	unknown   bool // one of unknown outcome had been
	explained bool
}

func (l *Leftovers) Observe(f *ledger.Fact) {
	if f.Kind != ledger.Witnessed {
		l.explain(f)
		return
	}
	e := f.Event
	if e.Op != history.Key || e.Kind != history.OK || !e.HasAll(history.HasPTTL) || e.PTTL < rule.WithoutExpiry {
		return
	}
	left := rule.TimeLeft(e)
	if rule.IsSample(e) && (e.PTTL == rule.WithoutExpiry || left <= ample(l.Env)) {
		return // it may be held, and be kept for a little longer than was asked for; Samples looks at the rest
	}
	switch k := l.Key(e.Key); {
	case e.PTTL == rule.WithoutExpiry:
		l.found(k, e, new(leftover), "without an expiry: if its owner dies, it stays for ever")
	case left > l.Header.TTL && ledger.Later(e.Time, left) <= ledger.Later(l.Header.Epsilon, k.ServedUntil):
		// a lease that was promised for longer than the header says
	case left > l.Header.TTL:
		l.found(k, e, l.overstay(k, e), fmt.Sprintf("with %s to live, more than the TTL of %s that was asked for", words.Span(left), words.Span(l.Header.TTL)))
	default:
		over := l.ownerless(k, e.Time)
		if over <= 0 {
			return
		}
		l.found(k, e, &leftover{over: over}, fmt.Sprintf("although no acquire or extension of it was answered since %s, more than a TTL before: somebody keeps it alive, or set it late", words.At(k.Answered)))
	}
}

// ample is how long a lease that somebody holds may be kept at most: twice what was asked
// for, in whole seconds.
func ample(e *rule.Env) time.Duration {
	return ledger.Later(time.Second, ledger.Later(e.Header.TTL, e.Header.TTL))
}

// ownerless is for how long, at t, nobody could have set or extended k's lease within the last
// TTL; 0 when somebody could.
func (l *Leftovers) ownerless(k *ledger.Key, t time.Duration) time.Duration {
	if k.Open.Head != nil || l.Nemesis.Unhealed > 0 {
		return 0
	}
	slack := ledger.Later(l.Header.Drift+l.Header.Epsilon, l.Header.TTL)
	last := k.Answered
	if (k.LastUnknown.Holder != nil || k.UnknownExtension > 0) && l.Nemesis.EverOver {
		last = max(last, l.Nemesis.Ended) // a fault may have held it back until its heal
	}
	if k.OverflowUntil() > t || ledger.Later(k.ServedUntil, l.Header.Drift+l.Header.Epsilon) >= t {
		return 0
	}
	for _, g := range k.Held {
		if g.Extending > 0 || g.End() > t {
			return 0
		}
		last = max(last, g.Start)
	}
	return max(0, t-ledger.Later(last, slack))
}

// overstay is the leftover of a key that was to stay for longer than the header's TTL.
func (l *Leftovers) overstay(k *ledger.Key, e *history.Event) *leftover {
	if !l.awake {
		l.awake = true
		l.Wake(l, ledger.Granted, ledger.Reentered, ledger.Extended)
	}
	return &leftover{
		t: e.Time, left: rule.TimeLeft(e), by: l.By(e),
		open: k.Open.Head != nil || k.Extending(), unknown: k.LastUnknown.Holder != nil || k.UnknownExtension > 0,
	}
}

// explain judges leftovers again when the history tells of a lease that was asked for before:
// it may have been promised for longer than the header says.
func (l *Leftovers) explain(f *ledger.Fact) {
	o := f.Op
	length := ledger.Later(l.Header.Epsilon, l.Length(o))
	nodes := l.keys.Get(f.Key.No)
	if nodes == nil {
		return
	}
	for _, leftovers := range *nodes {
		for _, x := range leftovers {
			asked := o.Inv <= ledger.Later(x.t, l.Clocks.Apart(o.By(), x.by))
			x.explained = x.explained || x.left > 0 && asked && x.left <= length && ledger.Later(x.t, x.left) <= ledger.Later(o.OK, length)
		}
	}
}

// refuted says whether x is explained, or may be a lease of somebody who was never answered,
// for as long as other leases were promised.
func (l *Leftovers) refuted(x *leftover) bool {
	return x.explained || x.unknown && x.left <= l.Longest
}

// found reports a key once per node, and again while a report may still be explained.
func (l *Leftovers) found(k *ledger.Key, e *history.Event, x *leftover, what string) {
	nodes := l.keys.At(k.No)
	known := (*nodes)[e.Node]
	if slices.ContainsFunc(known, func(x *leftover) bool { return !x.explained && !x.open }) || len(known) > l.Limit() {
		return
	}
	if *nodes == nil {
		*nodes = make(map[string][]*leftover)
	}
	(*nodes)[strings.Clone(e.Node)] = append(known, x)
	stored, forGood := strings.Clone(e.Holder), e.PTTL == rule.WithoutExpiry || stays(l.Env, e.Time, ledger.Later(e.Time, rule.TimeLeft(e)))
	text := fmt.Sprintf("At %s node %s stored the lease key of %s, owner %q, %s.",
		words.At(e.Time), e.Node, k.Name, e.Holder, what)
	h := &rule.Candidate{
		ID: "L8", Key: k, Witness: []int{e.Index}, Blame: rule.BlameLibrary, From: k.Answered, To: e.Time, Margin: l.Beyond(x.over), Text: func() string { return text },
		Refuted: func() bool { return l.refuted(x) || forGood && l.Idle.Has(stored) },
	}
	if l.Nemesis.Marks[ledger.ClockFaults].Touch(0, e.Time) && e.PTTL != rule.WithoutExpiry {
		l.Suspect(h) // a node's clock may have jumped
		return
	}
	l.Violate(h)
}
