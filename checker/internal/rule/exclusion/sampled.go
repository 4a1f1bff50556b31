package exclusion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Sampled decides S9 by samples of what nodes store during the run, and says for S10 whose
// lease they had stored.
//
// A history does not say which owner a stored value belongs to: locks store random names. But
// fewer than a quorum of nodes store the same name, while somebody definitely holds and nobody
// has released anything since he asked: then none of these names is the holder's. This is
// concluded only for a key of which an earlier lease was seen on a quorum under one name, since
// a lock may store its leases elsewhere.
type Sampled struct {
	*rule.Env
	awake bool
	keys  rule.Table[sampledKey]
}

// A sampledKey is what the nodes were seen to store of a key.
type sampledKey struct {
	nodes map[string]map[string]*[recentLooks]look // by node and by name of the key there, the latest first
	names map[string]bool                          // of the key, on any node
	named bool                                     // a quorum bore one name while somebody held it: so the lock stores its leases
	of    *holding

	only  int           // the invocation of the latest grant at which nodes could store nobody else's lease
	rival time.Duration // when the first asked of those who were granted the key since, or may have been
}

// isOnly reports whether what nodes were seen to store at that time, while x was held, can be
// nobody's but x's: they could store nobody else's when x was granted, and nobody who was granted
// the key since, or may have been or may yet be, had asked by then.
func (k *sampledKey) isOnly(x *ledger.Grant, told time.Duration) bool {
	for o := x.Holder.Key.Open.Head; o != nil; o = o.Next {
		if o.Action == history.Acquire && o.Inv <= told {
			return false
		}
	}
	return k.only == x.InvIdx && told < k.rival
}

// recentLooks is how many samples of one name on one node are kept: one that was taken while a
// grant was under way is skipped for an earlier one.
const recentLooks = 4

// A look is a sample of what a node stores.
type look struct {
	idx         int
	by          ledger.Stamper
	began, told time.Duration
	text        string        // without what follows the name; "" is nothing
	until       time.Duration // it expires no sooner; never without an expiry
}

// A holding is the lease that is held at the moment, as far as samples show it.
type holding struct {
	*ledger.Grant
	gaveBack bool              // somebody else gave something back since it was asked for
	seen     map[string]string // by node, what it bore while the lease was held
	wrong    *rule.Candidate
}

func (*Sampled) IDs() []string        { return []string{"S9"} }
func (*Sampled) Wants() []ledger.Kind { return []ledger.Kind{ledger.Witnessed} }

func (s *Sampled) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Witnessed:
		if rule.IsSample(f.Event) {
			s.addSample(f.Event)
		}
	case ledger.Granted:
		s.granted(f)
	case ledger.Releasing, ledger.Answered, ledger.Left:
		s.givesBack(f.Key, f.Grant)
	case ledger.Lost:
		s.closeLease(f.Key, f.Grant)
	case ledger.Unknown:
		if f.Op.Action == history.Acquire {
			k := s.keys.At(f.Key.No)
			k.rival = min(k.rival, f.Op.Inv)
		}
		if f.Op.Action != history.Write && f.Op.Action != history.Read {
			s.givesBack(f.Key, f.Op.Grant)
		}
	}
}

func (s *Sampled) Finish() {
	for _, k := range s.SortedKeys() {
		if x := s.keys.Get(k.No); x != nil && x.of != nil {
			s.closeLease(k, x.of.Grant)
		}
	}
}

func (s *Sampled) addSample(e *history.Event) {
	if !s.awake {
		s.awake = true
		s.Wake(s, ledger.Granted, ledger.Releasing, ledger.Answered, ledger.Left, ledger.Lost, ledger.Unknown)
	}
	if e.Kind != history.OK || !e.HasAll(history.HasPTTL) {
		return
	}
	key := s.Key(e.Key)
	k := s.keys.At(key.No)
	l := look{idx: e.Index, by: s.By(e), began: e.Time, told: e.Time, until: ledger.Never}
	if e.HasAll(history.HasBegan) {
		l.began = min(e.Began, e.Time)
	}
	if e.PTTL >= rule.WithoutExpiry {
		l.text = nameIn(e.Holder)
	}
	if e.PTTL > rule.WithoutExpiry {
		l.until = l.began + rule.TimeLeft(e) - time.Millisecond
	}
	k.add(e.Node, e.Note, l)
	if k.of != nil {
		s.compare(key, k)
	}
}

func (k *sampledKey) add(node, name string, l look) {
	if k.nodes == nil {
		k.nodes, k.names = map[string]map[string]*[recentLooks]look{}, map[string]bool{}
	}
	if k.nodes[node] == nil {
		k.nodes[strings.Clone(node)] = map[string]*[recentLooks]look{}
	}
	row := k.nodes[node][name]
	if row == nil {
		row = new([recentLooks]look)
		k.nodes[node][strings.Clone(name)] = row
		k.names[strings.Clone(name)] = true
	}
	copy(row[1:], row[:])
	row[0] = l
}

// nameIn is the name with which a stored value begins. What follows, such as a token, differs
// between nodes.
func nameIn(text string) string {
	if i := strings.IndexAny(text, " ="); i > 0 {
		text = text[:i]
	}
	return strings.Clone(text)
}

// granted begins to watch a fresh lease.
func (s *Sampled) granted(f *ledger.Fact) {
	k := s.keys.At(f.Key.No)
	if k.of != nil {
		s.closeLease(f.Key, k.of.Grant)
	}
	k.rival = min(k.rival, f.Grant.Inv)
	if !mayStore(f.Key, f.Grant.OK) {
		k.only, k.rival = f.Grant.InvIdx, ledger.Never
	}
	if f.Grant.Mode != history.Exclusive {
		return
	}
	f.Grant.Pin()
	k.of = &holding{Grant: f.Grant, seen: map[string]string{}}
	for _, x := range f.Key.Held {
		if x != f.Grant && (x.Releasing || x.ReleaseUnknown || x.End() > f.Grant.Inv) {
			k.of.gaveBack = true
		}
	}
}

// mayStore reports whether nodes may store at t, when a lease begins, what an earlier lease of the
// key left, or an attempt of unknown outcome.
func mayStore(key *ledger.Key, t time.Duration) bool {
	return key.LastUnknown.Until > t || slices.ContainsFunc(key.Held, func(x *ledger.Grant) bool {
		return x.Releasing || x.ReleaseUnknown || min(x.ReleasedAt, x.ServedUntil) > t
	})
}

// givesBack notes that a lease, or what an attempt may have stored, was released.
func (s *Sampled) givesBack(key *ledger.Key, g *ledger.Grant) {
	k := s.keys.Get(key.No)
	switch {
	case k == nil || k.of == nil:
	case k.of.Grant == g:
		s.closeLease(key, g)
	default:
		k.of.gaveBack = true
	}
}

// closeLease ends the watch over g's lease, which is over, and reports what was wrong with it.
func (s *Sampled) closeLease(key *ledger.Key, g *ledger.Grant) {
	k := s.keys.Get(key.No)
	if k == nil || k.of == nil || k.of.Grant != g {
		return
	}
	h := k.of
	k.of = nil
	if h.wrong != nil && !h.gaveBack && !s.Nemesis.Forgot(h.Inv-s.Header.TTL, h.wrong.To) {
		s.Violate(h.wrong)
		return
	}
	h.Unpin()
}

// compare compares the names that the nodes store while a lease is held.
func (s *Sampled) compare(key *ledger.Key, k *sampledKey) {
	h, quorum := k.of, max(s.Header.Quorum, 1)
	bear, without := map[string]int{}, []string(nil)
	var last look
	for node, names := range k.nodes {
		text, l, known := s.bears(k, names, h)
		if _, before := h.seen[node]; known && (!before || text != "") {
			h.seen[node] = text
		}
		text, known = h.seen[node], known || h.seen[node] != ""
		switch {
		case !known:
			continue
		case text == "":
			without = append(without, node)
		default:
			bear[text]++
		}
		if l.told > last.told {
			last = l
		}
	}
	most, seen := 0, len(without)
	for _, n := range bear {
		most, seen = max(most, n), seen+n
	}
	k.named = k.named || most >= quorum
	if nodes := max(s.Header.Nodes, 1); k.named && h.wrong == nil && most+nodes-seen < quorum {
		slices.Sort(without)
		h.wrong = s.subQuorum(h, without, most, last)
	}
}

// bears is the name that a node stores, by samples that began while the lease was definitely
// held: "" when they found none.
func (s *Sampled) bears(k *sampledKey, names map[string]*[recentLooks]look, h *holding) (text string, last look, known bool) {
	for _, row := range names {
		l := row[0]
		apart := s.From(h.Grant, l.by)
		if l.began <= ledger.Later(h.OK, apart) || ledger.Later(l.told, apart) >= min(h.End(), h.FirstDeadline) || l.idx == 0 {
			return "", l, false
		}
		if l.told > last.told {
			last = l
		}
		if l.text != "" {
			text = l.text
		}
	}
	return text, last, len(names) == len(k.names)
}

func (s *Sampled) subQuorum(h *holding, without []string, most int, last look) *rule.Candidate {
	g := h.Grant
	text := fmt.Sprintf("%s was told at %s that it holds %s%s until %s. Looked at meanwhile, no more than %d of %d nodes bore one and the same name under it, by %s",
		g.Owner(), words.At(g.OK), g.Holder.Key.Name, words.Token(g.Fence), words.At(g.Deadline), most, max(s.Header.Nodes, 1), words.At(last.told))
	if len(without) > 0 {
		text += fmt.Sprintf("; nothing was stored by %s", strings.Join(without, ", "))
	}
	text += fmt.Sprintf(". Nobody had given anything back since it was asked for, and no node had forgotten anything. A quorum is %d.", max(s.Header.Quorum, 1))
	return &rule.Candidate{
		ID: "S9", Key: g.Holder.Key, Owners: []string{g.Owner()}, Witness: []int{g.InvIdx, g.OKIdx, last.idx}, Blame: rule.BlameLibrary,
		From: g.Inv, To: last.told, Text: func() string { return text },
	}
}

// Bore lists the nodes, if they are a quorum, that were seen to store one name while x was held
// and before g was asked for, which can be nobody else's, with an expiry that had not come when g
// was granted. idx is the latest of these samples.
func (s *Sampled) Bore(x, g *ledger.Grant) (nodes []string, idx int) {
	k := s.keys.Get(x.Holder.Key.No)
	if k == nil {
		return nil, 0
	}
	by := map[string][]string{}
	last := map[string]int{}
	for node, names := range k.nodes {
		for _, row := range names {
			i := slices.IndexFunc(row[:], func(l look) bool { return l.told < g.Inv })
			if i < 0 || row[i].text == "" || row[i].began <= x.OK || row[i].told >= x.End() || row[i].until <= g.OK || !k.isOnly(x, row[i].told) {
				continue
			}
			by[row[i].text] = append(by[row[i].text], node)
			last[row[i].text] = max(last[row[i].text], row[i].idx)
		}
	}
	for text, nodes := range by {
		slices.Sort(nodes)
		if nodes = slices.Compact(nodes); len(nodes) >= max(s.Header.Quorum, 1) {
			return nodes, last[text]
		}
	}
	return nil, 0
}
