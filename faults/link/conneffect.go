package link

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A connEffect is one effect on one direction of one connection.
type connEffect struct {
	*effect
	host  *host // of the stock toxic that does the work; nil without one
	queue []packet
	last  time.Time // due time of the last packet
	lost  bool      // bytes were dropped here
	taken int64     // bytes that a stock toxic was given and has not let through
	end   bool      // the stock toxic knows that the sender has closed
	draws func() time.Duration
}

// A packet is bytes that wait until they are due; under a hold, until the heal.
type packet struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// isDue reports whether the head of the queue may go.
func (e *connEffect) isDue(now time.Time) bool {
	return e.healed.Load() || e.treatment != hold && !e.queue[0].due.After(now)
}

// passes reports whether a chunk is passed on at once. If not, it is queued here or dropped.
func (e *connEffect) passes(chunk *stream.StreamChunk) bool {
	if e.healed.Load() && len(e.queue) == 0 && e.host == nil {
		return true
	}
	size := len(chunk.Data)
	if e.host != nil {
		e.count(size)
		e.queue = append(e.queue, packet{chunk: arrived(chunk)})
		e.feed()
		return false
	}
	e.affected.Add(int64(size))
	e.packets.Add(1)
	now := time.Now()
	due := now
	switch e.treatment {
	case lose, snap:
		e.lost = true
		return false
	case lag:
		due = now.Add(e.draws())
	case pace:
		if e.last.After(now) {
			due = e.last
		}
		due = due.Add(time.Duration(float64(size) / float64(e.impair.Rate) * float64(time.Second)))
	}
	e.last = due
	e.queue = append(e.queue, packet{chunk: chunk, due: due})
	return false
}

// count notes what a stock toxic will do to a chunk of so many bytes.
func (e *connEffect) count(size int) {
	e.taken += int64(size)
	switch e.treatment {
	case limit, linger: // their flow sees what they did
	case slice:
		if int64(size) > e.impair.Bytes {
			e.affected.Add(int64(size))
		}
	default:
		e.affected.Add(int64(size))
		e.lost = e.lost || e.treatment == lose
	}
}

// feed hands queued chunks to the stock toxic, as many as it takes.
func (e *connEffect) feed() {
	for len(e.queue) > 0 && e.host.offer(e.queue[0].chunk) {
		e.queue = e.queue[1:]
	}
}

// emerge returns what has come out of a stock toxic, and whether the connection carries nothing
// after that. After the heal it is everything that the toxic still had, and the toxic has
// ended.
func (e *connEffect) emerge() (chunks []*stream.StreamChunk, last bool) {
	if e.healed.Load() {
		chunks, last = e.host.stop()
		e.host = nil
		return chunks, last
	}
	chunks, last = e.host.drain()
	e.feed()
	for _, chunk := range chunks {
		e.taken -= int64(len(chunk.Data))
	}
	return chunks, last
}

// conclude counts what a stock toxic that has closed by itself did not pass on.
func (e *connEffect) conclude() {
	if e.end {
		return
	}
	e.ended.Add(1)
	if e.treatment == limit {
		e.affected.Add(e.taken)
	}
}
