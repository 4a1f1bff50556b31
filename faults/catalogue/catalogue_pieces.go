package catalogue

import (
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// pieceFaults are those of replies that come in pieces, and of connections
// whose end comes at the wrong moment.
func pieceFaults() map[string]Entry {
	return map[string]Entry{
		"slicer": {
			Wire:     "Replies come in pieces of a few bytes, with a pause after each, as over a path with tiny packets.",
			Survives: "Nothing breaks: a reply is what the protocol says, not what one read returns. It costs time.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Bytes: 2, Delay: time.Millisecond}, For: ttlTimes(1),
			New: on("slicer", link.Slicer),
		},
		"limit-data": {
			Wire:     "Requests are applied, and the connection is closed in the middle of the first reply.",
			Survives: "As fast-lost-reply: half a reply is no reply, and its outcome is unknown.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
			New: func(p faults.Params) faults.Fault {
				return limitData{roadFault{Params: p, name: "limit-data", kind: link.LimitData}}
			},
		},
		"slow-close": {
			Wire:     "The node closes its clients' connections; they hear of it late, and send into connections that nobody reads.",
			Survives: "As a stall of one node: time-outs bound it, and what was sent was not applied.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
			New: func(p faults.Params) faults.Fault {
				return slowClose{roadFault{Params: p, name: "slow-close", kind: link.SlowClose}}
			},
		},
	}
}
