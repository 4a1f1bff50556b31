package checker

import (
	"fmt"
	"strings"
	"testing"
)

// inError is a history of leases whose releases end in an error. Each lasts for 100 ms, is
// released 5 ms after it was asked for, and is gone after 110 ms.
type inError struct {
	n           int
	err         string // "" is none that is told of
	mode        string
	first, last int    // when it is seen first, and last, after it was asked for
	next        bool   // somebody else is granted the key just behind the release
	again       bool   // it is seen once more behind that
	beside      string // what else is in force for a millisecond, 3 ms after it was asked for
}

func (c inError) history() string {
	all := sampled
	for i := range c.n {
		at := 100 + 200*i
		add := func(after int, format string, args ...any) {
			all += fmt.Sprintf("\n%dms ", at+after) + fmt.Sprintf(format, args...)
		}
		look := func(after int) {
			add(after, "witness ok key k node n1 value sample note lock:k began %dms holder x%d pttl %d", at+after, i, 100-after)
		}
		owner := fmt.Sprintf("acquire k%s owner b", c.mode)
		add(0, "b%d invoke %s", i, owner)
		add(1, "b%d ok %s until %dms", i, owner, at+100)
		if c.first < 5 {
			look(c.first)
		}
		if c.beside != "" {
			all += fault(at+3, at+4, c.beside)
		}
		add(5, "b%d invoke release k owner b", i)
		if c.first == 5 {
			look(c.first)
		}
		told := ""
		if c.err != "" {
			told = fmt.Sprintf(" err %q", c.err)
		}
		add(6, "b%d info release k owner b%s", i, told)
		if c.first > 5 {
			look(c.first)
		}
		if c.next {
			add(8, "d%d invoke acquire k owner d", i)
			add(9, "d%d ok acquire k owner d until %dms", i, at+100)
		}
		look(c.last)
		if c.next {
			add(75, "d%d invoke release k owner d", i)
			add(76, "d%d ok release k owner d", i)
		}
		if c.again {
			look(c.last + 5)
		}
		add(110, "witness ok key k node n1 value sample note lock:k began %dms pttl -2", at+110)
	}
	return all
}

// TestReleasesInError: a release that ends in an error, again and again, on servers that are
// healthy leaves a leftover; one that a link or a fault explains, or that took effect, leaves none.
func TestReleasesInError(t *testing.T) {
	const noScript, found = "NOSCRIPT No matching script", "L8 [4 11 18 20]"
	base := inError{n: 3, err: noScript, first: 2, last: 70}
	with := func(change func(*inError)) string {
		c := base
		change(&c)
		return c.history()
	}
	const slow = `latency target {"nodes":["n1"]}`
	const slowed = sampled + "\n90ms nemesis invoke fault " + slow + "\n90ms nemesis ok fault " + slow + " receipt r"
	const healed = "\n900ms nemesis invoke heal " + slow + "\n900ms nemesis ok heal " + slow + " receipt r"
	runCases(t, []verdictCase{
		{name: "three", header: "ttl 100ms", want: Fail, violations: []string{found}, history: base.history()},
		{name: "five are one finding", header: "ttl 100ms", want: Fail, violations: []string{found}, history: with(func(c *inError) { c.n = 5 })},
		{name: "two", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.n = 2 })},
		{name: "two, each of which is seen twice", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.n, c.again = 2, true })},
		{name: "first seen when it was to be given back", header: "ttl 100ms", want: Fail, violations: []string{"L8 [3 10 17 20]"}, history: with(func(c *inError) { c.first = 5 })},
		{name: "first seen after that", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.first = 6 })},
		{name: "that took effect within the time of a release", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.last = 56 })},
		{name: "that took effect just behind it", header: "ttl 100ms", want: Fail, violations: []string{found}, history: with(func(c *inError) { c.last = 57 })},
		{name: "that took effect within that time and the uncertainty of clocks", header: "ttl 100ms epsilon 5ms", want: Pass, history: with(func(c *inError) { c.last = 60 })},
		{name: "of a reader", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.mode = " mode r" })},
		{name: "of which nothing is told", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.err = "" })},
		{name: "of a link", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.err = "read tcp: connection reset by peer" })},
		{name: "of a caller who went away", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.err = "context canceled" })},
		{name: "of a link, told by another language", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.err = "socket hang up" })},
		{name: "and the key was granted anew at once", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.next = true })},
		{name: "in the midst of a fault", header: "ttl 100ms", want: Pass, history: strings.Replace(base.history(), sampled, slowed, 1) + healed},
		{name: "just behind a fault of the node", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.beside = slow })},
		{name: "just behind a fault of its owner", header: "ttl 100ms", want: Pass, history: with(func(c *inError) { c.beside = `pause-client target {"clients":["b"]}` })},
		{name: "just behind a fault of somebody else", header: "ttl 100ms", want: Fail, violations: []string{"L8 [8 19 30 32]"}, history: with(func(c *inError) { c.beside = `pause-client target {"clients":["d"]}` })},
		{name: "while the harness stood still", header: "ttl 100ms", want: Pass, suspicious: []string{found}, history: base.history() + "\n611ms nemesis ok stall began 510ms ended 530ms"},
		{name: "while the harness stood still for less than they outlast a release", header: "ttl 100ms", want: Fail, violations: []string{found}, history: base.history() + "\n611ms nemesis ok stall began 510ms ended 523ms"},
	})
}
