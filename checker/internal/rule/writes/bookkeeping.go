package writes

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// bookkeeping decides R1 to R5: the store is judged too. A log counts as complete when it lists
// any acknowledged write; from one that lists only writes of unknown outcome nothing can be
// missing.
type bookkeeping struct {
	j            *rule.Env
	seed         maphash.Seed
	asked        []entry
	log          []entry
	again        []number // those that are no higher than one before: none but these can have been given twice
	back         []entry  // those with a number no higher than one that is kept
	lost         int      // writes that were not kept …
	told, logged sums     // … and the sums of what was acknowledged, and of what the log has
	unordered    int      // numbers too far back to tell whether they were given before
	unowned      int      // writes with a token given so long ago that nobody remembers to whom
	untold       int      // rejected writes that were not kept, for a grant that is told of late
	awake        bool     // something was found that a grant told of late bears on

	keys   rule.Table[keyBooks]
	owners rule.Table[tokenWrites] // by holder

	audit auditLog

	unsent  map[int32]int // invocations that a link never forwarded, and the events that say so
	unasked map[int]bool  // lines of the log, by event, that nobody asked for as they stand there; known when judging ends
}

// An entry is a write that was asked for, or a line of the store's log.
type entry struct {
	name  uint64 // hash of its key and value
	seq   uint64 // the number that the store gave; 0 is none
	fence uint64
	key   *ledger.Key
	idx   int32
	inv   int32 // the event that invoked it
	owner int32 // the number of whose it is
	kind  history.Kind
}

// A number is one that the store gave to a write of a key.
type number struct {
	key *ledger.Key
	seq uint64
}

// KeptEntries is how many writes are compared with the log one by one. Of any more only sums
// are compared.
const KeptEntries = 1 << 15

func NewBookkeeping(e *rule.Env) *bookkeeping {
	b := &bookkeeping{j: e, seed: maphash.MakeSeed()}
	b.audit = auditLog{j: e, unasked: b.anyUnasked, kept: func() bool { return b.lost == 0 }}
	return b
}

func (*bookkeeping) IDs() []string            { return []string{"R1", "R2", "R3", "R4", "R5", "S2", "S3"} }
func (*bookkeeping) Remembers() ledger.Memory { return ledger.TokensGiven }

func (*bookkeeping) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Wrote, ledger.Landed, ledger.Rejected, ledger.Audited, ledger.Receipt}
}

func (b *bookkeeping) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Wrote:
		b.answered(f.Op)
	case ledger.Receipt:
		b.forwarded(f.Event)
	case ledger.Audited:
		b.audit.Observe(f)
		if e := f.Event; e.Mode != history.Shared { // a read may leave a mark
			b.logs(e, f.Op == nil)
		}
	case ledger.Landed:
		if !f.Landing.Late {
			b.borrowed(f)
		}
	case ledger.Rejected:
		if b.j.Wronged(f.Op) {
			b.turnedAway(f.Op, f.Op.Grant)
		} else {
			b.early(f.Op)
		}
	default:
		b.owned(f)
		if f.Kind == ledger.Extended {
			b.extendedLate(f)
		} else {
			b.observeLate(f)
		}
	}
}

// answered notes what a client was told about its write.
func (b *bookkeeping) answered(o *ledger.Op) {
	k := o.Holder.Key
	e := entry{b.name(k, o.Value), 0, o.Fence, k, int32(o.OKIdx), int32(o.InvIdx), int32(o.Holder.OwnerNo), o.Outcome}
	if o.Outcome != history.Info && o.Has&history.HasSeq != 0 {
		e.seq = o.Seq
	}
	if o.Outcome == history.OK && e.seq == 0 {
		*b.audit.unnumbered.At(k.No) = true
	}
	if o.Outcome == history.OK {
		b.told.add(e)
	}
	if !b.keep(&b.asked, e, o.Value) {
		b.numbered(&b.keys.At(k.No).told, e)
	}
}

// forwarded notes that, by a link's receipt, an invocation was never forwarded. A receipt of
// one node of several decides nothing.
func (b *bookkeeping) forwarded(e *history.Event) {
	switch {
	case e.Value != history.NeverForwarded, e.Node != "" && b.j.Header.Nodes > 1:
	case len(b.unsent) == KeptEntries:
		b.lost++
	case b.unsent == nil:
		b.unsent = map[int32]int{int32(e.Of): e.Index}
	default:
		b.unsent[int32(e.Of)] = e.Index
	}
}

// logs notes a line of the store's log; acknowledged says that the write's client had its
// answer already.
func (b *bookkeeping) logs(e *history.Event, acknowledged bool) {
	k := b.j.Key(e.Key)
	line := entry{b.name(k, e.Value), e.Seq, e.Fence, k, int32(e.Index), int32(e.Index), int32(b.j.Owner(e.Owner)), e.Kind}
	if e.Kind == history.OK && acknowledged {
		b.logged.add(line)
	}
	if !b.keep(&b.log, line, e.Value) {
		b.numbered(&b.keys.At(k.No).logged, line)
	}
}

// name is a hash of a key and a value.
func (b *bookkeeping) name(k *ledger.Key, value string) uint64 {
	of := b.keys.At(k.No)
	if of.hash == 0 {
		of.hash = maphash.String(b.seed, k.Name)
	}
	return bits.RotateLeft64(of.hash, 1) ^ maphash.String(b.seed, value)
}

// keep adds e to in, and reports whether there was room.
func (b *bookkeeping) keep(in *[]entry, e entry, value string) bool {
	switch {
	case value == "":
		return false
	case len(*in) == KeptEntries:
		b.lost++
		return false
	}
	if len(*in) == cap(*in) {
		*in = slices.Grow(*in, min(max(64, len(*in)), KeptEntries-len(*in))) // append alone grows by a quarter, and copies the more often
	}
	*in = append(*in, e)
	k := b.keys.At(e.key.No)
	if e.seq != 0 && e.seq <= k.kept {
		b.again = append(b.again, number{e.key, e.seq})
	}
	k.kept = max(k.kept, e.seq)
	return true
}

// sums are hash sums over the writes that are not kept one by one.
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

// keyBooks are the sequence numbers that the store gave to writes of one key.
type keyBooks struct {
	told, logged *numbers // of writes that are not kept
	kept         uint64   // the highest number of one that is
	hash         uint64   // of its name; 0 is not known yet
}

// numbers are the latest sequence numbers that were given: as many as writes may overtake each
// other.
type numbers struct {
	top   uint64
	last  [64]assignment
	count int
}

// An assignment is a sequence number that the store gave, and to which event and owner.
type assignment struct {
	seq   uint64
	idx   int32
	owner int32
}

// assignment is the number that e bears.
func (e *entry) assignment() assignment { return assignment{e.seq, e.idx, e.owner} }

// numbered checks whether the number of a write that is not kept is among the latest ones (R3).
func (b *bookkeeping) numbered(in **numbers, e entry) {
	switch {
	case e.seq == 0:
		return
	case e.seq > b.keys.At(e.key.No).kept:
	case len(b.back) < KeptEntries:
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
				b.twice(e.key, x, e.assignment())
			}
		}
		if n.count > len(n.last) && e.seq < oldest {
			b.unordered++
		}
	}
	n.top = max(n.top, e.seq)
	n.last[n.count%len(n.last)] = e.assignment()
	n.count++
}

// twice reports R3: one number was given to two writes.
func (b *bookkeeping) twice(k *ledger.Key, x, e assignment) {
	one, other := b.who(x.owner), b.who(e.owner)
	text := fmt.Sprintf("The store gave the number %d to two writes of %s: %s (event %d) and %s (event %d). Its own order of its writes proves nothing then.", e.seq, k.Name, byWhom(one), x.idx, byWhom(other), e.idx)
	b.violate("R3", k, words.Owners(one, other), []int{int(x.idx), int(e.idx)}, text)
}

// doubles looks for two writes with one number, in what clients were told and in the log.
func (b *bookkeeping) doubles() {
	for _, e := range b.back {
		b.again = append(b.again, number{e.key, e.seq})
	}
	if len(b.again) == 0 {
		return
	}
	first, doubtful := make(map[number]entry, len(b.again)), make(map[number]bool, len(b.again))
	for _, at := range b.again {
		doubtful[at] = true
	}
	for _, list := range [][]entry{b.asked, b.log, b.back} {
		for _, e := range list {
			at := number{e.key, e.seq}
			if !doubtful[at] {
				continue
			}
			if x, taken := first[at]; e.seq != 0 && taken && x.name != e.name {
				b.twice(e.key, x.assignment(), e.assignment())
			} else if e.seq != 0 && !taken {
				first[at] = e
			}
		}
	}
}

// turnedAway reports R4: the store rejected the write of the holder of the newest token.
func (b *bookkeeping) turnedAway(o *ledger.Op, g *ledger.Grant) {
	k := o.Holder.Key
	text := fmt.Sprintf("%s held %s with token %d from %s until %s, and nobody had been given a higher one; and yet the store rejected its write %q, issued at %s.",
		g.Owner(), k.Name, o.Fence, words.At(g.OK), words.At(g.Deadline), o.Value, words.At(o.Inv))
	order, seq, fence, ok, idx, by := &k.Log.Order, o.Seq, o.Fence, o.OK, o.OKIdx, o.By()
	g.Pin()
	b.j.Violate(&rule.Candidate{
		ID: "R4", Key: k, Owners: []string{g.Owner()}, Witness: []int{g.OKIdx, o.OKIdx}, Blame: rule.BlameBooks, From: b.j.Now, To: b.j.Now,
		Text: func() string { return text }, Refuted: func() bool { return order.Before(seq) > fence || !b.j.LastsBeyond(g, ok, idx, by) },
	})
}

// borrowed reports R5: an accepted write had a token that only other owners were given.
func (b *bookkeeping) borrowed(f *ledger.Fact) {
	o, g := f.Op, f.Op.Grant
	if o.Fence == 0 || g != nil && g.Bears(o.Fence) || o.Holder.Prior != nil && o.Holder.Prior.Bears(o.Fence) {
		return
	}
	of, found := f.Key.Given(o.Fence, o.Holder)
	switch {
	case !found:
		if f.Key.Tokens.Recent.Forgets(o.Fence) {
			b.unowned++
		}
		return
	case int(of.Owner) == o.Holder.OwnerNo:
		return
	}
	owner := b.j.Names.Called[of.Owner]
	text := fmt.Sprintf("%s wrote %q to %s with token %d, which had been given to %s, at %s, and not to %s. The fence takes it for that one.", o.Holder.Owner, o.Value, f.Key.Name, o.Fence, owner, words.At(of.Ok), o.Holder.Owner)
	w := b.borrow(o)
	b.j.Violate(&rule.Candidate{
		ID: "R5", Key: f.Key, Owners: words.Owners(o.Holder.Owner, owner), Witness: []int{of.Idx, f.Landing.Idx}, Blame: rule.BlameBooks, From: b.j.Now, To: b.j.Now,
		Text: func() string { return text }, Refuted: func() bool { return w.owned },
	})
}

// tokenWrites are writes of an owner's that may have to be judged again.
type tokenWrites struct {
	refused  []*refusedWrite // by the store, while an acquire was under way
	borrowed []*borrowing    // reported as written with another's token
}

// A refusedWrite is a write that the store rejected while an acquire of its owner's was under
// way: that acquire may turn out to have been answered before the write, with its token.
type refusedWrite struct{ ledger.Op }

// early keeps such a write.
func (b *bookkeeping) early(o *ledger.Op) {
	rightful := b.j.Header.Fenced && o.Settled == 0 && o.Fence != 0 && o.Fence >= o.Holder.Key.Newest && o.Mode == history.Exclusive && o.Has&history.HasBase == 0
	g := o.Grant
	edge := g != nil && g.Bears(o.Fence) && o.Use == ledger.UseHeld && g.StoppedAt == ledger.Never && o.Inv < g.Deadline // it may turn out to have been extended
	if !rightful || !edge && !o.Holder.Asking(o) {
		return
	}
	b.listen()
	d := b.owners.At(o.Holder.ID)
	if len(d.refused) == ledger.MaxOverdue {
		b.untold++
		return
	}
	w := &refusedWrite{*o}
	w.Forget()
	d.refused = append(d.refused, w)
}

// observeLate looks again at the refused writes of an owner that was granted the key, as the
// history tells only now.
func (b *bookkeeping) observeLate(f *ledger.Fact) {
	g, o, d := f.Grant, f.Op, b.owners.Get(f.Grant.Holder.ID)
	if d == nil {
		return
	}
	for _, w := range d.refused {
		eps := b.j.From(g, w.By())
		if o.Process != w.Process && o.OKIdx > w.OKIdx && w.Fence == o.Fence && o.OK+eps < w.Inv && ledger.Later(eps, w.OK) < g.End() && w.Fence >= f.Key.Newest {
			b.turnedAway(&w.Op, g)
		}
	}
	if f.Key.Open.Head == nil {
		d.refused = nil
	}
}

// extendedLate judges the refused writes again whose lease turns out to have been extended
// before it ended.
func (b *bookkeeping) extendedLate(f *ledger.Fact) {
	g, d := f.Grant, b.owners.Get(f.Grant.Holder.ID)
	if d == nil || f.Op.OK >= f.Old {
		return
	}
	for _, w := range d.refused {
		eps := b.j.From(g, w.By())
		if g.Bears(w.Fence) && g.OKIdx < w.InvIdx && (g.Process == w.Process || g.OK+eps < w.Inv) && w.Inv < f.Old && ledger.Later(eps, w.OK) < g.End() && w.Fence >= f.Key.Newest {
			b.turnedAway(&w.Op, g)
		}
	}
	d.refused = slices.DeleteFunc(d.refused, func(w *refusedWrite) bool { return g.Bears(w.Fence) && f.Key.Open.Head == nil })
}

// A borrowing is a write that was reported (R5). Its owner may turn out to have been given the
// token.
type borrowing struct {
	fence uint64
	ok    time.Duration
	idx   int
	by    ledger.Stamper
	owned bool
}

// listen makes b observe grants, re-entries and extensions from here on.
func (b *bookkeeping) listen() {
	if !b.awake {
		b.awake = true
		b.j.Wake(b, ledger.Granted, ledger.Reentered, ledger.Extended)
	}
}

func (b *bookkeeping) borrow(o *ledger.Op) *borrowing {
	b.listen()
	w := &borrowing{fence: o.Fence, ok: o.OK, idx: o.OKIdx, by: o.By()}
	if b.j.Room("R5") {
		d := b.owners.At(o.Holder.ID)
		d.borrowed = append(d.borrowed, w)
	}
	return w
}

// owned marks the borrowings whose owner turns out to have been given their token before.
func (b *bookkeeping) owned(f *ledger.Fact) {
	o := f.Op
	d := b.owners.Get(o.Holder.ID)
	if d == nil {
		return
	}
	for _, w := range d.borrowed {
		after := o.Process == w.by.Process && o.InvIdx > w.idx || o.Process != w.by.Process && o.Inv > ledger.Later(w.ok, b.j.Clocks.Apart(o.By(), w.by))
		w.owned = w.owned || o.Fence == w.fence && !after
	}
}

// Finish compares what was asked for and answered with the log.
func (b *bookkeeping) Finish() {
	b.doubles()
	if len(b.log) > 0 && b.lost == 0 {
		b.reconcile()
	}
	b.audit.Finish()
}

// reconcile compares each write with its line in the log, and each line with its write.
func (b *bookkeeping) reconcile() {
	lines, asked := make(map[uint64]entry, len(b.log)), make(map[uint64]entry, len(b.asked))
	places, askers, tokens := make(map[position]bool), make(map[ownWrite]bool, len(b.asked)), make(map[position]bool, len(b.asked))
	for _, e := range b.log {
		if known, twice := lines[e.name]; !twice || known.kind != history.OK {
			lines[e.name] = e
		}
		places[position{e.name, e.seq}] = e.kind == history.OK || places[position{e.name, e.seq}]
	}
	whole := false
	for _, e := range b.asked {
		if said, vain := b.unsent[e.inv]; vain && e.kind == history.Info {
			e.kind, e.idx = history.Fail, int32(said)
		}
		if known, again := asked[e.name]; !again || known.kind == history.Fail { // one attempt of several that may be kept is enough
			asked[e.name] = e
		}
		askers[ownWrite{e.name, e.owner}] = true
		tokens[position{e.name, e.fence}] = true
		_, listed := lines[e.name]
		whole = whole || listed && e.kind == history.OK
	}
	disputed := make(map[uint64]bool) // writes that the log has only otherwise than their clients were told
	for _, e := range b.asked {
		if line, listed := lines[e.name]; whole && e.kind == history.OK && b.listed(e, line, listed, places[position{e.name, e.seq}]) {
			disputed[e.name] = true
		}
	}
	for _, line := range b.log {
		if disputed[line.name] {
			b.disown(line)
		}
		if line.kind == history.OK {
			e, known := asked[line.name]
			own := b.who(line.owner) == "" || askers[ownWrite{line.name, line.owner}]
			b.wanted(line, e, known, own)
			if borne := line.fence == 0 || tokens[position{line.name, 0}] || tokens[position{line.name, line.fence}]; known && own && e.kind != history.Fail && !borne {
				b.otherToken(line, e)
			}
		}
	}
}

// A position is a number of the log, or a token, and the write that is there or bears it.
type position struct{ name, number uint64 }

// An ownWrite identifies a write by owner and name.
type ownWrite struct {
	name  uint64
	owner int32
}

// listed reports R1: the log lacks an acknowledged write e, or lists it only with another
// number than its client was told. line is what the log has under its name, if listed; placed
// says that it has something under its number.
func (b *bookkeeping) listed(e, line entry, listed, placed bool) (lacks bool) {
	what := ""
	switch {
	case line.kind != history.OK && (listed || !b.j.Truncated):
		what = fmt.Sprintf("A write to %s %s (event %d) was acknowledged, and the store's own log does not have it as accepted.", e.key.Name, byWhom(b.who(e.owner)), e.idx)
	case line.kind == history.OK && e.seq != 0 && line.seq != 0 && !placed:
		what = fmt.Sprintf("A write to %s %s was acknowledged as number %d (event %d), and the store's own log has it as number %d (event %d).", e.key.Name, byWhom(b.who(e.owner)), e.seq, e.idx, line.seq, line.idx)
	default:
		return false
	}
	witness := []int{int(e.idx)}
	if line.kind == history.OK {
		witness = append(witness, int(line.idx))
	}
	b.violate("R1", e.key, words.Owners(b.who(e.owner)), witness, what)
	return true
}

// wanted reports R2: the log lists, in line, an accepted write that was refused, that nobody
// asked for, or that somebody else than the line says asked for. e is who asked, if known; own
// says that the line's owner asked.
func (b *bookkeeping) wanted(line, e entry, known, own bool) {
	switch {
	case known && own && e.kind != history.Fail:
	case known && own:
		b.violate("R2", line.key, words.Owners(b.who(line.owner)), []int{int(e.idx), int(line.idx)}, fmt.Sprintf(
			"A write to %s %s was answered with a no, or never forwarded (event %d), and the store's own log has it as accepted (event %d).", line.key.Name, byWhom(b.who(e.owner)), e.idx, line.idx))
	case known:
		b.disown(line)
		b.violate("R2", line.key, words.Owners(b.who(line.owner), b.who(e.owner)), []int{int(e.idx), int(line.idx)}, fmt.Sprintf(
			"The store's own log has a write to %s %s as accepted (event %d), which not that one asked for, but %s (event %d).", line.key.Name, byWhom(b.who(line.owner)), line.idx, b.who(e.owner), e.idx))
	default:
		b.disown(line)
		b.violate("R2", line.key, words.Owners(b.who(line.owner)), []int{int(line.idx)}, fmt.Sprintf(
			"The store's own log has a write to %s %s as accepted (event %d) that nobody asked for.", line.key.Name, byWhom(b.who(line.owner)), line.idx))
	}
}

// otherToken reports R2: e was asked for with another token than the log's line has.
func (b *bookkeeping) otherToken(line, e entry) {
	b.disown(line)
	b.violate("R2", line.key, words.Owners(b.who(line.owner), b.who(e.owner)), []int{int(e.idx), int(line.idx)}, fmt.Sprintf(
		"The store's own log has a write to %s %s as accepted with token %d (event %d), and it was asked for with token %d (event %d).", line.key.Name, byWhom(b.who(line.owner)), line.fence, line.idx, e.fence, e.idx))
}

// disown notes that nobody asked for a line of the log, or not for exactly that.
func (b *bookkeeping) disown(line entry) {
	if b.unasked == nil {
		b.unasked = make(map[int]bool)
	}
	b.unasked[int(line.idx)] = true
}

// anyUnasked says whether any of these lines of the log, given by their events, was disowned.
func (b *bookkeeping) anyUnasked(lines ...int) bool {
	return slices.ContainsFunc(lines, func(idx int) bool { return b.unasked[idx] })
}

// who is the name of an owner by its number.
func (b *bookkeeping) who(owner int32) string { return b.j.Names.Called[owner] }

// byWhom names a write's owner for a text; the log may name none.
func byWhom(owner string) string {
	if owner == "" {
		return "by nobody named"
	}
	return "by " + owner
}

func (b *bookkeeping) violate(id string, k *ledger.Key, who []string, witness []int, text string) {
	b.j.Violate(&rule.Candidate{
		ID: id, Key: k, Owners: who, Witness: witness, Blame: rule.BlameBooks, From: b.j.Now, To: b.j.Now, Text: func() string { return text },
	})
}

// Unplaced says what was not judged, for want of memory.
func (b *bookkeeping) Unplaced() string {
	unkept := b.unkept()
	if b.untold > 0 {
		unkept = fmt.Sprintf("%s writes were rejected while their owner was waiting for the key: whether it had been granted it by then (R4) is not decided. %s", words.Thousands(b.untold), unkept)
	}
	if b.unowned == 0 {
		return unkept
	}
	return strings.TrimSpace(fmt.Sprintf("%s writes bear a token that was given, if it was, more than %d grants of their key before: whether it was somebody else's (R5) is not decided. %s",
		words.Thousands(b.unowned), ledger.RecentTokens, unkept))
}

// unkept says what was not judged because there were more writes than are kept.
func (b *bookkeeping) unkept() string {
	audited := b.logged.names != 0
	switch {
	case b.lost == 0:
		return ""
	case audited && b.told.names != b.logged.names:
		return fmt.Sprintf("What was acknowledged and what the store's own log has are not the same (R1, R2), and only %d writes are kept to tell which: %d more were not.", KeptEntries, b.lost)
	case audited && b.told.unnumber == 0 && b.told.numbers != b.logged.numbers:
		return fmt.Sprintf("The numbers that clients were told and those in the store's own log are not the same (R3), and only %d writes are kept to tell which: %d more were not.", KeptEntries, b.lost)
	case b.unordered > 0:
		return fmt.Sprintf("%d writes bear a number that lies far behind those before them: whether it was given twice (R3) is known of %d writes only, and %d more were not kept.", b.unordered, KeptEntries, b.lost)
	}
	return ""
}
