package faults

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// tapPatience bounds how long a client waits at a tapped command until the fault that is locked
// to it is in force.
const tapPatience = 100 * time.Millisecond

// Command is the moment at which a client sends a command to a node, and Reply
// the one at which it is answered; node may be empty for any of them. They are
// read off the links, so they work for locks that know nothing of this
// harness. The client waits, up to a tenth of a second, until the fault is in
// force: nothing comes between. In a Spec they are "command:SETNX@n2" and
// "reply:SETNX".
func Command(name, node string) watch.Moment { return tapped("command", name, node) }

// Reply is described at Command.
func Reply(name, node string) watch.Moment { return tapped("reply", name, node) }

func tapped(kind, name, node string) watch.Moment {
	m := watch.Moment(kind + ":" + strings.ToUpper(name))
	if node != "" {
		m += watch.Moment("@" + node)
	}
	return m
}

// A Tap is the command or the reply that a moment names.
type Tap struct {
	Command string // in upper case
	Reply   bool
	Node    string // empty: any but the store's
}

// ParseTap returns what a moment made by Command or Reply speaks of.
func ParseTap(m watch.Moment) (tap Tap, ok bool) {
	kind, rest, found := strings.Cut(string(m), ":")
	name, node, _ := strings.Cut(rest, "@")
	if !found || name == "" || kind != "command" && kind != "reply" {
		return Tap{}, false
	}
	return Tap{Command: strings.ToUpper(name), Reply: kind == "reply", Node: node}, true
}

// awaitTap waits for a tapped command. The occasion's release lets the client go on.
func (n *nemesis) awaitTap(ctx context.Context, when Trigger, m Tap) (Occasion, error) {
	return n.awaitPassing(ctx, when, m.Node, func(e link.TapEvent) (string, bool) {
		return e.Key, e.Command == m.Command && e.Reply == m.Reply
	})
}

// awaitPassing waits for what passes on a link to node, or to any where that is empty. matches says which key it is about.
func (n *nemesis) awaitPassing(ctx context.Context, when Trigger, node string, matches func(link.TapEvent) (key string, ok bool)) (Occasion, error) {
	hit := make(chan Occasion, 1)
	var claimed atomic.Bool // no sync.Once: others would stand still with the client that is held
	stop, err := n.tapAll(node, func(e link.TapEvent) {
		key, ok := matches(e)
		if !ok || !n.concerns(when.By, e.Client) {
			return
		}
		if claimed.CompareAndSwap(false, true) {
			o := n.tapOccasion(when.On, key, e)
			hit <- o
			o.wait()
		}
	})
	defer stop()
	if err != nil {
		return Occasion{}, err
	}
	select {
	case o := <-hit:
		return o, nil
	case <-ctx.Done():
		if !claimed.CompareAndSwap(false, true) { // nobody else would release the client
			o := <-hit
			o.release()
		}
		return Occasion{}, ctx.Err()
	}
}

func (n *nemesis) tapOccasion(on watch.Moment, key string, e link.TapEvent) Occasion {
	return Occasion{
		Occasion: watch.Occasion{Moment: on, Time: n.rec.Since(e.Time), Key: key, Owner: e.Client},
		Node:     e.Node, free: make(chan struct{}), until: time.Now().Add(tapPatience),
	}
}

// wait holds the tapped client until release, or until its patience, which began with the moment, ends.
func (o Occasion) wait() {
	patience := time.NewTimer(time.Until(o.until))
	defer patience.Stop()
	select {
	case <-o.free:
	case <-patience.C:
	}
}

// release lets the tapped client go on; it does nothing for other occasions.
func (o Occasion) release() {
	if o.free != nil {
		close(o.free)
	}
}

// tapAll reports what passes on the links to node, or to all where that is empty, until stop.
func (n *nemesis) tapAll(node string, report func(link.TapEvent)) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	nodes := phrase.Names(n.t.Testbed.Nodes())
	if node != "" {
		nodes = []string{node}
	}
	for _, c := range n.t.Clients {
		for _, name := range nodes {
			l, ok := n.t.Link(c.Name(), name).(link.Tapper)
			if !ok {
				return stop, fmt.Errorf("the link %s→%s cannot be tapped", c.Name(), name)
			}
			stops = append(stops, l.Tap(report))
		}
	}
	return stop, nil
}
