package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// onGiven is a short run on servers that live on.
func onGiven(t *testing.T, given []testbed.Node) config.Config {
	t.Helper()
	c, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	c.Lock, c.Testbed, c.Clients, c.Duration, c.Final, c.Seed, c.Out = "single", "external", 4, time.Second, 500*time.Millisecond, 7, t.TempDir()
	c.Redis, c.Store = []string{given[0].Addr()}, given[1].Addr()
	return c
}

// A run removes from servers of the user's what it wrote, however it ends, so
// that the next one can begin.
func TestRunLeavesNoKeyOnGivenServers(t *testing.T) {
	t.Parallel()
	given := redistest.Start(t, 2)
	for range 2 {
		r, err := Run(t.Context(), onGiven(t, given), lock(t, "single"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Harness) > 0 || r.Report.Evidence.Grants == 0 {
			t.Errorf("harness %v, %d grants", r.Harness, r.Report.Evidence.Grants)
		}
		if left := redistest.Keys(t, given); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}

	refused := onGiven(t, given)
	refused.Faults = config.Faults{Plan: "kill"} // which given servers cannot suffer
	if _, err := Run(t.Context(), refused, lock(t, refused.Lock), Options{}); err == nil {
		t.Error("servers of the user's were to be killed")
	}
	if left := redistest.Keys(t, given); len(left) > 0 {
		t.Fatalf("left behind by a run that was refused: %v", left)
	}

	long := onGiven(t, given)
	long.Duration = time.Minute
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, err := Run(ctx, long, lock(t, long.Lock), Options{Begin: func(Beginning) []history.Sink {
		return []history.Sink{interruptAt{interrupt}}
	}})
	if err != nil || !r.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
	if left := redistest.Keys(t, given); len(left) > 0 {
		t.Fatalf("left behind by a run that was interrupted: %v", left)
	}
}

// What the run cannot have written stays, and is named.
func TestRunLeavesTheKeysOfOthers(t *testing.T) {
	t.Parallel()
	given := redistest.Start(t, 2)
	a := wiring.Admin(given[0])
	defer func() { _ = a.Close() }()
	r, err := Run(t.Context(), onGiven(t, given), lock(t, "single"), Options{Begin: func(Beginning) []history.Sink {
		if err := a.Set(t.Context(), "invoice:kim", "1", 0).Err(); err != nil {
			t.Error(err)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if left := redistest.Keys(t, given); !slices.Equal(left, []string{"invoice:kim"}) {
		t.Errorf("left: %v", left)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "invoice:kim") }) {
		t.Errorf("nobody is told: %v", r.Warnings)
	}
	if !slices.ContainsFunc(r.Report.Inconclusive, func(f checker.Finding) bool {
		return f.ID == "V7" && strings.Contains(f.Text, "holds 1 key, such as invoice:kim")
	}) {
		t.Errorf("the run says nothing of a key space that was not clean: %+v", r.Report.Inconclusive)
	}
	if _, err := Run(t.Context(), onGiven(t, given), lock(t, "single"), Options{}); err == nil || !strings.Contains(err.Error(), "delete them, or give a server without keys, or a prefix") {
		t.Errorf("servers that are in use: %v", err)
	}
}

// What a lock writes when it connects, as the mark of a server that it may ask, is nobody's lease.
func TestKeysOfALockThatConnects(t *testing.T) {
	t.Parallel()
	own := lock(t, "token-lua")
	build := own.Factory
	own.Factory = func(c config.Config) lockimpl.Factory {
		return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			rdb := redis.NewClient(&redis.Options{Addr: nodes[0].Addr, Dialer: nodes[0].Dial})
			err := rdb.Set(context.Background(), "mine:ready", "1", 0).Err()
			l, failed := build(c)(nodes)
			return l, errors.Join(err, failed, rdb.Close())
		}
	}
	c, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	c.Lock, c.Testbed, c.Clients, c.Duration, c.Final, c.Seed, c.Out = own.ID, "process", 4, time.Second, 500*time.Millisecond, 7, t.TempDir()
	clean := func(c config.Config) {
		t.Helper()
		r, err := Run(t.Context(), c, own, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(r.Report.Inconclusive, func(f checker.Finding) bool { return f.ID == "V7" }) || len(r.Harness) > 0 {
			t.Errorf("%+v, %v", r.Report.Inconclusive, r.Harness)
		}
	}
	clean(c)
	given := redistest.Start(t, 1) // which lives on, and is both node and store
	for range 2 {
		c := onGiven(t, slices.Repeat(given, 2))
		c.Lock, c.Duration = own.ID, 500*time.Millisecond
		clean(c)
		if left := redistest.Keys(t, given); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
	}
}

// With a prefix, servers may hold keys of others: no run of whatever lock looks at
// them or touches them, and of its own keys none is left however it ends.
func TestPrefix(t *testing.T) {
	t.Parallel()
	given := redistest.Start(t, 2)
	theirs := []string{"invoice:kim", "k0", "lock:node", "locktorture:seq"}
	for _, n := range given {
		a := wiring.Admin(n)
		for _, key := range theirs {
			if err := a.Set(t.Context(), key, "theirs", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	twice := slices.Sorted(slices.Values(slices.Concat(theirs, theirs)))
	onlyTheirs := func(when string) {
		t.Helper()
		if left := slices.Sorted(slices.Values(redistest.Keys(t, given))); !slices.Equal(left, twice) {
			t.Errorf("%s: %v", when, left)
		}
	}
	prefixed := func(id string) config.Config {
		c := onGiven(t, given)
		c.Lock, c.Prefix, c.Duration = id, "app-torture:", 500*time.Millisecond
		return c
	}
	for _, id := range []string{"single", "token-lua", "rueidislock", "redis-py"} {
		c := prefixed(id)
		r, err := Run(t.Context(), c, lock(t, id), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Harness) > 0 || r.Report.Evidence.Grants == 0 || len(r.Report.Violations) > 0 {
			t.Errorf("%s: harness %v, %d grants, violations %v", id, r.Harness, r.Report.Evidence.Grants, r.Report.Violations)
		}
		if dirty := func(f checker.Finding) bool { return f.ID == "V7" }; slices.ContainsFunc(r.Report.Inconclusive, dirty) {
			t.Errorf("%s: the keys of others made the run unclean: %+v", id, r.Report.Inconclusive)
		}
		onlyTheirs("after a run of " + id)
	}

	refused := prefixed("single")
	refused.Faults = config.Faults{Plan: "kill"}
	if _, err := Run(t.Context(), refused, lock(t, refused.Lock), Options{}); err == nil {
		t.Error("servers of the user's were to be killed")
	}
	onlyTheirs("after a run that was refused")

	taken := prefixed("single")
	taken.Prefix = "invoice:"
	if _, err := Run(t.Context(), taken, lock(t, taken.Lock), Options{}); err == nil || !strings.Contains(err.Error(), `"invoice:kim"`) {
		t.Errorf("a prefix that is in use: %v", err)
	}
	onlyTheirs("after a prefix that is in use")

	long := prefixed("single")
	long.Duration = time.Minute
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	if r, err := Run(ctx, long, lock(t, long.Lock), Options{Begin: func(Beginning) []history.Sink {
		return []history.Sink{interruptAt{interrupt}}
	}}); err != nil || !r.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
	onlyTheirs("after a run that was interrupted")
}

// What stands beside a run's own keys under its prefix is not taken for one.
func TestWrote(t *testing.T) {
	c := config.Config{Prefix: "app:", Load: config.Load{Keys: 8}}
	for key, want := range map[string]bool{
		"app:k0": true, "lock:{app:k7}:l": true, "rueidislock:0:app:k3": true, "app:locktorture:row:app:k1": true, "app:locktorture-canary": true,
		"app:lock:node": true, "app:k8": false, "app:kim": false, "app:": false, "app:k": false, "k0": false, "lock:node": false, "app:lock:nodes": false,
	} {
		if got := wrote(key, c); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// interruptAt interrupts a run at its first grant.
type interruptAt struct{ interrupt func() }

// Event implements history.Sink.
func (i interruptAt) Event(e *history.Event) {
	if e.Op == history.Acquire && e.Kind == history.OK {
		i.interrupt()
	}
}
