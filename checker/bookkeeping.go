package checker

import (
	"fmt"
	"hash/maphash"
	"math/bits"

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
	lost         int    // writes that were not kept …
	told, logged uint64 // … and the sums of the names that were acknowledged, and that the log has
}

// An entry is a write that was asked for, or a line of the store's log.
type entry struct {
	name uint64 // hash of its key and value
	key  *key
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
		e := entry{b.name(f.key.name, f.op.value), f.key, int32(f.op.okIdx), f.op.outcome}
		if f.op.outcome == history.OK {
			b.told += e.name
		}
		b.keep(&b.asked, e, f.op.value)
	case audited:
		if e := f.e; e.Mode != history.Shared { // a read may leave a mark
			k := b.j.key(e.Key)
			line := entry{b.name(e.Key, e.Value), k, int32(e.Index), e.Kind}
			if e.Kind == history.OK && f.op == nil {
				b.logged += line.name
			}
			b.keep(&b.log, line, e.Value)
			b.numbered(k, &k.books.logged, mark{e.Seq, e.Index}, "The store's log has")
		}
	case landed:
		if f.land.late {
			return
		}
		b.numbered(f.key, &f.key.books.told, mark{f.land.seq, f.land.idx}, "The store gave")
		b.borrowed(f)
	case rejected:
		if f.op.settled == 0 {
			b.numbered(f.key, &f.key.books.told, mark{f.op.seq, f.op.okIdx}, "The store gave")
		}
		if b.j.wronged(f.op) {
			b.turnedAway(f)
		}
	}
}

func (b *bookkeeping) name(key, value string) uint64 {
	return bits.RotateLeft64(maphash.String(b.seed, key), 1) ^ maphash.String(b.seed, value)
}

func (b *bookkeeping) keep(in *[]entry, e entry, value string) {
	switch {
	case value == "":
	case len(*in) == keptEntries:
		b.lost++
	default:
		*in = append(*in, e)
	}
}

// books are what the store said of one key.
type books struct {
	told, logged mark // the last number, told to a client and in the log
	newest       uint64
}

// numbered looks for a number that is given twice on a key: equal ones are next to
// each other, as the store's order goes.
func (b *bookkeeping) numbered(k *key, last *mark, m mark, who string) {
	if m.seq == 0 {
		return
	}
	if m.seq == last.seq {
		text := fmt.Sprintf("%s the number %d to two writes of %s. The store's own order of its writes proves nothing then. Remedy: number each write in the step that makes it.", who, m.seq, k.name)
		b.violate("R3", k, nil, []int{last.idx, m.idx}, text)
	}
	*last = m
}

// wronged says whether a store that compares tokens rejected the holder of the
// newest one, within its lease.
func (j *Judge) wronged(o *op) bool {
	g := o.grant
	return j.h.Fenced && o.settled == 0 && o.fence != 0 && o.fence >= o.holder.key.books.newest && g != nil && o.fence == g.fence &&
		o.use == useHeld && o.mode == history.Exclusive && o.has&history.HasBase == 0 && later(j.h.Epsilon, o.ok) < g.end()
}

// turnedAway reports R4.
func (b *bookkeeping) turnedAway(f *fact) {
	o, g := f.op, f.op.grant
	text := fmt.Sprintf("%s held %s with token %d from %s until %s, and nobody had been given a higher one; and yet the store rejected its write %q, issued at %s. "+
		"Remedy: the store must take a token that is not lower than the highest one it has seen.",
		g.owner(), f.key.name, g.fence, at(g.ok), at(g.d), o.value, at(o.inv))
	b.violate("R4", f.key, []string{g.owner()}, []int{g.okIdx, o.okIdx}, text)
}

// borrowed reports R5: an accepted write that bore a token which only others were
// given.
func (b *bookkeeping) borrowed(f *fact) {
	o, g := f.op, f.op.grant
	if o.fence == 0 || o.holder.detail != nil && o.holder.detail.renamed || g != nil && g.fence == o.fence || o.holder.prior != nil && o.holder.prior.fence == o.fence {
		return
	}
	var of *grant
	for _, x := range f.key.held {
		switch {
		case x.fence != o.fence:
		case x.holder == o.holder:
			return
		default:
			of = x
		}
	}
	if of == nil {
		return
	}
	text := fmt.Sprintf("%s wrote %q to %s with token %d, which had been given to %s, at %s, and not to %s. The fence takes it for that one. "+
		"Remedy: write with the token of one's own lease.", o.holder.owner, o.value, f.key.name, o.fence, of.owner(), at(of.ok), o.holder.owner)
	b.violate("R5", f.key, owners(o.holder.owner, of.owner()), []int{of.okIdx, f.land.idx}, text)
}

// finish holds what was asked for and answered against the log.
func (b *bookkeeping) finish() {
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
			b.violate("R1", e.key, nil, []int{int(e.idx)}, fmt.Sprintf(
				"A write to %s (event %d) was acknowledged, and the store's own log does not have it as accepted. Remedy: acknowledge nothing that is not kept.", e.key.name, e.idx))
		}
	}
	for _, line := range b.log {
		e, known := asked[line.name]
		switch {
		case line.kind != history.OK || known && e.kind != history.Fail:
		case known:
			b.violate("R2", line.key, nil, []int{int(e.idx), int(line.idx)}, fmt.Sprintf(
				"A write to %s was answered with a no (event %d), and the store's own log has it as accepted (event %d). Remedy: reject before writing.", line.key.name, e.idx, line.idx))
		default:
			b.violate("R2", line.key, nil, []int{int(line.idx)}, fmt.Sprintf(
				"The store's own log has a write to %s as accepted (event %d) that nobody asked for. Remedy: find out who else writes there.", line.key.name, line.idx))
		}
	}
}

func (b *bookkeeping) violate(id string, k *key, who []string, witness []int, text string) {
	b.j.violate(&hit{
		id: id, key: k, owners: who, witness: witness, blame: blameBooks, from: b.j.now, to: b.j.now, text: func() string { return text },
	})
}

// unplaced says what was not judged, for want of memory.
func (b *bookkeeping) unplaced() string {
	if b.logged == 0 || b.lost == 0 || b.told == b.logged {
		return ""
	}
	return fmt.Sprintf("What was acknowledged and what the store's own log has are not the same (R1, R2), and only %d writes are kept to tell which: %d more were not.", keptEntries, b.lost)
}
