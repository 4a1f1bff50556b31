package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl/child"
	"locktorture/workload/history/printable"
)

// starters are the wrappers that init-wrapper writes, by language.
var starters = map[string]struct{ file, text, build, command string }{
	"python": {"my_lock.py", child.RedisPy, "apt-get install python3-redis, or pip install redis", "/usr/bin/python3 my_lock.py"},
	"ruby":   {"my_lock.rb", child.RedisRb, "apt-get install ruby-redis, or gem install redis", "/usr/bin/ruby my_lock.rb"},
	"node":   {"my_lock.mjs", child.NodeRedis, "", "node my_lock.mjs"},
	"go":     {"my_lock.go", child.GoRedis, "go mod edit -require locktorture@v0.0.0 -replace locktorture=CHECKOUT && go mod tidy && go build -o my_lock my_lock.go", "./my_lock"},
}

func newInitWrapper() *cobra.Command {
	languages := slices.Sorted(maps.Keys(starters))
	return &cobra.Command{
		Use:   "init-wrapper " + strings.Join(languages, "|"),
		Short: "write a wrapper that puts a lock in another language under test, ready to run",
		Long: "init-wrapper writes a program into this folder that takes a lock as the harness asks it to, over one child process per\n" +
			"client. It works as it is, with the library that it names; replace its lock by yours. No file is overwritten.",
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
			if s.build != "" {
				fmt.Fprintf(w, "  %s\n", s.build)
			}
			fmt.Fprintf(w, "  torture run calm --lock 'exec:%s' --faults pause-client\n", s.command)
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
