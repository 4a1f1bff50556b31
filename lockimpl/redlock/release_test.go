package redlock

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/keys"
	"locktorture/lockimpl/redlock/internal/node"
)

// A node that refuses to be asked, again and again, does not end the wait for those that
// are slow to answer.
func TestARefusalThatIsRepeatedIsOneAnswer(t *testing.T) {
	newRelease := func() *release {
		l := &Lock{quorum: 2}
		l.cfg.NodeTimeout = time.Minute
		r := &release{a: &attempt{l: l, k: &keys.Set{Name: "k"}}, done: make(chan struct{}), open: 3}
		for i := range 3 {
			r.calls = append(r.calls, releaseCall{release: r, i: i})
		}
		return r
	}
	gone := errors.New("connection refused")
	r := newRelease()
	for range 5 {
		r.calls[0].count(false, true, gone)
	}
	if r.ended {
		t.Fatal("ended before two of three nodes were heard")
	}
	r.calls[1].count(true, false, nil)
	r.calls[2].count(true, false, nil)
	if err := r.wait(t.Context(), time.Now()); err != nil {
		t.Errorf("a quorum has confirmed: %v", err)
	}

	r = newRelease() // one that had refused confirms in the end
	r.calls[0].count(false, true, gone)
	r.calls[0].count(true, false, nil)
	r.calls[1].count(true, false, nil)
	if err := r.wait(t.Context(), time.Now()); err != nil || r.unsure != 0 || r.open != 1 {
		t.Errorf("%v, %d unsure, %d open", err, r.unsure, r.open)
	}

	r = newRelease() // nobody has it
	for i := range r.calls {
		r.calls[i].count(false, false, nil)
	}
	if err := r.wait(t.Context(), time.Now()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("a lease that no node had was given back: %v", err)
	}
}

// A script that may delete, and not do what comes behind that, answers an error, and is sent
// again: that it finds nothing then says nothing about the time before.
func TestReleaseThatFailedBehindTheDeletionIsNoLoss(t *testing.T) {
	const within, before = "OOM command not allowed when used memory > 'maxmemory'. script: fb3c, on @user_script:7.", "LOADING Redis is loading the dataset in memory"
	for answer, isLoss := range map[string]bool{within: false, before: true, "": true} {
		l, err := NewFromOptions(Config{}, &redis.Options{Addr: "127.0.0.1:1"}, &redis.Options{Addr: "127.0.0.1:2"}, &redis.Options{Addr: "127.0.0.1:3"})
		if err != nil {
			t.Fatal(err)
		}
		a := l.newAttempt(l.keys("k"), request{ttl: time.Second})
		r := &release{a: a, done: make(chan struct{}), open: 3, expires: a.start.Add(time.Hour)}
		for i := range 3 {
			a.byNode[i].state, a.byNode[i].mine = granted, true
			r.calls = append(r.calls, releaseCall{release: r, i: i})
		}
		l.work.Add(len(r.calls))
		if answer != "" {
			r.calls[0].Answer(node.Reply{Err: node.ServerError(answer)})
			l.retries.mu.Lock()
			l.retries.list = nil // it is sent again here
			l.retries.mu.Unlock()
		}
		for i := range r.calls {
			r.calls[i].Answer(node.Reply{Outcome: node.Executed}) // finds nothing
		}
		r.mu.Lock()
		r.deleted = 1
		r.mu.Unlock()
		if err := r.wait(t.Context(), time.Now()); errors.Is(err, ErrLost) != isLoss {
			t.Errorf("%q, and then nothing found: %v", answer, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
