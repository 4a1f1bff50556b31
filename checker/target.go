package checker

import (
	"fmt"
	"strings"

	"locktorture/workload/history"
)

// listed is how many names of a target are spelt out.
const listed = 3

// targetWords says in words whom a fault hit: its clients, nodes and key, or what
// the history says where it names none of these.
func targetWords(t *history.Target) string {
	if name := t.Name(); t == nil || name != "" {
		return name
	}
	var words []string
	if w := spell(t.Clients, "clients"); w != "" {
		words = append(words, w)
	}
	if w := spell(t.Nodes, "nodes"); w != "" {
		words = append(words, w)
	}
	if t.Key != "" {
		words = append(words, "key "+t.Key)
	}
	if len(words) == 0 {
		return t.String()
	}
	return strings.Join(words, " / ")
}

// spell spells out a few names, and counts more.
func spell(all []string, what string) string {
	if len(all) > listed {
		return fmt.Sprintf("%d %s", len(all), what)
	}
	return strings.Join(all, ", ")
}
