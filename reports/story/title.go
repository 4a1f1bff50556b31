package story

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// titles say per anomaly what happened: who broke the rule, on what, and whom
// it hit.
var titles = map[string]string{
	"S2":  "{actor}'s stale write to {key} was accepted",
	"S3":  "{actor} wrote to {key} inside {other}'s critical section",
	"S3z": "{actor} wrote to {key} after its lease had ended",
	"S4":  "the tokens of {key} went back",
	"S4b": "two grants of {key} share a token",
	"S5":  "{actor} released {key}, which was {other}'s",
	"S6":  "{actor} kept {key} as its own, though {other} had held it since",
	"S7":  "{actor} was granted {key} when its lease had ended already",
	"S8":  "{actor} wrote to {key} without holding it",
	"S9":  "{actor} was granted {key} by less than a quorum",
	"S10": "{actor} was granted {key} before {other}'s lease had ended",
	"S11": "{actor} learned too late that it had lost {key}",
	"L1":  "nobody can acquire {key}, and nobody holds it",
	"L2":  "nobody was granted {key}, though a quorum was there",
	"L7":  "the votes for {key} stay split",
	"L8":  "{key} was left behind on a node",
}

// title says in one line what is wrong.
func title(s Story, witnesses []history.Event, owners []string) string {
	name, key := cmp.Or(s.Finding.Name, s.Finding.ID, "violation"), cmp.Or(s.Finding.Key, "the store")
	switch late := s.Overlap.Late; {
	case s.Overlap.Length() == 0:
	case s.Finding.ID == "S1" && !late:
		return fmt.Sprintf("%s: two holders of %s for at least %s", name, key, unit.Millis(s.Overlap.Length()))
	case s.Finding.ID == "S3z" && late:
		return fmt.Sprintf("%s: %s wrote to %s %s after its lease had ended", name, s.Overlap.Owners[0], key, unit.Millis(s.Overlap.Length()))
	}
	format, known := titles[s.Finding.ID]
	if !known {
		return strings.TrimSpace(name + " on " + key)
	}
	actor, other := "somebody", "somebody"
	for _, e := range witnesses {
		if e.Owner != "" {
			actor = e.Owner // the last one is whose act completes the proof
		}
	}
	for _, o := range owners {
		if o != actor {
			other = o
			break
		}
	}
	return name + ": " + strings.NewReplacer("{actor}", actor, "{key}", key, "{other}", other).Replace(format)
}

// explain cuts a finding's text into what happened and what to do about it.
// The faults in force are told by the story itself.
func explain(text string) (why, remedy string) {
	text, _, _ = strings.Cut(text, " Faults meanwhile: ")
	why, remedy, _ = strings.Cut(text, " Remedy: ")
	return why, remedy
}
