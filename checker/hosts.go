package checker

import (
	"maps"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A host is the number of one of the header's hosts, from 1; 0 is none.
type host uint16

// mostHosts is how many hosts are told apart. Of more, the two whose clocks may be
// furthest apart stand for all.
const mostHosts = 1 << 15

// bounds say how far apart the stamps of two hosts may be: those of one by its own
// bound, those of two by the sum of both. An event that names no host may be any
// host's; two of those are as far apart as the header says for all.
type bounds struct {
	plain             time.Duration // of two events without a host
	own               []time.Duration
	numbers           map[string]host // of hosts; nil where all are alike
	widest, narrowest time.Duration   // of any pair
}

func clockBounds(h history.Header) bounds {
	b := bounds{plain: h.Epsilon, widest: uncertainty(h), narrowest: uncertainty(h)}
	if len(h.Hosts) == 0 || len(h.Hosts) > mostHosts {
		return b
	}
	b.own, b.numbers, b.narrowest = make([]time.Duration, 1, len(h.Hosts)+1), make(map[string]host), b.plain
	for _, name := range slices.Sorted(maps.Keys(h.Hosts)) {
		b.numbers[name] = host(len(b.own))
		b.own = append(b.own, h.Hosts[name].Epsilon)
		b.narrowest = min(b.narrowest, h.Hosts[name].Epsilon)
	}
	return b
}

// several says whether not all pairs of stamps are as far apart.
func (b *bounds) several() bool { return b.numbers != nil }

// apart is how far apart stamps of two hosts may be.
func (b *bounds) apart(x, y host) time.Duration {
	if b.numbers == nil {
		return b.widest
	}
	return b.between(x, y)
}

func (b *bounds) between(x, y host) time.Duration {
	switch {
	case x == 0 && y == 0:
		return b.plain
	case x == 0 || y == 0:
		return b.widest
	case x == y:
		return b.own[x]
	}
	return b.own[x] + b.own[y]
}

// host is the number of the host that stamped e.
func (j *Judge) host(e *history.Event) host {
	if j.clock.numbers == nil {
		return 0
	}
	return j.clock.numbers[e.Host]
}

// stampedBy notes that a host stamped what became of g.
func (g *grant) stampedBy(h host) {
	if h != g.host && !slices.Contains(g.inTrouble().hosts, h) {
		g.trouble.hosts = append(g.trouble.hosts, h)
	}
}

// hosts are those that stamped g and what became of it.
func (g *grant) hosts() []host {
	all := []host{g.host}
	if g.trouble != nil {
		all = append(all, g.trouble.hosts...)
	}
	return all
}

// elsewhere says whether another host than its first stamped what became of g.
func (g *grant) elsewhere() bool { return g.trouble != nil && len(g.trouble.hosts) > 0 }

// apart is how far apart the stamps of two grants may be, whatever set their ends.
func (j *Judge) apart(a, b *grant) time.Duration {
	if j.clock.numbers == nil {
		return j.clock.widest
	}
	return j.clock.widestOf(append(a.hosts(), b.hosts()...))
}

// from is how far apart the stamps of g and of a host may be.
func (j *Judge) from(g *grant, h host) time.Duration {
	if j.clock.numbers == nil {
		return j.clock.widest
	}
	return j.clock.widestOf(append(g.hosts(), h))
}

// widestOf is how far apart any two of these hosts' stamps may be.
func (b *bounds) widestOf(hosts []host) (eps time.Duration) {
	for i, x := range hosts {
		for _, y := range hosts[i+1:] {
			eps = max(eps, b.between(x, y))
		}
	}
	return eps
}
