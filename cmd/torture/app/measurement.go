package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locktorture/cmd/torture/internal/run"
	"locktorture/workload/history/printable"
)

// A measurement is what bench, capacity and envelope have in common: a report of type
// T, which is written into a directory of its own and printed in one of some formats.
type measurement[T any] struct {
	name    string // first word of the directory
	page    string // file in it that people read; empty: the directory
	formats []format[T]
	write   func(r *T, dir string) error

	seed   uint64
	out    string
	format string
	quiet  bool
}

// A format is a way to print a report.
type format[T any] struct {
	name  string
	print func(*T, io.Writer) error
}

// addFlags adds what all of them ask; seedOf is what the seed decides.
func (m *measurement[T]) addFlags(f *pflag.FlagSet, seedOf string) {
	f.Uint64Var(&m.seed, "seed", 0, "seed of "+seedOf+"; 0: a random one")
	f.StringVar(&m.format, "format", m.formats[0].name, "what to print: "+m.formatNames())
	f.BoolVar(&m.quiet, "quiet", false, "no progress")
	f.StringVar(&m.out, "out", runsFolder, "folder in which a directory with the results is made")
}

func (m *measurement[T]) formatNames() string {
	var names []string
	for _, f := range m.formats {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (m *measurement[T]) printer() (func(*T, io.Writer) error, error) {
	for _, f := range m.formats {
		if f.name == m.format {
			return f.print, nil
		}
	}
	return nil, fmt.Errorf("--format %q: want %s", m.format, m.formatNames())
}

// run has one measure, with the seed, the directory for its results and somebody to
// tell how it goes, and writes and prints its report: also of an interrupted measurement,
// as far as it came, and of one with which something else was wrong in the end. What
// cannot work validate says, before anything is made.
func (m *measurement[T]) run(cmd *cobra.Command, validate func() error, one func(ctx context.Context, dir string, say func(line string)) (*T, error)) (*T, error) {
	print, err := m.printer()
	if err != nil {
		return nil, err
	}
	if m.seed == 0 {
		m.seed = drawSeed()
	}
	if err := validate(); err != nil {
		return nil, err
	}
	discard, err := run.PrepareOut(m.out)
	if err != nil {
		return nil, startError(cmd.Context(), err)
	}
	defer discard()
	dir := resultsDir(m.out, m.name, m.seed)
	r, err := one(cmd.Context(), dir, func(line string) {
		if !m.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	interrupted := cmd.Context().Err() != nil
	switch {
	case r == nil && interrupted:
		return nil, exitCode(exitInterrupted)
	case r == nil:
		return nil, err
	}
	*r = printable.Of(*r)
	if err := m.write(r, dir); err != nil {
		return nil, harnessError{err}
	}
	show := func(w io.Writer) error { return print(r, w) }
	if m.format == m.formats[0].name { // what people read
		text := show
		show = func(w io.Writer) error { return folded(w, text) }
	}
	if err := show(cmd.OutOrStdout()); err != nil {
		return nil, harnessError{fmt.Errorf("print %s: %w", m.name, err)}
	}
	if m.page == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "results", dir)
	} else {
		fmt.Fprintln(cmd.ErrOrStderr(), "report", filepath.Join(dir, m.page))
	}
	if err == nil && interrupted {
		err = exitCode(exitInconclusive)
	}
	return r, err
}
