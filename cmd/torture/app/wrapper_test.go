package app_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
)

// Every wrapper that init-wrapper writes works as it is: the lock in it is not accused,
// and is where a bug is planted that lets everybody in, as one in Go would be.
func TestWrappersThatAreWritten(t *testing.T) {
	const pyLock, pyLocks = `conn.lock(m["key"], `, `conn.lock(m["key"] + m["h"] + str(os.getpid()), `
	for language, c := range map[string]struct {
		file, run     string
		needs         []string // a command that succeeds where the wrapper can run
		sound, broken string
	}{
		"python":  {"my_lock.py", "/usr/bin/python3 my_lock.py", []string{"/usr/bin/python3", "-c", "import redis"}, pyLock, pyLocks},
		"asyncio": {"my_lock.py", "/usr/bin/python3 my_lock.py", []string{"/usr/bin/python3", "-c", "import redis.asyncio"}, pyLock, pyLocks},
		"ruby":    {"my_lock.rb", "/usr/bin/ruby my_lock.rb", []string{"/usr/bin/ruby", "-e", `require "redis"`}, "nx: true, ", ""},
		"node":    {"my_lock.mjs", "node my_lock.mjs", []string{"node", "--version"}, `"NX", `, ""},
		"go":      {"my_lock.go", "./my_lock", []string{"go", "version"}, `Mode: "NX", `, ""},
	} {
		t.Run(language, func(t *testing.T) {
			if err := exec.CommandContext(t.Context(), c.needs[0], c.needs[1:]...).Run(); err != nil {
				redistest.Missing(t, errors.Join(errors.New("the wrapper's library is not here"), err))
			}
			here := t.TempDir()
			if code, said := process(t, here, "init-wrapper", language); code != 0 || !strings.Contains(said, "exec:"+c.run) {
				t.Fatalf("exit %d: %s", code, said)
			}
			code, said := playWrapper(t, here, language, c.run)
			// A busy machine may leave too little to tell, and must say so.
			if code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() || strings.Contains(said, "S1 ") {
				t.Errorf("the sound one: exit %d: %s", code, said)
			}
			path := filepath.Join(here, c.file)
			text := read(t, path)
			if strings.Count(text, c.sound) != 1 {
				t.Fatalf("%d places to break in %s", strings.Count(text, c.sound), text)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(text, c.sound, c.broken, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			// There its times prove nothing, and what they show is listed as suspicious.
			code, said = playWrapper(t, here, language, c.run)
			if code != checker.Fail.Exit() && code != checker.Inconclusive.Exit() || !strings.Contains(said, "S1 ") && !strings.Contains(said, "double grant") {
				t.Errorf("the broken one: exit %d: %s", code, said)
			}
		})
	}
}

// playWrapper plays the wrapper in dir, which is compiled where that is needed.
func playWrapper(t *testing.T, dir, language, run string) (code int, said string) {
	t.Helper()
	if language == "go" {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "my_lock"), filepath.Join(dir, "my_lock.go"))
		build.Dir, build.Env = yours, append(os.Environ(), "GOFLAGS=")
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	return process(t, dir, "run", "calm", "--lock", "exec:"+run, "--clients", "4", "--keys", "1", "--duration", "3s", "--seed", "5")
}
