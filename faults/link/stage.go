package link

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A stage is one effect on one connection's way.
type stage struct {
	*effect
	queue []packet
	last  time.Time // due time of the last packet
	lost  bool      // bytes were dropped here
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
	if s.healed.Load() && len(s.queue) == 0 {
		return true
	}
	size := len(chunk.Data)
	s.hurt.Add(int64(size))
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
