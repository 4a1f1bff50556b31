package testbed

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/faults/testbed/server"
)

// unplanned waits until the node says what has befallen it.
func unplanned(t *testing.T, n Node) string {
	t.Helper()
	ctx := testContext(t)
	for {
		if err := n.(Watched).Unplanned(ctx); err != nil {
			return err.Error()
		}
		if ctx.Err() != nil {
			t.Fatalf("%s says nothing", n.Name())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// lookAgain makes the next look at n's server due.
func lookAgain(n Node) {
	switch n := n.(type) {
	case *processNode:
		n.vitals.looked = time.Time{}
	case *externalNode:
		n.vitals.looked = time.Time{}
	}
}

func mustDo(t *testing.T, n Node, args ...string) {
	t.Helper()
	if _, err := Do(testContext(t), n, args...); err != nil {
		t.Fatal(err)
	}
}

// TestUnplanned does to servers from outside what only a run may do to them.
func TestUnplanned(t *testing.T) {
	bed := startProcess(t, ProcessConfig{Nodes: 5, Persist: true})
	signal := func(sig syscall.Signal) func(n Node) {
		return func(n Node) { _ = syscall.Kill(n.(*processNode).child.Pid(), sig) }
	}
	outside := map[string]struct {
		hurt func(n Node)
		want string
	}{
		"n1": {signal(syscall.SIGKILL), "signal: killed"},
		"n2": {signal(syscall.SIGTERM), "not by this run"},
		"n3": {signal(syscall.SIGSTOP), "SIGSTOP"},
		"n4": {func(n Node) { mustDo(t, n, "FLUSHALL") }, "FLUSHALL was sent to n4 by somebody else"},
		"n5": {func(n Node) {
			mustDo(t, n, "CONFIG", "SET", "maxmemory", "1")
			_, _ = Do(testContext(t), n, "SET", "k", "v")
		}, "OOM"},
	}
	for _, n := range append(bed.Nodes(), bed.Store()) {
		if err := n.(Watched).Unplanned(testContext(t)); err != nil {
			t.Fatalf("nothing has happened: %v", err)
		}
		lookAgain(n)
	}
	for _, n := range bed.Nodes() {
		c := outside[n.Name()]
		c.hurt(n)
		if got := unplanned(t, n); !strings.Contains(got, c.want) || !strings.Contains(got, n.Name()) {
			t.Errorf("%s says %q, want %q", n.Name(), got, c.want)
		}
	}
	if err := bed.Store().(Watched).Unplanned(testContext(t)); err != nil {
		t.Errorf("nobody has touched the store: %v", err)
	}
}

// TestMisconf takes the folder of a server away that saves its data to disk: it
// refuses writes, which nobody asked it for.
func TestMisconf(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0].(*processNode)
	ctx := testContext(t)
	mustDo(t, n, "CONFIG", "SET", "save", "3600 100000")
	if err := n.Unplanned(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(n.dataDir()); err != nil {
		t.Fatal(err)
	}
	mustDo(t, n, "BGSAVE")
	for { // until the save has failed
		if _, err := Do(ctx, n, "SET", "k", "v"); err != nil && strings.Contains(err.Error(), "MISCONF") {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("it goes on taking writes")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if got := unplanned(t, n); !strings.Contains(got, "n1 refuses writes (MISCONF)") {
		t.Errorf("it says %q", got)
	}
}

// TestPlanned has a run hurt its node in every way: that is no mishap. What
// somebody else did to it is one still when the node has been started again.
func TestPlanned(t *testing.T) {
	bed := startProcess(t, ProcessConfig{Nodes: 1, Persist: true})
	n := bed.Nodes()[0].(*processNode)
	ctx := testContext(t)
	administer := func(args ...string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			_, err := n.Administer(ctx, args...)
			return "", err
		}
	}
	restart := func(ctx context.Context) (string, error) { return n.Restart(ctx, Empty) }
	for _, step := range []struct {
		what string
		act  func(context.Context) (string, error)
	}{
		{"the start", administer("PING")},
		{"a pause", n.Pause}, {"its end", n.Resume},
		{"a kill", n.Kill}, {"a restart", restart},
		{"FLUSHALL", administer("FLUSHALL")}, {"another one", administer("FLUSHALL")},
		{"a replica", func(ctx context.Context) (string, error) { return n.StartReplica(ctx, "") }},
		{"a failover", n.Failover},
		{"a demotion", administer("REPLICAOF", "127.0.0.1", "1")}, {"its end", administer("REPLICAOF", "NO", "ONE")},
		{"a full memory", administer("CONFIG", "SET", "maxmemory", "1")},
	} {
		if _, err := step.act(ctx); err != nil {
			t.Fatal(err)
		}
		if n.pausedAt.IsZero() {
			_, _ = Do(ctx, n, "SET", "k", "v")
		}
		for range 2 {
			lookAgain(n)
			if err := n.Unplanned(ctx); err != nil {
				t.Fatalf("after %s: %v", step.what, err)
			}
		}
	}
	if err := syscall.Kill(n.child.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-n.child.Done
	if _, err := restart(ctx); err != nil {
		t.Fatal(err)
	}
	if got := unplanned(t, n); !strings.Contains(got, "signal: killed") {
		t.Errorf("a death is forgotten after a restart: %q", got)
	}
}

// TestUnplannedExternal does it to a server that somebody else runs.
func TestUnplannedExternal(t *testing.T) {
	owner := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0].(*processNode)
	ctx := testContext(t)
	does := func(act func(context.Context) (string, error)) {
		t.Helper()
		if _, err := act(ctx); err != nil {
			t.Fatal(err)
		}
	}
	restart := func(ctx context.Context) (string, error) { return owner.Restart(ctx, Empty) }
	for want, hurt := range map[string][]func(context.Context) (string, error){
		"no server answers at n1": {owner.Kill},
		"restarted by somebody":   {owner.Kill, restart},
		"has not answered for 2":  {owner.Pause},
	} {
		n := &externalNode{name: "n1", at: server.Endpoint{Addr: owner.Addr()}}
		if err := n.Unplanned(ctx); err != nil {
			t.Fatal(err)
		}
		for _, act := range hurt {
			does(act)
		}
		lookAgain(n)
		n.vitals.answered = n.vitals.answered.Add(-silentLimit)
		if got := unplanned(t, n); !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
		switch {
		case !owner.Alive():
			does(restart)
		case !owner.pausedAt.IsZero():
			does(owner.Resume)
		}
	}
}
