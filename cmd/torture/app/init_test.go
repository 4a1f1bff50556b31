package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
)

// repository is a folder with the given files.
func repository(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What init writes for Go is played by go test as the CI job plays it, on a copy of
// this tree, and its lock is not accused: by running it, since nothing less tells
// that it compiles and that its faults can take place.
func TestInitForGo(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("testdata/yours/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("testdata/yours/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	dir := repository(t, map[string]string{
		"go.mod": strings.Replace(string(module), "../../../../..", root, 1), "go.sum": string(sums), "mine.go": "package mine\n",
	})
	if code, said := process(t, dir, "init"); code != 0 || !strings.Contains(said, "go test -run UnderTorture") {
		t.Fatalf("exit %d: %s", code, said)
	}
	play := regexp.MustCompile(`(?m)^ +(go test .*)$`).FindStringSubmatch(read(t, filepath.Join(dir, ".github/workflows/torture.yml")))
	if play == nil {
		t.Fatal("the job runs no go test")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", "mkdir -p runs; "+play[1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "TORTURE_DURATION=25s", "TORTURE_SEED=7")
	said, err := cmd.CombinedOutput()
	// On a busy machine a run may see too little, and must say so.
	if text := string(said); strings.Contains(text, "VERDICT FAIL") || strings.Contains(text, "HARNESS") || !strings.Contains(text, "VERDICT ") ||
		err != nil && !strings.Contains(text, "VERDICT INCONCLUSIVE") {
		t.Errorf("%v: %s", err, text)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "runs/_artifacts/*/*/report.html")); err == nil && len(kept) == 0 {
		all, _ := exec.CommandContext(t.Context(), "find", filepath.Join(dir, "runs")).Output()
		t.Errorf("CI keeps %v of %s", kept, all)
	}
}

// What it writes beside a wrapper is played by torture run.
func TestInitForAWrapper(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"package.json": "{}"})
	if code, said := process(t, dir, "init", "--ci", "gitlab"); code != 0 || !strings.Contains(said, "torture run torture.yaml") {
		t.Fatalf("exit %d: %s", code, said)
	}
	if _, err := exec.LookPath("node"); err != nil {
		redistest.Missing(t, err)
	}
	code, said := process(t, dir, "run", "torture.yaml", "--duration", "25s", "--seed", "7")
	if code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() {
		t.Errorf("exit %d: %s", code, said)
	}
}

// init tells language and host by what lies there, writes all or nothing, and
// overwrites nothing unasked.
func TestInitWritesOnlyWhatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		want  string // files written
		wrong string // or what is said
	}{
		{"nothing", nil, nil, "", "say --language go|"},
		{"Python", map[string]string{"pyproject.toml": "", ".gitlab-ci.yml": ""}, nil, ".gitlab/torture.yml my_lock.py torture.yaml", ""},
		{"Ruby", map[string]string{"Gemfile": ""}, nil, ".github/workflows/torture.yml my_lock.rb torture.yaml", ""},
		{"no CI", map[string]string{"go.mod": "module m\n"}, []string{"--ci", "none"}, "torture.yaml torture_test.go", ""},
		{"told", map[string]string{"go.mod": "module m\n"}, []string{"--ci=none", "--language=node"}, "my_lock.mjs torture.yaml", ""},
		{"unknown language", nil, []string{"--language=cobol"}, "", `--language "cobol": one of go, `},
		{"language without its flag", nil, []string{"python"}, "", `init python: say --language python`},
		{"a word that is none", nil, []string{"here"}, "", `init here: it takes flags alone`},
		{"unknown host", nil, []string{"--ci=jenkins"}, "", `--ci "jenkins": one of github, gitlab, none`},
		{"something there", map[string]string{"go.mod": "module m\n", "torture.yaml": "mine"}, []string{"--ci=none"}, "", "torture.yaml exists already, and nothing was written"},
		{"forced", map[string]string{"go.mod": "module m\n", "torture.yaml": "mine"}, []string{"--ci=none", "--force"}, "torture.yaml torture_test.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(repository(t, c.files))
			code, said := torture(append([]string{"init"}, c.args...)...)
			if c.wrong != "" {
				if code != 64 || !strings.Contains(said, c.wrong) {
					t.Errorf("exit %d: %s", code, said)
				}
				if there, _ := os.ReadDir("."); len(there) != len(c.files) {
					t.Errorf("written: %v", there)
				}
				return
			}
			if code != 0 {
				t.Fatalf("exit %d: %s", code, said)
			}
			for _, path := range strings.Fields(c.want) {
				text := read(t, path)
				if strings.Contains(text, "<<") || text == "mine" || !strings.Contains(said, path) {
					t.Errorf("%s, which is told of in %q: %s", path, said, text)
				}
				if strings.HasSuffix(path, "ml") {
					var any map[string]any
					if err := yaml.Load([]byte(text), &any); err != nil {
						t.Errorf("%s: %v", path, err)
					}
				}
			}
			if said := strings.Count(said, "written "); said != len(strings.Fields(c.want)) {
				t.Errorf("%d files are told of", said)
			}
		})
	}
}

// Where no go.mod reaches the folder, the first thing to do is to begin a module: go mod
// edit, tidy and test all fail without one.
func TestInitBeginsAModule(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		begun bool
	}{{nil, true}, {map[string]string{"go.mod": "module m\n"}, false}} {
		for _, verb := range [][]string{{"init", "--language=go", "--ci=none"}, {"init-wrapper", "go"}} {
			t.Run(verb[0], func(t *testing.T) {
				t.Chdir(repository(t, c.files))
				code, said := torture(verb...)
				if code != 0 || strings.Contains(said, "  go mod init mine && go mod edit -require") != c.begun || !strings.Contains(said, "go mod edit -require") {
					t.Errorf("files %v: exit %d: %s", c.files, code, said)
				}
			})
		}
	}
}

// init --force writes through no link, of a file or of a folder, and then writes nothing.
func TestInitFollowsNoLink(t *testing.T) {
	for _, c := range []struct{ link, to, wrong string }{
		{"torture.yaml", "mine", "torture.yaml is no file, but L"},
		{".github", "", "escapes"},
	} {
		t.Run(c.link, func(t *testing.T) {
			outside := repository(t, map[string]string{"mine": "mine"})
			t.Chdir(repository(t, map[string]string{"go.mod": "module m\n"}))
			if err := os.Symlink(filepath.Join(outside, c.to), c.link); err != nil {
				t.Fatal(err)
			}
			if code, said := torture("init", "--force", "--ci=github"); code != 64 || !strings.Contains(said, c.wrong) {
				t.Errorf("exit %d: %s", code, said)
			}
			there, err := os.ReadDir(outside)
			if err != nil || len(there) != 1 || read(t, filepath.Join(outside, "mine")) != "mine" {
				t.Errorf("behind the link: %v, %v", there, err)
			}
			if there, _ := os.ReadDir("."); len(there) != 2 {
				t.Errorf("written: %v", there)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
