package app

import (
	"io"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
)

// newSelftest is `torture selftest`: the gate for the harness itself.
func (t *tool) newSelftest() *cobra.Command {
	g := &galleryCommand{tool: t, categories: []catalogue.Category{catalogue.Recipes, catalogue.Mutants}}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "check that this harness catches every known flaw and accuses no correct lock",
		Long: "selftest plays every recipe and every mutant of the full lock under the faults that show its flaw, and the\n" +
			"same against the corrected lock, and says how many operations it took to catch each. It exits with 1 when\n" +
			"a flaw survives or a correct lock is accused.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd, g.printDetections) },
	}
	g.addFlags(cmd)
	return cmd
}

func (g *galleryCommand) printDetections(w io.Writer, rows []gallery.Row) error {
	found := gallery.Detect(rows)
	if g.json {
		return printJSON(w, found)
	}
	return found.Print(w)
}
