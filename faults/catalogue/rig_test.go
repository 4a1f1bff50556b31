package catalogue

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/workload/history"
)

func TestMain(m *testing.M) { faulttest.Main(shown{m}) }

const second = time.Second

// rig is a target of real nodes and links on which one fault is shown.
type rig struct{ *faulttest.Rig }

func embeddedRig(t *testing.T, nodes, clients int) *rig {
	return &rig{faulttest.EmbeddedRig(t, nodes, clients)}
}

func processRig(t *testing.T, nodes, clients int) *rig {
	return &rig{faulttest.ProcessRig(t, nodes, clients)}
}

func serverRig(t *testing.T, c testbed.ProcessConfig, clients int) *rig {
	return &rig{faulttest.ServerRig(t, c, clients)}
}

func rigOn(t *testing.T, bed testbed.Testbed, clients int, fabric link.Fabric) *rig {
	return &rig{faulttest.NewRigOn(t, bed, clients, fabric)}
}

// held is one step in force, until end is called.
type held struct {
	*rig
	end  func()
	wait func() (faults.StepResult, error)
}

// knock has a client send one command to a node, whatever becomes of it.
func (r *rig) knock(t *testing.T, client, node string) {
	rdb := r.Raw(client, node)
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 200*time.Millisecond)
	defer cancel()
	_ = rdb.Ping(ctx).Err()
}

// inject runs a step of one fault, and returns once it is in force. Until then
// the client operations run again and again: a fault that is over at once waits
// for one.
func (r *rig) inject(t *testing.T, name string, p faults.Params, operations ...func()) *held {
	t.Helper()
	entry, ok := All()[name]
	if !ok {
		t.Fatalf("no fault %q", name)
	}
	f := entry.New(p.Or(entry.Default))
	if err := f.Supports(r.Target); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	inForce := make(chan struct{})
	var once sync.Once
	r.Rec.Attach(history.SinkFunc(func(e *history.Event) {
		if e.Op == history.Fault && e.Kind != history.Invoke {
			once.Do(func() { close(inForce) })
		}
	}))
	var res faults.Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = r.Run(ctx, faults.Step{For: time.Hour, Fault: f})
	}()
	for waiting := true; waiting; {
		for _, operate := range operations {
			operate()
		}
		select {
		case <-inForce:
			waiting = false
		case <-time.After(5 * time.Millisecond):
		}
		if time.Since(began) > faulttest.Late {
			cancel()
			<-done
			t.Fatalf("%s is not in force: %+v, %v", name, res, err)
		}
	}
	wait := func() (faults.StepResult, error) { cancel(); <-done; return res.Steps[0], err }
	t.Cleanup(func() { cancel(); <-done })
	return &held{rig: r, end: cancel, wait: wait}
}

// healed ends the step and checks that it was healed with a receipt that
// says so.
func (h *held) healed(t *testing.T, receipt ...string) {
	t.Helper()
	res, err := h.wait()
	if err != nil || !res.Healed || !res.TookEffect {
		t.Errorf("%s: %+v, %v", res.Fault, res, err)
	}
	said := strings.Join(res.Receipts, "; ")
	for _, want := range receipt {
		if !strings.Contains(said, want) {
			t.Errorf("%s: receipt %q does not say %q", res.Fault, said, want)
		}
	}
	if err := history.Validate(h.Events.Events); err != nil {
		t.Error(err)
	}
	h.markShown(res.Fault)
	t.Logf("%s: %s", res.Fault, said)
}
