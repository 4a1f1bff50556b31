package workload

import (
	"testing"
	"time"
)

// Nobody waits inside a lock that promises no deadline for as long as its leases last:
// they would be judged as if they had counted from the beginning of the wait.
func TestNobodyWaitsLongInsideALockWithoutDeadlines(t *testing.T) {
	p := &phase{cfg: Config{TTL: 2 * time.Second, Wait: 250 * time.Millisecond}}
	if got := p.patience(); got <= p.cfg.TTL {
		t.Errorf("%v, want more than a lease that nobody gives back", got)
	}
	p.vague.Store(true)
	if got := p.patience(); got != p.cfg.Wait {
		t.Errorf("%v, want %v", got, p.cfg.Wait)
	}
}
