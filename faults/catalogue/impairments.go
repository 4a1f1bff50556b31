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

// wounds are the impairments of one fault.
type wounds struct {
	kind  link.Kind
	where string

	mu   sync.Mutex
	open []wound
	bite link.Bite // of those healed
}

type wound struct {
	link.Wound
	road link.Link
	heal func() // takes it off the run's books
}

// passing are the kinds that let traffic through.
var passing = []link.Kind{link.Delay, link.Bandwidth, link.Reset, link.Slicer, link.SlowClose, link.StuckConnection, link.NotifyCut, link.NotifyLost}

func (w *wounds) hurt(ctx context.Context, s *faults.Scope, road link.Link, i link.Impairment) error {
	if road == nil {
		return errors.New("no such link")
	}
	hurt, err := road.Impair(ctx, i)
	if err != nil {
		return fmt.Errorf("impair %s→%s: %w", road.Client(), road.Node(), err)
	}
	restored := func() {}
	if !slices.Contains(passing, i.Kind) {
		restored = s.CutLink(faults.LinkID{Client: road.Client(), Node: road.Node()})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, wound{Wound: hurt, road: road, heal: restored})
	return nil
}

// bitten reports whether any of the wounds has hurt anything so far, those that
// are healed included.
func (w *wounds) bitten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bite.Bit() {
		return true
	}
	for _, x := range w.open {
		if x.Bite().Bit() {
			return true
		}
	}
	return false
}

// heal heals every wound that is still open.
func (w *wounds) heal(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	var open []wound
	for _, x := range w.open {
		bite, err := x.Heal(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("heal %s→%s: %w", x.road.Client(), x.road.Node(), err))
			open = append(open, x)
			continue
		}
		x.heal()
		w.bite.Bytes += bite.Bytes
		w.bite.Conns += bite.Conns
		w.bite.Dials += bite.Dials
		w.bite.Requests += bite.Requests
		w.bite.Pieces += bite.Pieces
		w.bite.Torn += bite.Torn
	}
	w.open = open
	if len(errs) > 0 || !w.bite.Bit() {
		return "", errors.Join(errs...)
	}
	return w.receipt(), nil
}

// verbs say what a kind did to the bytes.
var verbs = map[link.Kind]string{
	link.Stall: "held", link.Zombie: "held", link.StuckConnection: "held", link.SlowReply: "held", link.Delay: "delayed", link.Bandwidth: "slowed down",
	link.FastLostReply: "executed without a reply", link.Slicer: "cut in pieces", link.LimitData: "cut off",
	link.SlowClose: "sent into connections that the node had closed",
}

func (w *wounds) receipt() string {
	verb := verbs[w.kind]
	if verb == "" {
		verb = "dropped"
	}
	var bytes, conns, dials string
	switch {
	case w.kind == link.NotifyLost:
		bytes = fmt.Sprintf("%d bytes of subscriptions dropped", w.bite.Bytes)
	case w.bite.Bytes > 0:
		bytes = fmt.Sprintf("%d bytes of %d requests %s", w.bite.Bytes, w.bite.Requests, verb)
	}
	if w.bite.Conns > 0 {
		conns = fmt.Sprintf("%d connections closed", w.bite.Conns)
	}
	switch {
	case w.bite.Dials == 0:
	case w.kind == link.BlackHole:
		dials = fmt.Sprintf("%d dials unanswered", w.bite.Dials)
	default:
		dials = fmt.Sprintf("%d dials refused", w.bite.Dials)
	}
	return phrase.Join(bytes, conns, dials, w.pieces()) + " on " + w.where
}

// pieces says what clients saw of replies that came in pieces.
func (w *wounds) pieces() string {
	var cut, torn string
	if w.bite.Pieces > 0 {
		cut = fmt.Sprintf("%d reads ended inside a reply", w.bite.Pieces)
	}
	if w.bite.Torn > 0 {
		torn = fmt.Sprintf("%d replies torn", w.bite.Torn)
	}
	return phrase.Join(cut, torn)
}
