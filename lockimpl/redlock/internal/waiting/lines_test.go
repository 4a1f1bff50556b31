package waiting

import (
	"fmt"
	"slices"
	"testing"
)

// rung returns which wakers ring, and has them ring no more.
func rung(all []*Waker) (which []int) {
	for i, w := range all {
		select {
		case <-w.bell:
			which = append(which, i)
		default:
		}
		if len(w.bell) > 0 {
			which = append(which, -1) // it rang twice
		}
	}
	return which
}

// A release nearby rings the next of those who contend, and nobody behind it: a line of n
// would cost n attempts for each hand-over. When that one leaves, it is the turn of the next.
func TestReleaseRingsTheNextInTheLineAlone(t *testing.T) {
	var q Lines
	q.Poke("k") // nobody contends
	var all []*Waker
	var leave []func()
	for i := range 4 {
		w := NewWaker(1)
		all, leave = append(all, w), append(leave, q.Join("k", fmt.Sprint("x:c:", i), w))
	}
	other := NewWaker(1)
	defer q.Join("other", "x:c:other", other)()
	for first := range all {
		q.Poke("k")
		if got := rung(all); !slices.Equal(got, []int{first}) {
			t.Errorf("with %d gone: %v were rung", first, got)
		}
		leave[first]()
	}
	q.Poke("k")
	q.RingAll("k")
	if got := rung(append(all, other)); got != nil {
		t.Errorf("with all gone: %v were rung", got)
	}
	q.RingAll("other")
	if got := rung(append(all, other)); !slices.Equal(got, []int{4}) {
		t.Errorf("all of the other key: %v were rung", got)
	}
}
