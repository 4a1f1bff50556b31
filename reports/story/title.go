package story

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/checker"
	"locktorture/checker/anomaly"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// title says in one line what is wrong.
func title(s Story, witnesses []history.Event, owners []string) string {
	name, key := cmp.Or(s.Finding.Name, s.Finding.ID, "violation"), cmp.Or(s.Finding.Key, "the store")
	kind, _ := anomaly.Find(s.Finding.ID)
	format := kind.Title
	if secondSort(s.Finding, witnesses) {
		format = kind.OtherTitle
	}
	switch late := s.Overlap.Late; {
	case s.Overlap.Length() == 0:
	case s.Finding.ID == "S1" && !late:
		return fmt.Sprintf("%s: two holders of %s for at least %s", name, key, unit.Millis(s.Overlap.Length()))
	case s.Finding.ID == "S3z" && late:
		return fmt.Sprintf("%s: %s wrote to %s %s after its lease had ended", name, s.Overlap.Owners[0], key, unit.Millis(s.Overlap.Length()))
	}
	switch {
	case format == "" && s.Finding.Key == "":
		return name
	case format == "":
		return name + " on " + key
	}
	actor, other := culprit(kind.Actor, witnesses), "somebody"
	for _, o := range owners {
		if o != actor {
			other = o
			break
		}
	}
	return name + ": " + strings.NewReplacer("{actor}", cmp.Or(actor, "somebody"), "{key}", key, "{other}", other).Replace(format)
}

// secondSort says whether the proof is of the anomaly's second sort: two updates
// of one version, or one lease that changed its token.
func secondSort(f checker.Finding, witnesses []history.Event) bool {
	n := len(witnesses)
	switch f.ID {
	case "S3":
		return n == 2
	case "S4b":
		return n > 1 && witnesses[0].Owner == witnesses[n-1].Owner && witnesses[0].Fence != witnesses[n-1].Fence
	}
	return false
}

// culprit is who broke the rule.
func culprit(actor anomaly.Actor, witnesses []history.Event) string {
	var who history.Event
	for _, e := range witnesses {
		switch {
		case e.Owner == "":
		case actor == anomaly.Releaser && who.Op == history.Release:
		case actor == anomaly.LowerToken && who.Fence != 0 && who.Fence < e.Fence:
		case actor == anomaly.Intruder && len(witnesses) > 2 && who.Owner != "" && e.Owner == witnesses[0].Owner:
		default:
			who = e
		}
	}
	return who.Owner
}
