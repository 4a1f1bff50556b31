package story

import (
	"strings"

	"locktorture/checker"
)

// remedies says, per anomaly, what usually prevents it.
var remedies = map[string]string{
	"S1":  "let the store check fencing tokens; keep the hold well below the lease; make restarts outlast the lease, or persist every write",
	"S2":  "make the store's check and its write one atomic step, and let it remember the greatest token for ever",
	"S3":  "check the fencing token at the store: a lease alone cannot stop a writer that is late",
	"S3z": "check the fencing token at the store, or make the lease longer than the longest pause of a client",
	"S4":  "draw tokens from one counter that never goes back, on the node that grants, in the step that grants",
	"S4b": "count up in the step that grants; a counter on each node alone repeats tokens",
	"S5":  "release by compare-and-delete on the owner's token, never by DEL",
	"S6":  "extend only while the stored owner is still one's own, in one atomic step",
	"S7":  "subtract the time that the acquisition took, and refuse what is left of nothing",
	"S8":  "stop the work when the lease is lost, refused or unknown, before anything else is written",
	"S9":  "count only nodes that answered yes, and ask for ⌊N/2⌋+1 of them",
	"S10": "delay restarts by a TTL, persist with appendfsync always, and keep the nodes' clocks from jumping",
	"S11": "tell the holder at the deadline at the latest, by its own clock",
	"L1":  "give every key a TTL in the step that sets it, and undo partial grants",
	"L2":  "retry with a random pause, and let refused attempts give their partial grants back at once",
	"L3":  "queue the waiters instead of letting them poll",
	"L5":  "renew with time to spare, and only give up at the deadline",
	"L7":  "randomise the pause between retries and undo partial grants at once",
	"L8":  "send the undo of an attempt after its acquire on the same connection, and give every key a TTL",
}

// remedy says what usually prevents the finding; for a node that forgot, what
// keeps it from forgetting.
func remedy(f checker.Finding) string {
	if f.ID == "S1" {
		for _, b := range f.Breakers {
			if strings.Contains(b, "restart") || strings.Contains(b, "kill") || strings.Contains(b, "flush") {
				return "restart delay above the TTL, or appendfsync always on every node; and let the store check fencing tokens"
			}
		}
	}
	return remedies[f.ID]
}
