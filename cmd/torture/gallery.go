package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/scenario"
	"locktorture/lockimpl/gallery"
	"locktorture/reports"
)

// A galleryCommand is `torture gallery`.
type galleryCommand struct {
	locks []string
	seed  uint64
	out   string
	json  bool
}

func newGallery() *cobra.Command {
	g := &galleryCommand{}
	cmd := &cobra.Command{
		Use:   "gallery",
		Short: "put every copied recipe on trial beside the lock that does without its flaw (about 4 min)",
		Long: "gallery plays, for every recipe, the faults and the load that show its flaw, and the same against the\n" +
			"lock that corrects it. It exits with 0 when every flaw is found, no corrected lock is accused of it, and\n" +
			"nothing is left untried; with 1 otherwise.",
		Args: cobra.NoArgs,
		RunE: g.run,
	}
	cmd.Flags().StringSliceVar(&g.locks, "lock", nil, "these recipes alone (see: torture list locks)")
	cmd.Flags().Uint64Var(&g.seed, "seed", 1, "seed of load and faults")
	cmd.Flags().StringVar(&g.out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().BoolVar(&g.json, "json", false, "print the table as JSON")
	return cmd
}

func (g *galleryCommand) run(cmd *cobra.Command, _ []string) error {
	recipes, err := g.chosen()
	if err != nil {
		return err
	}
	rows := make([]scenario.GalleryRow, 0, len(recipes))
	for _, r := range recipes {
		row := scenario.NewGalleryRow(r, scenario.Trials, g.seed)
		if row.Outcome == "" {
			row.Exhibit(cmd.Context(), scenario.Trials[r.ID], g.seed, g.play)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", row.Lock, row.Outcome)
		rows = append(rows, row)
	}
	if err := g.print(cmd.OutOrStdout(), rows); err != nil {
		return harnessError{fmt.Errorf("print gallery: %w", err)}
	}
	switch {
	case cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case slices.ContainsFunc(rows, func(r scenario.GalleryRow) bool { return !r.Complete() }):
		return exitCode(1)
	}
	return nil
}

// chosen returns the recipes asked for, in the gallery's own order.
func (g *galleryCommand) chosen() ([]gallery.Recipe, error) {
	all := gallery.Recipes()
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	for _, id := range g.locks {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("recipe %q does not exist%s: one of %s", id, config.DidYouMean(id, ids), strings.Join(ids, ", "))
		}
	}
	return slices.DeleteFunc(all, func(r gallery.Recipe) bool {
		return len(g.locks) > 0 && !slices.Contains(g.locks, r.ID)
	}), nil
}

func (g *galleryCommand) play(ctx context.Context, c config.Config) (*reports.Run, error) {
	c.Out = g.out
	return scenario.Run(ctx, c, scenario.Options{Version: version, Commit: revision(), Argv: os.Args})
}

func (g *galleryCommand) print(w io.Writer, rows []scenario.GalleryRow) error {
	if g.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	return galleryTable(w, rows)
}

// galleryTable prints one line per row, and below it what a line has no room
// for.
func galleryTable(w io.Writer, rows []scenario.GalleryRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tFAULTS\tEXPECTED\tFOUND\tTWIN\tFOUND IN TWIN\tOUTCOME")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Lock, faultNames(r.Faults), list(r.Expected), list(r.Found), r.Twin, list(r.Accused), r.Outcome)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n%s\n", r.Lock)
		if r.Why != "" {
			fmt.Fprintf(w, "  %s: %s\n", r.Outcome, r.Why)
		}
		for _, id := range slices.Sorted(maps.Keys(r.Untried)) {
			fmt.Fprintf(w, "  not tried: %s: %s\n", id, r.Untried[id])
		}
		if r.Command != "" {
			fmt.Fprintf(w, "  %s\n", r.Command)
		}
	}
	return nil
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "–"
	}
	return strings.Join(ids, " ")
}

// faultNames is the faults without how they are aimed.
func faultNames(faults string) string {
	var names []string
	for part := range strings.SplitSeq(faults, ",") {
		name, rest, _ := strings.Cut(part, ":")
		if name == "kill" {
			variant, _, _ := strings.Cut(rest, ":")
			name += ":" + variant
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
