package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"locktorture/faults/link"
)

// tapPatience bounds how long a client waits at its tapped command for the
// fault that was locked to it.
const tapPatience = 100 * time.Millisecond

// Command is the moment at which a client sends a command to a node, and Reply
// the one at which it is answered; node may be empty for any of them. They are
// read off the links, so they work for locks that know nothing of this
// harness. The client waits, up to a tenth of a second, until the fault is in
// force: nothing comes between. In a Spec they are "command:SETNX@n2" and
// "reply:SETNX".
func Command(name, node string) Moment { return tapped("command", name, node) }

// Reply is described at Command.
func Reply(name, node string) Moment { return tapped("reply", name, node) }

func tapped(kind, name, node string) Moment {
	m := Moment(kind + ":" + strings.ToUpper(name))
	if node != "" {
		m += Moment("@" + node)
	}
	return m
}

// a tapMoment is a Moment made by Command or Reply.
type tapMoment struct {
	command string
	reply   bool
	node    string // empty: any but the store's
}

// tap parses m, if it is one read off the links.
func (m Moment) tap() (tapMoment, bool) {
	kind, rest, found := strings.Cut(string(m), ":")
	name, node, _ := strings.Cut(rest, "@")
	if !found || name == "" || kind != "command" && kind != "reply" {
		return tapMoment{}, false
	}
	return tapMoment{command: strings.ToUpper(name), reply: kind == "reply", node: node}, true
}

// awaitTap waits for a tapped command. The occasion's release lets its client
// go on.
func (n *nemesis) awaitTap(ctx context.Context, when Trigger, m tapMoment) (Occasion, error) {
	hit := make(chan Occasion, 1)
	var once sync.Once
	stop, err := n.tapAll(m, func(e link.TapEvent) {
		if e.Command != m.command || e.Reply != m.reply || !n.concerns(when.By, e.Client) {
			return
		}
		once.Do(func() {
			o := n.tapOccasion(when.On, e)
			hit <- o
			o.wait()
		})
	})
	defer stop()
	if err != nil {
		return Occasion{}, err
	}
	select {
	case o := <-hit:
		return o, nil
	case <-ctx.Done():
		once.Do(func() {}) // from here on nobody would release the client
		select {
		case o := <-hit:
			o.release()
		default:
		}
		return Occasion{}, ctx.Err()
	}
}

func (n *nemesis) tapOccasion(on Moment, e link.TapEvent) Occasion {
	o := Occasion{Moment: on, Time: n.rec.Since(e.Time), Key: e.Key, Owner: e.Client, Node: e.Node}
	o.free = make(chan struct{})
	return o
}

// wait holds the tapped client until release, or until its patience ends.
func (o Occasion) wait() {
	patience := time.NewTimer(tapPatience)
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

// tapAll reports what passes on the roads that m speaks of, until stop.
func (n *nemesis) tapAll(m tapMoment, report func(link.TapEvent)) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	nodes := names(n.t.Testbed.Nodes())
	if m.node != "" {
		nodes = []string{m.node}
	}
	for _, c := range n.t.Clients {
		for _, node := range nodes {
			road, ok := n.t.Link(c.Name(), node).(link.Tapper)
			if !ok {
				return stop, fmt.Errorf("the link %s→%s cannot be tapped", c.Name(), node)
			}
			stops = append(stops, road.Tap(report))
		}
	}
	return stop, nil
}
