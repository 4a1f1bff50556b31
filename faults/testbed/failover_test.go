package testbed

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A road forwards connections to one address until it is closed.
type road struct {
	net.Listener
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
}

func openRoad(t *testing.T, to string) *road {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &road{Listener: l}
	r.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, near, far)
			r.mu.Unlock()
			r.wg.Go(func() { _, _ = io.Copy(near, far) })
			r.wg.Go(func() { _, _ = io.Copy(far, near) })
		}
	})
	t.Cleanup(r.cut)
	return r
}

func (r *road) cut() {
	_ = r.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func TestFailoverLosesWhatWasNotReplicated(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1, Persist: true}).Nodes()[0]
	if _, err := n.(Replicated).Failover(testContext(t)); err == nil {
		t.Error("failed over without a replica")
	}
	for round := range 2 { // a node that has failed over can do so again
		before, after := fmt.Sprint("before", round), fmt.Sprint("after", round)
		do(t, n, "OK", "SET", before, "v")
		link := openRoad(t, n.Addr())
		must(t)(n.(Replicated).StartReplica(testContext(t), link.Addr().String()))
		link.cut()
		do(t, n, "OK", "SET", after, "v")
		must(t)(n.(Replicated).Failover(testContext(t)))
		do(t, n, "v", "GET", before)
		do(t, n, nil, "GET", after)
		do(t, n, "OK", "SET", after, "another holder", "NX")
	}
	must(t)(n.(Killer).Kill(t.Context()))
	must(t)(n.(Killer).Restart(testContext(t), WithData))
	do(t, n, "another holder", "GET", "after1")
}

func TestReplicaKeepsUp(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0]
	must(t)(n.(Replicated).StartReplica(testContext(t), ""))
	s, err := open(testContext(t), n)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Do("SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Do("WAIT", "1", "10000"); v != int64(1) { // for the connection's own writes
		t.Fatalf("WAIT = %v, %v", v, err)
	}
	must(t)(n.(Replicated).Failover(testContext(t)))
	do(t, n, "v", "GET", "k")
}

func TestPowerLossTakesTheLastSecond(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1, Persist: true, Fsync: FsyncSecond}).Nodes()[0]
	do(t, n, "OK", "SET", "old", "v")
	began, err := serverTime(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the server's next second", func() bool {
		at, err := serverTime(t.Context(), n)
		return err == nil && at.Unix() > began.Unix()
	})
	do(t, n, "OK", "SET", "lock", "v", "NX")
	await(t, "the write in the file", func() bool { // which a running sync delays
		files, err := filepath.Glob(filepath.Join(n.(*processNode).dataDir(), "appendonlydir", "*.incr.aof"))
		return err == nil && slices.ContainsFunc(files, func(file string) bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(b), "lock")
		})
	})
	must(t)(n.(Killer).Kill(t.Context()))
	must(t)(n.(Killer).Restart(testContext(t), PowerLoss))
	do(t, n, "v", "GET", "old")
	do(t, n, "OK", "SET", "lock", "another holder", "NX")
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx := testContext(t)
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("no sign of " + what)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestPowerLossNeedsSomethingToLose(t *testing.T) {
	always := startProcess(t, ProcessConfig{Nodes: 1, Persist: true}).Nodes()[0]
	for _, n := range []Node{always, startEmbedded(t, 1).Nodes()[0]} {
		if err := n.(Restarter).CanRestart(PowerLoss); !errors.Is(err, ErrUnsupported) {
			t.Errorf("power loss: %v", err)
		}
		if err := n.(Restarter).CanRestart(WithData); err != nil {
			t.Errorf("with data: %v", err)
		}
	}
}

func TestAdministration(t *testing.T) {
	process, embedded := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0], startEmbedded(t, 1).Nodes()[0]
	for _, n := range []Node{process, embedded} {
		do(t, n, "OK", "SET", "k", "v")
		if _, err := n.(Administrable).Administer(t.Context(), "FLUSHALL"); err != nil {
			t.Error(err)
		}
		do(t, n, nil, "GET", "k")
	}
	if _, err := embedded.(Administrable).Administer(t.Context(), "config", "GET", "maxmemory"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("CONFIG on an embedded node: %v", err)
	}
	got, err := process.(Administrable).Administer(t.Context(), "CONFIG", "GET", "maxmemory-policy")
	if err != nil || fmt.Sprint(got) != "[maxmemory-policy noeviction]" {
		t.Errorf("CONFIG GET = %v, %v", got, err)
	}
	if slices.Contains(Abilities(new(externalNode)), AbilityAdmin) {
		t.Error("an external node is administrable")
	}
}
