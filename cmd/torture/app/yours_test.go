package app_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports"
)

// yours runs the tests of a module of somebody else's that puts its own lock under
// torture.
func yours(t *testing.T, args ...string) (said string, passed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-v"}, args...)...)
	cmd.Dir = "testdata/yours"
	cmd.Env = append(os.Environ(), "GOFLAGS=", "YOURS_PLANTED=1", "TORTURE_SEED=7")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// A planted bug fails go test, with the story in its output; a lock without it and
// a library built by its own constructor are not accused.
func TestOfAnotherModule(t *testing.T) {
	kept := t.TempDir()
	said, passed := yours(t, "-artifacts", "-outputdir", kept, "-run", "TestPlanted/calm")
	if passed || !strings.Contains(said, "VERDICT FAIL") || !strings.Contains(said, "M-1") || !strings.Contains(said, "why  ") ||
		!strings.Contains(said, "TORTURE_SEED=0x7 go test -run '^TestPlanted$/^calm$'") || strings.Contains(said, "torture replay") {
		t.Errorf("the planted bug: %s", said)
	}
	var pages []string
	_ = filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (d.Name() == reports.ReportFile || d.Name() == reports.JUnitFile) {
			pages = append(pages, path)
		}
		return err
	})
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(page), "torture replay") || !strings.Contains(string(page), "TORTURE_SEED=0x7 go test") {
			t.Errorf("%s says otherwise how to play the same again (%v)", path, err)
		}
	}
	if len(pages) != 2 {
		t.Errorf("kept: %v", pages)
	}
	said, passed = yours(t, "-run", "TestLock|TestRedsync")
	// On a busy machine a run may see too little, and must say so.
	if strings.Contains(said, "VERDICT FAIL") || strings.Contains(said, "HARNESS") || strings.Count(said, "VERDICT ") < 2 ||
		!passed && !strings.Contains(said, "VERDICT INCONCLUSIVE") {
		t.Errorf("a sound lock: %s", said)
	}
}

// The wrapper in Go that init-wrapper writes compiles, and its lock is not accused.
func TestWrapperInGo(t *testing.T) {
	module, err := filepath.Abs("testdata/yours")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if code, said := torture("init-wrapper", "go"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(here, "my_lock"), filepath.Join(here, "my_lock.go"))
	build.Dir, build.Env = module, append(os.Environ(), "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	code, said := torture("run", "calm", "--lock", "exec:./my_lock", "--clients", "2", "--keys", "1", "--duration", "3s", "--seed", "5")
	if code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() || strings.Contains(said, "acquired=0 ") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// Nothing is skipped, cut or refused without a word.
func TestHeedsTheFlagsOfGoTest(t *testing.T) {
	if said, passed := yours(t, "-short", "-run", "TestLock"); !passed || !strings.Contains(said, "not with -short") {
		t.Errorf("-short: %s", said)
	}
	if said, passed := yours(t, "-timeout", "30s", "-run", "TestLock"); passed || !strings.Contains(said, "leaves no room for a run of 15s: go test -timeout 1m15s") {
		t.Errorf("-timeout 30s: %s", said)
	}
}
