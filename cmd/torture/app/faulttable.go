package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

// faultTable is the README's table of faults and testbeds, in Markdown.
func faultTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| fault | %s |\n", strings.Join(testbed.Kinds, " | "))
	fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---|", len(testbed.Kinds)))
	known := faults.Catalogue()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, kind := range testbed.Kinds {
			mark := "yes"
			if faults.Support(known[name], kind) != nil {
				mark = "–"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
