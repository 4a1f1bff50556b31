package run

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
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
		return f.ID == "V7" && strings.Contains(f.Text, "holds 1 keys, such as invoice:kim")
	}) {
		t.Errorf("the run says nothing of a key space that was not clean: %+v", r.Report.Inconclusive)
	}
	if _, err := Run(t.Context(), onGiven(t, given), lock(t, "single"), Options{}); err == nil || !strings.Contains(err.Error(), "delete them, or give a server without keys") {
		t.Errorf("servers that are in use: %v", err)
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
