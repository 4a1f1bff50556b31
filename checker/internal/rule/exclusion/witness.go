package exclusion

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Witnesses decides S9, and S5 where nodes were watched without a gap.
type Witnesses struct {
	*rule.Env
	awake   bool // there is something to compare grants with
	keys    rule.Table[watchedKey]
	counted rule.Table[[2]int] // by holder: its latest grants that were judged, by their events
	blocked map[int][]string   // invocation → nodes that a link never carried it to
}

// A watchedKey is what nodes stored under a key, as far as it was recorded.
type watchedKey struct {
	nodes map[string]*nodeView
	gone  *release // the last release answered yes
}

// A release is one that was answered yes, and its interval.
type release struct {
	holder  *ledger.Holder
	mode    history.Mode
	inv, ok time.Duration
	idx     int
}

func (*Witnesses) IDs() []string        { return []string{"S9"} }
func (*Witnesses) Wants() []ledger.Kind { return []ledger.Kind{ledger.Witnessed, ledger.Receipt} }

func (w *Witnesses) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Witnessed:
		if f.Event.Op == history.Key && f.Event.Kind == history.OK && !rule.IsSample(f.Event) {
			w.wake()
			w.addSample(f.Event)
		}
	case ledger.Receipt:
		if f.Event.Node != "" && f.Event.Value == history.NeverForwarded {
			w.wake()
			w.block(f.Event)
		}
	case ledger.Granted:
		if last := f.Key.Last; last != nil {
			w.quorate(last)
		}
	case ledger.Releasing:
		w.quorate(f.Grant)
	case ledger.Answered:
		if f.Op.Outcome == history.OK {
			w.released(f)
		}
	}
}

// released looks for keys that nodes lost while the release of f was under way.
func (w *Witnesses) released(f *ledger.Fact) {
	k := w.keys.Get(f.Key.No)
	if k == nil || len(k.nodes) == 0 {
		return
	}
	k.gone = &release{f.Grant.Holder, f.Grant.Mode, f.Op.Inv, f.Op.OK, f.Op.OKIdx}
	for _, v := range k.sortedNodes() {
		for i := len(v.seen) - 1; i > 0 && v.seen[i].t >= f.Op.Inv; i-- {
			w.removed(f.Key, v, i)
		}
	}
}

// wake makes the rule observe grants and releases from here on.
func (w *Witnesses) wake() {
	if !w.awake {
		w.awake = true
		w.Wake(w, ledger.Granted, ledger.Releasing, ledger.Answered)
	}
}

func (w *Witnesses) Finish() {
	for _, k := range w.SortedKeys() {
		if k.Last != nil {
			w.quorate(k.Last)
		}
	}
}

func (w *Witnesses) addSample(e *history.Event) {
	k := w.Key(e.Key)
	x := w.keys.At(k.No)
	v := x.node(e.Node)
	s := sight{t: e.Time, idx: e.Index, holder: strings.Clone(e.Holder), watch: e.Note == "watch", left: rule.TimeLeft(e)}
	s.token = s.holder != "" && !k.AnyHolder(func(h *ledger.Holder) bool { return rule.StoredFor(s.holder, h.Owner) })
	if len(v.seen) == recentSights {
		v.seen = slices.Delete(v.seen, 0, 1)
	}
	v.seen = append(v.seen, s)
	if x.gone != nil {
		w.removed(k, v, len(v.seen)-1)
	}
}

func (w *Witnesses) block(e *history.Event) {
	switch {
	case w.blocked == nil:
		w.blocked = make(map[int][]string)
	case len(w.blocked) >= ledger.MostEarly:
		w.unblock()
	}
	if !slices.Contains(w.blocked[e.Of], e.Node) {
		w.blocked[e.Of] = append(w.blocked[e.Of], strings.Clone(e.Node))
	}
}

// unblock drops what links say about acquires that are over and are judged, or were refused.
func (w *Witnesses) unblock() {
	open := w.OpenIndices()
	for _, k := range w.Names.Keys {
		if k.Last != nil {
			open[k.Last.InvIdx] = true
		}
	}
	maps.DeleteFunc(w.blocked, func(of int, _ []string) bool { return !open[of] })
}

// quorate judges whether a quorum of nodes ever stored g's owner while it was acquiring. It is
// called once, when the lease ends.
func (w *Witnesses) quorate(g *ledger.Grant) {
	k := w.keys.At(g.Holder.Key.No)
	counted := w.counted.At(g.Holder.ID)
	if slices.Contains(counted[:], g.OKIdx) || len(k.nodes) == 0 && len(w.blocked) == 0 {
		return
	}
	counted[0], counted[1] = counted[1], g.OKIdx
	var without, unsure []string
	for _, v := range k.sortedNodes() {
		switch v.stored(g) {
		case absent:
			without = append(without, v.name)
		case unfound:
			unsure = append(unsure, v.name)
		}
	}
	blocked := w.blocked[g.InvIdx]
	for _, n := range blocked {
		if !slices.Contains(without, n) {
			without = append(without, n)
		}
		unsure = slices.DeleteFunc(unsure, func(u string) bool { return u == n })
	}
	delete(w.blocked, g.InvIdx)
	nodes, quorum := w.Header.Nodes, w.Header.Quorum
	switch {
	case nodes-len(without) < quorum:
		w.Violate(w.candidate(g, without, reason(without, blocked)))
	case nodes-len(without)-len(unsure) < quorum && !w.Suspicious.Full("S9"):
		w.Suspect(w.candidate(g, append(without, unsure...), "it was not seen there, but nobody looked all the time"))
	}
}

// reason says why nodes cannot have stored an owner: for those in blocked, because the link
// never carried the request; for the others, because they were watched.
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

func (w *Witnesses) candidate(g *ledger.Grant, without []string, why string) *rule.Candidate {
	slices.Sort(without)
	text := fmt.Sprintf("%s was told at %s that it holds %s%s, but of %d nodes these did not store it between %s and then: %s; %s. A quorum is %d.",
		g.Owner(), words.At(g.OK), g.Holder.Key.Name, words.Token(g.Fence), w.Header.Nodes, words.At(g.Inv), strings.Join(without, ", "), why, w.Header.Quorum)
	return &rule.Candidate{
		ID: "S9", Key: g.Holder.Key, Owners: []string{g.Owner()}, Witness: []int{g.InvIdx, g.OKIdx}, Blame: rule.BlameLibrary,
		From: g.Inv, To: g.OK, Text: func() string { return text },
	}
}

// removed reports S5 when a node, in its sight number i, lost another owner's key while the
// last release was under way.
func (w *Witnesses) removed(k *ledger.Key, v *nodeView, i int) {
	if i < 1 {
		return
	}
	r, before, after := w.keys.At(k.No).gone, v.seen[i-1], v.seen[i]
	if !before.watch || after.holder != "" || after.t < r.inv || after.t > r.ok || before.t+before.left <= after.t {
		return
	}
	for _, y := range k.Held {
		if !y.Excludes(r.holder, r.mode) || !rule.StoredFor(before.holder, y.Owner()) || y.ReleasedAt <= after.t || y.OK > after.t || y.End() <= after.t || w.Nemesis.Forgot(y.Start, after.t) {
			continue
		}
		text := fmt.Sprintf("Node %s stored %s for %s, and lost it at %s, before its time and while %s was releasing its own lease (from %s to %s); %s, which held the key from %s, had released nothing.",
			v.name, k.Name, y.Owner(), words.At(after.t), r.holder.Owner, words.At(r.inv), words.At(r.ok), y.Owner(), words.At(y.OK))
		w.Violate(&rule.Candidate{
			ID: "S5", Key: k, Owners: words.Owners(r.holder.Owner, y.Owner()), Witness: []int{y.OKIdx, r.idx, after.idx}, Blame: rule.BlameRelease,
			From: y.Start, To: after.t, Text: func() string { return text },
		})
		return
	}
}
