package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/starter"
	"locktorture/lockimpl/child"
	"locktorture/workload/history/printable"
)

// starters are the wrappers that init-wrapper writes, by language or library.
var starters = map[string]struct{ file, text, build, command string }{
	"python":  {"my_lock.py", child.RedisPy, "apt-get install python3-redis, or pip install redis", "/usr/bin/python3 my_lock.py"},
	"asyncio": {"my_lock.py", child.RedisAsyncio, "apt-get install python3-redis, or pip install redis", "/usr/bin/python3 my_lock.py"},
	"ruby":    {"my_lock.rb", child.RedisRb, "apt-get install ruby-redis, or gem install redis", "/usr/bin/ruby my_lock.rb"},
	"node":    {"my_lock.mjs", child.NodeRedis, "apt-get install nodejs", "node my_lock.mjs"},
	"ioredis": {"my_lock.mjs", child.RedlockIORedis, "apt-get install nodejs npm && npm install ioredis redlock@5.0.0-beta.2", "node my_lock.mjs"},
	"java":    {"MyLock.java", child.Redisson, "apt-get install default-jdk-headless maven && mvn dependency:copy -Dartifact=org.redisson:redisson-all:4.3.0 -DoutputDirectory=.", "java -cp redisson-all-4.3.0.jar MyLock.java"},
	"go":      {"my_lock.go", child.GoRedis, requireUs + "CHECKOUT && go mod tidy && go build -o my_lock my_lock.go", "./my_lock"},
}

// requireUs, and the path of a copy of this module, have a module find it.
const requireUs = "go mod edit -require locktorture@v0.0.0 -replace locktorture="

// beginModule begins the module that a Go file in the current folder needs, where neither
// the folder nor one above it has one.
func beginModule() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return ""
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return "go mod init mine && "
}

// wrapperLanguages are the starters that init writes, whose needs one shell command
// installs.
func wrapperLanguages() (all []starter.Language) {
	for _, name := range slices.Sorted(maps.Keys(starters)) {
		s := starters[name]
		if name != "go" {
			install, _, _ := strings.Cut(s.build, ", or ")
			install = strings.Replace(install, "apt-get install", "apt-get install -y", 1)
			all = append(all, starter.Language{Name: name, Wrapper: s.file, Text: s.text, Needs: install, Command: s.command})
		}
	}
	return all
}

func newInit() *cobra.Command {
	w := starter.Wish{Dir: "."}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "write what this repository needs to keep its lock under torture: scenario, CI job, and a go test or a wrapper",
		Long: "init writes into this folder a commented scenario (" + starter.ScenarioFile + "), a job for GitHub or GitLab, and " + starter.TestFile + " where there is a\n" +
			"go.mod, or else a wrapper in the lock's language. All of it works as it is, with a lock in it to be replaced by yours.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if _, is := starters[args[0]]; is {
				return fmt.Errorf("init %s: say --language %[1]s", args[0])
			}
			return fmt.Errorf("init %s: it takes flags alone, and writes into this folder", printable.Line(args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if w.Host != "" && !slices.Contains(starter.Hosts, w.Host) {
				return fmt.Errorf("--ci %q: one of %s", w.Host, strings.Join(starter.Hosts, ", "))
			}
			p, err := starter.Prepare(w, wrapperLanguages())
			if err != nil {
				return fmt.Errorf("init: %w", err)
			}
			if err := p.Write(w); err != nil {
				return fmt.Errorf("init: %w", err)
			}
			printNextSteps(cmd.OutOrStdout(), p)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.Language, "language", "", "the lock's: "+strings.Join(slices.Sorted(maps.Keys(starters)), ", ")+"; told by what lies in this folder when left out")
	f.StringVar(&w.Host, "ci", "", "github, gitlab or none; by default chosen by the files in this folder")
	f.BoolVar(&w.Force, "force", false, "overwrite what is there")
	return cmd
}

// printNextSteps lists the files that were written and what to do next with them.
func printNextSteps(w io.Writer, p *starter.Plan) {
	for _, path := range p.Files() {
		fmt.Fprintln(w, "written  ", path)
	}
	fmt.Fprintln(w, "\nnext:")
	if p.Language.Wrapper == "" {
		fmt.Fprintln(w, "  "+beginModule()+requireUs+"PATH    # PATH: your copy of locktorture\n"+
			"  go mod tidy\n"+
			"  go test -run UnderTorture -v .    # plays "+starter.ScenarioFile+" against the lock in "+starter.TestFile+", for a minute\n"+
			"Then put your lock in its place (TODO in "+starter.TestFile+"), and play it again.")
	} else {
		fmt.Fprintf(w, "  sudo %s\n  torture run %s    # plays it against the lock in %s, for a minute\n"+
			"Then put your lock in its place: what acquires, extends and releases in %s.\n", p.Language.Needs, starter.ScenarioFile, p.Language.Wrapper, p.Language.Wrapper)
	}
	switch p.Host {
	case "github":
		fmt.Fprintln(w, "In CI: set the repository's variable LOCKTORTURE to where your copy is (Settings, Actions, Variables).")
	case "gitlab":
		fmt.Fprintf(w, "In CI: include %s in .gitlab-ci.yml as it says itself, and set the project's variable LOCKTORTURE to where your copy is.\n", starter.GitLabFile)
	}
	fmt.Fprintln(w, "What a finding means: torture check latest --explain M-1 (with what the verdict names), and torture list anomalies.")
}

func newInitWrapper() *cobra.Command {
	languages := slices.Sorted(maps.Keys(starters))
	return &cobra.Command{
		Use:   "init-wrapper " + strings.Join(languages, "|"),
		Short: "write a wrapper that puts a lock in another language under test, ready to run",
		Long: "init-wrapper writes a program into this folder that acquires, extends and releases a lock as the harness asks; the harness starts\n" +
			"it once per client. It works as it is, with the library that it names; replace its lock by yours. No file is overwritten.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, known := starters[args[0]]
			if !known {
				return fmt.Errorf("init-wrapper %s: there is none%s: %s; the protocol is in lockimpl/child/README.md", printable.Line(args[0]), config.DidYouMean(args[0], languages), strings.Join(languages, ", "))
			}
			if err := writeNew(s.file, s.text); err != nil {
				return fmt.Errorf("init-wrapper %s: %w", args[0], err)
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s is written. Next:\n", s.file)
			build := s.build
			if args[0] == "go" {
				build = beginModule() + build
			}
			fmt.Fprintf(w, "  %s\n  torture run calm --lock 'exec:%s' --faults pause-client --accept S3,S3z\n", build, s.command)
			fmt.Fprintln(w, "A lock without fencing tokens cannot stop the late write of a client that was paused (S3, S3z): that is accepted, and counted. Leave --accept out for one that gives them.")
			fmt.Fprintln(w, "Then put your lock in the place of the one in it: what acquires, extends and releases.")
			return nil
		},
	}
}

// writeNew writes a file that does not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: move it away, or go to another folder", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
