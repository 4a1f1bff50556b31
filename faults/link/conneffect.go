package link

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A stage is one effect on one connection's way.
type stage struct {
	*effect
	host  *host // of the stock toxic that does the work; nil without one
	queue []packet
	last  time.Time // due time of the last packet
	lost  bool      // bytes were dropped here
	taken int64     // bytes that a stock toxic was given and has not let through
	end   bool      // the stock toxic knows that the sender has closed
	draws func() time.Duration
}

// A packet waits for its time. Those of a hold wait for the heal.
type packet struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// isDue reports whether the head of the queue may go.
func (s *stage) isDue(now time.Time) bool {
	return s.healed.Load() || s.treatment != hold && !s.queue[0].due.After(now)
}

// passes reports whether a chunk goes on at once. If not, it waits here or is
// dropped.
func (s *stage) passes(chunk *stream.StreamChunk) bool {
	if s.healed.Load() && len(s.queue) == 0 && s.host == nil {
		return true
	}
	size := len(chunk.Data)
	if s.host != nil {
		s.count(size)
		s.queue = append(s.queue, packet{chunk: arrived(chunk)})
		s.feed()
		return false
	}
	s.hurt.Add(int64(size))
	s.packets.Add(1)
	now := time.Now()
	due := now
	switch s.treatment {
	case lose, snap:
		s.lost = true
		return false
	case lag:
		due = now.Add(s.draws())
	case pace:
		if s.last.After(now) {
			due = s.last
		}
		due = due.Add(time.Duration(float64(size) / float64(s.impair.Rate) * float64(time.Second)))
	}
	s.last = due
	s.queue = append(s.queue, packet{chunk: chunk, due: due})
	return false
}

// count notes what a stock toxic will do to a chunk of so many bytes.
func (s *stage) count(size int) {
	s.taken += int64(size)
	switch s.treatment {
	case limit, linger: // their conduit sees what they did
	case slice:
		if int64(size) > s.impair.Bytes {
			s.hurt.Add(int64(size))
		}
	default:
		s.hurt.Add(int64(size))
		s.lost = s.lost || s.treatment == lose
	}
}

// feed gives a stock toxic what waits for it, as far as it takes it.
func (s *stage) feed() {
	for len(s.queue) > 0 && s.host.offer(s.queue[0].chunk) {
		s.queue = s.queue[1:]
	}
}

// emerge returns what has come out of a stock toxic, and whether that was all
// that the connection will ever carry. After the heal it is everything that
// the toxic still had, and the stage has no toxic any more.
func (s *stage) emerge() (chunks []*stream.StreamChunk, last bool) {
	if s.healed.Load() {
		chunks, last = s.host.stop()
		s.host = nil
		return chunks, last
	}
	chunks, last = s.host.take()
	s.feed()
	for _, chunk := range chunks {
		s.taken -= int64(len(chunk.Data))
	}
	return chunks, last
}

// conclude notes what a stock toxic that has closed by itself kept back.
func (s *stage) conclude() {
	if s.end {
		return
	}
	s.ended.Add(1)
	if s.treatment == limit {
		s.hurt.Add(s.taken)
	}
}
