package farm

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/periodic"
)

// makePatience is for how long a stream that a server could not store is asked for again.
const makePatience = 10 * time.Second

// streamCreateFailed is what a server answers that could not store a stream
// (nats-server's JSStreamCreateErrF).
const streamCreateFailed jetstream.ErrorCode = 10049

// MakeStream makes a stream, or changes the one of that name. A server that has deleted
// its last stream removes the folder of them all a little later (nats-server's
// stream.stop), and a stream that is made meanwhile fails: it is asked for again.
func MakeStream(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	for began := time.Now(); ; {
		s, err := js.CreateOrUpdateStream(ctx, cfg)
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || refused.ErrorCode != streamCreateFailed || time.Since(began) > makePatience || !periodic.Sleep(ctx, 50*time.Millisecond) {
			return s, err
		}
	}
}
