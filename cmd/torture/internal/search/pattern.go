package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/workload"
	"locktorture/workload/history/coverage"
)

// A pattern draws a round in which several things come together that the proofs of such
// locks rest on not coming together: by chance, each would have to be drawn beside the
// others. What matters most among its choices it takes in turn, by how often it has been
// followed before, and the rest it draws. It reports false where the space has not what it needs.
type pattern func(s *Space, r *Round, rng *rand.Rand, before int) bool

// patterns are what a lease and a quorum are known to break by.
var patterns = []pattern{outlived, lateMessage, renewed, vanished, backTooSoon, backAgain, asleep, midway, overtaken, forgottenVote, amongReaders}

// patterned draws a round by one of the patterns: each in its turn, since rounds are few.
func (s *Space) patterned(rng *rand.Rand, turn int) Round {
	r := Round{Seed: drawSeed(rng), Origin: Patterned}
	s.drawShape(&r, rng)
	r.TTL, r.Duration = pick(rng, s.TTLs[:(len(s.TTLs)+1)/2]), min(s.Longest, leastLength) // room for many leases
	s.lengthen(&r)
	for i := range patterns {
		if patterns[(turn+i)%len(patterns)](s, &r, rng, turn/len(patterns)) {
			break
		}
	}
	return s.fitted(r)
}

// crowd has few clients contend for one key, exclusively: who is refused asks again before
// long.
func (s *Space) crowd(r *Round, rng *rand.Rand, clients []int, holds ...float64) {
	l := &r.Load
	r.Clients, l.Keys, l.Wait, l.LongHold = min(s.Clients, pick(rng, clients)), 1, 0, 0
	l.Hold = workload.Fixed(max(5*time.Millisecond, share(r.TTL, pick(rng, holds))))
	l.Think = workload.Fixed(pick(rng, []time.Duration{time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond}))
	if l.Readers = 0; slices.Contains(s.Modes, workload.ModeExclusive) {
		l.Mode = workload.ModeExclusive
	}
}

// within are the lease lengths up to most, or the shortest.
func (s *Space) within(most time.Duration) []time.Duration {
	n := 1
	for n < len(s.TTLs) && s.TTLs[n] <= most {
		n++
	}
	return s.TTLs[:n]
}

// holding are the faults that hold messages back and deliver them when they are healed.
var holding = []string{"slow-reply", "stall", "stuck-connection"}

// holding are those that the space has.
func (s *Space) holding() []string {
	return slices.DeleteFunc(slices.Clone(s.Faults), func(fault string) bool { return !slices.Contains(holding, fault) })
}

// ofNodes are those of the faults that can be told which nodes to hit.
func ofNodes(all []string) []string {
	return slices.DeleteFunc(all, func(fault string) bool { return !takes(fault, "node") })
}

// inTurn returns what a pattern takes of all that it may, when it has been followed before so
// often, and how often it has gone through all of them.
func inTurn[T any](all []T, before int) (one T, rounds int) {
	return all[before%len(all)], before / len(all)
}

// goOn adds a fault that goes on from at for half of the round: as long as one step may.
func (r *Round) goOn(fault string, at time.Duration, p faults.Params) {
	r.Steps = append(r.Steps, faults.Spec{Fault: fault, At: at, For: r.Duration/2 - time.Millisecond, On: faults.AtTime, Params: p})
}

// early is a moment early in the round, so that most of it is left.
func early(r *Round, rng *rand.Rand) time.Duration {
	return share(r.Duration, 0.03+0.1*rng.Float64())
}

// lateMessage holds a message back, or its answer, until about the end of the lease that it
// is about: its sender has long given up and asks again, or has all the patience that it
// takes (Gray and Cheriton, "Leases", SOSP 1989: what is late must be as good as lost).
func lateMessage(s *Space, r *Round, rng *rand.Rand, before int) bool {
	late := s.holding()
	if len(late) == 0 {
		return false
	}
	x := faults.Spec{At: early(r, rng), Params: faults.Params{Client: faults.RoleAny}}
	x.Fault, before = inTurn(late, before)
	x.On, _ = inTurn([]watch.Moment{watch.AcquireSent, watch.RenewalSent, watch.ReleaseSent}, before)
	// A late answer tells only who still waits for it; a late request matters most when its
	// sender has given it up, and a late release when the key is held again.
	lengths, patience, holds := []float64{0.6, 0.9, 1.1, 1.4}, []float64{0.1, 0.1, 0.2, 3}, []float64{0.1, 0.3, 0.6}
	switch {
	case x.Fault == "slow-reply":
		lengths, patience = []float64{0.9, 1.1, 1.4}, []float64{3}
	case x.On == watch.ReleaseSent:
		lengths, holds = []float64{1.1, 1.25, 1.4}, []float64{0.3, 0.6, 0.8}
	}
	s.crowd(r, rng, []int{2, 2, 3}, holds...)
	x.For, r.Load.Timeout = share(r.TTL, pick(rng, lengths)), share(r.TTL, pick(rng, patience))
	x.Times, x.Every = 5, x.For+share(r.TTL, 0.7)
	if x.On == watch.RenewalSent { // by hand: others are seen when they are over
		r.Load.Extend = 1
	}
	if takes(x.Fault, "node") {
		x.Node = faults.RoleAll
		if s.Nodes >= 3 {
			x.Node = pick(rng, []string{faults.RoleAll, faults.RoleMajority, faults.RoleSwing})
		}
	}
	r.Steps = append(r.Steps, x)
	return true
}

// forgottenVote has two quorums meet in one node, which forgets in between, while an attempt
// is under way: a client is cut off from as many nodes as the quorum can spare, the node
// that forgets has just voted for it while its request to the others is late, and from then
// on everybody is cut off from those others that know of it. What the node learns when it
// comes back, and from whom, decides.
func forgottenVote(s *Space, r *Round, rng *rand.Rand, _ int) bool {
	forget := ofNodes(s.of(coverage.NodeEmpty))
	if s.Nodes < 3 || len(forget) == 0 || !slices.Contains(s.Faults, "cut") || !slices.Contains(s.Faults, "stall") {
		return false
	}
	r.TTL = slices.Min(s.TTLs)
	s.lengthen(r)
	s.crowd(r, rng, []int{3}, 0.03, 0.1)
	// Others must meet the node meanwhile, but not ask for the same key.
	r.Load.Keys, r.Load.Think = min(s.Keys, 2), workload.Fixed(pick(rng, []time.Duration{60 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond}))
	r.Load.Timeout = r.TTL
	long := share(r.TTL, 2.2) // the node that forgot is away from its quorum for more than a lease
	for at := share(r.Duration, 0.03+0.05*rng.Float64()); at+long+share(r.TTL, 0.2) < r.Duration; at += long + share(r.TTL, 0.3) {
		s.forget(r, rng, pick(rng, forget), at, long)
	}
	return true
}

// forget has one vote forgotten as forgottenVote says.
func (s *Space) forget(r *Round, rng *rand.Rand, fault string, at, long time.Duration) {
	nodes, spare := rng.Perm(s.Nodes), (s.Nodes-1)/2
	named := func(of []int) string {
		var all []string
		for _, n := range of {
			all = append(all, fmt.Sprintf("n%d", n+1))
		}
		return strings.Join(all, "+")
	}
	name := fmt.Sprintf("victim%d", len(r.Steps))
	forgets, others, cut := named(nodes[:1]), named(nodes[1:1+spare]), named(nodes[s.Nodes-spare:])
	step := func(fault, client, node string, on watch.Moment, then, length time.Duration) {
		x := faults.Spec{Fault: fault, At: at, On: on, For: length, Params: faults.Params{Client: client, Node: node}}
		if on != faults.AtTime {
			x.By, x.Then = name, then
		}
		if !takes(fault, "client") {
			x.Client = ""
		}
		r.Steps = append(r.Steps, x)
	}
	step("cut", faults.JoinRole(faults.RoleAny, name), cut, faults.AtTime, 0, long)
	step("stall", name, others, watch.AcquireSent, 0, share(r.TTL, pick(rng, []float64{0.2, 0.35, 0.35, 0.6})))
	step(fault, "", forgets, watch.AcquireSent, share(r.TTL, pick(rng, []float64{0.01, 0.03, 0.06})), share(r.TTL, pick(rng, []float64{0, 0, 0.05})))
	after := share(r.TTL, pick(rng, []float64{0, 0, 0, 0.1}))
	step("cut", faults.RoleAll, others, watch.AcquireReplied, after, long)
	if rng.IntN(2) > 0 { // attempts that fail leave their marks on whom they reach: for as long as a lease they reach nobody
		step("cut", faults.RoleAll, cut, watch.AcquireReplied, after, share(r.TTL, pick(rng, []float64{1, 1.2, 1.4})))
	}
}

// midway makes attempts long by a slow network, and has nodes forget, end leases early, go
// away and come back, or hear the rest of one later than its lease, while they are under way.
func midway(s *Space, r *Round, rng *rand.Rand, before int) bool {
	held := s.holding()
	strikes := ofNodes(slices.Concat(s.of(coverage.ClockShifted), s.of(coverage.NodeEmpty), s.of(coverage.NodeRestarted), held))
	if len(strikes) == 0 || !slices.Contains(s.Faults, "latency") {
		return false
	}
	s.crowd(r, rng, []int{4, 5}, 0.01, 0.03, 0.1)
	delay := share(r.TTL, pick(rng, []float64{0.03, 0.06, 0.1}))
	r.goOn("latency", time.Millisecond, faults.Params{Client: faults.RoleAll, Node: faults.RoleAll, Delay: delay})
	if s.Nodes >= 3 && slices.Contains(s.Faults, "ring") && rng.IntN(3) > 0 {
		r.goOn("ring", time.Millisecond, faults.Params{})
	}
	x := faults.Spec{At: share(r.Duration, 0.05), On: watch.AcquireSent, Then: time.Duration(float64(delay) * pick(rng, []float64{1, 1.5, 2.5, 3.5}))}
	x.Fault, _ = inTurn(strikes, before)
	x.Times, x.Every = 12, max(50*time.Millisecond, share(r.TTL, 0.15))
	if slices.Contains(held, x.Fault) {
		x.Client, x.For = faults.RoleAny, share(r.TTL, pick(rng, []float64{1, 1.2, 1.5}))
		x.Times, x.Every = 6, x.For
	}
	if s.Nodes >= 3 {
		x.Node = pick(rng, []string{faults.RoleAny, faults.RoleSwing})
	}
	r.Steps = append(r.Steps, x)
	return true
}

// overtaken has as many attempts as there can be under way at once, over a network of which no
// two messages take equally long, and has nodes end what they store early all the while: the rest
// of an attempt meets whoever was granted its key meanwhile, and the next quorum may be one
// without the nodes that know of either.
func overtaken(s *Space, r *Round, rng *rand.Rand, _ int) bool {
	strikes := ofNodes(s.of(coverage.ClockShifted))
	if s.Nodes < 3 || len(strikes) == 0 || !slices.Contains(s.Faults, "latency") {
		return false
	}
	r.Duration = s.Longest
	s.crowd(r, rng, []int{s.Clients}, 0.01)
	r.Load.Keys, r.Load.Think = min(s.Keys, max(1, s.Clients/pick(rng, []int{4, 6}))), workload.Fixed(2*time.Millisecond)
	delay := share(r.TTL, pick(rng, []float64{0.04, 0.06, 0.1}))
	for _, at := range []time.Duration{time.Millisecond, r.Duration / 2} {
		r.goOn("latency", at, faults.Params{Client: faults.RoleAll, Node: faults.RoleAll, Delay: delay, Jitter: delay * 3 / 4})
		if slices.Contains(s.Faults, "ring") {
			r.goOn("ring", at, faults.Params{})
		}
	}
	x := faults.Spec{Fault: pick(rng, strikes), At: share(r.Duration, 0.04), On: faults.AtTime, Params: faults.Params{Node: faults.RoleAny}}
	x.Every = max(50*time.Millisecond, delay)
	x.Times = int(r.Duration / x.Every)
	r.Steps = append(r.Steps, x)
	return true
}

// outlived has a holder stand still for longer than its lease, while others ask for its key:
// what it does then, it does with what it takes for its own (Kleppmann, "How to do distributed
// locking", 2016). It stands still in its section, before it renews or extends, or before it
// gives the key back.
func outlived(s *Space, r *Round, rng *rand.Rand, before int) bool {
	pauses := s.of(coverage.ClientPaused)
	if len(pauses) == 0 {
		return false
	}
	s.crowd(r, rng, []int{3, 4, 6}, 0.3, 0.6)
	moment, before := inTurn([]watch.Moment{watch.InSection, watch.RenewalDue, watch.ReleaseSent}, before)
	x := faults.Spec{Fault: pick(rng, pauses), At: early(r, rng), On: moment, Params: faults.Params{Client: faults.RoleHolder}}
	switch {
	case moment != watch.RenewalDue:
	case before%3 == 0: // the others hold the key for long too
		x.Then = share(r.TTL, pick(rng, []float64{-0.04, -0.15}))
		r.Load.Hold, r.Load.Renew = workload.Fixed(share(r.TTL, 1.7)), true
	case before%3 == 1: // most of the others give it back soon
		x.Then = share(r.TTL, pick(rng, []float64{-0.04, -0.15}))
		r.Load.Hold, r.Load.LongHold = workload.Fixed(share(r.TTL, 0.05)), 0.3
	default: // by hand
		x.On, r.Load.Extend = watch.InSection, 1
	}
	x.For = share(r.TTL, pick(rng, []float64{1.1, 1.4, 1.8}))
	x.Times, x.Every = 4, x.For+share(r.TTL, 0.4)
	r.Steps = append(r.Steps, x)
	return true
}

// renewed has a lease live on by its renewals while others ask for its key, and something
// come between its holder and its nodes about when one is due, for as long as a lease.
func renewed(s *Space, r *Round, rng *rand.Rand, before int) bool {
	var between []coverage.Class
	for class := coverage.RequestLost; class < coverage.ClientPaused; class++ {
		if len(s.of(class)) > 0 {
			between = append(between, class)
		}
	}
	if len(between) == 0 {
		return false
	}
	r.TTL = pick(rng, s.within(r.Duration/3)) // how late a holder hears of its loss is told from a longer lease
	s.crowd(r, rng, []int{3, 4, 6}, 1.7, 2.5)
	r.Load.Wait, r.Load.Timeout = share(r.TTL, pick(rng, []float64{0, 1, 3})), share(r.TTL, pick(rng, []float64{0, 3})) // whoever is patient hears what is late
	class, before := inTurn(between, before)
	x := faults.Spec{Fault: pick(rng, s.of(class)), At: early(r, rng), On: watch.RenewalDue}
	x.Then = share(r.TTL, pick(rng, []float64{-0.04, -0.15, 0}))
	switch before % 3 {
	case 0:
		r.Load.Renew = true
	case 1: // most of the others give the key back soon, and what is late arrives then
		x.Until = watch.ReleaseReplied
		r.Load.Hold, r.Load.LongHold = workload.Fixed(share(r.TTL, 0.03)), 0.4
		r.Clients, r.Load.Think = min(r.Clients, 3), workload.Fixed(pick(rng, []time.Duration{60 * time.Millisecond, 120 * time.Millisecond}))
	default: // by hand
		r.Load.Extend, x.On, x.Then = 0.5, watch.RenewalSent, 0
	}
	x.For = share(r.TTL, pick(rng, []float64{0.7, 0.9, 1.2, 1.7}))
	x.Times, x.Every = 4, x.For+share(r.TTL, 0.5)
	if takes(x.Fault, "client") {
		x.Client = faults.RoleHolder
	}
	if takes(x.Fault, "node") && s.Nodes >= 3 {
		x.Node = s.aimedNodes(class, rng)
	}
	r.Steps = append(r.Steps, x)
	return true
}

// vanished has somebody who stands in line, or who holds, be no more early on, and others ask
// on for many leases: what was left behind must be gone by then. Every other time some read and
// others write, and one after the other vanishes: readers who count on somebody who is no more
// keep what he left alive, so that no writer is ever served, and a writer who is waited for keeps
// readers out.
func vanished(s *Space, r *Round, rng *rand.Rand, before int) bool {
	crashes := s.of(coverage.ClientCrashed)
	if len(crashes) == 0 {
		return false
	}
	r.TTL = slices.Min(s.TTLs)
	s.lengthen(r)
	r.Duration = min(s.Longest, max(r.Duration, 12*r.TTL)) // or as long as there may be
	s.crowd(r, rng, []int{4, 6, 8}, 0.1)
	r.Load.Wait = share(r.TTL, pick(rng, []float64{0.5, 1, 3}))
	x := faults.Spec{Fault: pick(rng, crashes), At: early(r, rng), For: share(r.TTL, 0.35)}
	x.On, _ = inTurn([]watch.Moment{"", watch.InSection, watch.AcquireSent}, before)
	if takes(x.Fault, "client") {
		x.Client = pick(rng, []string{faults.RoleWaiter, faults.RoleWaiter, faults.RoleHolder})
	}
	if slices.Contains(s.Modes, workload.ModeRW) && before%2 == 1 {
		r.Load.Mode, r.Load.Readers = workload.ModeRW, pick(rng, []float64{0.5, 0.7, 0.85})
		x.Times, x.Every = 4, r.Duration/5
		if x.Client != "" && rng.IntN(2) == 0 {
			x.Client = faults.RoleWriter
		}
	}
	r.Steps = append(r.Steps, x)
	return true
}

// asleep has everybody wait inside the lock for longer than any key may stay without a grant,
// and whoever would wake them be no more, or what wakes them be lost: who waits must look
// again by itself.
func asleep(s *Space, r *Round, rng *rand.Rand, _ int) bool {
	crashes, loses := s.of(coverage.ClientCrashed), slices.Contains(s.Faults, "request-lost")
	if len(crashes) == 0 && !loses {
		return false
	}
	r.TTL = slices.Min(s.TTLs)
	s.lengthen(r)
	r.Duration = max(s.Longest, 16*r.TTL) // the proof takes many leases
	s.crowd(r, rng, []int{2, 3, 3}, 0.1, 0.3)
	r.Load.Wait, r.Load.Think = r.Duration, workload.Fixed(5*time.Millisecond)
	// Whoever comes back does so while what it held is still there, and waits as well.
	x := faults.Spec{At: share(r.Duration, 0.03+0.05*rng.Float64()), On: watch.InSection, For: share(r.TTL, 0.35), Params: faults.Params{Client: faults.RoleHolder}}
	if len(crashes) == 0 || loses && rng.IntN(2) == 0 {
		x.Fault, x.On, x.For, x.Node = "request-lost", watch.ReleaseSent, share(r.TTL, 0.15), faults.RoleAll
	} else {
		x.Fault = pick(rng, crashes)
	}
	r.Steps = append(r.Steps, x)
	return true
}

// amongReaders has a reader stand still for longer than its lease, or what it says come late,
// while others read and somebody waits to write: what it gives back then must not be another
// reader's place. Mostly there are so few of them that what it held is gone before the next
// one comes.
func amongReaders(s *Space, r *Round, rng *rand.Rand, before int) bool {
	pauses, held := s.of(coverage.ClientPaused), s.holding()
	if len(pauses)+len(held) == 0 || !slices.Contains(s.Modes, workload.ModeRW) {
		return false
	}
	r.TTL = pick(rng, s.within(s.Longest/8))
	s.lengthen(r)
	r.Duration = max(s.Longest, 16*r.TTL) // a few readers one after another
	s.crowd(r, rng, []int{3, 4, 4, 5}, 0.3, 0.6, 0.7)
	l := &r.Load
	l.Mode, l.Readers = workload.ModeRW, pick(rng, []float64{0.5, 0.6, 0.7})
	l.Wait, l.Think = share(r.TTL, pick(rng, []float64{0, 1, 2})), workload.Fixed(max(5*time.Millisecond, share(r.TTL, pick(rng, []float64{0.01, 0.8, 0.8, 1.2}))))
	x := faults.Spec{At: share(r.Duration, 0.03+0.05*rng.Float64()), On: watch.InSection, Params: faults.Params{Client: faults.RoleHolder}}
	if len(pauses) == 0 || len(held) > 0 && before%4 == 3 {
		x.Fault, x.On = pick(rng, held), watch.ReleaseSent
	} else {
		x.Fault = pick(rng, pauses)
	}
	x.For = share(r.TTL, pick(rng, []float64{1.2, 1.6, 1.8}))
	x.Times, x.Every = 6, x.For+share(r.TTL, 0.7)
	if takes(x.Fault, "node") {
		x.Node = faults.RoleAll
	}
	r.Steps = append(r.Steps, x)
	return true
}

// backTooSoon has a master forget while a key of it is held, and come back before anybody
// has missed it: nobody is promoted in its place, and its replicas become as empty as it is.
func backTooSoon(s *Space, r *Round, rng *rand.Rand, _ int) bool {
	forget := ofNodes(s.of(coverage.NodeEmpty))
	if !s.Elected || len(forget) == 0 {
		return false
	}
	s.crowd(r, rng, []int{3, 4, 6}, 0.3, 0.6, 0.8)
	x := faults.Spec{Fault: pick(rng, forget), At: share(r.Duration, 0.05+0.1*rng.Float64()), On: pick(rng, []watch.Moment{watch.InSection, watch.AcquireReplied})}
	x.Node, x.For = faults.RoleMaster, pick(rng, soon)
	x.Times, x.Every = 3, r.TTL
	r.Steps = append(r.Steps, x)
	return true
}

// backAgain has a node go away while a key of it is held, and come back with what it stored before
// the lease has ended, again and again: all connect anew, and what tells clients apart must not
// begin anew with that.
func backAgain(s *Space, r *Round, rng *rand.Rand, before int) bool {
	restarts := ofNodes(s.of(coverage.NodeRestarted))
	if len(restarts) == 0 {
		return false
	}
	r.TTL = slices.Max(s.within(r.Duration / 3)) // longer than a server takes to come back
	s.crowd(r, rng, []int{3, 4, 6}, 0.6, 0.9)
	l := &r.Load
	l.Keys, l.Think = min(s.Keys, pick(rng, []int{1, 2})), workload.Fixed(5*time.Millisecond)
	x := faults.Spec{At: early(r, rng), On: pick(rng, []watch.Moment{watch.AcquireReplied, watch.InSection}), For: pick(rng, soon)}
	x.Fault, _ = inTurn(restarts, before)
	x.Times, x.Every = 5, r.TTL*7/10
	switch {
	case s.Elected:
		x.Node = faults.RoleMaster
	case s.Nodes >= 3:
		x.Node = pick(rng, []string{faults.RoleSwing, faults.RoleMajority, faults.RoleAll})
	}
	r.Steps = append(r.Steps, x)
	return true
}

// soon is how long a server is away that nobody has missed yet.
var soon = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}
