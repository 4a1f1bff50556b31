package story

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// steps numbers the events of a story and puts them into words. What is known
// of a fault stands with its start.
func steps(events []history.Event, faults []Fault) []Step {
	var out []Step
	for _, e := range events {
		who, text := Sentence(e)
		client, node := place(e)
		for _, f := range faults {
			if e.Op == history.Fault && f.Name == e.Fault && f.From == e.Time {
				text = inForce(f)
			}
		}
		out = append(out, Step{
			N: len(out) + 1, Time: e.Time, Who: who, Text: text, Index: e.Index,
			Writes: e.Op == history.Write && e.Kind != history.Invoke, Client: client, Node: node,
		})
	}
	return out
}

// maxReceipt is how much of a fault's receipts a step shows, in bytes.
const maxReceipt = 140

func inForce(f Fault) string {
	text := f.Name
	if f.To > f.From {
		text += " until " + unit.Seconds(f.To)
	}
	receipt := history.Cut(strings.Join(f.Receipts, "; "), maxReceipt, "…")
	if receipt != "" {
		text += " (" + receipt + ")"
	}
	return text
}

// place says at which client or node an event happened; neither for what
// touched several.
func place(e history.Event) (client, node string) {
	switch e.Op {
	case history.Fault, history.Heal:
		switch t := e.Target; {
		case t == nil:
		case len(t.Clients) == 1:
			return t.Clients[0], ""
		case len(t.Nodes) == 1:
			return "", t.Nodes[0]
		}
		return "", ""
	case history.Key:
		return "", e.Node
	case history.Audit, history.Phase, history.Receipt:
		return "", ""
	default:
		return e.Owner, ""
	}
}

// actor says who acts in an event.
func actor(e history.Event) string {
	switch e.Op {
	case history.Fault, history.Heal:
		return cmp.Or(stats.TargetText(e.Target), "nemesis")
	case history.Key:
		return cmp.Or(e.Node, "node")
	case history.Audit:
		return "store"
	case history.Phase, history.Receipt:
		return "harness"
	default:
		return cmp.Or(e.Owner, fmt.Sprintf("process %d", e.Process))
	}
}

// Sentence puts an event into words that are fit to print: who, and what
// happened.
func Sentence(e history.Event) (who, text string) {
	who, text = sentence(e)
	return printable.Line(who), printable.Line(text)
}

func sentence(e history.Event) (who, text string) {
	who = actor(e)
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
	switch {
	case e.HasAll(history.HasPTTL) && e.PTTL >= 0:
		text += ", " + unit.Count(e.PTTL) + " ms left"
	case e.HasAll(history.HasPTTL) && e.PTTL == -1:
		text += ", without an expiry"
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
