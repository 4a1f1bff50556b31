package link

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// An Outcome is what became of a command whose reply its client never saw.
type Outcome string

// The outcomes.
const (
	NeverForwarded Outcome = "never-forwarded" // it has not reached the node whole and never will: it did not happen
	Answered       Outcome = "answered"        // the node has answered it: it happened, or was refused
	Forwarded      Outcome = "forwarded"       // it was handed to the node, and no answer was seen: it happened if the node lived
	Undecided      Outcome = "undecided"       // the link cannot tell, or not yet
)

// A Receipter is a Link that can tell what became of commands without a reply.
type Receipter interface {
	// Receipts returns one receipt for each command that had no reply when its
	// connection ended at the client, connection by connection. A held command
	// is undecided until the heal; NeverForwarded and Answered are final.
	Receipts() []Receipt

	// Keep forgets the receipts of all commands but the wanted ones, given by
	// the numbers of their connection and of the command on it.
	Keep(wanted func(conn, request uint64) bool)
}

// A Receipt tells what became of one command.
type Receipt struct {
	Command TapEvent
	Outcome Outcome
	Shape   Shape // of the answer, where it is known
}

// A progress is what an embedded proxy knows of one connection, shared by the
// client's end and both flows. Bytes are forwarded as a prefix of what the
// client sent: once some are dropped, none that come later pass.
type progress struct {
	forwarded atomic.Int64 // the client's bytes handed to the node
	answered  atomic.Int64 // whole replies that have come from the node
	ended     atomic.Bool  // nothing more will be forwarded

	shapes [lateShapes]atomic.Uint32 // of the last replies, by number
}

// lateShapes is how many of the last replies on a connection keep their shape.
const lateShapes = 64

// answer notes one whole reply.
func (p *progress) answer(s Shape) {
	n := p.answered.Load() + 1
	p.shapes[n%lateShapes].Store(uint32(s.Type)<<8 | uint32(s.Leaf))
	p.answered.Store(n)
}

// shape returns what the answer to a command looked like, unless too many have
// come since.
func (p *progress) shape(request uint64) Shape {
	packed := p.shapes[request%lateShapes].Load()
	if n := p.answered.Load(); n < int64(request) || n >= int64(request)+lateShapes-1 {
		return Shape{}
	}
	return Shape{Type: byte(packed >> 8), Leaf: byte(packed)}
}

// outcome judges the command number request, whose last byte is the client's byte
// number end.
func (p *progress) outcome(request uint64, end int64) Outcome {
	switch {
	case p.answered.Load() >= int64(request):
		return Answered
	case p.forwarded.Load() >= end:
		return Forwarded
	case p.ended.Load():
		return NeverForwarded
	}
	return Undecided
}

// The client's end of a link to an embedded proxy begins with a preface, which
// the proxy takes out: a byte that begins no command, and the number of the
// connection's progress.
const (
	prefaceMark = 0
	prefaceSize = 1 + 8
)

// progressOf holds those whose preface is on its way.
var (
	progressOf   sync.Map // number → *progress
	lastProgress atomic.Uint64
)

// newProgress returns the progress of a new connection and the preface that
// announces it.
func newProgress() (p *progress, number uint64, preface []byte) {
	p, number = new(progress), lastProgress.Add(1)
	progressOf.Store(number, p)
	return p, number, binary.BigEndian.AppendUint64([]byte{prefaceMark}, number)
}

// A pair is the two flows of one connection. Until the preface has come, and
// for connections from other processes, their progress is nobody's.
type pair struct {
	progress  atomic.Pointer[progress]
	lingering atomic.Pointer[effect] // that keeps the node's end of the connection from the client; nil without one
}

// missed counts a request that came when the node's end was gone.
func (p *pair) missed(d *direction, request *stream.StreamChunk) {
	if e := p.lingering.Load(); e != nil && d.opposite == nil {
		e.affected.Add(int64(len(request.Data)))
	}
}

func newPair() *pair {
	p := new(pair)
	p.progress.Store(new(progress))
	return p
}

// A prefaceReader takes the preface out of the first bytes of a connection.
type prefaceReader struct {
	done bool
	head []byte // of a preface that comes in pieces
}

// read returns what follows the preface in chunk, or nil.
func (r *prefaceReader) read(chunk *stream.StreamChunk, to *pair) *stream.StreamChunk {
	if r.done {
		return chunk
	}
	data := chunk.Data
	if len(r.head) > 0 {
		data = append(r.head, data...)
	}
	if data[0] == prefaceMark {
		if len(data) < prefaceSize {
			r.head = append([]byte(nil), data...)
			return nil
		}
		if p, ok := progressOf.LoadAndDelete(binary.BigEndian.Uint64(data[1:prefaceSize])); ok {
			to.progress.Store(p.(*progress))
		}
		data = data[prefaceSize:]
	}
	r.done, r.head = true, nil
	if len(data) == 0 {
		return nil
	}
	return &stream.StreamChunk{Data: data, Timestamp: chunk.Timestamp}
}

// An unanswered is a command that had no reply when its connection ended.
type unanswered struct {
	command  TapEvent
	end      int64
	progress *progress
	number   uint64 // of the progress
}

// Keep implements Receipter.
func (l *proxyLink) Keep(wanted func(conn, request uint64) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, forgotten := map[uint64]bool{}, map[uint64]bool{}
	l.unanswered = slices.DeleteFunc(l.unanswered, func(u unanswered) bool {
		if wanted(u.command.Conn, u.command.Request) {
			kept[u.number] = true
			return false
		}
		forgotten[u.number] = true
		return true
	})
	for number := range forgotten {
		if !kept[number] {
			progressOf.Delete(number)
		}
	}
}

// Receipts implements Receipter.
func (l *proxyLink) Receipts() []Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Receipt, len(l.unanswered))
	for i, u := range l.unanswered {
		all[i] = Receipt{Command: u.command, Outcome: Undecided}
		if u.progress != nil {
			all[i].Outcome = u.progress.outcome(u.command.Request, u.end)
			all[i].Shape = u.progress.shape(u.command.Request)
		}
	}
	return all
}
