package mutants_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/mutants"
	"locktorture/lockimpl/redlock"
)

const ttl = 5 * time.Second

// A scene plays the shortest story that shows a bug, and reports whether it
// was seen.
type scene struct {
	servers int
	play    func(t *testing.T, w *world.World, f lockimpl.Factory) (seen bool)
}

// scenes has one for every mutant.
var scenes = map[string]scene{
	"quorum-2":              {5, twoQuorums},
	"validity-fresh":        {1, lateReply},
	"extend-any-owner":      {1, extendsAnothers},
	"extend-minority":       {3, extendsOnOne},
	"extend-recreates":      {1, extendsTooLate},
	"renew-recreated-count": {3, extendsAcrossAnother},
	"renew-new-deadline":    {1, answeredTooLate},
	"loss-late":             {1, toldLate},
	"no-undo":               {3, failedAttempt},
	"release-answered":      {1, lostReply},
	"timeout-is-grant":      {1, noAnswer},
	"timeout-is-refusal":    {1, lostReply},
	"pooled":                {3, overtaken},
	"token-max":             {5, disagreeingCounters},
	"token-clock":           {1, manyClocks},
	"write-back-any-owner":  {3, lateWriteBack},
	"amnesia-serves":        {5, emptyNodeServes},
	"amnesia-no-seed":       {3, emptyNodeForgets},
	"amnesia-early-seed":    {3, seededTooEarly},
	"reentry-drift":         {1, entersTwice},
	"readers-share-expiry":  {1, oneReaderLeaves},
	"no-wake-up":            {1, writerWaits},
}

func TestEveryMutantIsCaughtAndItsTwinIsNot(t *testing.T) {
	for _, id := range mutants.IDs() {
		t.Run(id, func(t *testing.T) {
			sc, ok := scenes[id]
			if !ok {
				t.Fatal("no scene shows this mutant")
			}
			m := mutants.All()[id]
			for name, want := range map[string]bool{"mutant": true, "twin": false, "twin with hints": false, "copy without the bug": false} {
				world.Run(t, sc.servers, func(t *testing.T, w *world.World) {
					factory := m.Twin(redlock.Config{})
					switch name {
					case "mutant":
						factory = m.Factory(redlock.Config{})
					case "copy without the bug":
						factory = m.Copy(redlock.Config{})
					case "twin with hints":
						factory = m.Hinted(redlock.Config{})
					}
					if seen := sc.play(t, w, factory); seen != want {
						t.Errorf("%s: bug seen %v, want %v", name, seen, want)
					}
				})
			}
		})
	}
}

func twoQuorums(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, b := w.Reach(f, 1, 2), w.Reach(f, 3, 4, 5)
	_, first := w.Acquire(a, "k", ttl)
	_, second := w.Acquire(b, "k", ttl)
	return first == nil && second == nil
}

func lateReply(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	w.Release(w.Take(l, "warm", ttl))
	links[0].Down.Delay(ttl + time.Second)
	lease, err := l.Acquire(t.Context(), "k", ttl)
	return err == nil && time.Now().Before(lease.ValidUntil())
}

// heldUpExtension sends an extension that arrives after the lease has ended.
func heldUpExtension(t *testing.T, w *world.World, f lockimpl.Factory, meanwhile func()) error {
	l, links := w.Client(f)
	lease := w.Take(l, "k", ttl)
	time.Sleep(ttl / 2)
	links[0].Up.Hold()
	done := make(chan error, 1)
	go func() { done <- lease.Extend(t.Context(), ttl) }()
	time.Sleep(ttl/2 + 100*time.Millisecond)
	meanwhile()
	links[0].Up.Free()
	return <-done
}

func extendsAnothers(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	return heldUpExtension(t, w, f, func() { w.Take(w.Reach(f, 1), "k", ttl) }) == nil
}

func extendsTooLate(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	return heldUpExtension(t, w, f, func() {}) == nil
}

// answeredTooLate has an extension executed in time and answered too late.
func answeredTooLate(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	lease := w.Take(l, "k", ttl)
	time.Sleep(ttl / 2)
	links[0].Down.Hold()
	done := make(chan error, 1)
	go func() { done <- lease.Extend(t.Context(), ttl) }()
	time.Sleep(ttl/2 + 100*time.Millisecond)
	links[0].Down.Free()
	return <-done == nil
}

func extendsOnOne(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	lease := w.Take(l, "k", ttl)
	for _, link := range links[1:] {
		link.Refuse(true)
		link.Cut()
	}
	time.Sleep(ttl / 2)
	return lease.Extend(t.Context(), ttl) == nil
}

func extendsAcrossAnother(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, b := w.Reach(f, 1, 2, 3), w.Reach(f, 1, 2, 3)
	lease := w.Take(a, "k", ttl)
	w.Forward(1, ttl+time.Second)
	w.Forward(2, ttl+time.Second)
	w.Release(w.Take(b, "k", ttl))
	return lease.Extend(t.Context(), ttl) == nil
}

func toldLate(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	lease := w.Take(l, "k", ttl)
	deadline := time.Now().Add(ttl)
	links[0].Up.Drop()
	<-lease.(lockimpl.LostNotifier).Lost()
	return time.Now().After(deadline)
}

// grantedByOne makes an attempt that one node grants and that fails.
func grantedByOne(t *testing.T, w *world.World, f lockimpl.Factory, server int) world.Lock {
	l, links := w.Client(f)
	w.Release(w.Take(l, "warm", ttl))
	for i, link := range links {
		if i+1 != server {
			link.Up.Drop()
		}
	}
	if _, err := l.Acquire(t.Context(), "k", ttl); err == nil {
		t.Fatal("granted by one node")
	}
	time.Sleep(100 * time.Millisecond)
	return l
}

func failedAttempt(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l := grantedByOne(t, w, f, 1)
	return len(w.LeaseKeys(l, "k")) > 0
}

// lostReply loses the reply of an acquire and then heals the link.
func lostReply(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	w.Release(w.Take(l, "warm", ttl))
	links[0].Down.Drop()
	if _, err := l.Acquire(t.Context(), "k", ttl); err == nil {
		t.Fatal("granted without an answer")
	}
	links[0].Down.Free()
	time.Sleep(time.Second)
	return len(w.LeaseKeys(l, "k")) > 0
}

func noAnswer(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	w.Release(w.Take(l, "warm", ttl))
	links[0].Up.Drop()
	_, err := l.Acquire(t.Context(), "k", ttl)
	return err == nil
}

// overtaken slows one node down for an acquire, and not for its release.
func overtaken(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	l, links := w.Client(f)
	w.Release(w.Take(l, "warm", ttl))
	time.Sleep(time.Second)
	links[2].Up.Delay(50 * time.Millisecond)
	lease := w.Take(l, "k", ttl)
	links[2].Up.Delay(0)
	_ = lease.Release(t.Context())
	time.Sleep(200 * time.Millisecond)
	return len(w.LeaseKeys(l, "k")) > 0
}

func entersTwice(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, b := w.Reach(f, 1), w.Reach(f, 1)
	if _, err := a.AcquireAs(t.Context(), "me", "k", ttl); err != nil {
		t.Fatal(err)
	}
	inner, err := a.AcquireAs(t.Context(), "me", "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	w.Release(inner)
	_, err = b.Acquire(t.Context(), "k", ttl)
	return err == nil
}

func oneReaderLeaves(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, b := w.Reach(f, 1), w.Reach(f, 1)
	stays, err := a.AcquireShared(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := b.AcquireShared(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	w.Release(leaves)
	_, err = b.Acquire(t.Context(), "k", ttl)
	return err == nil && time.Now().Before(stays.ValidUntil())
}

func writerWaits(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, b := w.Reach(f, 1), w.Reach(f, 1)
	reader, err := a.AcquireShared(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := b.AcquireWait(ctx, "k", ttl)
		done <- err
	}()
	synctest.Wait()
	w.Release(reader)
	err = <-done
	if err != nil && !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatal(err)
	}
	return err != nil
}
