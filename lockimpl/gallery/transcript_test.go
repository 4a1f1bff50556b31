package gallery

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

const (
	// transcriptTTL leaves a second until the first renewal of a watchdog.
	transcriptTTL = 3 * time.Second

	// plays is how often a recipe is played at most until it sends what it
	// should: on a busy machine it passes masters over, or sends a command again.
	plays = 10
)

// TestTranscripts holds what every recipe sends, as MONITOR tells it, against the
// order in which its text publishes the steps. Tokens and the hashes of scripts
// are written as such; clocks stand still, so that stamps are always the same.
func TestTranscripts(t *testing.T) {
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata", "transcripts", r.ID+".txt")
			if *update {
				got, err := transcript(t, r)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for range plays {
				if got, err = transcript(t, r); err == nil && got == string(want) {
					return
				}
			}
			t.Errorf("sent:\n%s(%v)\npublished (%s):\n%s", got, err, golden, want)
		})
	}
}

// TestNoTranscriptIsLeft finds transcripts of recipes that there are not.
func TestNoTranscriptIsLeft(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".txt")
		if !slices.ContainsFunc(Recipes(), func(r Recipe) bool { return r.ID == id }) {
			t.Errorf("%s: no such recipe", f)
		}
	}
}

// transcript plays one operation of each kind that the recipe has.
func transcript(t *testing.T, r Recipe) (string, error) {
	m := listen(t, r.Nodes)
	if r.Acknowledged {
		m.replicate(t)
	}
	build := func(now time.Duration) lockimpl.Locker {
		f := r.Factory
		if r.WithClock != nil {
			f = r.WithClock(at(now))
		}
		return open(t, f, m.nodes)
	}
	p := play{monitors: m, recipe: r, a: build(0), b: build(0), late: build(time.Hour)}
	for _, scene := range []func(*testing.T) error{p.exclusive, p.again, p.shared, p.passed, p.waiting} {
		if err := scene(t); err != nil {
			return m.text.String(), err
		}
	}
	return m.text.String(), nil
}

// A play is one recipe, two clients of it, and one whose clock is far ahead.
type play struct {
	*monitors
	recipe     Recipe
	a, b, late lockimpl.Locker
}

func (p play) exclusive(t *testing.T) error {
	lease, err := p.a.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "acquire", err); err != nil {
		return err
	}
	_, err = p.b.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "refused", refused(err)); err != nil {
		return err
	}
	if err := p.renewal(t, p.recipe, lease); err != nil {
		return err
	}
	return p.step(t, "release", lease.Release(t.Context()))
}

// refused wants err to be a refusal.
func refused(err error) error {
	if errors.Is(err, lockimpl.ErrHeld) {
		return nil
	}
	return fmt.Errorf("got %v, want ErrHeld", err)
}

// again plays an owner who has the lock already.
func (p play) again(t *testing.T) error {
	l, can := p.a.(lockimpl.ReentrantLocker)
	if !can {
		return nil
	}
	owner := newToken()
	outer, err := l.AcquireAs(t.Context(), owner, "k", transcriptTTL)
	if err := p.step(t, "", err); err != nil {
		return err
	}
	inner, err := l.AcquireAs(t.Context(), owner, "k", transcriptTTL)
	if err := p.step(t, "acquire again", err); err != nil {
		return err
	}
	if err := p.step(t, "release once", inner.Release(t.Context())); err != nil {
		return err
	}
	return p.step(t, "release the last", outer.Release(t.Context()))
}

// shared plays two readers, and a writer beside them.
func (p play) shared(t *testing.T) error {
	one, can := p.a.(lockimpl.SharedLocker)
	if !can {
		return nil
	}
	reading, err := one.AcquireShared(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "acquire shared", err); err != nil {
		return err
	}
	_, err = p.b.(lockimpl.SharedLocker).AcquireShared(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "acquire shared, second reader", err); err != nil {
		return err
	}
	_, err = p.b.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "refused beside readers", refused(err)); err != nil {
		return err
	}
	if err := p.step(t, "release shared", reading.Release(t.Context())); err != nil {
		return err
	}
	_, err = p.b.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "", err); err != nil {
		return err
	}
	_, err = one.AcquireShared(t.Context(), "k", transcriptTTL)
	return p.step(t, "refused shared beside a writer", refused(err))
}

// passed plays a client by whose clock the holder's stamp has passed.
func (p play) passed(t *testing.T) error {
	if p.recipe.WithClock == nil || p.recipe.ID == "token-host-time" { // its stamp is a name
		return nil
	}
	_, _ = p.a.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "", nil); err != nil {
		return err
	}
	_, err := p.late.Acquire(t.Context(), "k", transcriptTTL)
	return p.step(t, "acquire after the stamp has passed", err)
}

// waiting plays a waiter who polls.
func (p play) waiting(t *testing.T) error {
	w, can := p.a.(lockimpl.WaitLocker)
	if !can || p.recipe.Subscribes {
		return nil
	}
	_, err := p.b.Acquire(t.Context(), "k", transcriptTTL)
	if err := p.step(t, "", err); err != nil {
		return err
	}
	_, err = w.AcquireWait(t.Context(), "k", transcriptTTL)
	return p.step(t, "wait until given up", refused(err))
}

// renewal waits for one round of renewal, of every master that renews by itself.
func (m *monitors) renewal(t *testing.T, r Recipe, lease lockimpl.Lease) error {
	switch l := lease.(type) {
	case lockimpl.Renewer:
		seen := rounds(t, lease)
		for range m.nodes {
			<-seen
		}
		l.Renew(nil)
	default:
		if !r.Extends {
			return nil
		}
		if err := lease.Extend(t.Context(), transcriptTTL); err != nil {
			return fmt.Errorf("extend: %w", err)
		}
	}
	return m.step(t, "renewal", nil)
}
