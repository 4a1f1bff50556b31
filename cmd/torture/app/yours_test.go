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

	"locktorture/reports"
)

// A module is one of somebody else's that puts its own lock under torture in its tests,
// built once, as go test builds it.
type module struct{ tests string }

const yours = "testdata/yours"

func buildYours(t *testing.T) module {
	t.Helper()
	m := module{filepath.Join(t.TempDir(), "yours.test")}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", m.tests, ".")
	build.Dir, build.Env = yours, append(os.Environ(), "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return m
}

// test runs what go test runs for the same flags, in the same folder.
func (m module) test(t *testing.T, flags ...string) (said string, passed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.tests, append([]string{"-test.paniconexit0", "-test.timeout=10m", "-test.v"}, flags...)...)
	cmd.Dir, cmd.Env = yours, append(os.Environ(), "YOURS_PLANTED=1", "TORTURE_SEED=7")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestOfAnotherModule(t *testing.T) {
	t.Parallel()
	m := buildYours(t)
	for name, test := range map[string]func(*testing.T, module){
		"planted": planted, "sound": soundLocks, "short": short, "deadline": deadline,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// A planted bug fails go test, with the story in its output.
func planted(t *testing.T, m module) {
	kept := t.TempDir()
	said, passed := m.test(t, "-test.artifacts", "-test.outputdir", kept, "-test.run", "TestPlanted/calm")
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
}

// A lock without the bug and a library built by its own constructor are not accused.
func soundLocks(t *testing.T, m module) {
	said, passed := m.test(t, "-test.run", "TestLock|TestRedsync")
	// On a busy machine a run may see too little, and must say so.
	if strings.Contains(said, "VERDICT FAIL") || strings.Contains(said, "HARNESS") || strings.Count(said, "VERDICT ") < 2 ||
		!passed && !strings.Contains(said, "VERDICT INCONCLUSIVE") {
		t.Errorf("a sound lock: %s", said)
	}
}

// Nothing is skipped without a word.
func short(t *testing.T, m module) {
	if said, passed := m.test(t, "-test.short", "-test.run", "TestLock"); !passed || !strings.Contains(said, "not with -short") {
		t.Errorf("-short: %s", said)
	}
}

// Nothing is cut short or refused without a word.
func deadline(t *testing.T, m module) {
	if said, passed := m.test(t, "-test.timeout=30s", "-test.run", "TestLock"); passed || !strings.Contains(said, "leaves no room for a run of 15s: go test -timeout 1m15s") {
		t.Errorf("-timeout 30s: %s", said)
	}
}
