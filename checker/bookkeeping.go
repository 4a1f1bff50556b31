package checker

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// bookkeeping decides R1 to R5: the store is judged too. A log counts as the whole
// one when it lists any acknowledged write; one that only tells of unknown outcomes
// lacks nothing.
type bookkeeping struct {
	j            *Judge
	seed         maphash.Seed
	asked        []entry
	log          []entry
	back         []entry // those with a number no higher than one that is kept
	lost         int     // writes that were not kept …
	told, logged sums    // … and the sums of what was acknowledged, and of what the log has
	unordered    int     // numbers too far back to tell whether they were given before
	unowned      int     // writes with a token given so long ago that nobody remembers to whom
	untold       int     // rejected writes that were not kept, for a grant that is told of late
	awake        bool    // something was found that a grant told of late bears on

	unasked map[int]bool // lines of the log, by event, that nobody asked for; known when judging ends
}

// An entry is a write that was asked for, or a line of the store's log.
type entry struct {
	name uint64 // hash of its key and value
	seq  uint64 // the number that the store gave; 0 is none
	key  *key
	who  string
	idx  int32
	kind history.Kind
}

// keptEntries is how many writes are held against the log one by one. Of more, the
// sums must agree.
const keptEntries = 1 << 15

func (*bookkeeping) ids() []string { return []string{"R1", "R2", "R3", "R4", "R5"} }
func (*bookkeeping) wants() []what { return []what{wrote, landed, rejected, audited} }

func (b *bookkeeping) see(f *fact) {
	switch f.what {
	case wrote:
		b.answered(f.op)
	case audited:
		if e := f.e; e.Mode != history.Shared { // a read may leave a mark
			b.logs(e, f.op == nil)
		}
	case landed:
		if !f.land.late {
			b.borrowed(f)
		}
	case rejected:
		if b.j.wronged(f.op) {
			b.turnedAway(f.op, f.op.grant)
		} else {
			b.early(f.op)
		}
	default:
		b.owned(f)
		if f.what != extended {
			b.toldLate(f)
		}
	}
}

// answered keeps what a client was told of its write.
func (b *bookkeeping) answered(o *op) {
	k := o.holder.key
	e := entry{b.name(k.name, o.value), 0, k, o.holder.owner, int32(o.okIdx), o.outcome}
	if o.outcome != history.Info && o.has&history.HasSeq != 0 {
		e.seq = o.seq
	}
	if o.outcome == history.OK {
		b.told.add(e)
	}
	if !b.keep(&b.asked, e, o.value) {
		b.numbered(&k.books.told, e)
	}
}

// logs keeps a line of the store's log; acknowledged says that no client waits for
// it to learn what became of its write.
func (b *bookkeeping) logs(e *history.Event, acknowledged bool) {
	k := b.j.key(e.Key)
	line := entry{b.name(e.Key, e.Value), e.Seq, k, b.j.names.called[b.j.owner(e.Owner)], int32(e.Index), e.Kind}
	if e.Kind == history.OK && acknowledged {
		b.logged.add(line)
	}
	if !b.keep(&b.log, line, e.Value) {
		b.numbered(&k.books.logged, line)
	}
}

func (b *bookkeeping) name(key, value string) uint64 {
	return bits.RotateLeft64(maphash.String(b.seed, key), 1) ^ maphash.String(b.seed, value)
}

// keep reports whether there was room.
func (b *bookkeeping) keep(in *[]entry, e entry, value string) bool {
	switch {
	case value == "":
		return false
	case len(*in) == keptEntries:
		b.lost++
		return false
	}
	*in = append(*in, e)
	e.key.books.kept = max(e.key.books.kept, e.seq)
	return true
}

// sums stand for writes that cannot be kept one by one.
type sums struct {
	names    uint64
	numbers  uint64 // names with their numbers
	unnumber int    // how many had none
}

func (s *sums) add(e entry) {
	s.names += e.name
	if e.seq == 0 {
		s.unnumber++
	}
	s.numbers += e.name ^ e.seq*0x9e3779b97f4a7c15
}

// books are what the store said of one key.
type books struct {
	told, logged *numbers // of writes that are not kept
	kept         uint64   // the highest number of one that is
	newest       uint64
}

// numbers are the last numbers that were given, as far back as writes overtake each
// other.
type numbers struct {
	top   uint64
	last  [64]entry
	count int
}

// numbered looks for the number of a write that is not kept among the last ones.
func (b *bookkeeping) numbered(in **numbers, e entry) {
	switch {
	case e.seq == 0:
		return
	case e.seq > e.key.books.kept:
	case len(b.back) < keptEntries:
		b.back = append(b.back, e)
		return
	default:
		b.unordered++
	}
	if *in == nil {
		*in = new(numbers)
	}
	n := *in
	if e.seq <= n.top {
		oldest := n.top
		for _, x := range n.last[:min(n.count, len(n.last))] {
			if oldest = min(oldest, x.seq); x.seq == e.seq {
				b.twice(x, e)
			}
		}
		if n.count > len(n.last) && e.seq < oldest {
			b.unordered++
		}
	}
	n.top = max(n.top, e.seq)
	n.last[n.count%len(n.last)] = e
	n.count++
}

// twice reports R3.
func (b *bookkeeping) twice(x, e entry) {
	text := fmt.Sprintf("The store gave the number %d to two writes of %s: %s (event %d) and %s (event %d). Its own order of its writes proves nothing then.", e.seq, e.key.name, byWhom(x.who), x.idx, byWhom(e.who), e.idx)
	b.violate("R3", e.key, owners(x.who, e.who), []int{int(x.idx), int(e.idx)}, text)
}

// doubles looks for one number with two writes, in what clients were told and in
// the log.
func (b *bookkeeping) doubles() {
	type number struct {
		key *key
		seq uint64
	}
	first := make(map[number]entry, max(len(b.asked), len(b.log)))
	for _, list := range [][]entry{b.asked, b.log, b.back} {
		for _, e := range list {
			at := number{e.key, e.seq}
			if x, taken := first[at]; e.seq != 0 && taken && x.name != e.name {
				b.twice(x, e)
			} else if e.seq != 0 && !taken {
				first[at] = e
			}
		}
	}
}

// wronged says whether a store that compares tokens rejected the holder of the
// newest one, within its lease.
func (j *Judge) wronged(o *op) bool {
	g := o.grant
	return j.h.Fenced && o.settled == 0 && o.fence != 0 && o.fence >= o.holder.key.books.newest && g != nil && g.bears(o.fence) &&
		o.use == useHeld && o.mode == history.Exclusive && o.has&history.HasBase == 0 && later(j.from(g, o.host), o.ok) < g.end()
}

// turnedAway reports R4.
func (b *bookkeeping) turnedAway(o *op, g *grant) {
	k := o.holder.key
	text := fmt.Sprintf("%s held %s with token %d from %s until %s, and nobody had been given a higher one; and yet the store rejected its write %q, issued at %s.",
		g.owner(), k.name, o.fence, at(g.ok), at(g.d), o.value, at(o.inv))
	climb, seq, fence := &k.log.climb, o.seq, o.fence
	b.j.violate(&hit{
		id: "R4", key: k, owners: []string{g.owner()}, witness: []int{g.okIdx, o.okIdx}, blame: blameBooks, from: b.j.now, to: b.j.now,
		text: func() string { return text }, refuted: func() bool { return climb.before(seq) > fence },
	})
}

// borrowed reports R5: an accepted write that bore a token which only others were
// given.
func (b *bookkeeping) borrowed(f *fact) {
	o, g := f.op, f.op.grant
	if o.fence == 0 || g != nil && g.bears(o.fence) || o.holder.prior != nil && o.holder.prior.bears(o.fence) {
		return
	}
	of, found := f.key.given(o.fence, o.holder)
	switch {
	case !found:
		if f.key.tok.recent.forgets(o.fence) {
			b.unowned++
		}
		return
	case int(of.owner) == o.holder.no:
		return
	}
	owner := b.j.names.called[of.owner]
	text := fmt.Sprintf("%s wrote %q to %s with token %d, which had been given to %s, at %s, and not to %s. The fence takes it for that one.", o.holder.owner, o.value, f.key.name, o.fence, owner, at(of.ok), o.holder.owner)
	w := b.borrow(o)
	b.j.violate(&hit{
		id: "R5", key: f.key, owners: owners(o.holder.owner, owner), witness: []int{of.idx, f.land.idx}, blame: blameBooks, from: b.j.now, to: b.j.now,
		text: func() string { return text }, refuted: func() bool { return w.owned },
	})
}

// given is the latest grant of k with this token that is remembered: one of h's, when
// there is one.
func (k *key) given(fence uint64, h *holder) (of step, found bool) {
	for _, x := range slices.Concat(k.tok.recent.latest(), k.tok.renamed) {
		if x.fence == fence && (!found || int(of.owner) != h.no) {
			of, found = x, true
		}
	}
	for _, x := range k.held {
		if x.fence == fence && (!found || x.holder == h) {
			of, found = x.step(), true
		}
	}
	return of, found
}

// A refusedWrite was rejected while an acquire of its owner's was under way, which may
// turn out to have been answered before it, with its token.
type refusedWrite struct{ op }

// early keeps such a write.
func (b *bookkeeping) early(o *op) {
	rightful := b.j.h.Fenced && o.settled == 0 && o.fence != 0 && o.fence >= o.holder.key.books.newest && o.mode == history.Exclusive && o.has&history.HasBase == 0
	if !rightful || !o.holder.asking(o) {
		return
	}
	b.listen()
	d := o.holder.more()
	if len(d.refused) == maxOverdue {
		b.untold++
		return
	}
	w := &refusedWrite{*o}
	w.forget()
	d.refused = append(d.refused, w)
}

// toldLate looks at those again when their owner is granted the key.
func (b *bookkeeping) toldLate(f *fact) {
	g, o, d := f.grant, f.op, f.grant.holder.detail
	if d == nil {
		return
	}
	for _, w := range d.refused {
		eps := b.j.from(g, w.host)
		if o.process != w.process && o.okIdx > w.okIdx && w.fence == o.fence && o.ok+eps < w.inv && later(eps, w.ok) < g.end() && w.fence >= f.key.books.newest {
			b.turnedAway(&w.op, g)
		}
	}
	if f.key.leases.head == nil {
		d.refused = nil
	}
}

// A borrowing is a write that was reported (R5). Its owner may turn out to have been
// given the token.
type borrowing struct {
	fence uint64
	ok    time.Duration
	idx   int
	by    int
	host  host
	owned bool
}

// listen lets b see what owners are told of their leases, from here on.
func (b *bookkeeping) listen() {
	if !b.awake {
		b.awake = true
		b.j.wake(b, granted, reentered, extended)
	}
}

func (b *bookkeeping) borrow(o *op) *borrowing {
	b.listen()
	w := &borrowing{fence: o.fence, ok: o.ok, idx: o.okIdx, by: o.process, host: o.host}
	if b.j.violations.total["R5"] < b.j.o.Limit {
		d := o.holder.more()
		d.borrowed = append(d.borrowed, w)
	}
	return w
}

// owned looks at those writes again when their owner is told their token.
func (b *bookkeeping) owned(f *fact) {
	o := f.op
	if o.holder.detail == nil {
		return
	}
	for _, w := range o.holder.detail.borrowed {
		after := o.process == w.by && o.invIdx > w.idx || o.process != w.by && o.inv > later(w.ok, b.j.clock.apart(o.host, w.host))
		w.owned = w.owned || o.fence == w.fence && !after
	}
}

// finish holds what was asked for and answered against the log.
func (b *bookkeeping) finish() {
	b.doubles()
	if len(b.log) == 0 || b.lost > 0 {
		return
	}
	lines, asked := make(map[uint64]entry, len(b.log)), make(map[uint64]entry, len(b.asked))
	for _, e := range b.log {
		if known, twice := lines[e.name]; !twice || known.kind != history.OK {
			lines[e.name] = e
		}
	}
	whole := false
	for _, e := range b.asked {
		asked[e.name] = e
		_, listed := lines[e.name]
		whole = whole || listed && e.kind == history.OK
	}
	for _, e := range b.asked {
		if line, listed := lines[e.name]; whole && e.kind == history.OK && line.kind != history.OK && (listed || !b.j.truncated) {
			b.violate("R1", e.key, owners(e.who), []int{int(e.idx)}, fmt.Sprintf(
				"A write to %s %s (event %d) was acknowledged, and the store's own log does not have it as accepted.", e.key.name, byWhom(e.who), e.idx))
		}
	}
	for _, line := range b.log {
		e, known := asked[line.name]
		switch {
		case line.kind != history.OK || known && e.kind != history.Fail:
		case known:
			b.violate("R2", line.key, owners(line.who), []int{int(e.idx), int(line.idx)}, fmt.Sprintf(
				"A write to %s %s was answered with a no (event %d), and the store's own log has it as accepted (event %d).", line.key.name, byWhom(line.who), e.idx, line.idx))
		default:
			if b.unasked == nil {
				b.unasked = make(map[int]bool)
			}
			b.unasked[int(line.idx)] = true
			b.violate("R2", line.key, owners(line.who), []int{int(line.idx)}, fmt.Sprintf(
				"The store's own log has a write to %s %s as accepted (event %d) that nobody asked for.", line.key.name, byWhom(line.who), line.idx))
		}
	}
}

// anyUnasked says whether nobody asked for one of these lines of the log, each given
// by its event.
func (b *bookkeeping) anyUnasked(lines ...int) bool {
	return slices.ContainsFunc(lines, func(idx int) bool { return b.unasked[idx] })
}

// byWhom tells of a write's owner; the log may name none.
func byWhom(owner string) string {
	if owner == "" {
		return "by nobody named"
	}
	return "by " + owner
}

func (b *bookkeeping) violate(id string, k *key, who []string, witness []int, text string) {
	b.j.violate(&hit{
		id: id, key: k, owners: who, witness: witness, blame: blameBooks, from: b.j.now, to: b.j.now, text: func() string { return text },
	})
}

// unplaced says what was not judged, for want of memory.
func (b *bookkeeping) unplaced() string {
	unkept := b.unkept()
	if b.untold > 0 {
		unkept = fmt.Sprintf("%s writes were rejected while their owner was waiting for the key: whether it had been granted it by then (R4) is not decided. %s", thousands(b.untold), unkept)
	}
	if b.unowned == 0 {
		return unkept
	}
	return strings.TrimSpace(fmt.Sprintf("%s writes bear a token that was given, if it was, more than %d grants of their key before: whether it was somebody else's (R5) is not decided. %s",
		thousands(b.unowned), recentTokens, unkept))
}

// unkept says what was not judged since more was written than is kept.
func (b *bookkeeping) unkept() string {
	audited := b.logged.names != 0
	switch {
	case b.lost == 0:
		return ""
	case audited && b.told.names != b.logged.names:
		return fmt.Sprintf("What was acknowledged and what the store's own log has are not the same (R1, R2), and only %d writes are kept to tell which: %d more were not.", keptEntries, b.lost)
	case audited && b.told.unnumber == 0 && b.told.numbers != b.logged.numbers:
		return fmt.Sprintf("The numbers that clients were told and those in the store's own log are not the same (R3), and only %d writes are kept to tell which: %d more were not.", keptEntries, b.lost)
	case b.unordered > 0:
		return fmt.Sprintf("%d writes bear a number that lies far behind those before them: whether it was given twice (R3) is known of %d writes only, and %d more were not kept.", b.unordered, keptEntries, b.lost)
	}
	return ""
}
