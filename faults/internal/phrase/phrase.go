// Package phrase words what faults say of themselves in receipts, notes and
// refusals.
package phrase

import (
	"fmt"
	"strings"
	"time"
)

// Names returns the names of all, in their order.
func Names[T interface{ Name() string }](all []T) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = x.Name()
	}
	return out
}

// Few prints names with a comma between, cut short when there are more than
// four: "n1 … n7 (7)".
func Few(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s … %s (%d)", names[0], names[len(names)-1], len(names))
	}
	return strings.Join(names, ",")
}

// Round leaves of d what a person reads: hundredths of a second, or below a
// tenth of a second hundredths of a millisecond.
func Round(d time.Duration) time.Duration {
	if d > 100*time.Millisecond {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

// Join puts "; " between those of parts that are not empty.
func Join(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}
