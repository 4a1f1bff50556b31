package gallery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// TestWhatSilenceCosts has one of three masters say nothing, and holds the time
// that an acquisition and a release give it.
func TestWhatSilenceCosts(t *testing.T) {
	for _, id := range manyMasters {
		for ttl, limit := range map[time.Duration]time.Duration{10 * time.Second: 50 * time.Millisecond, 200 * time.Millisecond: 20 * time.Millisecond} {
			t.Run(id+", "+ttl.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, links, nodes := virtualCluster(t, 3)
					l := open(t, factory(t, id), nodes)
					mustRelease(t, mustAcquire(t, l, "k")) // the masters know the scripts
					links[0].Down.Drop()
					began := time.Now()
					lease, err := l.Acquire(t.Context(), "k", ttl)
					if took := time.Since(began); err != nil || took != limit {
						t.Fatalf("acquire: %v after %v, want a grant after %v", err, took, limit)
					}
					began = time.Now()
					err = lease.Release(t.Context())
					if took := time.Since(began); err != nil || took != limit {
						t.Errorf("release: %v after %v, want none after %v", err, took, limit)
					}
				})
			})
		}
	}
}

// TestSilenceCountsAsAnError has the only master say nothing: a command is sent
// again a quarter of the TTL later, or after 5 s, as often as the recipe does.
func TestSilenceCountsAsAnError(t *testing.T) {
	for _, c := range sending[1:] {
		for ttl, silence := range map[time.Duration]time.Duration{4 * time.Second: time.Second, 40 * time.Second: 5 * time.Second} {
			t.Run(c.id+", "+ttl.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, links, nodes := virtualCluster(t, 1)
					l := open(t, factory(t, c.id), nodes)
					mustRelease(t, mustAcquire(t, l, "k"))
					links[0].Down.Drop()
					began := time.Now()
					_, err := l.Acquire(t.Context(), "k", ttl)
					if took, want := time.Since(began), time.Duration(1+c.again)*silence; err == nil || took != want {
						t.Errorf("acquire: %v after %v, want an error after %v", err, took, want)
					}
				})
			})
		}
	}
}

// TestAnAnswerIsFinal has the server answer with an error: nothing is sent again.
func TestAnAnswerIsFinal(t *testing.T) {
	for _, c := range sending {
		t.Run(c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers, _, nodes := virtualCluster(t, 1)
				d, node := noted(nodes[0], c.take)
				l := open(t, factory(t, c.id), []lockimpl.Node{node})
				mustRelease(t, mustAcquire(t, l, "k"))
				d.clear()
				servers[0].SetError("the server is broken")
				if _, err := l.Acquire(t.Context(), "k", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) {
					t.Errorf("acquire from a broken server: %v, want its error", err)
				}
				if got := d.at(); len(got) != 1 {
					t.Errorf("sent at %v, want once", got)
				}
			})
		})
	}
}

// TestUndoOutlastsItsCaller ends an attempt's context while the third of five
// masters has not answered: what three have granted is undone.
func TestUndoOutlastsItsCaller(t *testing.T) {
	for _, id := range manyMasters {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers, links, nodes := virtualCluster(t, 5)
				l := open(t, factory(t, id), nodes)
				mustRelease(t, mustAcquire(t, l, "k"))
				for _, link := range links {
					link.Down.Delay(20 * time.Millisecond)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if _, err := l.Acquire(ctx, "k", ttl); err == nil {
					t.Fatal("granted by two of five")
				}
				for i, s := range servers {
					if s.Exists("k") {
						t.Errorf("the grant of master %d was not undone", i+1)
					}
				}
			})
		})
	}
}

// TestMinorityIsNoMajority empties three of five masters under a holder: it can
// neither extend nor, by all that it is told, release what it has lost.
func TestMinorityIsNoMajority(t *testing.T) {
	for _, id := range manyMasters {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers, _, nodes := virtualCluster(t, 5)
				lease := mustAcquire(t, open(t, factory(t, id), nodes), "k")
				for _, s := range servers[:3] {
					s.FlushAll()
				}
				if err := lease.Extend(t.Context(), ttl); !errors.Is(err, lockimpl.ErrLost) && !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("extend: %v, want ErrLost", err)
				}
				if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
					t.Errorf("release: %v, want ErrLost", err)
				}
			})
		})
	}
}
