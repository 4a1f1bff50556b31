package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locktorture/faults/catalogue"
	"locktorture/faults/testbed"
)

// faultTable is the README's table of faults and testbeds, in Markdown.
func faultTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| fault | %s |\n", strings.Join(testbed.Kinds, " | "))
	fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---|", len(testbed.Kinds)))
	known := catalogue.All()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, kind := range testbed.Kinds {
			mark := "yes"
			if catalogue.Support(known[name], kind) != nil {
				mark = "–"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
