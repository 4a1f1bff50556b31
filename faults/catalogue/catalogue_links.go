package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// linkFaults are the faults of the roads between clients and nodes.
func linkFaults() map[string]Entry {
	return map[string]Entry{
		"latency": {
			Wire:     "Every packet between the clients and the node is delayed, with jitter, both ways.",
			Survives: "Nothing breaks: validity shrinks by the time spent; a lock that ignores it grants leases that have ended.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, For: ttlTimes(1),
			New: newLatency("latency"),
		},
		"latency-heavy-tail": {
			Wire:     "As latency, but most packets are quick and a few very late (Pareto): what congestion and retransmission look like.",
			Survives: "Nothing breaks. Averages hide it; time-outs and the validity of each grant must not.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Spread: link.HeavyTail}, For: ttlTimes(1),
			New: newLatency("latency-heavy-tail"),
		},
		"bandwidth": {
			Wire:     "Few bytes per second pass between the clients and the node, both ways.",
			Survives: "As latency: a request that is late by more than its time-out has an unknown outcome.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Rate: 2000}, Takes: true, For: ttlTimes(1),
			New: on("bandwidth", link.Bandwidth),
		},
		"request-lost": {
			Wire:     "Requests are dropped before they reach the node: never applied, never answered.",
			Survives: "The outcome is unknown to the client, who must not count it as granted, nor as refused.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
			New: on("request-lost", link.RequestLost),
		},
		"response-lost": {
			Wire:     "Requests are applied, their replies dropped; the connection stays open.",
			Survives: "What was taken unseen is given back or expires; a release that was applied is not repeated on another's lease.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
			New: on("response-lost", link.ResponseLost),
		},
		"fast-lost-reply": {
			Wire:     "Requests are applied, and the connection is closed before the reply.",
			Survives: "As response-lost, without the time-out: a client library that retries by itself shows here.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
			New: on("fast-lost-reply", link.FastLostReply),
		},
		"stall": {
			Wire:     "Packets are held in both directions and delivered in order at the heal, as TCP does after a short partition.",
			Survives: "Requests of ended attempts arrive late: they must not take what nobody will release.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.75),
			New: on("stall", link.Stall),
		},
		"zombie": {
			Wire:     "Requests are held and delivered at the heal, even when the client has given up and gone.",
			Survives: "A late acquire expires by itself, a late release frees nobody else's lease.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(1.25),
			New: on("zombie", link.Zombie),
		},
		"stuck-connection": {
			Wire:     "Requests on the connections that are open are held and delivered at the heal; new connections pass: one packet lost, and sent again late.",
			Survives: "A client that has given up and dialled anew is overtaken by what it sent before: its own late release must not free its next lease.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(1.25), On: watch.ReleaseSent,
			New: func(p faults.Params) faults.Fault {
				return stuckConnection{roadFault{Params: p, name: "stuck-connection", kind: link.StuckConnection}}
			},
		},
		"slow-reply": {
			Wire:     "Requests are applied at once, replies held until the heal.",
			Survives: "Validity counts from before the request: a grant that is known too late is no grant.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(1.25), On: watch.AcquireSent,
			New: on("slow-reply", link.SlowReply),
		},
		"notify-cut": {
			Wire:     "The connections on which clients hear of releases are closed, however often they dial; all others are left alone.",
			Survives: "A missed notification costs time only: waiters ask again by themselves, and subscribe anew.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(1),
			New: newNotify("notify-cut", link.NotifyCut),
		},
		"notify-lost": {
			Wire:     "The connections on which clients hear of releases stay open, and nothing passes; all others are left alone.",
			Survives: "As notify-cut, without anything to notice: silence must not be taken for a lock that is held.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(1),
			New: newNotify("notify-lost", link.NotifyLost),
		},
		"store-reply-lost": {
			Wire:     "The holder's writes reach the guarded store, the replies do not: it cannot know whether they took effect.",
			Survives: "Unknown writes stay unknown until the audit; the fence judges each of them all the same.",
			Default:  faults.Params{Client: faults.RoleHolder, Node: faults.StoreNode}, For: ttlTimes(0.25), On: watch.AcquireReplied,
			New: on("store-reply-lost", link.ResponseLost),
		},
		"store-write-delayed": {
			Wire:     "The holder's write is held on its way to the store and delivered after its lease has ended.",
			Survives: "No lock can stop it: the store's fence must reject it once a newer token was seen.",
			Default:  faults.Params{Client: faults.RoleHolder, Node: faults.StoreNode}, For: ttlTimes(1.5), On: watch.AcquireReplied,
			New: on("store-write-delayed", link.Zombie),
		},
	}
}
