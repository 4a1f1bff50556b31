package testbed

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func startCluster(t *testing.T, c ClusterConfig) Cluster {
	t.Helper()
	requireServers(t, c.Image)
	c.Ready = time.Minute
	b, err := StartCluster(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(Cluster)
}

// servers names nodes.
func servers(nodes []Node) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	return names
}

// A master that is killed is replaced by its replica, with what that had, and comes back
// as a replica, empty or not; the shards of the others serve on: as processes, and in
// containers, which reach one another where they are announced, on this machine's loopback.
func TestClusterPromotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]ClusterConfig{
		"processes":  {},
		"containers": {Image: DefaultImage, Announce: func(_ context.Context, _, addr string) (string, error) { return openRoad(t, addr).Addr().String(), nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clusterPromotes(t, c)
		})
	}
}

func clusterPromotes(t *testing.T, c ClusterConfig) {
	b := startCluster(t, c)
	masters, err := b.Masters(t.Context())
	if names := servers(masters); err != nil || !slices.Equal(names, []string{"n1", "n2", "n3"}) {
		t.Fatalf("the first masters are %v: %v", names, err)
	}
	const key = "k"
	shard, err := b.Shard(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		old := masters[shard]
		do(t, old, "OK", "SET", key, "v")
		if v, err := replicated(t, old); err != nil || v != int64(1) {
			t.Fatalf("acknowledged by %v: %v", v, err)
		}
		must(t)(old.(Killer).Kill(t.Context()))
		other := masters[(shard+1)%clusterShards]
		do(t, other, "PONG", "PING")
		await(t, "a promotion", func() bool {
			masters, err = b.Masters(t.Context())
			return err == nil && masters[shard] != old
		})
		do(t, masters[shard], "v", "GET", key)
		must(t)(old.(Killer).Restart(t.Context(), Empty))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := b.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		for _, n := range b.Nodes() {
			if err := n.(Watched).Unplanned(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// replicated writes something to n and waits until a replica has it, and all before it.
func replicated(t *testing.T, n Node) (any, error) {
	s, err := open(testContext(t), n)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if _, err := s.Do("SET", "k", "v"); err != nil {
		return nil, err
	}
	return s.Do("WAIT", "1", "20000")
}

// Slots are those that the servers compute.
func TestClusterSlots(t *testing.T) {
	t.Parallel()
	b := startCluster(t, ClusterConfig{})
	for _, key := range []string{"", "k", "lock:{order:7}:read", "a{}b", "a{b", "{x}{y}", "ключ"} {
		do(t, b.Nodes()[3], int64(b.Slot(key)), "CLUSTER", "KEYSLOT", key)
	}
	if b.Slot("{order:7}:read") != b.Slot("{order:7}:write") {
		t.Error("one tag, two slots")
	}
}

// Clients are told what was announced, nothing of a testbed outlives it, and what
// cannot start says why.
func TestClusterLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roads := map[string]string{}
	b := startCluster(t, ClusterConfig{Dir: dir, Announce: func(_ context.Context, name, addr string) (string, error) {
		roads[name] = openRoad(t, addr).Addr().String()
		return roads[name], nil
	}})
	_, err := Do(t.Context(), b.Nodes()[0], "SET", "foo", "v") // slot 12182
	if want := "MOVED 12182 " + roads["n3"]; err == nil || !strings.HasSuffix(err.Error(), want) || b.Announced("n3") != roads["n3"] {
		t.Errorf("%v, want %s", err, want)
	}
	if err := b.Nodes()[0].(Administrable).CanAdminister("replicaof"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a command may say who is a replica: %v", err)
	}
	pids := pidsIn(t, dir)
	if len(pids) < clusterServers+1 {
		t.Errorf("%d processes: %v", len(pids), pids)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pids)
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "data")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	_, err = StartCluster(t.Context(), ClusterConfig{Dir: t.TempDir(), Announce: func(context.Context, string, string) (string, error) { return "", errors.New("no road") }})
	if err == nil || !strings.Contains(err.Error(), "no road") {
		t.Errorf("%v, want no road", err)
	}
}
