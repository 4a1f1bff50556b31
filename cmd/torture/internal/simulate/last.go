package simulate

import (
	"slices"
	"strings"
	"testing/synctest"
)

// lastTurns lets goroutines of a bubble act when nobody else has anything left to do at an
// instant: one after the other, by their names (of client, incarnation and node). What several
// goroutines of a lock's client queue for one node at one instant is sent together then, in
// whichever order they run.
type lastTurns struct {
	asked chan lastTurn
	ended chan struct{}
	done  chan struct{}
}

// A lastTurn is one that somebody waits for.
type lastTurn struct {
	name string
	come chan struct{}
}

// newLastTurns begins to give turns, until close is called.
func newLastTurns() *lastTurns {
	l := &lastTurns{asked: make(chan lastTurn), ended: make(chan struct{}), done: make(chan struct{})}
	go l.give()
	return l
}

// wait returns when it is the caller's turn, at this instant.
func (l *lastTurns) wait(name string) {
	turn := lastTurn{name, make(chan struct{})}
	select {
	case l.asked <- turn:
		<-turn.come
	case <-l.ended:
	}
}

// give gives turns until close. After each it looks again who has something to do.
func (l *lastTurns) give() {
	defer close(l.done)
	var waiting []lastTurn
	for {
		if len(waiting) == 0 {
			select {
			case turn := <-l.asked:
				waiting = append(waiting, turn)
			case <-l.ended:
				return
			}
		}
		synctest.Wait()
		for asked := true; asked; {
			select {
			case turn := <-l.asked:
				waiting = append(waiting, turn)
			default:
				asked = false
			}
		}
		slices.SortFunc(waiting, func(a, b lastTurn) int { return strings.Compare(a.name, b.name) })
		close(waiting[0].come)
		waiting = waiting[1:]
	}
}

// close ends the giving of turns: whoever asks from then on does not wait.
func (l *lastTurns) close() {
	close(l.ended)
	<-l.done
}
