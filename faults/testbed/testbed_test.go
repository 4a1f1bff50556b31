package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// require skips the test when err says that something is missing here, unless
// nothing may skip.
func require(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startProcess(t *testing.T, c ProcessConfig) Testbed {
	t.Helper()
	_, err := findServer(c.Binary)
	require(t, err)
	if c.FakeClock {
		require(t, CanFakeClock())
	}
	b, err := StartProcess(testContext(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// real starts testbeds of real servers: what holds for one kind holds for all.
var real = map[string]func(t *testing.T, nodes int, persist bool) Testbed{
	KindProcess: func(t *testing.T, nodes int, persist bool) Testbed {
		return startProcess(t, ProcessConfig{Nodes: nodes, Persist: persist})
	},
	KindContainer: func(t *testing.T, nodes int, persist bool) Testbed {
		return startContainer(t, ContainerConfig{Nodes: nodes, Persist: persist})
	},
}

// onEachReal runs a test on one persistent node of every kind of real servers.
func onEachReal(t *testing.T, persist bool, test func(t *testing.T, n Node)) {
	for kind, start := range real {
		t.Run(kind, func(t *testing.T) { test(t, start(t, 1, persist).Nodes()[0]) })
	}
}

func startEmbedded(t *testing.T, nodes int) Testbed {
	t.Helper()
	b, err := StartEmbedded(testContext(t), EmbeddedConfig{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// do fails the test unless the command gets the wanted reply.
func do(t *testing.T, n Node, want any, args ...string) {
	t.Helper()
	got, err := Do(testContext(t), n, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", n.Name(), args, err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s %v = %v, want %v", n.Name(), args, got, want)
	}
}

// must fails the test on an error, and returns the receipt.
func must(t *testing.T) func(receipt string, err error) string {
	return func(receipt string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if receipt == "" {
			t.Fatal("no receipt")
		}
		return receipt
	}
}

func TestNodesAreIndependentMasters(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T) Testbed
	}{
		{KindProcess, func(t *testing.T) Testbed { return real[KindProcess](t, 5, false) }},
		{KindContainer, func(t *testing.T) Testbed { return real[KindContainer](t, 5, false) }},
		{KindEmbedded, func(t *testing.T) Testbed { return startEmbedded(t, 5) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.start(t)
			if b.Name() != c.name || len(b.Nodes()) != 5 || b.Store().Name() != StoreName {
				t.Fatalf("%s has %d nodes and the store %q", b.Name(), len(b.Nodes()), b.Store().Name())
			}
			for i, n := range append(b.Nodes(), b.Store()) {
				if want := fmt.Sprintf("n%d", i+1); i < 5 && n.Name() != want {
					t.Errorf("node %d is called %s", i, n.Name())
				}
				do(t, n, "OK", "SET", "k", n.Name(), "NX")
			}
		})
	}
}

func TestKillAndRestart(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T) Testbed
	}{
		{KindProcess, func(t *testing.T) Testbed { return real[KindProcess](t, 1, true) }},
		{KindContainer, func(t *testing.T) Testbed { return real[KindContainer](t, 1, true) }},
		{KindEmbedded, func(t *testing.T) Testbed { return startEmbedded(t, 1) }},
	} {
		for _, how := range []Restart{WithData, Empty} {
			t.Run(c.name+" "+how.String(), func(t *testing.T) {
				b := c.start(t)
				killAndRestart(t, b.Nodes()[0], how)
			})
		}
	}
}

func killAndRestart(t *testing.T, n Node, how Restart) {
	ctx, k := testContext(t), n.(Killer)
	do(t, n, "OK", "SET", "k", "v")
	idle, err := n.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }()
	must(t)(k.Kill(ctx))
	if k.Alive() {
		t.Error("alive after the kill")
	}
	if _, err := n.Dial(ctx); err == nil {
		t.Error("a dead node accepts connections")
	}
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a dead node's connection is still open")
	}
	if _, err := k.Kill(ctx); !errors.Is(err, ErrDown) {
		t.Errorf("second kill: %v, want %v", err, ErrDown)
	}
	must(t)(k.Restart(ctx, how))
	if _, err := k.Restart(ctx, how); !errors.Is(err, ErrUp) {
		t.Errorf("second restart: %v, want %v", err, ErrUp)
	}
	if how == WithData {
		do(t, n, "v", "GET", "k")
		return
	}
	do(t, n, int64(0), "DBSIZE")
}

func TestBlockingCommandsWorkAfterRestart(t *testing.T) {
	n := startEmbedded(t, 1).Nodes()[0]
	must(t)(n.(Killer).Kill(t.Context()))
	must(t)(n.(Killer).Restart(t.Context(), WithData))
	popped := make(chan any, 1)
	go func() {
		v, _ := Do(t.Context(), n, "BLPOP", "list", "20")
		popped <- v
	}()
	for i := 0; ; i++ { // pushes until somebody has taken one, however late the pop comes
		do(t, n, "OK", "SET", "k", "v")
		if i == 0 {
			do(t, n, int64(1), "RPUSH", "list", "x")
		}
		select {
		case v := <-popped:
			if fmt.Sprint(v) != "[list x]" {
				t.Fatalf("BLPOP = %v", v)
			}
			return
		default:
		}
	}
}

func TestRestartWithDataNeedsPersistence(t *testing.T) {
	onEachReal(t, false, func(t *testing.T, n Node) {
		if err := n.(Restarter).CanRestart(WithData); !errors.Is(err, ErrUnsupported) {
			t.Errorf("CanRestart(WithData) = %v", err)
		}
		do(t, n, "OK", "SET", "k", "v")
		must(t)(n.(Killer).Kill(t.Context()))
		if _, err := n.(Killer).Restart(t.Context(), WithData); !errors.Is(err, ErrUnsupported) {
			t.Errorf("restart with data: %v", err)
		}
		must(t)(n.(Killer).Restart(t.Context(), Empty))
		do(t, n, nil, "GET", "k")
	})
}

func TestPersistentNodeForgetsOnlyWhenToldTo(t *testing.T) {
	onEachReal(t, true, func(t *testing.T, n Node) {
		k, addr := n.(Killer), n.Addr()
		for _, how := range []Restart{WithData, Empty, WithData} {
			do(t, n, "OK", "SET", "k", how.String())
			must(t)(k.Kill(t.Context()))
			must(t)(k.Restart(t.Context(), how))
			if how == Empty {
				do(t, n, nil, "GET", "k")
			} else {
				do(t, n, how.String(), "GET", "k")
			}
			if n.Addr() != addr {
				t.Errorf("it came back on %s, was on %s", n.Addr(), addr)
			}
		}
	})
}

func TestClockJumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T) Testbed
	}{
		{KindProcess, func(t *testing.T) Testbed { return startProcess(t, ProcessConfig{Nodes: 1, FakeClock: true}) }},
		{KindEmbedded, func(t *testing.T) Testbed { return startEmbedded(t, 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.start(t).Nodes()[0]
			j := n.(ClockJumper)
			do(t, n, "OK", "SET", "long", "v", "PX", "7200000")
			must(t)(j.JumpClock(t.Context(), time.Hour))
			do(t, n, "v", "GET", "long")
			do(t, n, "OK", "SET", "short", "v", "PX", "60000")
			must(t)(j.JumpClock(t.Context(), time.Hour))
			do(t, n, nil, "GET", "short")
			do(t, n, nil, "GET", "long")
			do(t, n, "OK", "SET", "stretched", "v", "PX", "60000")
			must(t)(j.JumpClock(t.Context(), -2*time.Hour))
			left, err := Do(t.Context(), n, "PTTL", "stretched")
			if ms, _ := left.(int64); err != nil || time.Duration(ms)*time.Millisecond < 2*time.Hour {
				t.Errorf("PTTL after a jump back by 2h: %v, %v", left, err)
			}
		})
	}
}
