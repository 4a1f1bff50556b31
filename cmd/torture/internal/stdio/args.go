package stdio

import (
	"os"
	"strings"
)

// Args returns this process's arguments, without its name, and hides from then on
// in os.Args, and where it can from the list of processes, what hide hides.
func Args(hide func(string) string) []string {
	given := make([]string, 0, len(os.Args))
	for i, arg := range os.Args {
		given = append(given, strings.Clone(arg))
		if shown := hide(given[i]); shown != given[i] {
			overwrite(arg, shown)
			os.Args[i] = shown
		}
	}
	return given[1:]
}
