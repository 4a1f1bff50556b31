// Package periodic repeats a call beside other work.
package periodic

import (
	"sync"
	"time"
)

// Start calls do every d, in a goroutine of its own, until stop is called. Stop
// waits for a call that is under way, and may be called more than once.
func Start(d time.Duration, do func()) (stop func()) {
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		running.Wait()
	})
}
