package story

import (
	"cmp"
	"fmt"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// steps numbers the events of a story and puts them into words.
func steps(events []history.Event) []Step {
	var out []Step
	for _, e := range events {
		who, text := Sentence(e)
		_, onNode := place(e)
		out = append(out, Step{
			N: len(out) + 1, Time: e.Time, Who: who, Text: text, Index: e.Index,
			Writes: e.Op == history.Write && e.Kind != history.Invoke, Node: onNode,
		})
	}
	return out
}

// place says where an event happened, and whether that is a node.
func place(e history.Event) (who string, node bool) {
	switch e.Op {
	case history.Fault, history.Heal:
		if nodes := stats.TargetNames(e.Target, "node", "nodes"); len(nodes) == 1 && len(stats.TargetNames(e.Target, "client", "clients")) == 0 {
			return nodes[0], true
		}
		return cmp.Or(stats.TargetText(e.Target), "nemesis"), false
	case history.Key:
		return cmp.Or(e.Node, "node"), true
	case history.Audit:
		return "store", false
	case history.Phase, history.Receipt:
		return "harness", false
	default:
		return cmp.Or(e.Owner, fmt.Sprintf("process %d", e.Process)), false
	}
}

// Sentence puts an event into words: who, and what happened.
func Sentence(e history.Event) (who, text string) {
	who, _ = place(e)
	switch e.Op {
	case history.Fault, history.Heal:
		return who, nemesis(e)
	case history.Key:
		return who, sighting(e)
	case history.Audit:
		return who, "log: " + e.Owner + " wrote " + e.Key + token(e) + " → " + verdictOf(e) + sequence(e)
	case history.Lost:
		return who, "is told that its lease of " + e.Key + " is lost"
	case history.Phase:
		return who, e.Value + " phase"
	case history.Receipt:
		return who, fmt.Sprintf("the link says of operation %d: %s", e.Of, e.Value)
	case history.Write:
		return who, write(e)
	}
	words := e.Op.String() + " " + e.Key
	switch e.Kind {
	case history.Invoke:
		return who, words + " begins"
	case history.OK:
		return who, words + " → ok" + token(e) + validity(e)
	case history.Fail:
		return who, words + " → refused" + reason(e)
	default:
		return who, words + " → unknown outcome" + reason(e)
	}
}

func nemesis(e history.Event) string {
	text := e.Fault
	if e.Op == history.Heal {
		text += " healed"
	}
	switch e.Kind {
	case history.Invoke:
		text += " begins"
	case history.Fail:
		text += " did nothing"
	case history.Info:
		text += ", no receipt"
	}
	if e.Receipt != "" {
		text += " (receipt: " + e.Receipt + ")"
	}
	return text + reason(e)
}

func sighting(e history.Event) string {
	if e.Kind != history.OK {
		return "could not be looked at" + reason(e)
	}
	if e.Holder == "" || e.HasAll(history.HasPTTL) && e.PTTL == -2 {
		return "stores nothing under " + e.Key
	}
	text := "stores " + e.Key + " for " + e.Holder
	if e.HasAll(history.HasPTTL) && e.PTTL >= 0 {
		text += ", " + unit.Count(e.PTTL) + " ms left"
	}
	return text
}

func write(e history.Event) string {
	text := "write " + e.Key + token(e)
	if e.Kind == history.Invoke {
		return text + " begins"
	}
	return text + " → " + verdictOf(e) + sequence(e)
}

func verdictOf(e history.Event) string {
	switch {
	case e.Kind == history.OK:
		return "accepted"
	case e.Kind == history.Fail && e.HasAll(history.HasSeq):
		return "rejected by the fence"
	case e.Kind == history.Fail:
		return "not done" + reason(e)
	default:
		return "unknown outcome" + reason(e)
	}
}

func token(e history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", token %d", e.Fence)
}

func validity(e history.Event) string {
	if !e.HasAll(history.HasValidUntil) {
		return ""
	}
	return ", valid until " + unit.Seconds(e.ValidUntil)
}

func sequence(e history.Event) string {
	if !e.HasAll(history.HasSeq) {
		return ""
	}
	return fmt.Sprintf(" (seq %d)", e.Seq)
}

func reason(e history.Event) string {
	if e.Err == "" {
		return ""
	}
	return ": " + e.Err
}
