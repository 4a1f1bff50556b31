package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
)

// An impairments is what one fault has applied to links.
type impairments struct {
	kind  link.Kind
	where string

	healing chan struct{} // holds an element while heal runs, which waits: no mutex, which virtual time does not wait for

	mu     sync.Mutex
	open   []linkImpairment
	impact link.Impact // of those healed
}

// A linkImpairment is one of them, on one link.
type linkImpairment struct {
	link.Applied
	link link.Link
	heal func() // takes it off the run's books
}

// passing are the kinds of impairment that let traffic through.
var passing = []link.Kind{link.Delay, link.Bandwidth, link.Reset, link.Slicer, link.SlowClose, link.StuckConnection, link.NotifyCut, link.NotifyLost}

// impair applies the impairment to one link, until heal.
func (m *impairments) impair(ctx context.Context, s *faults.Scope, on link.Link, i link.Impairment) error {
	if on == nil {
		return errors.New("no such link")
	}
	applied, err := on.Impair(ctx, i)
	if err != nil {
		return fmt.Errorf("impair %s→%s: %w", on.Client(), on.Node(), err)
	}
	restored := func() {}
	if !slices.Contains(passing, i.Kind) {
		restored = s.CutLink(faults.LinkID{Client: on.Client(), Node: on.Node()})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = append(m.open, linkImpairment{Applied: applied, link: on, heal: restored})
	return nil
}

// tookEffect reports whether any of the impairments has affected anything so far,
// those that are healed included.
func (m *impairments) tookEffect() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.impact.Any() {
		return true
	}
	for _, x := range m.open {
		if x.Impact().Any() {
			return true
		}
	}
	return false
}

// heal heals every impairment that is still open.
func (m *impairments) heal(ctx context.Context) (string, error) {
	m.healing <- struct{}{}
	defer func() { <-m.healing }()
	m.mu.Lock()
	open := slices.Clone(m.open)
	m.mu.Unlock()
	var errs []error
	for _, x := range open {
		impact, err := x.Heal(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("heal %s→%s: %w", x.link.Client(), x.link.Node(), err))
			continue
		}
		x.heal()
		m.healed(x.Applied, impact)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(errs) > 0 || !m.impact.Any() {
		return "", errors.Join(errs...)
	}
	return m.receipt(), nil
}

// healed moves an impairment from those that are open to the impact of those that are
// healed.
func (m *impairments) healed(a link.Applied, impact link.Impact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = slices.DeleteFunc(m.open, func(x linkImpairment) bool { return x.Applied == a })
	m.impact.Bytes += impact.Bytes
	m.impact.Conns += impact.Conns
	m.impact.Dials += impact.Dials
	m.impact.Requests += impact.Requests
	m.impact.Pieces += impact.Pieces
	m.impact.Torn += impact.Torn
}

// verbs say, by kind, what an impairment did to bytes.
var verbs = map[link.Kind]string{
	link.Stall: "held", link.Zombie: "held", link.StuckConnection: "held", link.SlowReply: "held", link.Delay: "delayed", link.Bandwidth: "slowed down",
	link.FastLostReply: "executed without a reply", link.Slicer: "cut in pieces", link.LimitData: "cut off",
	link.SlowClose: "sent into connections that the node had closed",
}

func (m *impairments) receipt() string {
	verb := verbs[m.kind]
	if verb == "" {
		verb = "dropped"
	}
	var bytes, conns, dials string
	switch {
	case m.kind == link.NotifyLost:
		bytes = fmt.Sprintf("%d bytes of subscriptions dropped", m.impact.Bytes)
	case m.impact.Bytes > 0 && m.impact.Requests > 0:
		bytes = fmt.Sprintf("%d bytes of %d requests %s", m.impact.Bytes, m.impact.Requests, verb)
	case m.impact.Bytes > 0: // all of them sent before
		bytes = fmt.Sprintf("%d bytes %s", m.impact.Bytes, verb)
	}
	if m.impact.Conns > 0 {
		conns = fmt.Sprintf("%d connections closed", m.impact.Conns)
	}
	switch {
	case m.impact.Dials == 0:
	case m.kind == link.BlackHole:
		dials = fmt.Sprintf("%d dials unanswered", m.impact.Dials)
	default:
		dials = fmt.Sprintf("%d dials refused", m.impact.Dials)
	}
	return phrase.Join(bytes, conns, dials, m.pieces()) + " on " + m.where
}

// pieces says how clients read the replies that were sent in pieces.
func (m *impairments) pieces() string {
	var cut, torn string
	if m.impact.Pieces > 0 {
		cut = fmt.Sprintf("%d reads ended inside a reply", m.impact.Pieces)
	}
	if m.impact.Torn > 0 {
		torn = fmt.Sprintf("%d replies torn", m.impact.Torn)
	}
	return phrase.Join(cut, torn)
}
