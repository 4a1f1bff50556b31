package redlock

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/keys"
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
