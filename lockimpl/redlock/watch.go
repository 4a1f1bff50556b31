package redlock

import (
	"context"
	"errors"
	"time"
)

// Watch looks every so often who holds key, and tells when that has changed, and
// the first time, until ctx ends. With Do it is what a leader election takes: who
// leads runs in Do, and the others see who that is. What is told may have changed
// by then: nobody may act as if it held the key because of it. While no quorum of
// nodes answers nothing is told, and the last error is in that of Watch.
func (l *Lock) Watch(ctx context.Context, key string, every time.Duration, tell func(h Holder, held bool)) error {
	if every <= 0 {
		return errors.New("watch: the time between two looks must be positive")
	}
	var last Holder
	first, wasHeld := true, false
	for {
		in, err := l.Inspect(ctx, key)
		if err == nil {
			h, held := l.Held(in)
			if first || held != wasHeld || h.Fence != last.Fence || h.Name != last.Name {
				tell(h, held)
			}
			first, wasHeld, last = false, held, h
		}
		rest(ctx, every)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}
