package catalogue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// CLIENT PAUSE ends by itself; renewed, it holds writes for many times as long
// without a gap.
func TestServerPauseIsRenewed(t *testing.T) {
	const length = time.Second
	r := serverRig(t, testbed.ProcessConfig{Nodes: 1}, 1)
	n := r.Node("n1")
	p := &writePause{n: n, length: length}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := p.renew(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.renewUntilDone(ctx) }()
	held, stop := context.WithTimeout(t.Context(), 2*length+length/2)
	defer stop()
	if reply, err := testbed.Do(held, n, "SET", "k", "v"); err == nil {
		t.Errorf("a write is answered %v although the pause is renewed", reply)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if p.calls < 3 {
		t.Errorf("CLIENT PAUSE ×%d in two and a half of its lengths", p.calls)
	}
	if err := administer(t.Context(), n, "CLIENT", "UNPAUSE"); err != nil {
		t.Error(err)
	}
}

// A pause that ended before it was renewed, or before its heal, was not in
// force: that is an error, and no receipt.
func TestServerPauseThatLapsedIsAnError(t *testing.T) {
	r := serverRig(t, testbed.ProcessConfig{Nodes: 1}, 1)
	p := &writePause{n: r.Node("n1"), length: time.Minute}
	if err := p.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.until = time.Now().Add(-time.Second)
	if err := p.renew(t.Context()); err == nil || !strings.Contains(err.Error(), "before it was renewed") {
		t.Errorf("renewed too late: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.renewUntilDone(over); err == nil || !strings.Contains(err.Error(), "before its heal") {
		t.Errorf("healed too late: %v", err)
	}
	if err := administer(t.Context(), p.n, "CLIENT", "UNPAUSE"); err != nil {
		t.Error(err)
	}
}

// A replica refuses writes before anything holds them, so that one is neither paused nor
// found to be paused still: a node that has become a replica before its heal is healed.
func TestServerPauseOfAReplica(t *testing.T) {
	r := serverRig(t, testbed.ProcessConfig{Nodes: 1}, 1)
	n := r.Node("n1")
	f := r.inject(t, "server-pause", faults.Params{})
	if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), faulttest.Soon, "k", "v"); err == nil {
		t.Error("a write is answered in spite of the pause")
	}
	if err := administer(t.Context(), n, "REPLICAOF", "127.0.0.1", "1"); err != nil {
		t.Fatal(err)
	}
	f.healed(t, "a write is not answered")

	r.Inside(t, func(s *faults.Scope) {
		if receipt, err := pauseWrites(pauseLength)(t.Context(), s, faults.Params{}, n); receipt != "" || !errors.Is(err, faults.ErrMissed) {
			t.Errorf("pause of a replica: receipt %q, %v", receipt, err)
		}
	})
	if err := administer(t.Context(), n, "REPLICAOF", "NO", "ONE"); err != nil {
		t.Error(err)
	}
}
