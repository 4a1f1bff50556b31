package run

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/faults"
	"locktorture/lockimpl"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// A child's write waits until its owner's acquire is recorded as completed, and
// for nobody else's.
func TestOpenAcquires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open openAcquires
		open.awaitCompletion("a", time.Now()) // nothing is open
		open.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.Invoke, Owner: "a"})
		open.awaitCompletion("b", time.Now())
		completed := false
		go func() { open.awaitCompletion("a", time.Now()); completed = true }()
		synctest.Wait()
		if completed {
			t.Error("the wait ended before the acquire was answered")
		}
		open.Event(&history.Event{Process: 0, Op: history.Write, Kind: history.OK, Owner: "a"})
		open.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.OK, Owner: "a"})
		synctest.Wait()
		if !completed {
			t.Error("the wait goes on although the acquire was answered")
		}
	})
}

// A write under a lease that was granted before its owner asked for the key once more does
// not wait for the answer to that, which may come behind it.
func TestOpenAcquiresOfReentry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open openAcquires
		began := time.Now()
		time.Sleep(time.Millisecond)
		open.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.Invoke, Owner: "a"})
		open.awaitCompletion("a", began)
		if waited := time.Since(began); waited != time.Millisecond {
			t.Errorf("the write waited until %v", waited)
		}
	})
}

// The connections of child processes are read along: cuts of them have receipts,
// faults locked to a command hit it, and links tell what became of commands without
// a reply.
func TestChildrenAreReadAlong(t *testing.T) {
	t.Parallel()
	if said, err := exec.Command("/usr/bin/python3", "-c", "import redis").CombinedOutput(); err != nil {
		redistest.Missing(t, fmt.Errorf("python3-redis is not installed: %w: %s", err, said))
	}
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Load.Keys, cfg.Out, cfg.Seed = "redis-py", "embedded", 3, 3, t.TempDir(), 5
	cfg.Load.Timeout, cfg.Duration, cfg.Floors = 200*time.Millisecond, 6*time.Second, nil
	all := faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}
	cfg.Faults = config.Faults{Steps: []faults.Spec{
		{At: time.Second, Fault: "cut", For: 200 * time.Millisecond, Every: time.Second, Times: 2, Params: all},
		{At: 3 * time.Second, Fault: "response-lost", On: faults.Command("SET", ""), For: 300 * time.Millisecond, Every: 500 * time.Millisecond, Times: 3, Params: all},
	}}
	run, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{})
	if err != nil || len(run.Harness) > 0 || len(run.Report.Violations) > 0 {
		t.Fatal(err, run.Harness, run.Report.Violations)
	}
	for _, fault := range []string{"cut", "response-lost"} {
		if !proved(t, run.Dir, fault) {
			t.Errorf("no %s has a receipt", fault)
		}
	}
	if values := receipts(t, run.Dir); values[history.Executed] == 0 || run.Report.Evidence.ByReceipts == 0 {
		t.Errorf("receipts %v, evidence %+v", values, run.Report.Evidence)
	}
}

// proved reports whether a fault of this name has a receipt in a stored history.
func proved(t *testing.T, dir, fault string) bool {
	t.Helper()
	r, closer, err := historyfile.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for {
		var e history.Event
		if err := r.Next(&e); errors.Is(err, io.EOF) {
			return false
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Fault == fault && e.Receipt != "" && e.Kind == history.OK {
			return true
		}
	}
}

// No fault takes place before every client is connected, however long that takes: it would
// strike nobody.
func TestNemesisWaitsForTheClients(t *testing.T) {
	t.Parallel()
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	connect := lock(t, "token-lua").Factory(cfg)
	locks, err := catalogue.Builtin().With("slow", func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if !strings.HasPrefix(nodes[0].Addr, "192.0.2.") { // where nothing runs, it is looked at alone
			time.Sleep(500 * time.Millisecond)
		}
		return connect(nodes)
	})
	if err != nil {
		t.Fatal(err)
	}
	slow, err := locks.Find("slow")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Lock, cfg.Testbed, cfg.Clients, cfg.TTL, cfg.Duration, cfg.Out, cfg.Seed, cfg.Floors = slow.ID, "embedded", 2, 300*time.Millisecond, time.Second, t.TempDir(), 5, nil
	cfg.Faults = config.Faults{Steps: []faults.Spec{{At: 50 * time.Millisecond, Fault: "cut", For: 100 * time.Millisecond, Params: faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}}}}
	run, err := Run(t.Context(), cfg, slow, Options{})
	if err != nil || len(run.Harness) > 0 {
		t.Fatal(err, run.Harness)
	}
	r, closer, err := historyfile.Open(run.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	began := false
	for {
		var e history.Event
		if err := r.Next(&e); err != nil {
			t.Fatalf("no fault took place: %v", err)
		}
		began = began || e.Op == history.Phase && e.Value == history.PhaseMain
		if e.Op == history.Fault {
			break
		}
	}
	if !began {
		t.Error("a fault began before the clients")
	}
}
