package ledger

import (
	"maps"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A Host is the number of one of the header's hosts, from 1; 0 is none.
type Host uint16

// mostHosts is how many hosts are told apart. Of more, the two whose clocks may be
// furthest apart stand for all.
const mostHosts = 1 << 15

// Clocks say how far apart the stamps of two hosts may be: those of one by its own
// bound, those of two by the sum of both. An event that names no host may be any
// host's; two of those are as far apart as the header says for all.
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

// Several says whether not all pairs of stamps are as far apart.
func (b *Clocks) Several() bool { return b.numbers != nil }

// Apart is how far apart stamps of two hosts may be.
func (b *Clocks) Apart(x, y Host) time.Duration {
	if b.numbers == nil {
		return b.Widest
	}
	return b.between(x, y)
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

// stampedBy notes that a host stamped what became of g.
func (g *Grant) stampedBy(h Host) {
	if h != g.Host && !slices.Contains(g.Rarely().hosts, h) {
		g.Rare.hosts = append(g.Rare.hosts, h)
	}
}

// hosts are those that stamped g and what became of it.
func (g *Grant) hosts() []Host {
	all := []Host{g.Host}
	if g.Rare != nil {
		all = append(all, g.Rare.hosts...)
	}
	return all
}

// Elsewhere says whether another host than its first stamped what became of g.
func (g *Grant) Elsewhere() bool { return g.Rare != nil && len(g.Rare.hosts) > 0 }

// Apart is how far apart the stamps of two grants may be, whatever set their ends.
func (l *Ledger) Apart(a, b *Grant) time.Duration {
	if l.Clocks.numbers == nil {
		return l.Clocks.Widest
	}
	return l.Clocks.widestOf(append(a.hosts(), b.hosts()...))
}

// From is how far apart the stamps of g and of a host may be.
func (l *Ledger) From(g *Grant, h Host) time.Duration {
	if l.Clocks.numbers == nil {
		return l.Clocks.Widest
	}
	return l.Clocks.widestOf(append(g.hosts(), h))
}

// widestOf is how far apart any two of these hosts' stamps may be.
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
