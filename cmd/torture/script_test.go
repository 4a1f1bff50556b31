package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"locktorture/cmd/torture/app"
	"locktorture/faults/testbed"
)

// The exit codes of wrong usage and of trouble of the harness, and the variable
// that names GitHub's step summary.
const (
	exitUsage   = 64
	exitHarness = 70
	stepSummary = "GITHUB_STEP_SUMMARY"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"torture":   func() { app.Main() },
		proxyServer: proxies,
		delayServer: delays,
		natsServer:  serveNATS,
		crashers: func() {
			app.Main(app.WithLock("crashing", newCrashing), app.WithLock("crashing-harness", newCrashingHarness))
		},
	})
}

// requireAll is the setting that turns every skip into a failure.
const requireAll = "LOCKTORTURE_REQUIRE_ALL"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		// A PATH with nothing on it but torture, which testscript puts first.
		Setup: func(env *testscript.Env) error {
			env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
			bare, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
			env.Setenv("BARE", bare)
			wrappers, err := filepath.Abs("../../lockimpl/child/wrappers")
			env.Setenv("WRAPPERS", wrappers)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"either": either},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "redis":
				return haveRedis(t), nil
			case "docker":
				return haveDocker(t), nil
			}
			return false, nil
		},
	})
}

// haveRedis reports whether real servers can be started here. Where nothing may
// be skipped, their absence is a failure.
func haveRedis(t *testing.T) bool {
	_, err := exec.LookPath("redis-server")
	if err != nil && os.Getenv(requireAll) == "1" {
		t.Fatalf("%s=1 and redis-server is not here: %v", requireAll, err)
	}
	return err == nil
}

// without names what the run says it goes without.
const without = "LOCKTORTURE_WITHOUT"

// haveDocker reports whether containers can be started here.
func haveDocker(t *testing.T) bool {
	err := testbed.CanContain(t.Context(), "")
	if err != nil && os.Getenv(requireAll) == "1" && os.Getenv(without) != "docker" {
		t.Fatalf("%s=1 and there are no containers: %v", requireAll, err)
	}
	return err == nil
}

// either runs a command whose exit code the script does not know beforehand:
// what it printed is asserted instead.
func either(ts *testscript.TestScript, _ bool, args []string) {
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		ts.Logf("%v", err)
	}
}
