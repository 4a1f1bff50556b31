package testbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func startSentinel(t *testing.T, c SentinelConfig) *sentinelBed {
	t.Helper()
	requireServers(t, c.Image)
	c.Ready = time.Minute
	b, err := StartSentinel(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(*sentinelBed)
}

// requireServers skips the test where there is neither the image, if one is asked for,
// nor a server to run.
func requireServers(t *testing.T, image string) {
	t.Helper()
	if image != "" {
		requireDocker(t, image)
		return
	}
	_, err := findServer("")
	require(t, err)
}

// promoted waits until the Sentinels name another master than old.
func promoted(t *testing.T, b *sentinelBed, old Node) Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		n, err := b.master(ctx)
		if err == nil && n != old {
			return n
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody was promoted in the place of %s: %v, %v", old.Name(), n, err)
		case <-time.After(settlePoll):
		}
	}
}

// A master that is killed is replaced by a replica with what that had acknowledged,
// and comes back as a replica; three times in a row, on processes and in containers.
func TestSentinelPromotes(t *testing.T) {
	t.Parallel()
	for name, image := range map[string]string{"processes": "", "containers": DefaultImage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			promotes(t, image)
		})
	}
}

func promotes(t *testing.T, image string) {
	b := startSentinel(t, SentinelConfig{Image: image})
	old, err := b.master(t.Context())
	if err != nil || old.Name() != "n1" {
		t.Fatalf("the first master is %v: %v", old, err)
	}
	for _, key := range []string{"a", "b", "c"} {
		do(t, old, "OK", "SET", key, "v")
		awaitReplicas(t, b, old, key)
		must(t)(old.(Killer).Kill(t.Context()))
		next := promoted(t, b, old)
		do(t, next, "v", "GET", key)
		must(t)(old.(Killer).Restart(t.Context(), Empty))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := b.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		do(t, old, "v", "GET", key)
		for _, n := range b.Nodes() {
			if err := n.(Watched).Unplanned(t.Context()); err != nil {
				t.Error(err)
			}
		}
		old = next
	}
}

// awaitReplicas waits until every replica of master has key.
func awaitReplicas(t *testing.T, b Deployment, master Node, key string) {
	t.Helper()
	for _, n := range b.Nodes() {
		for deadline := time.Now().Add(20 * time.Second); n != master; time.Sleep(settlePoll) {
			reply, err := Do(testContext(t), n, "GET", key)
			if err == nil && reply == "v" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s did not get %s: %v, %v", n.Name(), key, reply, err)
			}
		}
	}
}

// A server that was killed and started again comes back as what it was, not as
// what it had been at the beginning.
func TestSentinelServersKeepTheirRole(t *testing.T) {
	t.Parallel()
	b := startSentinel(t, SentinelConfig{MinReplicas: 1, Persist: true})
	n := b.Nodes()[1]
	must(t)(n.(Killer).Kill(t.Context()))
	must(t)(n.(Killer).Restart(t.Context(), WithData))
	f, err := info(t.Context(), n)
	if err != nil || f["role"] != "slave" {
		t.Errorf("n2 came back as %s: %v", f["role"], err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	do(t, b.Nodes()[0], "[min-replicas-to-write 1]", "CONFIG", "GET", "min-replicas-to-write")
	if err := n.(Administrable).CanAdminister("replicaof"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a command may say who is a replica: %v", err)
	}
}

// Servers in containers that were killed are what they had been when they come back,
// with and without their data, and nothing of them outlives the testbed.
func TestSentinelInContainers(t *testing.T) {
	t.Parallel()
	b := startSentinel(t, SentinelConfig{Image: DefaultImage, Persist: true})
	n := b.Nodes()[1]
	for _, how := range []Restart{WithData, Empty} {
		must(t)(n.(Killer).Kill(t.Context()))
		must(t)(n.(Killer).Restart(testContext(t), how))
		f, err := info(t.Context(), n)
		if err != nil || f["role"] != "slave" {
			t.Errorf("n2 came back %s as %s: %v", how, f["role"], err)
		}
	}
	if err := n.(Administrable).CanAdminister("replicaof"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a command may say who is a replica: %v", err)
	}
	must(t)(n.(Pauser).Pause(t.Context()))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if left := labelled(t, labelBed+"="+b.serverBed.(*containerBed).id); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Nothing of a testbed outlives it, and what cannot start says why.
func TestSentinelLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startSentinel(t, SentinelConfig{Dir: dir, Announce: func(_ context.Context, name, addr string) (string, error) { return addr, nil }})
	name, addrs := b.Sentinels()
	if name != MasterName || len(addrs) != sentinelCount || b.Announced("n2") != b.Nodes()[1].Addr() {
		t.Errorf("%s by %v, n2 at %s", name, addrs, b.Announced("n2"))
	}
	pids := pidsIn(t, dir)
	if len(pids) < sentinelServers+sentinelCount+1 {
		t.Errorf("%d processes: %v", len(pids), pids)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pids)
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "data")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for want, c := range map[string]SentinelConfig{
		"there are 2 replicas": {MinReplicas: 3},
		"no road":              {Announce: func(context.Context, string, string) (string, error) { return "", errors.New("no road") }},
	} {
		c.Dir = t.TempDir()
		if _, err := StartSentinel(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(filepath.Join(c.Dir, pidFile)); err == nil {
			awaitGone(t, pidsIn(t, c.Dir))
		}
	}
}
