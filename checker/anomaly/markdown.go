package anomaly

import (
	"fmt"
	"strings"
)

// Markdown is the catalogue as a table in Markdown.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| id | name | property | what it means |\n|---|---|---|---|\n")
	for _, a := range table {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", a.ID, a.Name, a.Property, a.Meaning)
	}
	return b.String()
}
