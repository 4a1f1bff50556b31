package catalogue

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults/link"
)

// slowlyHealed is an impairment that takes a second to heal.
type slowlyHealed struct{ link.Applied }

func (slowlyHealed) Heal(context.Context) (link.Impact, error) {
	time.Sleep(time.Second)
	return link.Impact{Bytes: 1}, nil
}

func (slowlyHealed) Impact() link.Impact { return link.Impact{} }

// A heal that waits holds up nobody who asks whether the fault has taken effect, and with
// them virtual time; what it healed counts once, however many heal at once.
func TestHealingDoesNotStopTheClock(t *testing.T) {
	defer time.AfterFunc(time.Minute, func() { panic("virtual time stands still") }).Stop()
	synctest.Test(t, func(t *testing.T) {
		m := &impairments{kind: link.Cut, healing: make(chan struct{}, 1)}
		m.open = []linkImpairment{{Applied: &slowlyHealed{}, heal: func() {}}}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := m.heal(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		if m.tookEffect() {
			t.Error("effect before the heal has ended")
		}
		all.Wait()
		if m.impact.Bytes != 1 || len(m.open) > 0 {
			t.Errorf("%d bytes, %d open; want 1, 0", m.impact.Bytes, len(m.open))
		}
	})
}
