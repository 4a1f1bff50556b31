package capacity

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"locktorture/reports/internal/files"
	"locktorture/reports/plots"
	"locktorture/reports/unit"
)

//go:embed compare.html
var compareText string

var compareTemplate = template.Must(template.New("compare").Parse(compareText))

// Text writes the comparison for a terminal.
func (c Comparison) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", c.Before.File, c.After.File)
	for _, line := range c.Cautions {
		fmt.Fprintf(&out, "  %s\n", line)
	}
	for _, d := range c.Figures {
		fmt.Fprintf(&out, "  %-13s%s\n", d.Name, d.words())
	}
	for _, line := range append(slices.Clone(c.Failed), c.Unknown...) {
		fmt.Fprintf(&out, "--fail-if: %s\n", line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (d Difference) words() string {
	switch {
	case d.Change == "" && d.Before == d.After:
		return "both " + d.Before
	case d.Change == "":
		return d.Before + "; " + d.After
	}
	return fmt.Sprintf("%s → %s: %s, %s", d.Before, d.After, d.Change, d.Note)
}

// Page writes one HTML file that needs neither network nor script.
func (c Comparison) Page(w io.Writer) error {
	v := struct {
		Comparison
		Style    template.CSS
		Headline string
		Drawn    *drawn
	}{Comparison: c, Style: template.CSS(pageStyle), Headline: c.headline()}
	if f := c.figure(); f != nil {
		d, err := draw(f)
		if err != nil {
			return err
		}
		v.Drawn = &d
	}
	return files.Page(w, compareTemplate, v)
}

// headline says what came out, in a sentence.
func (c Comparison) headline() string {
	known, apart := 0, []string{}
	for _, d := range c.Figures {
		if d.Change == "" {
			continue
		}
		if known++; d.apart {
			apart = append(apart, d.Name+" "+d.Change)
		}
	}
	switch {
	case len(c.Failed) > 0:
		return "Too much has changed: " + strings.Join(c.Failed, "; ")
	case len(c.Unknown) > 0:
		return "Not known whether too much has changed: " + strings.Join(c.Unknown, "; ")
	case known == 0:
		return "Nothing to compare: no figure is known of both"
	case len(apart) > 0:
		return fmt.Sprintf("The two differ by more than their intervals in %d of %s: %s", len(apart), unit.Counted(known, "figure"), strings.Join(apart, ", "))
	}
	return fmt.Sprintf("No difference is shown: the intervals overlap in %d of %s", known, unit.Counted(known, "figure"))
}

// figure draws by how much every figure changed; nil where none is known of both.
func (c Comparison) figure() *plots.Figure {
	var all []plots.Change
	for _, d := range c.Figures {
		if d.Change != "" {
			all = append(all, d.change)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return plots.Changes("compare", "The second measurement against the first",
		"Difference of every figure that both have; whiskers: as far apart as the two intervals allow. A whisker that crosses 0 shows no difference.", all)
}
