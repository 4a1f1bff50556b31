package catalogue

import (
	"context"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var limitDataEntry = Entry{
	Name:     "limit-data",
	Wire:     "Requests are applied, and the connection is closed in the middle of the first reply.",
	Survives: "As fast-lost-reply: half a reply is no reply, and its outcome is unknown.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
	New: func(p faults.Params) faults.Fault {
		return limitData{linkFault{Params: p, name: "limit-data", kind: link.LimitData}}
	},
}

// shortestReply is the length of RESP's shortest reply, the null of RESP3.
const shortestReply = len("_\r\n")

// limitData closes connections in the middle of a reply.
type limitData struct{ linkFault }

func (f limitData) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	if f.Bytes == 0 { // fewer than any reply has
		f.Bytes = 1 + rng.Int64N(int64(shortestReply)-1)
	}
	return f.linkFault.Inject(ctx, s, rng)
}
