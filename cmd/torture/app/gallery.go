package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/exhibit"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/cmd/torture/internal/run"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/reports"
	"locktorture/workload/history/printable"
)

// A galleryCommand is `torture gallery`, and what `torture selftest` shares
// with it.
type galleryCommand struct {
	*tool
	categories []catalogue.Category
	only       []string // ids of locks
	faults     []string
	seed       uint64
	out        string
	page       string
	jobs       int
	json       bool

	markdown bool
}

func (t *tool) newGallery() *cobra.Command {
	g := &galleryCommand{tool: t, categories: []catalogue.Category{catalogue.Recipes, catalogue.Mutants, catalogue.Libraries}}
	cmd := &cobra.Command{
		Use:   "gallery",
		Short: "put every recipe, mutant and library on trial beside the corrected lock (about 7 min on two cores)",
		Long: "gallery plays, for every recipe that people copy, every mutant of the full lock and every library, the faults\n" +
			"and the load that show its flaw, and the same against the corrected lock. A trial that does not\n" +
			"show the flaw is played again, up to twice, each time with the next seed; so is the corrected lock's. It exits with 0\n" +
			"when every flaw is found as expected and no corrected lock is accused of it; with 1 otherwise.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd, g.printTable) },
	}
	g.addFlags(cmd)
	cmd.Flags().BoolVar(&g.markdown, "markdown", false, "print the table as Markdown")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

func (g *galleryCommand) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&g.only, "lock", nil, "these locks alone (see: torture list locks)")
	cmd.Flags().StringSliceVar(&g.faults, "fault", nil, "only trials with one of these faults (see: torture list faults; none: contention alone)")
	cmd.Flags().Uint64Var(&g.seed, "seed", 1, "seed of load and faults")
	cmd.Flags().StringVar(&g.out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().StringVar(&g.page, "html", "", "the page with a witness behind every cell (default: gallery.html beside the runs)")
	cmd.Flags().IntVar(&g.jobs, "jobs", 3*runtime.NumCPU(), "runs at once; fewer where the machine turns out to be too busy to judge by time")
	cmd.Flags().BoolVar(&g.json, "json", false, "print the table as JSON")
}

// run plays every row, several at once, and prints them in their order.
func (g *galleryCommand) run(cmd *cobra.Command, print func(io.Writer, []gallery.Row) error) error {
	if err := g.check(); err != nil {
		return err
	}
	locks, err := g.chosen()
	if err != nil {
		return err
	}
	discard, err := run.PrepareOut(g.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	began := time.Now()
	rows := g.playRows(cmd, locks)
	show := exhibit.Show{Rows: rows, Seed: g.seed, Version: version, Began: began, Duration: time.Since(began)}
	if err := print(cmd.OutOrStdout(), rows); err != nil {
		return harnessError{fmt.Errorf("print gallery: %w", err)}
	}
	if err := g.writePage(cmd.ErrOrStderr(), show); err != nil {
		return harnessError{err}
	}
	switch {
	case cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case slices.ContainsFunc(rows, func(r gallery.Row) bool { return !r.AsExpected() }):
		return exitCode(1)
	}
	return nil
}

// check finds, before anything is played, what would be wrong at the end.
func (g *galleryCommand) check() error {
	if g.jobs < 1 {
		return fmt.Errorf("--jobs is %d: at least 1", g.jobs)
	}
	if folder, err := os.Stat(filepath.Dir(g.page)); err != nil || !folder.IsDir() {
		return fmt.Errorf("--html is %s: %s is no folder", g.page, filepath.Dir(g.page))
	}
	return nil
}

// writePage writes the table with its witnesses beside the runs, or where it is
// wanted.
func (g *galleryCommand) writePage(w io.Writer, s exhibit.Show) error {
	page, err := exhibit.Page(s)
	if err != nil {
		return err
	}
	path := cmp.Or(g.page, filepath.Join(g.out, "gallery.html"))
	if err := os.WriteFile(path, page, 0o644); err != nil {
		return fmt.Errorf("write gallery: %w", err)
	}
	fmt.Fprintf(w, "page  %s\n", path)
	return nil
}

// playRows plays the locks' trials. At most g.jobs runs are under way at once.
func (g *galleryCommand) playRows(cmd *cobra.Command, locks []catalogue.Lock) []gallery.Row {
	rows := make([]gallery.Row, len(locks))
	p := gallery.NewProgress(cmd.ErrOrStderr(), len(locks))
	defer p.Stop()
	slots := gallery.NewSlots(g.jobs)
	play := func(ctx context.Context, c config.Config, again bool) (*reports.Run, error) {
		if err := slots.Acquire(ctx, again); err != nil {
			return nil, err
		}
		defer slots.Release()
		c.Out = g.out
		return g.play(ctx, c, nil)
	}
	var all sync.WaitGroup
	for i, l := range locks {
		all.Go(func() {
			rows[i] = gallery.NewRow(l, gallery.Trials, g.seed)
			if rows[i].Outcome == "" {
				p.Begin(l.ID)
				rows[i].Play(cmd.Context(), gallery.Trials[l.ID], g.seed, play)
			}
			p.Row(rows[i])
		})
	}
	all.Wait()
	return rows
}

// chosen returns the locks asked for, category by category.
func (g *galleryCommand) chosen() ([]catalogue.Lock, error) {
	var all []catalogue.Lock
	var ids []string
	for _, category := range g.categories {
		for _, l := range g.locks.In(category) {
			all, ids = append(all, l), append(ids, l.ID)
		}
	}
	for _, id := range g.only {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("--lock: lock %q has no trial%s: one of %s", id, config.DidYouMean(id, ids), strings.Join(ids, ", "))
		}
	}
	known := append(slices.Collect(maps.Keys(faultcatalogue.All())), "none")
	for _, f := range g.faults {
		if !slices.Contains(known, f) {
			return nil, fmt.Errorf("--fault: fault %q does not exist%s (torture list faults)", f, config.DidYouMean(f, known))
		}
	}
	all = slices.DeleteFunc(all, func(l catalogue.Lock) bool {
		return len(g.only) > 0 && !slices.Contains(g.only, l.ID) || len(g.faults) > 0 && !g.suffers(l)
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("no trial of --lock %s uses --fault %s", cmp.Or(strings.Join(g.only, ","), "any"), strings.Join(g.faults, ","))
	}
	return all, nil
}

// suffers says whether l's trial uses one of the faults of --fault.
func (g *galleryCommand) suffers(l catalogue.Lock) bool {
	return slices.ContainsFunc(gallery.Trials[l.ID].FaultNames(), func(f string) bool { return slices.Contains(g.faults, f) })
}

func (g *galleryCommand) printTable(w io.Writer, rows []gallery.Row) error {
	switch {
	case g.json:
		return printJSON(w, rows)
	case g.markdown:
		return gallery.Markdown(w, printable.Of(rows))
	}
	return gallery.Table(w, printable.Of(rows))
}

// printJSON prints v, indented, in printable characters alone.
func printJSON(w io.Writer, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(printable.JSON(raw), '\n'))
	return err
}
