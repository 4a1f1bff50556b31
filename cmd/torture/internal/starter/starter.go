// Package starter writes what a repository needs to keep its lock under torture: a
// scenario, a job for its CI, and a test in Go or a wrapper around a lock in another
// language.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

// A Language is one in which locks are written that the harness can play.
type Language struct {
	Name    string
	Wrapper string // the wrapper's file; empty for Go, whose lock is played from go test
	Text    string // of the wrapper
	Needs   string // the shell command that installs what it needs: of apt-get, which is for root, first
	Command string // that runs it
}

// Hosts are those whose CI a job can be written for.
var Hosts = []string{"github", "gitlab", "none"}

// A Wish is what is to be written. What is empty is chosen by what lies in the
// folder.
type Wish struct {
	Dir      string
	Language string
	Host     string // one of Hosts
	Force    bool   // overwrite what is there
}

// A Plan is what Write will write, and what is to be done afterwards.
type Plan struct {
	Language Language
	Host     string
	Package  string // of the Go files in the folder
	files    []file
}

type file struct{ path, text string }

//go:embed templates
var templates embed.FS

// ScenarioFile, TestFile and the files of CI are what is written, beside a wrapper.
const (
	ScenarioFile = "torture.yaml"
	TestFile     = "torture_test.go"
	GitHubFile   = ".github/workflows/torture.yml"
	GitLabFile   = ".gitlab/torture.yml"
)

// Prepare says what would be written for a wish, given wrappers in the languages
// other than Go. Nothing is written yet.
func Prepare(w Wish, wrappers []Language) (*Plan, error) {
	p := &Plan{Host: w.Host}
	var err error
	if p.Language, err = chooseLanguage(w, wrappers); err != nil {
		return nil, err
	}
	if p.Host == "" {
		p.Host = hostOf(w.Dir)
	}
	if p.Package, err = packageIn(w.Dir); err != nil {
		return nil, err
	}
	if err := p.add(ScenarioFile, "torture.yaml"); err != nil {
		return nil, err
	}
	if p.Language.Wrapper == "" {
		err = p.add(TestFile, "torture_test.go.txt")
	} else {
		p.files = append(p.files, file{p.Language.Wrapper, p.Language.Text})
	}
	switch p.Host {
	case "github":
		err = errors.Join(err, p.add(GitHubFile, "github.yml"))
	case "gitlab":
		err = errors.Join(err, p.add(GitLabFile, "gitlab.yml"))
	}
	return p, err
}

func (p *Plan) add(path, name string) error {
	t, err := template.New(name).Delims("<<", ">>").ParseFS(templates, "templates/"+name)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, p); err != nil {
		return err
	}
	p.files = append(p.files, file{path, text.String()})
	return nil
}

// Files are the paths that will be written, below the folder.
func (p *Plan) Files() (all []string) {
	for _, f := range p.files {
		all = append(all, f.path)
	}
	return all
}

// Write writes every file, or none where one is there and may not be overwritten. It
// follows no link: what lies behind one is not this folder's.
func (p *Plan) Write(w Wish) error {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var there []string
	for _, f := range p.files {
		info, err := root.Lstat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no file, but %s, and nothing was written: move it away", f.path, info.Mode())
		}
		there = append(there, f.path)
	}
	if len(there) > 0 && !w.Force {
		return fmt.Errorf("%s exists already, and nothing was written: move it away, or overwrite it with --force", strings.Join(there, ", "))
	}
	for _, f := range p.files {
		if err := root.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goLanguage needs no wrapper.
var goLanguage = Language{Name: "go"}

// signs are the files by which a folder shows its language.
var signs = map[string][]string{
	"go":     {"go.mod"},
	"node":   {"package.json"},
	"ruby":   {"Gemfile"},
	"python": {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"},
	"java":   {"pom.xml", "build.gradle", "build.gradle.kts"},
}

// chooseLanguage takes the one that was asked for, or else the first one that the
// folder shows.
func chooseLanguage(w Wish, wrappers []Language) (Language, error) {
	all := append([]Language{goLanguage}, wrappers...)
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
		if l.Name == w.Language {
			return l, nil
		}
	}
	if w.Language != "" {
		return Language{}, fmt.Errorf("--language %q: one of %s", w.Language, strings.Join(names, ", "))
	}
	for _, l := range all {
		if slices.ContainsFunc(signs[l.Name], func(sign string) bool { return exists(filepath.Join(w.Dir, sign)) }) {
			return l, nil
		}
	}
	return Language{}, fmt.Errorf("nothing here tells the lock's language (a go.mod, package.json, Gemfile, pyproject.toml or pom.xml would): say --language %s", strings.Join(names, "|"))
}

// hostOf tells by what lies in the folder, or the address of its origin, whose CI
// is used there.
func hostOf(dir string) string {
	if exists(filepath.Join(dir, ".gitlab-ci.yml")) || exists(filepath.Join(dir, ".gitlab")) {
		return "gitlab"
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err == nil && strings.Contains(string(config), "gitlab") && !exists(filepath.Join(dir, ".github")) {
		return "gitlab"
	}
	return "github"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packageIn names the package of the Go files in dir, or one after the folder where
// there are none.
func packageIn(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
		if err == nil {
			return f.Name.Name, nil
		}
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, filepath.Base(whole))
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = "lock" + name
	}
	return name, nil
}
