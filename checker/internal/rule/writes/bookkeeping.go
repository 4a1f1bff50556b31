package writes

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

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
	if !b.record(&b.asked, e, o.Value) {
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
	if !b.record(&b.log, line, e.Value) {
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

// record adds e to in, and reports whether there was room.
func (b *bookkeeping) record(in *[]entry, e entry, value string) bool {
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

// Finish compares what was asked for and answered with the log.
func (b *bookkeeping) Finish() {
	b.doubles()
	if len(b.log) > 0 && b.lost == 0 {
		b.reconcile()
	}
	b.audit.Finish()
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
