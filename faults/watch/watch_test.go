package watch

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/workload/history"
)

const second = time.Second

// A line is one event of an Observer's table: who, what, on which key.
type line struct {
	kind  history.Kind
	op    history.Op
	owner string
	key   string
	until time.Duration
	fence uint64
}

func follow(lines ...line) *Observer {
	w := New()
	feed(w, lines)
	return w
}

func feed(w *Observer, lines []line) {
	for i, l := range lines {
		e := history.Event{
			Index: i, Time: time.Duration(i) * second, Kind: l.kind, Op: l.op, Owner: l.owner, Key: l.key,
			Process: int(l.owner[0]), Fence: l.fence,
		}
		if l.until > 0 {
			e.ValidUntil, e.Has = l.until, history.HasValidUntil
		}
		w.Event(&e)
	}
}

const (
	invoke = history.Invoke
	ok     = history.OK
	fail   = history.Fail
	info   = history.Info
)

func TestHolders(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []line
		want  []string // owners, in the order of their grants
	}{
		{"granted", []line{{invoke, history.Acquire, "a", "k", 0, 0}, {ok, history.Acquire, "a", "k", 9 * second, 1}}, []string{"a"}},
		{"refused", []line{{invoke, history.Acquire, "a", "k", 0, 0}, {fail, history.Acquire, "a", "k", 0, 0}}, nil},
		{"unknown", []line{{invoke, history.Acquire, "a", "k", 0, 0}, {info, history.Acquire, "a", "k", 0, 0}}, nil},
		{"release sent", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {invoke, history.Release, "a", "k", 0, 0}}, nil},
		{"told of its loss", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {ok, history.Lost, "a", "k", 0, 0}}, nil},
		{"extension refused", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {invoke, history.Extend, "a", "k", 0, 0}, {fail, history.Extend, "a", "k", 0, 0}}, nil},
		{"extension unknown", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {invoke, history.Extend, "a", "k", 0, 0}, {info, history.Extend, "a", "k", 0, 0}}, []string{"a"}},
		{"taken over", []line{{ok, history.Acquire, "a", "k", second / 2, 1}, {ok, history.Acquire, "b", "k", 9 * second, 2}}, []string{"b"}},
		{"two holders", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {ok, history.Acquire, "b", "k", 9 * second, 2}}, []string{"a", "b"}},
		{"another's release", []line{{ok, history.Acquire, "a", "k", 9 * second, 1}, {invoke, history.Release, "b", "k", 0, 0}}, []string{"a"}},
		{"re-entered", []line{{ok, history.Acquire, "a", "k", 9 * second, 7}, {ok, history.Acquire, "a", "k", 9 * second, 7}, {invoke, history.Release, "a", "k", 0, 0}}, []string{"a"}},
		{"re-entered and left", []line{{ok, history.Acquire, "a", "k", 9 * second, 7}, {ok, history.Acquire, "a", "k", 9 * second, 7}, {invoke, history.Release, "a", "k", 0, 0}, {invoke, history.Release, "a", "k", 0, 0}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := follow(c.lines...)
			var got []string
			for _, h := range w.Holders() {
				got = append(got, h.Owner)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("holders %v, want %v", got, c.want)
			}
			if len(w.Waiters()) != 0 {
				t.Errorf("waiters %v", w.Waiters())
			}
		})
	}
}

func TestWaitersAndKeys(t *testing.T) {
	w := follow(
		line{ok, history.Acquire, "a", "k1", 9 * second, 1},
		line{ok, history.Acquire, "b", "k2", 9 * second, 1},
		line{invoke, history.Acquire, "d", "k1", 0, 0},
		line{invoke, history.Acquire, "c", "k1", 0, 0},
	)
	if got := w.Waiters(); len(got) != 2 || got[0].Owner != "d" || got[1].Owner != "c" {
		t.Errorf("waiters %+v", got)
	}
	if got := w.Holder("k2"); len(got) != 1 || got[0].Owner != "b" || got[0].Fence != 1 || got[0].Since != second {
		t.Errorf("holder of k2: %+v", got)
	}
}

func TestAsked(t *testing.T) {
	others := func(owner string) bool { return owner != "a" }
	w := follow(
		line{ok, history.Acquire, "a", "k", 9 * second, 1},
		line{invoke, history.Acquire, "a", "k", 0, 0},
	)
	if w.Asked("k", others) {
		t.Error("nobody else has asked")
	}
	told := w.Holders()[0].Since
	w.Event(&history.Event{Time: told + second, Process: int('a'), Kind: fail, Op: history.Acquire, Owner: "a", Key: "k"})
	if w.Asked("k", others) {
		t.Error("a alone was refused k")
	}
	w.Event(&history.Event{Time: told + second, Process: 9, Kind: invoke, Op: history.Acquire, Owner: "b", Key: "k"})
	if !w.Asked("k", others) || w.Asked("l", others) {
		t.Error("b asks for k")
	}
	w.Event(&history.Event{Time: told + second, Process: 9, Kind: history.Fail, Op: history.Acquire, Owner: "b", Key: "k"})
	if !w.Asked("k", others) {
		t.Error("b was refused k just now")
	}
	w.Event(&history.Event{Time: told + 2*second, Process: 9, Kind: ok, Op: history.Phase})
	if w.Asked("k", others) {
		t.Error("b was refused k long ago")
	}
}

// A renewal moves the validity of a holding that somebody follows.
func TestTrack(t *testing.T) {
	w := follow(line{ok, history.Acquire, "a", "k", 9 * second, 1})
	now := w.Track(w.Holders()[0])
	w.Event(&history.Event{Time: 5 * second, Kind: ok, Op: history.Extend, Owner: "a", Key: "k", ValidUntil: 14 * second, Has: history.HasValidUntil | history.HasBegan})
	if h := now(); h.ValidUntil != 14*second || h.Renewed != 5*second || h.EndedBy != 0 {
		t.Errorf("renewed: %+v", h)
	}
	w.Event(&history.Event{Time: 6 * second, Kind: invoke, Op: history.Release, Owner: "a", Key: "k"})
	released := now()
	if released.EndedBy != history.Release {
		t.Errorf("released: %+v", released)
	}
	w.Event(&history.Event{Index: 9, Time: 7 * second, Kind: ok, Op: history.Acquire, Owner: "a", Key: "k"})
	if h := w.Track(released)(); h != released {
		t.Errorf("granted again: %+v", h)
	}
}

// A subscriber that does not look gets its first match, and the recorder is
// never blocked.
func TestSubscribeKeepsTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New()
		grant := func(key string) {
			w.Event(&history.Event{Process: 1, Kind: ok, Op: history.Acquire, Owner: "c00", Key: key})
		}
		hit, cancel := w.Subscribe(func(o Occasion) bool { return o.Moment == AcquireReplied && o.Key != "k0" })
		for _, key := range []string{"k0", "k1", "k2", "k3"} {
			grant(key)
		}
		if o := <-hit; o.Key != "k1" || o.Owner != "c00" {
			t.Errorf("first match %+v", o)
		}
		cancel()
		grant("k4")
		select {
		case o := <-hit:
			t.Errorf("after the end: %+v", o)
		default:
		}
	})
}

// A change is told of whenever a holding begins, moves or ends.
func TestChanged(t *testing.T) {
	w := New()
	for i, c := range []struct {
		line
		want bool
	}{
		{line{invoke, history.Acquire, "a", "k", 0, 0}, false},
		{line{ok, history.Acquire, "a", "k", 9 * second, 1}, true},
		{line{ok, history.Extend, "a", "k", 9 * second, 1}, true},
		{line{ok, history.Write, "a", "k", 0, 0}, false},
		{line{invoke, history.Release, "a", "k", 0, 0}, true},
		{line{ok, history.Acquire, "b", "k", 9 * second, 2}, true},
		{line{}, true}, // b is no more
	} {
		changed := w.Changed()
		if c.owner == "" {
			w.Forget(func(owner string) bool { return owner == "b" })
		} else {
			feed(w, []line{c.line})
		}
		select {
		case <-changed:
			if !c.want {
				t.Errorf("line %d changes no holding", i+1)
			}
		default:
			if c.want {
				t.Errorf("line %d changes a holding", i+1)
			}
		}
	}
}

// What completes without having been sent, as an automatic renewal does, is no operation of a client's.
func TestCountEnded(t *testing.T) {
	w := follow(
		line{invoke, history.Acquire, "a", "k", 0, 0}, line{ok, history.Acquire, "a", "k", 9 * second, 1},
		line{ok, history.Extend, "a", "k", 9 * second, 1},
		line{invoke, history.Acquire, "b", "k", 0, 0}, line{fail, history.Acquire, "b", "k", 0, 0},
		line{invoke, history.Write, "a", "k", 0, 0},
	)
	if n := w.CountEnded(func(owner string) bool { return owner == "a" }); n != 1 {
		t.Errorf("%d of a, want its acquire", n)
	}
}

// A moment is a reader's where another one reads beside it: not who asks to write what it reads, nor who asks to read
// what a writer holds.
func TestMomentsOfReaders(t *testing.T) {
	w, shared := New(), map[string]bool{}
	_, cancel := w.Subscribe(func(o Occasion) bool {
		if o.Moment == AcquireSent {
			shared[o.Owner+" "+o.Key] = o.Shared
		}
		return false
	})
	defer cancel()
	for i, e := range []history.Event{
		{Kind: ok, Op: history.Acquire, Owner: "a", Key: "k0", Mode: history.Shared},
		{Kind: ok, Op: history.Acquire, Owner: "b", Key: "k0", Mode: history.Shared},
		{Kind: ok, Op: history.Acquire, Owner: "c", Key: "k1"},
		{Kind: invoke, Op: history.Acquire, Owner: "a", Key: "k0"},
		{Kind: invoke, Op: history.Acquire, Owner: "b", Key: "k1", Mode: history.Shared},
		{Kind: invoke, Op: history.Acquire, Owner: "c", Key: "k0", Mode: history.Shared},
	} {
		e.Process = i
		w.Event(&e)
	}
	if want := map[string]bool{"a k0": false, "b k1": false, "c k0": true}; !maps.Equal(shared, want) {
		t.Errorf("%v, want %v", shared, want)
	}
}

// Only the first write under a lease is a moment of it.
func TestInSection(t *testing.T) {
	w, n := New(), 0
	_, cancel := w.Subscribe(func(o Occasion) bool {
		if o.Moment == InSection {
			n++
		}
		return false
	})
	defer cancel()
	write := []line{{invoke, history.Write, "a", "k", 0, 0}, {ok, history.Write, "a", "k", 0, 0}}
	feed(w, slices.Concat([]line{{ok, history.Acquire, "a", "k", 9 * second, 1}}, write, write))
	if n != 1 {
		t.Errorf("%d times in the section", n)
	}
}

// A key is given back by the answer to the release of a lease: not by that of an inner hold, nor by one
// that is refused or unknown, nor of a lease that was not held any more.
func TestReleaseReplied(t *testing.T) {
	acquire, release := history.Acquire, history.Release
	granted := line{ok, acquire, "a", "k", 9 * second, 1}
	for _, c := range []struct {
		name  string
		lines []line
		want  time.Duration // when it comes; 0: never
	}{
		{"given back", []line{granted, {invoke, release, "a", "k", 0, 0}, {ok, release, "a", "k", 0, 0}}, 2 * second},
		{"inner hold", []line{granted, granted, {invoke, release, "a", "k", 0, 0}, {ok, release, "a", "k", 0, 0}}, 0},
		{"outer hold", []line{granted, granted, {invoke, release, "a", "k", 0, 0}, {ok, release, "a", "k", 0, 0}, {invoke, release, "a", "k", 0, 0}, {ok, release, "a", "k", 0, 0}}, 5 * second},
		{"refused", []line{granted, {invoke, release, "a", "k", 0, 0}, {fail, release, "a", "k", 0, 0}}, 0},
		{"unknown", []line{granted, {invoke, release, "a", "k", 0, 0}, {info, release, "a", "k", 0, 0}}, 0},
		{"lost before", []line{granted, {ok, history.Lost, "a", "k", 0, 0}, {invoke, release, "a", "k", 0, 0}, {ok, release, "a", "k", 0, 0}}, 0},
	} {
		w := New()
		came, cancel := w.Subscribe(func(o Occasion) bool { return o.Moment == ReleaseReplied })
		feed(w, c.lines)
		cancel()
		var at, since time.Duration
		select {
		case o := <-came:
			at, since = o.Time, o.Granted
		default:
		}
		if at != c.want || since != 0 {
			t.Errorf("%s: at %v, of a lease of %v; want %v", c.name, at, since, c.want)
		}
	}
}

// Of several operations under way the first is told, of acquires only one of a key that may be free: nobody holds it, and
// it was not refused or taken last.
func TestUnderway(t *testing.T) {
	w := New()
	event := func(at time.Duration, process int, kind history.Kind, op history.Op, key, owner string) {
		w.Event(&history.Event{Time: at, Process: process, Kind: kind, Op: op, Key: key, Owner: owner})
	}
	by := func(owner string) func(string) bool { return func(o string) bool { return o == owner } }
	want := func(op history.Op, owner, key string, began time.Duration) {
		t.Helper()
		if k, at, is := w.Underway(op, by(owner)); k != key || at != began || is != (key != "") {
			t.Errorf("%s of %s: %q since %v, %t; want %q since %v", op, owner, k, at, is, key, began)
		}
	}
	event(1, 1, history.Invoke, history.Acquire, "k1", "a")
	event(2, 2, history.Invoke, history.Acquire, "k0", "a") // both at once
	event(2, 3, history.Invoke, history.Acquire, "k0", "b")
	want(history.Acquire, "a", "k1", 1)
	want(history.Acquire, "b", "k0", 2)
	want(history.Release, "a", "", 0)
	event(3, 1, history.OK, history.Acquire, "k1", "a")
	want(history.Acquire, "a", "k0", 2)
	event(4, 2, history.OK, history.Acquire, "k0", "a")
	want(history.Acquire, "b", "", 0) // held
	event(5, 1, history.Invoke, history.Extend, "k1", "a")
	want(history.Extend, "a", "k1", 5)
	event(6, 1, history.OK, history.Extend, "k1", "a")
	event(7, 2, history.Invoke, history.Release, "k0", "a")
	want(history.Release, "a", "k0", 7)
	event(8, 2, history.OK, history.Release, "k0", "a")
	want(history.Release, "a", "", 0)
	want(history.Acquire, "b", "k0", 2)
	w.Forget(by("a")) // the servers keep its lease of k1
	event(9, 3, history.Fail, history.Acquire, "k0", "b")
	event(10, 3, history.Invoke, history.Acquire, "k1", "b")
	want(history.Acquire, "b", "", 0)
	event(11, 4, history.OK, history.Acquire, "k2", "c")
	event(12, 4, history.Invoke, history.Release, "k2", "c")
	event(13, 4, history.Info, history.Release, "k2", "c") // which may never have arrived
	event(14, 5, history.Invoke, history.Acquire, "k2", "d")
	want(history.Acquire, "d", "", 0)
	event(15, 7, history.Invoke, history.Extend, "k4", "e")
	event(15, 6, history.Invoke, history.Extend, "k3", "e")
	for range 20 { // whatever order they are kept in
		want(history.Extend, "e", "k3", 15)
	}
}

// The answer to the release of an inner hold gives nothing back.
func TestUnderwayBesideAnInnerHold(t *testing.T) {
	granted := line{ok, history.Acquire, "a", "k", 9 * second, 7}
	w := follow(granted, granted, line{invoke, history.Release, "a", "k", 0, 0}, line{ok, history.Release, "a", "k", 0, 0}, line{invoke, history.Acquire, "b", "k", 0, 0})
	if key, _, is := w.Underway(history.Acquire, func(owner string) bool { return owner == "b" }); is {
		t.Errorf("b asks for %s, which a holds", key)
	}
}
