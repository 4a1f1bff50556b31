package catalogue

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
)

func TestFind(t *testing.T) {
	for id, want := range map[string]string{
		"single": "", "exec:" + os.Args[0] + " -x": "",
		"singel": "did you mean", "exec:": "names no command", "exec:/nonexistent/wrapper": "/nonexistent/wrapper",
	} {
		l, err := Builtin().Find(id)
		if want == "" && (err != nil || l.ID != id) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: lock %q, error %v", id, l.ID, err)
		}
	}
}

// A lock of somebody else's is made on masters that do not run yet, to see what it can do. One
// that connects when it is made (rueidis does) cannot show that yet, which is no fault of
// it; one whose constructor breaks is told in a line.
func TestBuildOfAnyConstructor(t *testing.T) { synctest.Test(t, testBuildOfAnyConstructor) }

func testBuildOfAnyConstructor(t *testing.T) {
	stop, cancel := context.WithCancel(t.Context())
	var tries atomic.Int64
	dialling := func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		_, err := nodes[0].Dial(t.Context(), "tcp", nodes[0].Addr)
		return nil, err
	}
	for _, c := range []struct {
		name    string
		factory lockimpl.Factory
		want    string // of the error
		dials   bool
	}{
		{"dials", dialling, "nothing is started yet", true},
		{"dials and panics", func(nodes []lockimpl.Node) (lockimpl.Locker, error) { _, err := dialling(nodes); panic(err) }, "its constructor panicked", true},
		{"tries until it is connected", func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			for stop.Err() == nil {
				tries.Add(1)
				_, _ = nodes[0].Dial(stop, "tcp", nodes[0].Addr)
				time.Sleep(time.Second)
			}
			return nil, stop.Err()
		}, "has not returned in 10s", true},
		{"waits for something else", func([]lockimpl.Node) (lockimpl.Locker, error) { <-stop.Done(); return nil, stop.Err() }, "has not returned in 10s", false},
		{"panics", func([]lockimpl.Node) (lockimpl.Locker, error) { panic("no licence") }, "its constructor panicked: no licence", false},
		{"nothing", func([]lockimpl.Node) (lockimpl.Locker, error) { return nil, nil }, "neither a lock nor an error", false},
		{"refuses", func([]lockimpl.Node) (lockimpl.Locker, error) { return nil, errors.New("no") }, "no", false},
	} {
		locks, err := Builtin().With("yours", c.factory)
		if err != nil {
			t.Fatal(err)
		}
		l, err := locks.Find("yours")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Build(config.Config{}, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(*DialsError)) != c.dials {
			t.Errorf("%s: %v, want %q, dials %v", c.name, err, c.want, c.dials)
		}
	}
	before := tries.Load()
	time.Sleep(time.Hour)
	if tries.Load() > before+1 {
		t.Errorf("%d tries of a constructor that was given up", tries.Load()-before)
	}
	cancel()
	time.Sleep(2 * time.Second) // the one that tries looks again
}

// A constructor that connects shows only once servers run that it returns nothing.
func TestStarterOfAConstructorThatReturnsNothing(t *testing.T) {
	locks, err := Builtin().With("yours", func([]lockimpl.Node) (lockimpl.Locker, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	l, err := locks.Find("yours")
	if err != nil {
		t.Fatal(err)
	}
	if locker, err := l.Starter(config.Config{})(t.Context(), nil); locker != nil || !errors.Is(err, errNothingBuilt) {
		t.Errorf("%v, %v", locker, err)
	}
}

// A lock promises what its own configuration lets it keep: a waiter that nobody wakes may
// ask again after a minute where that is its patience, and a time-out of ten seconds is one
// of the undo, too.
func TestPromisesFollowTheConfiguration(t *testing.T) {
	const ttl = 2 * time.Second
	for id, want := range map[string][3]time.Duration{
		"redlock":             {time.Second, time.Second, 750 * time.Millisecond},
		"no-wake-up":          {time.Second, 500*time.Millisecond + time.Minute, 750 * time.Millisecond},
		"no-wake-up-twin":     {time.Second, 500*time.Millisecond + time.Minute, 750 * time.Millisecond},
		"validity-fresh-twin": {20 * time.Second, 10*time.Second + 500*time.Millisecond, 15 * time.Second},
	} {
		l, err := Builtin().Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]time.Duration{l.UndoWithin(ttl), l.WakeWithin(ttl), l.WokenWithin(ttl)}; got != want {
			t.Errorf("%s undoes, serves and wakes within %v, want %v", id, got, want)
		}
	}
}
