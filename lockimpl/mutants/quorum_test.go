package mutants_test

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/mutants"
	"locktorture/lockimpl/redlock"
)

// Nodes that forgot everything serve again at once: no remedy but the quorum.
func TestQuorumOfFourOutlivesTwoNodesThatForget(t *testing.T) {
	for quorum, safe := range map[int]bool{3: false, 4: true} {
		world.Run(t, 5, func(t *testing.T, w *world.World) {
			f := mutants.All()["amnesia-serves"].Factory(redlock.Config{Quorum: quorum})
			a, links := w.Client(f)
			links[0].Refuse(true) // one node may be down
			links[0].Cut()
			first := w.Take(a, "k", 8*time.Second)
			b, _ := w.Client(f)
			w.Forget(2)
			w.Forget(3)
			_, _ = b.Acquire(t.Context(), "wake", time.Second) // has the empty nodes admitted
			time.Sleep(2 * time.Second)
			_, err := b.Acquire(t.Context(), "k", 8*time.Second)
			if safe != (err != nil) {
				t.Errorf("quorum %d: second acquire: %v", quorum, err)
			}
			if err == nil {
				return
			}
			if err := first.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release with two of five nodes left: %v, want ErrLost", err)
			}
			time.Sleep(time.Second)
			if second := w.Take(b, "k", 8*time.Second); second.Fence() <= first.Fence() {
				t.Errorf("quorum %d: token %d after %d", quorum, second.Fence(), first.Fence())
			}
		})
	}
}
