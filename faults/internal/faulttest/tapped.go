package faulttest

import (
	"sync"

	"locktorture/faults/link"
)

// A TappedLink is one on which nothing passes but what a test says.
type TappedLink struct {
	link.Link
	mu     sync.Mutex
	report func(link.TapEvent) // nil: nobody listens
}

func (*TappedLink) Client() string        { return "" }
func (*TappedLink) Node() string          { return "" }
func (*TappedLink) Traffic() link.Traffic { return link.Traffic{} }

// Tap implements link.Tapper, for one listener at a time.
func (l *TappedLink) Tap(report func(link.TapEvent)) (stop func()) {
	l.listen(report)
	return func() { l.listen(nil) }
}

func (l *TappedLink) listen(report func(link.TapEvent)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report = report
}

func (l *TappedLink) listener() func(link.TapEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report
}

// Listened reports whether somebody listens.
func (l *TappedLink) Listened() bool { return l.listener() != nil }

// Pass has whoever listens see what passes.
func (l *TappedLink) Pass(e link.TapEvent) {
	if report := l.listener(); report != nil {
		report(e)
	}
}

// Tapped puts such a link between each client and each node, and returns them by "CLIENT→NODE".
func (w *World) Tapped() map[string]*TappedLink {
	links := map[string]*TappedLink{}
	for _, c := range w.Clients {
		for _, n := range w.Testbed.Nodes() {
			links[c.Name()+"→"+n.Name()] = &TappedLink{}
		}
	}
	w.Link = func(client, node string) link.Link {
		if l := links[client+"→"+node]; l != nil {
			return l
		}
		return nil
	}
	return links
}
