package gallery

import (
	"testing"
	"time"
)

// TestOneSecondIsOneOwner has a holder release late whose second of acquisition
// was that of the present holder, or was not.
func TestOneSecondIsOneOwner(t *testing.T) {
	for _, c := range []struct {
		name  string
		next  time.Duration
		freed bool
	}{{"the same second", 999 * time.Millisecond, true}, {"the next one", time.Second, false}} {
		t.Run(c.name, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			first, second := open(t, TokenHostTime(at(0)), nodes), open(t, TokenHostTime(at(c.next)), nodes)
			third := open(t, TokenHostTime(at(c.next)), nodes)
			late := mustAcquire(t, first, "k")
			servers[0].FastForward(ttl + 1)
			mustAcquire(t, second, "k")
			mustRelease(t, late)
			if c.freed {
				mustAcquire(t, third, "k")
			} else {
				mustRefuse(t, third, "k")
			}
		})
	}
}
