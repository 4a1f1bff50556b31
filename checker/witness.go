package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// witnesses decides S9, and S5 where nodes were watched.
type witnesses struct {
	j       *Judge
	awake   bool             // there is something to compare grants with
	blocked map[int][]string // invocation → nodes that a link never carried it to
}

// A release was answered yes, within its window.
type release struct {
	holder  *holder
	mode    history.Mode
	inv, ok time.Duration
	idx     int
}

func (*witnesses) ids() []string { return []string{"S9"} }
func (*witnesses) wants() []what { return []what{witnessed, receipt} }

func (w *witnesses) see(f *fact) {
	switch f.what {
	case witnessed:
		if f.e.Op == history.Key && f.e.Kind == history.OK && !isSample(f.e) {
			w.wake()
			w.look(f.e)
		}
	case receipt:
		if f.e.Node != "" && f.e.Value == history.NeverForwarded {
			w.wake()
			w.block(f.e)
		}
	case granted:
		if last := f.key.last; last != nil {
			w.quorate(last)
		}
	case releasing:
		w.quorate(f.grant)
	case answered:
		if f.op.outcome == history.OK && len(f.key.nodes) > 0 {
			f.key.gone = &release{f.grant.holder, f.grant.mode, f.op.inv, f.op.ok, f.op.okIdx}
			for _, v := range f.key.sortedNodes() {
				for i := len(v.seen) - 1; i > 0 && v.seen[i].t >= f.op.inv; i-- {
					w.removed(f.key, v, i)
				}
			}
		}
	}
}

// wake looks at grants and releases from here on.
func (w *witnesses) wake() {
	if !w.awake {
		w.awake = true
		w.j.wake(w, granted, releasing, answered)
	}
}

func (w *witnesses) finish() {
	for _, k := range w.j.sortedKeys() {
		if k.last != nil {
			w.quorate(k.last)
		}
	}
}

func (w *witnesses) look(e *history.Event) {
	k := w.j.key(e.Key)
	v := k.node(e.Node)
	s := sight{t: e.Time, idx: e.Index, holder: strings.Clone(e.Holder), watch: e.Note == "watch", left: timeLeft(e)}
	s.token = s.holder != "" && !k.anyHolder(func(h *holder) bool { return s.names(h.owner) })
	if len(v.seen) == recentSights {
		v.seen = slices.Delete(v.seen, 0, 1)
	}
	v.seen = append(v.seen, s)
	if k.gone != nil {
		w.removed(k, v, len(v.seen)-1)
	}
}

func (w *witnesses) block(e *history.Event) {
	switch {
	case w.blocked == nil:
		w.blocked = make(map[int][]string)
	case len(w.blocked) >= earlyReceipts:
		w.unblock()
	}
	if !slices.Contains(w.blocked[e.Of], e.Node) {
		w.blocked[e.Of] = append(w.blocked[e.Of], strings.Clone(e.Node))
	}
}

// unblock forgets what a link says of acquires that are over, and were refused or
// counted.
func (w *witnesses) unblock() {
	open := w.j.openIndices()
	for _, k := range w.j.names.keys {
		if k.last != nil {
			open[k.last.invIdx] = true
		}
	}
	maps.DeleteFunc(w.blocked, func(of int, _ []string) bool { return !open[of] })
}

// quorate judges whether enough nodes ever stored g's owner while it was
// being acquired. It is asked when the lease ends, once.
func (w *witnesses) quorate(g *grant) {
	k := g.holder.key
	if g.counted || len(k.nodes) == 0 && len(w.blocked) == 0 {
		return
	}
	g.counted = true
	var without, unsure []string
	for _, v := range k.sortedNodes() {
		switch v.stored(g) {
		case absent:
			without = append(without, v.name)
		case unfound:
			unsure = append(unsure, v.name)
		}
	}
	blocked := w.blocked[g.invIdx]
	for _, n := range blocked {
		if !slices.Contains(without, n) {
			without = append(without, n)
		}
		unsure = slices.DeleteFunc(unsure, func(u string) bool { return u == n })
	}
	delete(w.blocked, g.invIdx)
	nodes, quorum := w.j.h.Nodes, w.j.h.Quorum
	switch {
	case w.j.test.subQuorum(nodes-len(without), quorum):
		w.j.violate(w.hit(g, without, reason(without, blocked)))
	case w.j.test.subQuorum(nodes-len(without)-len(unsure), quorum) && !w.j.suspicious.full("S9"):
		w.j.suspect(w.hit(g, append(without, unsure...), "it was not seen there, but nobody looked all the time"))
	}
}

// reason says why nodes cannot have stored an owner: the links to those
// blocked never carried its request, the others were watched.
func reason(nodes, blocked []string) string {
	const record = "an unbroken record of what %s stored does not show it"
	switch len(blocked) {
	case 0:
		return fmt.Sprintf(record, "they")
	case len(nodes):
		return "no request of it ever reached them"
	}
	return fmt.Sprintf("no request of it ever reached %s, and "+record, strings.Join(blocked, ", "), "the others")
}

func (w *witnesses) hit(g *grant, without []string, why string) *hit {
	slices.Sort(without)
	text := fmt.Sprintf("%s was told at %s that it holds %s%s, but of %d nodes these did not store it between %s and then: %s; %s. A quorum is %d.",
		g.owner(), at(g.ok), g.holder.key.name, token(g.fence), w.j.h.Nodes, at(g.inv), strings.Join(without, ", "), why, w.j.h.Quorum)
	return &hit{
		id: "S9", key: g.holder.key, owners: []string{g.owner()}, witness: []int{g.invIdx, g.okIdx}, blame: blameLibrary,
		from: g.inv, to: g.ok, text: func() string { return text },
	}
}

// removed reports S5 when a node was seen, in its sight number i, to lose
// another's key while the last release was under way.
func (w *witnesses) removed(k *key, v *nodeView, i int) {
	if i < 1 {
		return
	}
	r, before, after := k.gone, v.seen[i-1], v.seen[i]
	if !before.watch || after.holder != "" || after.t < r.inv || after.t > r.ok || before.t+before.left <= after.t {
		return
	}
	for _, y := range k.held {
		if !y.excludes(r.holder, r.mode) || !before.names(y.owner()) || y.rel <= after.t || y.ok > after.t || y.end() <= after.t || w.j.nemesis.forgot(y.start, after.t) {
			continue
		}
		text := fmt.Sprintf("Node %s stored %s for %s, and lost it at %s, before its time and while %s was releasing its own lease (from %s to %s); %s, which held the key from %s, had released nothing.",
			v.name, k.name, y.owner(), at(after.t), r.holder.owner, at(r.inv), at(r.ok), y.owner(), at(y.ok))
		w.j.violate(&hit{
			id: "S5", key: k, owners: owners(r.holder.owner, y.owner()), witness: []int{y.okIdx, r.idx, after.idx}, blame: blameRelease,
			from: y.start, to: after.t, text: func() string { return text },
		})
		return
	}
}
