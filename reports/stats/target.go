package stats

import (
	"fmt"
	"strings"

	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// TargetText puts whom a fault hits into words that are fit to print: clients,
// nodes and a direction as "c03→n2", a name as it is. Of an object that has
// none of these the fields are listed.
func TargetText(t *history.Target) string { return printable.Line(targetText(t)) }

func targetText(t *history.Target) string {
	if t == nil {
		return ""
	}
	if name := t.Name(); name != "" {
		return name
	}
	clients, nodes := several(t.Clients, "clients"), several(t.Nodes, "nodes")
	var words []string
	switch {
	case clients != "" && nodes != "":
		words = append(words, clients+arrow(t.Direction)+nodes)
	case clients+nodes != "":
		words = append(words, clients+nodes)
	}
	if t.Key != "" {
		words = append(words, "("+t.Key+")")
	}
	if len(words) == 0 {
		return t.Plain()
	}
	return strings.Join(words, " ")
}

// several lists names, or counts them where the list would be long.
func several(names []string, what string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%d %s", len(names), what)
	}
	return strings.Join(names, ",")
}

func arrow(direction string) string {
	switch strings.ToLower(direction) {
	case "up", "upstream", "request":
		return "→"
	case "down", "downstream", "response", "reply":
		return "←"
	default:
		return "↔"
	}
}
