package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var latencyHeavyTailEntry = Entry{
	Name:     "latency-heavy-tail",
	Wire:     "As latency, but most packets are quick and a few very late (Pareto): what congestion and retransmission look like.",
	Survives: "Nothing breaks. Averages hide it; time-outs and the validity of each grant must not.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Spread: link.HeavyTail}, For: ttlTimes(1),
	New: newLatency("latency-heavy-tail"),
}
