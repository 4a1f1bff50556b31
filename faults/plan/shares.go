package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/watch"
)

// A share is a fault, and how often it comes in a minute.
type share struct {
	perMinute int
	spec      faults.Spec
}

// Standard draws the plan of the standard scenario: each class of faults at each
// phase of the lock's life at which it can matter, aimed at the holder, at the
// nodes that make up its quorum, and at whoever asks. It begins with a while
// without faults, in which contention alone speaks. It never takes away more nodes
// at a time than the quorum can spare, but for a single master, which dies for a
// moment. What t cannot suffer, and what does not fit, is left out and said.
func Standard(c StandardConfig, t *faults.Target, rng *rand.Rand) (Plan, error) {
	entries := catalogue.All()
	var sequences []sequence
	for i, shares := range standardShares(c.AtOnce, t) {
		gap := steady(t.TTL / 4)
		if i == 0 {
			gap = afterNodes(entries, t, t.TTL)
		}
		sequences = append(sequences, sequence{specs: scaled(c, shares), gap: gap})
	}
	lead, tail := min(3*t.TTL, c.Main/8), min(t.TTL, c.Main/5)
	var timed []faults.Spec
	if t.Reads { // those who read in the final phase keep alive what a reader leaves behind, and take away nothing that a writer does
		timed = []faults.Spec{{Fault: "crash-client", On: faults.AtTime, At: c.Main - tail*3/2, Params: faults.Params{Client: faults.RoleReader}}}
		if tail == t.TTL { // else there is no time to wait for a writer
			timed = append(timed, faults.Spec{Fault: "crash-client", On: faults.AtTime, At: c.Main - tail*2/3, For: tail / 4, Params: faults.Params{Client: faults.RoleWriter}})
		}
	}
	return draw(entries, sequences, span{lead, c.Main - tail}, t, rng, timed...)
}

// standardShares are the sequences of the standard plan, side by side: first that of nodes.
func standardShares(atOnce bool, t *faults.Target) [][]share {
	all := [][]share{nodeShares(atOnce, t), holderShares(t), renewalShares(t), messageShares(t), lateShares(t)}
	if t.Taps {
		all = append(all, midwayShares(t))
	}
	return all
}

// StandardSteps are the steps of the standard plan without their times, each as often as it comes in a minute: those of
// nodes, of holders, of renewals, of whoever asks, of late messages, and between two steps of an operation, where t shows
// them. What t cannot suffer is among them.
func StandardSteps(atOnce bool, t *faults.Target) (sequences [][]faults.Spec) {
	for _, shares := range standardShares(atOnce, t) {
		sequences = append(sequences, scaled(StandardConfig{Main: standardMain}, shares))
	}
	return sequences
}

// scaled lists each fault as often as its share says for the main phase of c, at
// least once, by turns.
func scaled(c StandardConfig, shares []share) []faults.Spec {
	left := make([]int, len(shares))
	for i, s := range shares {
		left[i] = max(1, int(float64(s.perMinute)*float64(c.Main)/float64(standardMain)+0.5))
	}
	var specs []faults.Spec
	for again := true; again; {
		again = false
		for i, s := range shares {
			if left[i] > 0 {
				specs = append(specs, s.spec)
				left[i]--
				again = true
			}
		}
	}
	return specs
}

// several reports whether the quorum can spare a node.
func several(t *faults.Target) bool { return len(t.Testbed.Nodes()) > t.Quorum }

// nodeShares are the weather on the links and the death of nodes. One that comes
// back empty does so at once where the lock itself keeps it out, and else later
// than every lease that it had granted.
func nodeShares(atOnce bool, t *faults.Target) []share {
	empty := faults.Spec{Fault: "kill-late", On: watch.AcquireReplied, Params: faults.Params{Node: faults.RoleSwing}}
	all := []share{{2, empty}}
	if atOnce {
		all[0].spec.Fault = "kill-empty"
		all = append(all, share{1, empty})
	}
	all = append(all, []share{
		{2, faults.Spec{Fault: "latency"}},
		{1, faults.Spec{Fault: "kill", On: watch.InSection, Params: faults.Params{Node: faults.RoleSwing}}},
		// Back before the lease is half over: what names its holder must not come back with somebody else.
		{1, faults.Spec{Fault: "kill", On: watch.AcquireReplied, For: t.TTL / 10, Params: faults.Params{Node: faults.RoleSwing}}},
	}...)
	if several(t) {
		all = append(all, share{1, faults.Spec{Fault: "one-way"}}, share{1, faults.Spec{Fault: "pause-node"}}, share{1, faults.Spec{Fault: "split-vote"}})
	}
	if t.Notifies {
		all = append(all, share{1, faults.Spec{Fault: "notify-lost"}})
	}
	return all
}

// holderShares are what happens to somebody in the critical section of a key that another
// one asks for: what he does late meets the next holder, and surely where he goes on as soon as
// that one is at work.
func holderShares(t *faults.Target) []share {
	pause := faults.Spec{Fault: "pause-client", Params: faults.Params{Client: faults.RoleWanted}}
	meets := pause
	meets.Until, meets.For = watch.InSection, t.TTL*2
	return []share{{4, pause}, {3, meets}}
}

// renewalShares are what happens to a holder whose lease falls due for renewal, while
// another one asks for the key: renewals that come to nothing, for good or for a moment, that arrive
// when the lease is another's or that one has just given it back, or of which the holder hears too late.
// What is to meet a renewal waits for a lease that was extended before, of a lock that
// extends any: such a one is mostly extended again. Steps turn to a critical section where
// no renewal falls due.
func renewalShares(t *faults.Target) []share {
	next := watch.RenewalDue
	if t.Extends {
		next = watch.NextRenewalDue
	}
	late := func(fault string, on watch.Moment, then, length time.Duration, nodes string) faults.Spec {
		return faults.Spec{
			Fault: fault, On: on, Then: then, Within: 3 * t.TTL, Else: watch.InSection, For: length,
			Params: faults.Params{Client: faults.RoleWanted, Node: nodes},
		}
	}
	ahead := t.TTL / 12
	freed := late("stall", next, -ahead, t.TTL, faults.RoleAll)
	freed.Until = watch.ReleaseReplied
	all := []share{
		{4, freed},
		{3, late("stall", next, -ahead, t.TTL*85/100, faults.RoleAll)},
		{3, late("request-lost", next, -ahead, t.TTL*17/10, faults.RoleAll)},
		{1, late("pause-client", watch.RenewalDue, 0, 0, "")},
		{1, late("response-lost", watch.RenewalDue, -ahead, t.TTL/2, faults.RoleAll)},
		// A renewal fails, and most of the lease is left when all is well again: what the lock does about it arrives.
		{2, late("response-lost", watch.RenewalSent, 0, t.TTL*15/100, faults.RoleAll)},
		{1, late("request-lost", watch.RenewalSent, 0, t.TTL*15/100, faults.RoleAll)},
	}
	if !several(t) {
		return append(all, share{2, late("cut", watch.RenewalDue, 0, t.TTL*11/10, faults.RoleAll)})
	}
	return append(all, share{2, late("cut", watch.RenewalDue, 0, t.TTL*11/10, faults.RoleSwing)}, share{3, late("cut", next, 0, t.TTL*3/2, faults.RoleMajority)})
}

// midwayShares are for locks that take, extend or give back a key in two steps, or in more: the second one comes when
// the lease has run out, and is another's.
func midwayShares(t *faults.Target) []share {
	between := func(on, otherwise watch.Moment) faults.Spec { // of a lock without a second step it never comes
		return faults.Spec{
			Fault: "zombie", On: on, Within: t.TTL, Else: otherwise, For: t.TTL * 6 / 5,
			Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleAll},
		}
	}
	stands := func(on, otherwise watch.Moment) faults.Spec { // the client itself, which has seen an answer that is out of date then
		s := between(on, otherwise)
		s.Fault, s.Params, s.Until, s.For = "pause-client", faults.Params{Client: faults.RoleAny}, watch.InSection, t.TTL*3/2
		return s
	}
	all := []share{
		{2, between(watch.AcquireMidway, watch.AcquireSent)}, {1, stands(watch.AcquireMidway, watch.AcquireSent)},
		{1, between(watch.ReleaseMidway, watch.ReleaseSent)}, {1, stands(watch.ReleaseMidway, watch.ReleaseSent)},
	}
	if t.Extends {
		all = append(all, share{1, between(watch.RenewalMidway, watch.InSection)}, share{2, stands(watch.RenewalMidway, watch.InSection)})
	}
	return all
}

// lateShares are messages that are under way when a lease ends, or for longer than one
// lasts, and answers to those who took a key that nobody else held. Steps that wait for
// a lease that is nearly over turn to any release where none comes. An answer is lost
// alone, so that whatever is sent again passes; or with its connection; or for so long that
// the client gives up, and no longer than what it leaves behind can show.
func lateShares(t *faults.Target) []share {
	atEnd := func(fault string, on watch.Moment, length time.Duration) faults.Spec {
		return faults.Spec{
			Fault: fault, On: on, Within: 3 * t.TTL, Else: watch.ReleaseSent, For: length,
			Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleAll},
		}
	}
	// Of a release in two commands, the first comes within the lease and the second behind it, where each
	// way takes a tenth of a lease; of one in four, where each takes half as long.
	slow := atEnd("latency", watch.LateRelease, t.TTL*3/4)
	slow.Delay, slow.Jitter = t.TTL/10, faults.Constant
	lessSlow := slow
	lessSlow.Delay = t.TTL / 20
	taken := func(fault string, length time.Duration, nodes string) faults.Spec {
		return faults.Spec{Fault: fault, On: watch.AcquireSent, For: length, Params: faults.Params{Client: faults.RoleTaker, Node: nodes}}
	}
	slowly := taken("latency", t.TTL/2, faults.RoleAll) // others come and go between two of its commands
	slowly.Delay, slowly.Jitter = t.TTL/20, faults.Constant
	all := []share{
		{2, atEnd("zombie", watch.LateRelease, t.TTL/2)},
		{3, slow},
		{2, lessSlow},
		{3, faults.Spec{Fault: "stuck-connection"}},
		{4, taken("response-lost", t.TTL*27/100, faults.RoleAll)},
		{3, taken("response-lost", t.TTL*8/100, faults.RoleAll)},
		{2, taken("fast-lost-reply", t.TTL*8/100, faults.RoleAll)},
		{3, taken("slow-reply", t.TTL*23/20, faults.RoleAll)},
		{2, slowly},
		{1, atEnd("stall", watch.LateRenewal, t.TTL/2)},
		{1, atEnd("slow-reply", watch.LateRenewal, t.TTL/2)},
		{1, atEnd("request-lost", watch.LateRenewal, t.TTL*15/100)}, // and all is well when the lock looks what became of it
	}
	if several(t) {
		all = append(all, share{2, taken("response-lost", t.TTL*27/100, faults.RoleMinority)})
	}
	return all
}

// messageShares are lost and late messages of whoever asks, and clients that end or
// stand still at one phase or another, the next one to wait among them.
func messageShares(t *faults.Target) []share {
	at := func(fault string, on watch.Moment, client string) faults.Spec {
		return faults.Spec{Fault: fault, On: on, Params: faults.Params{Client: client}}
	}
	dies := func(on watch.Moment) faults.Spec { return at("crash-client", on, faults.RoleAny) }
	due, sent := dies(watch.RenewalDue), dies(watch.RenewalSent)
	due.Within, due.Else = 2*t.TTL, watch.InSection
	sent.Within, sent.Else = 2*t.TTL, watch.InSection
	never := at("request-lost", watch.ReleaseSent, faults.RoleAny) // and its renewals get through
	never.Node, never.For = faults.RoleAll, t.TTL/8
	late := at("zombie", watch.ReleaseSent, faults.RoleAny)
	late.Node, late.For = faults.RoleAll, t.TTL*3/4
	waits := func(fault, nodes string) faults.Spec {
		s := at(fault, faults.AtTime, faults.RoleWaiter)
		s.Node, s.For = nodes, t.TTL/4
		return s
	}
	cut := faults.RoleAll
	if several(t) {
		cut = faults.RoleMajority
	}
	all := []share{
		{5, faults.Spec{Fault: "response-lost"}},
		{2, dies(watch.AcquireReplied)},
		{2, faults.Spec{Fault: "store-reply-lost"}},
		{1, faults.Spec{Fault: "fast-lost-reply"}},
		{1, dies(watch.ReleaseSent)},
		{3, never},
		{1, faults.Spec{Fault: "response-lost", On: watch.ReleaseSent}},
		{1, due},
		{1, faults.Spec{Fault: "request-lost"}},
		{1, dies(watch.AcquireSent)},
		{1, faults.Spec{Fault: "slow-reply"}},
		{1, at("pause-client", faults.AtTime, faults.RoleWaiter)},
		{1, sent},
		{1, late},
		{1, at("pause-client", watch.ReleaseSent, faults.RoleAny)},
		{1, at("crash-client", faults.AtTime, faults.RoleWaiter)},
		{1, at("pause-client", watch.AcquireReplied, faults.RoleAny)},
		{1, waits("request-lost", faults.RoleAll)},
		{1, waits("response-lost", faults.RoleAll)},
		{1, waits("cut", cut)},
	}
	if t.Reenters { // the count of holds is then right on one side only
		nested := func(fault string, on watch.Moment, length time.Duration, nodes string) faults.Spec {
			s := at(fault, on, faults.RoleNested)
			s.Within, s.Else, s.For, s.Node = 2*t.TTL, on, length, nodes
			return s
		}
		all = append(all,
			share{2, nested("response-lost", watch.ReleaseSent, t.TTL*8/100, faults.RoleAll)},
			share{1, nested("response-lost", watch.AcquireSent, t.TTL*8/100, faults.RoleAll)},
			share{1, nested("request-lost", watch.AcquireSent, t.TTL/8, faults.RoleAll)},
			share{1, nested("request-lost", watch.ReleaseSent, t.TTL/8, faults.RoleAll)},
			share{1, nested("crash-client", watch.ReleaseSent, 0, "")},
		)
	}
	if t.Reads { // what a reader who is no more leaves behind, others keep who read
		all = append(all, share{3, at("crash-client", watch.AcquireReplied, faults.RoleReader)})
	}
	return all
}

// spared says why t cannot spare what a spec takes from everybody, or nil. One
// client's own links, and a single master that dies for a moment, are no such thing.
func spared(t *faults.Target, s faults.Spec, e catalogue.Entry) error {
	p, on := s.Params.Or(e.Default), cmp.Or(s.On, e.On)
	nodes, _ := faults.SplitRole(p.Node, faults.RoleAny)
	client, _ := faults.SplitRole(p.Client, faults.RoleAny)
	locked := on != "" && on != faults.AtTime
	own := nodes == faults.RoleAll && (slices.Contains(faults.OneClient(), client) || client == faults.RoleAny && locked)
	if !e.Takes || several(t) || own || nodes == faults.RoleSwing && locked {
		return nil
	}
	return fmt.Errorf("%d nodes and a quorum of %d: none can be spared", len(t.Testbed.Nodes()), t.Quorum)
}
