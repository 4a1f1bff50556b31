package ledger

import (
	"maps"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A Host is the number of one of the header's hosts, from 1; 0 is none.
type Host uint16

// mostHosts is how many hosts are told apart. Where a history has more, every pair counts as
// far apart as the two whose clocks may be the furthest.
const mostHosts = 1 << 15

// Clocks say how far apart the stamps of two events may be: of one host by that host's bound,
// of two hosts by the sum of both. An event that names no host may be from any; two such events
// are as far apart as the header says for all.
type Clocks struct {
	plain             time.Duration // of two events without a host
	own               []time.Duration
	numbers           map[string]Host // of hosts; nil where all are alike
	Widest, Narrowest time.Duration   // of any pair
}

func newClocks(h history.Header) Clocks {
	b := Clocks{plain: h.Epsilon, Widest: Uncertainty(h), Narrowest: Uncertainty(h)}
	if len(h.Hosts) == 0 || len(h.Hosts) > mostHosts {
		return b
	}
	b.own, b.numbers, b.Narrowest = make([]time.Duration, 1, len(h.Hosts)+1), make(map[string]Host), b.plain
	for _, name := range slices.Sorted(maps.Keys(h.Hosts)) {
		b.numbers[name] = Host(len(b.own))
		b.own = append(b.own, h.Hosts[name].Epsilon)
		b.Narrowest = min(b.Narrowest, h.Hosts[name].Epsilon)
	}
	return b
}

// Several says whether the bound is not the same for all pairs of hosts.
func (b *Clocks) Several() bool { return b.numbers != nil }

// A Stamper is whoever stamped an event: a process, by the clock of its host.
type Stamper struct {
	Process int
	Host    Host
}

// Apart is how far apart the stamps of x and y may be; 0 for one process, whose events are in
// order.
func (b *Clocks) Apart(x, y Stamper) time.Duration {
	switch {
	case x.Process == y.Process:
		return 0
	case b.numbers == nil:
		return b.Widest
	}
	return b.between(x.Host, y.Host)
}

func (b *Clocks) between(x, y Host) time.Duration {
	switch {
	case x == 0 && y == 0:
		return b.plain
	case x == 0 || y == 0:
		return b.Widest
	case x == y:
		return b.own[x]
	}
	return b.own[x] + b.own[y]
}

// Host is the number of the host that stamped e.
func (l *Ledger) Host(e *history.Event) Host {
	if l.Clocks.numbers == nil {
		return 0
	}
	return l.Clocks.numbers[e.Host]
}

// By is who stamped o.
func (o *Op) By() Stamper { return Stamper{o.Process, o.Host} }

// By is who stamped e.
func (l *Ledger) By(e *history.Event) Stamper { return Stamper{e.Process, l.Host(e)} }

// By is who stamped the acquire of g.
func (g *Grant) By() Stamper { return Stamper{g.Process, g.Host} }

// stampedBy notes that x stamped something that changed g.
func (g *Grant) stampedBy(x Stamper) {
	g.Others = g.Others || x.Process != g.Process
	if x.Host != g.Host && !slices.Contains(g.Rarely().hosts, x.Host) {
		g.Rare.hosts = append(g.Rare.hosts, x.Host)
	}
}

// hosts are the hosts that stamped g or something that changed it.
func (g *Grant) hosts() []Host {
	all := []Host{g.Host}
	if g.Rare != nil {
		all = append(all, g.Rare.hosts...)
	}
	return all
}

// Elsewhere says whether another host than that of its acquire stamped something that changed
// g.
func (g *Grant) Elsewhere() bool { return g.Rare != nil && len(g.Rare.hosts) > 0 }

// Apart is how far apart the stamps may be by which the overlap of a and b is computed.
func (l *Ledger) Apart(a, b *Grant) time.Duration {
	if l.InOrder(a, b) {
		return 0
	}
	return l.Farthest(a, b)
}

// Farthest is how far apart any two stamps of a and b may be, whatever set their ends.
func (l *Ledger) Farthest(a, b *Grant) time.Duration {
	if l.Clocks.numbers == nil {
		return l.Clocks.Widest
	}
	return l.Clocks.widestOf(append(a.hosts(), b.hosts()...))
}

// InOrder says whether the order of one process's events decides how long a and b held
// together: that process was granted both and stamped the ends of both, unless an end is beyond
// the clock uncertainty anyway.
func (l *Ledger) InOrder(a, b *Grant) bool {
	if b.OK < a.OK || b.OK == a.OK && b.OKIdx < a.OKIdx {
		a, b = b, a
	}
	eps := l.Farthest(a, b)
	own := a.Process == b.Process || a.enteredBefore(b.Process, b.OKIdx) && b.OK-a.OK > eps
	return own && a.endStampedBy(b.Process, b.OK, eps) && b.endStampedBy(b.Process, b.OK, eps)
}

// endStampedBy says whether process stamped each of g's deadline and ending that is not more
// than eps behind t.
func (g *Grant) endStampedBy(process int, t, eps time.Duration) bool {
	due := int(g.DueBy) == process || g.Deadline-t > eps
	return due && (g.StoppedAt == Never || int(g.StopBy) == process || g.StoppedAt-t > eps)
}

// Past is how far apart the stamp of g's deadline and a stamp of x's may be.
func (l *Ledger) Past(g *Grant, x Stamper) time.Duration {
	if int(g.DueBy) == x.Process && g.Latest() == g.Deadline && !g.TwoTokens() {
		return 0
	}
	return l.From(g, x)
}

// From is how far apart the stamps of g and a stamp of x's may be.
func (l *Ledger) From(g *Grant, x Stamper) time.Duration {
	if g.Process == x.Process && !g.Others {
		return 0
	}
	return l.apartFrom(g, x)
}

func (l *Ledger) apartFrom(g *Grant, x Stamper) time.Duration {
	if l.Clocks.numbers == nil {
		return l.Clocks.Widest
	}
	return l.Clocks.widestOf(append(g.hosts(), x.Host))
}

// LastsBeyond says whether g's definite hold surely lasted beyond t, the stamp that by set on
// the event at idx. Of one process's events the later line came later, also where both have the
// same stamp.
func (l *Ledger) LastsBeyond(g *Grant, t time.Duration, idx int, by Stamper) bool {
	eps := l.apartFrom(g, by)
	if eps > 0 && int(g.DueBy) == by.Process {
		eps = 0
	}
	switch {
	case Later(eps, t) >= g.Deadline && !g.dueBehind(t, by) && !g.heldUntilLeft(t, idx, by.Process):
		return false
	case g.StoppedAt == Never:
		return true
	case int(g.StopBy) == by.Process:
		return t < g.StoppedAt || t == g.StoppedAt && idx < g.StopIdx
	}
	return Later(l.apartFrom(g, by), t) < g.StoppedAt
}

// dueBehind says whether by itself stamped a deadline of g's that is behind t: the latest one,
// or one that another process has moved since.
func (g *Grant) dueBehind(t time.Duration, by Stamper) bool {
	if g.Rare == nil {
		return false
	}
	own := func(r *reentry) bool {
		return r.idx != 0 && r.by == by.Process && t < r.until && !(g.Extended && g.DeadlineIdx > r.idx)
	}
	return t < g.Rare.dueBefore.until && int(g.Rare.dueBefore.process) == by.Process || own(&g.Rare.latest) || own(&g.Rare.again)
}

// Together says whether the definite holds of a and b surely overlapped.
func (l *Ledger) Together(a, b *Grant) bool {
	if b.OKIdx < a.OKIdx {
		a, b = b, a
	}
	_, length := Overlap(a, b)
	atOnce := length == 0 && b.OK < b.Deadline && l.InOrder(a, b) && l.LastsBeyond(a, b.OK, b.OKIdx, b.By())
	return atOnce || length > l.Apart(a, b)
}

// widestOf is how far apart the stamps of any two of these hosts may be.
func (b *Clocks) widestOf(hosts []Host) (eps time.Duration) {
	for i, x := range hosts {
		for _, y := range hosts[i+1:] {
			eps = max(eps, b.between(x, y))
		}
	}
	return eps
}

// Uncertainty is how far the clocks of any two that stamped events of a history
// with header h may be apart.
func Uncertainty(h history.Header) time.Duration {
	var widest, next time.Duration
	for _, host := range h.Hosts {
		next = max(next, min(widest, host.Epsilon))
		widest = max(widest, host.Epsilon)
	}
	return max(h.Epsilon, widest+next)
}
