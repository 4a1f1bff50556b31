package gallery

import (
	"errors"
	"testing"

	"locktorture/lockimpl"
)

// TestPollingGivesUp waits for a lock that becomes free after the last try.
func TestPollingGivesUp(t *testing.T) {
	_, nodes := cluster(t, 1)
	a, b := open(t, factory(t, "polling"), nodes), open(t, factory(t, "polling"), nodes)
	lease := mustAcquire(t, a, "k")
	waiter := b.(lockimpl.WaitLocker)
	if _, err := waiter.AcquireWait(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("wait: %v, want ErrHeld although the context lasts", err)
	}
	mustRelease(t, lease)
	if _, err := waiter.AcquireWait(t.Context(), "k", ttl); err != nil {
		t.Fatalf("wait for a free lock: %v", err)
	}
}
