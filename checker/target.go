package checker

import (
	"encoding/json"
	"fmt"
	"strings"
)

// listed is how many names of a target are spelt out.
const listed = 3

// targetWords says in words whom a fault hit: of an object its clients, nodes
// and key, of anything else the text itself.
func targetWords(raw string) string {
	var hit struct {
		Clients, Nodes []any
		Key            string
	}
	if err := json.Unmarshal([]byte(raw), &hit); err != nil {
		return strings.Trim(raw, `"`)
	}
	var words []string
	if w := spell(hit.Clients, "clients"); w != "" {
		words = append(words, w)
	}
	if w := spell(hit.Nodes, "nodes"); w != "" {
		words = append(words, w)
	}
	if hit.Key != "" {
		words = append(words, "key "+hit.Key)
	}
	if len(words) == 0 {
		return raw
	}
	return strings.Join(words, " / ")
}

// spell spells out a few names, and counts more.
func spell(all []any, what string) string {
	if len(all) > listed {
		return fmt.Sprintf("%d %s", len(all), what)
	}
	words := make([]string, len(all))
	for i, name := range all {
		words[i] = fmt.Sprint(name)
	}
	return strings.Join(words, ", ")
}
