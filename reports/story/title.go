package story

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/checker"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// titles say per anomaly what happened: who broke the rule, on what, and whom
// it hit.
var titles = map[string]string{
	"S2":  "{actor}'s stale write to {key} was accepted",
	"S3":  "{actor} wrote to {key} inside {other}'s critical section",
	"S3=": "{other} and {actor} both changed the same version of {key}",
	"S3z": "{actor} wrote to {key} after its lease had ended",
	"S4":  "the tokens of {key} went back",
	"S4b": "two grants of {key} share a token",
	"S4=": "{actor}'s lease of {key} changed its token",
	"S5":  "{actor} released {key}, which was {other}'s",
	"S6":  "{actor} kept {key} as its own, though {other} had held it since",
	"S7":  "{actor} was granted {key} when its lease had ended already",
	"S8":  "{actor} wrote to {key} without holding it",
	"S9":  "{actor} was granted {key} by less than a quorum",
	"S10": "{actor} was granted {key} before {other}'s lease had ended",
	"S11": "{actor} learned too late that it had lost {key}",
	"L1":  "nobody can acquire {key}, and nobody holds it",
	"L2":  "nobody was granted {key}, though a quorum was there",
	"L3":  "{actor} had to wait for {key} too long",
	"L5":  "{actor} was told that it had lost {key}, and nothing was wrong",
	"L7":  "the votes for {key} stay split",
	"L8":  "{key} was left behind on a node",
	"L9":  "{actor} released {key}, and it stayed taken",
}

// title says in one line what is wrong.
func title(s Story, witnesses []history.Event, owners []string) string {
	name, key := cmp.Or(s.Finding.Name, s.Finding.ID, "violation"), cmp.Or(s.Finding.Key, "the store")
	format, known := titles[kind(s.Finding, witnesses)]
	switch late := s.Overlap.Late; {
	case s.Overlap.Length() == 0:
	case s.Finding.ID == "S1" && !late:
		return fmt.Sprintf("%s: two holders of %s for at least %s", name, key, unit.Millis(s.Overlap.Length()))
	case s.Finding.ID == "S3z" && late:
		return fmt.Sprintf("%s: %s wrote to %s %s after its lease had ended", name, s.Overlap.Owners[0], key, unit.Millis(s.Overlap.Length()))
	}
	switch {
	case !known && s.Finding.Key == "":
		return name
	case !known:
		return name + " on " + key
	}
	actor, other := culprit(s.Finding.ID, witnesses), "somebody"
	for _, o := range owners {
		if o != actor {
			other = o
			break
		}
	}
	return name + ": " + strings.NewReplacer("{actor}", cmp.Or(actor, "somebody"), "{key}", key, "{other}", other).Replace(format)
}

// kind is the anomaly, or which of two sorts of it this is.
func kind(f checker.Finding, witnesses []history.Event) string {
	n := len(witnesses)
	switch {
	case f.ID == "S3" && n == 2:
		return "S3="
	case f.ID == "S4b" && n > 1 && witnesses[0].Owner == witnesses[n-1].Owner && witnesses[0].Fence != witnesses[n-1].Fence:
		return "S4="
	}
	return f.ID
}

// culprit is who broke the rule: the one whose act completes the proof, but for
// those proofs that somebody else's act completes.
func culprit(id string, witnesses []history.Event) string {
	var who history.Event
	for _, e := range witnesses {
		switch {
		case e.Owner == "":
		case (id == "S5" || id == "L9") && who.Op == history.Release:
		case id == "S2" && who.Fence != 0 && who.Fence < e.Fence:
		case id == "S3" && len(witnesses) > 2 && who.Owner != "" && e.Owner == witnesses[0].Owner:
		default:
			who = e
		}
	}
	return who.Owner
}

// explain cuts a finding's text into what happened and what to do about it.
// The faults in force are told by the story itself.
func explain(text string) (why, remedy string) {
	text, _, _ = strings.Cut(text, " Faults meanwhile: ")
	why, remedy, _ = strings.Cut(text, " Remedy: ")
	return why, remedy
}
