package writes

import (
	"fmt"
	"slices"

	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

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

// listed reports R1: the log lacks an acknowledged write e, or has it only with another number
// than its client was told. line is what the log has under e's name, if listed; placed says
// that it has e with e's number too.
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
