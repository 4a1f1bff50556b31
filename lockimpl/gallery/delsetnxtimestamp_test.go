package gallery

import (
	"testing"
	"time"
)

// TestBothDeleteThePassedStamp lets two clients see a dead holder's stamp passed
// before either deletes it.
func TestBothDeleteThePassedStamp(t *testing.T) {
	for _, c := range []struct {
		id, held string
		both     bool
	}{{"del-setnx-timestamp", "$3\r\ndel\r\n", true}, {"getset-timestamp", "getset", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			servers[0].Set("k", string(stampBytes(time.UnixMilli(1000))))
			w, slow := wired(nodes)
			a, b := open(t, factory(t, c.id), slow), open(t, factory(t, c.id), nodes)
			w.hold(c.held)
			done := async(t, func() error { _, err := a.Acquire(t.Context(), "k", ttl); return err })
			<-w.caught
			mustAcquire(t, b, "k")
			close(w.proceed)
			if err := <-done; (err == nil) != c.both {
				t.Errorf("the second of two that saw it passed: %v, want granted %t", err, c.both)
			}
		})
	}
}
