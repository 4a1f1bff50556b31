package link

import (
	"fmt"
	"time"
)

// checkPieces says what the kinds that only stock toxics inject cannot be told.
func (i Impairment) checkPieces() error {
	switch {
	case (i.Kind == Slicer || i.Kind == LimitData) && i.Bytes <= 0:
		return fmt.Errorf("%s of %d bytes: a positive number is needed", i.Kind, i.Bytes)
	case i.Kind == Slicer && i.Delay%time.Microsecond != 0:
		return fmt.Errorf("%s with a delay of %s: it counts whole microseconds", i.Kind, i.Delay)
	case i.Kind == SlowClose && (i.Delay <= 0 || i.Delay%time.Millisecond != 0):
		return fmt.Errorf("%s by %s: a positive number of whole milliseconds is needed", i.Kind, i.Delay)
	}
	return nil
}

// countPieces says what the kinds that only stock toxics inject have done,
// which the traffic at the client's end tells beside the toxic itself.
func (e *effect) countPieces(b *Impact, before, now counts) {
	switch e.treatment {
	case slice:
		b.Pieces, b.Conns, b.Dials = int(now.pieces-before.pieces), 0, 0
		if e.blind && b.Bytes > 0 {
			b.Bytes = 0
			if b.Pieces > 0 {
				b.Bytes = now.received - before.received
			}
		}
	case limit:
		b.Torn, b.Dials = int(now.torn-before.torn), 0
		b.Conns = int(e.ended.Load())
		if e.blind {
			b.Bytes, b.Conns = 0, b.Torn
		}
	case linger:
		b.Conns, b.Dials = int(e.ended.Load()), 0
		if e.blind {
			b.Bytes, b.Conns = 0, int(now.forsaken-before.forsaken)
		} else if b.Bytes == 0 { // nobody has missed them yet
			b.Conns = 0
		}
	}
}
