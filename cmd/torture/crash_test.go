package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/run"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// crashed is what the runtime says of a panic in a goroutine of the given function's.
func crashed(function string) string {
	return "panic: close of closed channel\n\ngoroutine 35 [running]:\n" +
		function + "(0xc0000141e0)\n\t/src/lease.go:110 +0x32\n" +
		"created by " + function + " in goroutine 7\n\t/src/lease.go:88 +0x1ca\n\ngoroutine 1 [select]:\nmain.main()\n\t/src/main.go:1 +0x1\n"
}

// TestCheckAfterACrash judges runs that a panic has ended: the lock's own is a
// FAIL, and ours is none of the lock's.
func TestCheckAfterACrash(t *testing.T) {
	for function, want := range map[string]string{
		"locktorture/lockimpl/redlock.(*lease).expire": "VERDICT FAIL exit 1",
		"locktorture/faults/link.(*lane).run":          "VERDICT HARNESS ERROR exit 70",
		"":                                             "VERDICT INCONCLUSIVE exit 3",
	} {
		dir := t.TempDir()
		f, err := historyfile.Create(filepath.Join(dir, historyfile.Name), history.Header{Type: "history", Version: 1, TTL: 1, Nodes: 1, Quorum: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		text := ""
		if function != "" {
			text = crashed(function)
		}
		if err := os.WriteFile(filepath.Join(dir, run.CrashFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		app.Run([]string{"check", dir}, &said, &said)
		if !strings.HasSuffix(strings.TrimSpace(said.String()), want) || function != "" && !strings.Contains(said.String(), "close of closed channel") {
			t.Errorf("%q: %s, want %s", function, &said, want)
		}
	}
}
