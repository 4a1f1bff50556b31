package simulate

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// Those who ask for a last turn at one instant have it in the order of their names, after all
// that the others do at that instant, and each after what the one before it brought about.
func TestLastTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for range 50 {
		var did []string
		var mu sync.Mutex
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			did = append(did, what)
		}
		err := inBubble(func() {
			l := newLastTurns()
			began := time.Now()
			var all sync.WaitGroup
			for i := range 3 {
				name := fmt.Sprint(3 - i)
				all.Go(func() {
					l.wait(name)
					note("turn " + name)
					woken := make(chan struct{})
					all.Go(func() {
						runtime.Gosched()
						note("after " + name)
						close(woken)
					})
					<-woken
				})
				all.Go(func() {
					for range 20 {
						runtime.Gosched()
					}
					note("before")
				})
			}
			all.Wait()
			if passed := time.Since(began); passed != 0 {
				t.Errorf("%v passed", passed)
			}
			l.close()
			l.wait("late") // returns
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"before", "before", "before", "turn 1", "after 1", "turn 2", "after 2", "turn 3", "after 3"}
		if !slices.Equal(did, want) {
			t.Fatalf("%q, want %q", did, want)
		}
	}
}
