package link

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A Fate is what became of a command whose reply its client never saw.
type Fate string

// The fates.
const (
	NeverForwarded Fate = "never-forwarded" // it has not reached the node whole and never will: it did not happen
	Answered       Fate = "answered"        // the node has answered it: it happened, or was refused
	Forwarded      Fate = "forwarded"       // it was handed to the node, and no answer was seen: it happened if the node lived
	Undecided      Fate = "undecided"       // the link cannot tell, or not yet
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
	Fate    Fate
	Shape   Shape // of the answer, where it is known
}

// A passage is what an embedded proxy knows of one connection, shared by the
// client's end and both conduits. Bytes are forwarded as a prefix of what the
// client sent: once some are dropped, none that come later pass.
type passage struct {
	forwarded atomic.Int64 // the client's bytes handed to the node
	answered  atomic.Int64 // whole replies that have come from the node
	ended     atomic.Bool  // nothing more will be forwarded

	shapes [lateShapes]atomic.Uint32 // of the last replies, by number
}

// lateShapes is how many of the last replies on a connection keep their shape.
const lateShapes = 64

// answer notes one whole reply.
func (p *passage) answer(s Shape) {
	n := p.answered.Load() + 1
	p.shapes[n%lateShapes].Store(uint32(s.Type)<<8 | uint32(s.Leaf))
	p.answered.Store(n)
}

// shape returns what the answer to a command looked like, unless too many have
// come since.
func (p *passage) shape(request uint64) Shape {
	packed := p.shapes[request%lateShapes].Load()
	if n := p.answered.Load(); n < int64(request) || n >= int64(request)+lateShapes-1 {
		return Shape{}
	}
	return Shape{Type: byte(packed >> 8), Leaf: byte(packed)}
}

// fate judges the command number request, whose last byte is the client's byte
// number end.
func (p *passage) fate(request uint64, end int64) Fate {
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
// connection's passage.
const (
	prefaceMark = 0
	prefaceSize = 1 + 8
)

// passages holds those whose preface is on its way.
var (
	passages    sync.Map // number → *passage
	lastPassage atomic.Uint64
)

// newPassage returns a passage and the preface that announces it.
func newPassage() (p *passage, number uint64, preface []byte) {
	p, number = new(passage), lastPassage.Add(1)
	passages.Store(number, p)
	return p, number, binary.BigEndian.AppendUint64([]byte{prefaceMark}, number)
}

// A pair is the two conduits of one connection. Until the preface has come, and
// for connections from other processes, their passage is nobody's.
type pair struct {
	passage   atomic.Pointer[passage]
	lingering atomic.Pointer[effect] // that keeps the node's end of the connection from the client; nil without one
}

// missed counts a request that came when the node's end was gone.
func (p *pair) missed(l *lane, request *stream.StreamChunk) {
	if e := p.lingering.Load(); e != nil && l.twin == nil {
		e.hurt.Add(int64(len(request.Data)))
	}
}

func newPair() *pair {
	p := new(pair)
	p.passage.Store(new(passage))
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
		if p, ok := passages.LoadAndDelete(binary.BigEndian.Uint64(data[1:prefaceSize])); ok {
			to.passage.Store(p.(*passage))
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
	command TapEvent
	end     int64
	passage *passage
	number  uint64 // of the passage
}

// Keep implements Receipter.
func (r *road) Keep(wanted func(conn, request uint64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, forgotten := map[uint64]bool{}, map[uint64]bool{}
	r.unanswered = slices.DeleteFunc(r.unanswered, func(u unanswered) bool {
		if wanted(u.command.Conn, u.command.Request) {
			kept[u.number] = true
			return false
		}
		forgotten[u.number] = true
		return true
	})
	for number := range forgotten {
		if !kept[number] {
			passages.Delete(number)
		}
	}
}

// Receipts implements Receipter.
func (r *road) Receipts() []Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Receipt, len(r.unanswered))
	for i, u := range r.unanswered {
		all[i] = Receipt{Command: u.command, Fate: Undecided}
		if u.passage != nil {
			all[i].Fate = u.passage.fate(u.command.Request, u.end)
			all[i].Shape = u.passage.shape(u.command.Request)
		}
	}
	return all
}
