package catalogue

import (
	"context"
	"math/rand/v2"

	"locktorture/faults"
)

// shortestReply is the length of RESP's shortest reply, the null of RESP3.
const shortestReply = len("_\r\n")

// limitData closes connections in the middle of a reply.
type limitData struct{ roadFault }

func (f limitData) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	if f.Bytes == 0 { // fewer than any reply has
		f.Bytes = 1 + rng.Int64N(int64(shortestReply)-1)
	}
	return f.roadFault.Inject(ctx, s, rng)
}
