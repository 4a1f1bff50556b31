package stats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"locktorture/workload/history/printable"
)

// TargetText puts a nemesis event's target into words: a JSON text as it is,
// an object of clients, nodes and a direction as "c03→n2". They are fit to print.
func TargetText(raw json.RawMessage) string { return printable.Line(targetText(raw)) }

func targetText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil {
		return string(raw)
	}
	return objectText(object)
}

// TargetNames lists every name that a target holds under the given fields
// (clients, client, nodes, node, …).
func TargetNames(raw json.RawMessage, fields ...string) []string {
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	var names []string
	for _, field := range fields {
		names = append(names, values(object[field])...)
	}
	return names
}

func objectText(object map[string]any) string {
	take := func(fields ...string) []string {
		var found []string
		for _, field := range fields {
			found = append(found, values(object[field])...)
			delete(object, field)
		}
		return found
	}
	clients, nodes := several(take("client", "clients"), "clients"), several(take("node", "nodes"), "nodes")
	direction := strings.Join(take("direction"), "")
	var words []string
	switch {
	case clients != "" && nodes != "":
		words = append(words, clients+arrow(direction)+nodes)
	case clients+nodes != "":
		words = append(words, clients+nodes)
	}
	if key := strings.Join(take("key"), ","); key != "" {
		words = append(words, "("+key+")")
	}
	rest := make([]string, 0, len(object))
	for field, value := range object {
		if v := strings.Join(values(value), ","); v != "" {
			rest = append(rest, field+" "+v)
		}
	}
	slices.Sort(rest)
	return strings.Join(append(words, rest...), " ")
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

func values(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, values(one)...)
		}
		return all
	default:
		return []string{fmt.Sprint(v)}
	}
}
