package plant

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the copy anew, from the lock and the patch")
	record = flag.Bool("record", false, "write the patch anew, from the lock and the copy as it was edited (needs git)")
)

const (
	lockDir   = "../../../redlock"
	copyDir   = "../planted"
	patchFile = "../../planted.patch"
)

func TestTheCopyIsTheLockAndThePatch(t *testing.T) {
	if *record {
		recordPatch(t)
	}
	patch, err := os.ReadFile(patchFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Copy(os.DirFS(lockDir), string(patch))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		write(t, copyDir, want)
	}
	got := read(t, copyDir)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("planted/%s is not the lock's file with the patch: go test ./lockimpl/mutants/internal/plant -update writes it", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("planted/%s: the lock has no such file", name)
	}
}

// The lock that people adopt has no switch for a bug, and the copy has.
func TestTheLockHasNoPlantedBug(t *testing.T) {
	files, err := sources(os.DirFS(lockDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 || files["lock.go"] == "" || files["internal/script/lua/acquire.lua"] == "" {
		t.Fatalf("%d files: this is not the lock", len(files))
	}
	word := regexp.MustCompile(`(?i)\b(bugs?|plant(ed)?|mutants?|faulty)\b`)
	for name, text := range files {
		if found := word.FindString(text); found != "" {
			t.Errorf("redlock/%s says %q", name, found)
		}
	}
	if patch, err := os.ReadFile(patchFile); err != nil || !word.Match(patch) {
		t.Errorf("the patch plants nothing: %v", err)
	}
}

func TestApply(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\ntwo\nthree\n"
	for name, c := range map[string]struct{ patch, want string }{
		"in place":   {"@@ -2,2 +2,2 @@\n two\n-three\n+3\n", "one\ntwo\n3\nfour\ntwo\nthree\n"},
		"nearest":    {"@@ -6,2 +6,2 @@\n two\n-three\n+3\n", "one\ntwo\nthree\nfour\ntwo\n3\n"},
		"two hunks":  {"@@ -1 +1 @@\n-one\n+1\n@@ -4 +4,2 @@\n four\n+4½\n", "1\ntwo\nthree\nfour\n4½\ntwo\nthree\n"},
		"not there":  {"@@ -2,2 +2 @@\n two\n-drei\n", ""},
		"no context": {"@@ -2,2 +2 @@\nrubbish\n", ""},
	} {
		files := map[string]string{"f": text}
		err := apply(files, "diff --git a/f b/f\n--- a/f\n+++ b/f\n"+c.patch)
		if c.want == "" && err == nil || c.want != "" && (err != nil || files["f"] != c.want) {
			t.Errorf("%s: %q, %v, want %q", name, files["f"], err, c.want)
		}
	}
	files := map[string]string{}
	if err := apply(files, "--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+package new\n"); err != nil || files["new.go"] != "package new\n" {
		t.Errorf("a new file: %q, %v", files, err)
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write makes dir hold files and nothing else.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recordPatch writes the patch that makes the copy, as it is, of the lock.
func recordPatch(t *testing.T) {
	lock, err := sources(os.DirFS(lockDir))
	if err != nil {
		t.Fatal(err)
	}
	edited := map[string]string{}
	for name, text := range read(t, copyDir) {
		name, text = restore(name, text)
		edited[name] = text
	}
	dir := t.TempDir()
	write(t, path.Join(dir, "a"), lock)
	write(t, path.Join(dir, "b"), edited)
	diff := exec.Command("git", "diff", "--no-index", "--no-color", "-U2", "a", "b")
	diff.Dir = dir
	out, err := diff.Output() // 1 says that they differ
	if len(out) == 0 {
		t.Fatalf("git diff: %v", err)
	}
	text := strings.NewReplacer("a/a/", "a/", "b/b/", "b/").Replace(string(out))
	text = regexp.MustCompile(`(?m)^index .*\n`).ReplaceAllString(text, "")
	if err := os.WriteFile(patchFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
