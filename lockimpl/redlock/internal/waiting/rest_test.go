package waiting

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A rester is a waiter that rests, and when it asked again.
type rester struct {
	w     *Waker
	leave func()
	stop  context.CancelFunc
	asked chan time.Duration // since the line was formed
}

// line has n writers rest behind each other, and tells how many places were kept when.
func restInLine(t *testing.T, q *Lines, n int) (all []*rester, kept func() []string) {
	began := time.Now()
	var times []string
	for i := range n {
		ctx, cancel := context.WithCancel(t.Context())
		r := &rester{w: NewWaker(2), stop: cancel, asked: make(chan time.Duration, 1)}
		r.w.Place = Place{Member: fmt.Sprint("x:c:", i), TTL: 1}
		r.leave = q.Join("k", r.w.Place.Member, r.w)
		all = append(all, r)
		rest := Rest{Pause: 70 * time.Second, Soon: 10 * time.Second, Named: 7 * time.Second, Every: 30 * time.Second, Keep: func(line []*Waker) {
			var places []string
			for _, w := range line {
				places = append(places, w.Place.Member)
			}
			times = append(times, fmt.Sprintf("%v by %d after %v", places, i, time.Since(began)))
		}}
		go func() {
			defer close(r.asked)
			if q.Rest(ctx, "k", r.w, rest) {
				r.asked <- time.Since(began)
			}
		}()
		synctest.Wait()
	}
	return all, func() []string { return times }
}

// Of a line the first alone asks after its pause, and keeps everybody's places meanwhile; who
// follows it asks soon and keeps them in its turn; those who do not rest have nothing kept.
func TestFirstOfALineAsksForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		all, kept := restInLine(t, &q, 4)
		time.Sleep(69 * time.Second)
		all[3].stop()
		if at, asked := <-all[3].asked; asked {
			t.Errorf("one whose context ended asks after %v", at)
		}
		if at := <-all[0].asked; at != 70*time.Second {
			t.Errorf("the first asks after %v", at)
		}
		time.Sleep(time.Hour)
		all[0].leave()
		if at := <-all[1].asked; at != 70*time.Second+time.Hour+10*time.Second {
			t.Errorf("the second asks after %v", at)
		}
		all[2].stop()
		<-all[2].asked
		want := []string{"[x:c:0 x:c:1 x:c:2 x:c:3] by 0 after 30s", "[x:c:0 x:c:1 x:c:2 x:c:3] by 0 after 1m0s", "[x:c:1 x:c:2] by 1 after 1h1m10s"}
		if got := kept(); !slices.Equal(got, want) {
			t.Errorf("kept %q, want %q", got, want)
		}
	})
}

// Who is named by a node, though by fewer than a quorum, asks soon, and at once when a quorum
// has named it.
func TestWhoIsNamedAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		all, _ := restInLine(t, &q, 3)
		q.Wake("x:c:1", 4)
		q.Wake("x:c:2", 4)
		q.Wake("x:c:2", 4)
		time.Sleep(5 * time.Second)
		q.Wake("x:c:2", 3)
		for i, want := range map[int]time.Duration{1: 7 * time.Second, 2: 5 * time.Second} {
			if at := <-all[i].asked; at != want {
				t.Errorf("waiter %d asks after %v, want %v", i, at, want)
			}
		}
		all[0].w.ring()
		if at := <-all[0].asked; at != 7*time.Second {
			t.Errorf("the first was rung, and asks after %v", at)
		}
	})
}

// So does who leads, and a reader, whose pause would be longer; naming does not make a short
// pause longer.
func TestWhoAsksAnywayAsksSoonerOnceItIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		for _, member := range []string{"x:c:0", "s:c:0"} {
			for pause, want := range map[time.Duration]time.Duration{time.Minute: 12 * time.Second, 6 * time.Second: 6 * time.Second} {
				w := NewWaker(2)
				if member == "x:c:0" {
					w.Place = Place{Member: member, TTL: 1}
				}
				leave := q.Join("k", member, w)
				time.AfterFunc(5*time.Second, func() { q.Wake(member, 1) })
				time.AfterFunc(8*time.Second, func() { q.Wake(member, 1) })
				began := time.Now()
				q.Rest(t.Context(), "k", w, Rest{Pause: pause, Soon: time.Hour, Named: 7 * time.Second, Every: time.Hour})
				if at := time.Since(began); at != want {
					t.Errorf("%s pauses for %v, is named after 5s, and asks after %v, want %v", member, pause, at, want)
				}
				leave()
				time.Sleep(10 * time.Second)
			}
		}
	})
}

// A waiter without a place of its own, a reader, asks by itself and leads nobody.
func TestReaderAsksByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		reader := NewWaker(1)
		defer q.Join("k", "s:c:0", reader)()
		all, kept := restInLine(t, &q, 2)
		began := time.Now()
		rest := Rest{Pause: time.Second, Soon: time.Hour, Every: time.Minute, Keep: func([]*Waker) { t.Error("a reader keeps places") }}
		if !q.Rest(t.Context(), "k", reader, rest) || time.Since(began) != time.Second {
			t.Errorf("it asked after %v", time.Since(began))
		}
		if at := <-all[0].asked; at != 70*time.Second || len(kept()) != 2 {
			t.Errorf("the first writer asked after %v, and kept %q", at, kept())
		}
		all[1].stop()
		<-all[1].asked
	})
}

// Who asks while its place is about to be kept knows that this may come behind what it asks.
func TestWhosePlaceIsAboutToBeKeptKnowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		all, _ := restInLine(t, &q, 3)
		keeper := NewWaker(1)
		keeper.leads.Store(true)
		kept := 0
		time.Sleep(35 * time.Second)
		q.mu.Lock()
		q.byKey["k"].kept = time.Time{}
		q.mu.Unlock()
		q.keep("k", keeper, Rest{Every: time.Second, Keep: func(line []*Waker) {
			for _, w := range line {
				if w.IsKept() {
					kept++
				}
			}
		}})
		if kept != 3 {
			t.Errorf("%d of 3 know that their places are being kept", kept)
		}
		for _, r := range all {
			if r.w.IsKept() {
				t.Error("one takes its place for being kept that was kept before")
			}
			r.stop()
			<-r.asked
		}
	})
}

// Named by a minority again and again, a line asks ever more rarely, until it is its turn; of
// several who are named at once each asks as soon as the first.
func TestLineThatIsNamedInVainAsksEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		defer q.Join("k", "x:c:0", NewWaker(2))()
		pauses := func(r Rest, want ...time.Duration) {
			t.Helper()
			for i, want := range want {
				for range 3 {
					if got := q.namedPause("k", r); got != want {
						t.Errorf("naming %d: pause of %v, want %v", i+1, got, want)
					}
					time.Sleep(want / 4)
				}
				time.Sleep(want)
			}
			q.Progress("k")
			q.Progress("nobody waits for it")
		}
		long := Rest{Named: 4 * time.Second, Every: 20 * time.Second}
		most := 20 * time.Second
		pauses(long, 4*time.Second, 8*time.Second, 16*time.Second, most, most, most, most, most, most, most, most, most, most, most, most, most, most, most, most)
		pauses(long, 4*time.Second, 8*time.Second)
		for _, want := range []time.Duration{0, 2, 4, 8, 10, 10} {
			if got := q.namedPause("k", Rest{Every: 10 * time.Millisecond}); got != want*time.Millisecond {
				t.Errorf("without a pause of its own: %v, want %d ms", got, want)
			}
			time.Sleep(want * time.Millisecond)
		}
	})
}

// A quorum that names one of a line ends what it was named in vain; so does a release nearby.
func TestBellEndsNamingInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		all, _ := restInLine(t, &q, 1)
		q.byKey["k"].inVain = 5
		q.Poke("k")
		<-all[0].asked
		if n := q.byKey["k"].inVain; n != 0 {
			t.Errorf("%d in vain after its turn", n)
		}
	})
}
