package app

import (
	"fmt"
	"io"
	"sync"
	"time"

	"locktorture/workload/history/printable"
)

// remind says every newsEvery what goes on, and for how long already, until stop
// is called. What is done by then is not spoken of.
func remind(w io.Writer, what string) (stop func()) {
	began, over := time.Now(), make(chan struct{})
	var news sync.WaitGroup
	news.Go(func() {
		tick := time.NewTicker(newsEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(w, "%s: for %.0f s\n", printable.Line(what), time.Since(began).Seconds())
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		news.Wait()
	})
}
