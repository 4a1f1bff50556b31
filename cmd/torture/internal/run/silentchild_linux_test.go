package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/workload/history"
)

// A run of children that greet and never answer ends as HARNESS ERROR, whose first cause
// is what they owe, and leaves none behind; interrupted as well.
func TestChildrenThatOweAnAnswerAreTheFirstCause(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		t.Run(map[bool]string{false: "to its end", true: "interrupted"}[interrupted], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, pids := filepath.Join(dir, "silent.sh"), filepath.Join(dir, "pids")
			text := `echo $$ >>` + pids + `; read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; exec sleep 1000` + "\n"
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Base("calm")
			if err != nil {
				t.Fatal(err)
			}
			cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Load.Keys, cfg.Out, cfg.Seed = "exec:/bin/sh "+script, "embedded", 2, 1, filepath.Join(dir, "runs"), 5
			cfg.Duration, cfg.Floors = time.Second, nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := Run(ctx, cfg, lock(t, cfg.Lock), Options{Begin: func(Beginning) []history.Sink {
				return []history.Sink{history.SinkFunc(func(e *history.Event) {
					if interrupted && e.Op == history.Acquire && e.Kind == history.Invoke {
						cancel()
					}
				})}
			}})
			if err != nil {
				t.Fatal(err)
			}
			// A run that a busy machine draws out is long enough to say besides that nobody is granted anything.
			found := slices.ContainsFunc(r.Report.Violations, func(f checker.Finding) bool { return f.ID != "L2" })
			if v := r.Verdict(); v != checker.HarnessError && v != checker.Fail || found || len(r.Harness) == 0 || !strings.Contains(r.Harness[0], "request 2 (acquire) was never answered") {
				t.Errorf("%s: %q %+v", v, r.Harness, r.Report.Violations)
			}
			if !r.Hung || !r.Counts() {
				t.Errorf("it does not count as children that hung: %q", r.Troubles())
			}
			if r.Interrupted != interrupted {
				t.Errorf("interrupted: %t", r.Interrupted)
			}
			mustBeGone(t, pids, 3)
		})
	}
}

// mustBeGone looks for the processes whose ids are in a file.
func mustBeGone(t *testing.T, file string, want int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(text))
	if len(all) != want {
		t.Errorf("%d children were started, want %d", len(all), want)
	}
	for _, pid := range all {
		if _, err := os.Stat("/proc/" + pid); err == nil {
			t.Errorf("child %s is left", pid)
		}
	}
}
