package catalogue

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// A subscriber hears nothing while its notifications are hurt, everything else
// goes on, and it hears again after the heal.
func TestNotifications(t *testing.T) {
	for name, receipt := range map[string]string{
		"notify-cut":  "connections closed on c00→n1",
		"notify-lost": "bytes of subscriptions dropped on c00→n1",
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 1, 2, func(t *testing.T, r *rig) {
				r.Notifies = true
				n := r.Node("n1")
				rdb := r.Dial(t, "c00", "n1")
				hurt, spared := subscribe(t, r, "c00"), subscribe(t, r, "c01")
				f := r.inject(t, name, faults.Params{Client: "c00", Node: "n1"})
				publish(t, n, "one")
				if got := hear(t, spared); got != "one" {
					t.Errorf("c01 heard %q", got)
				}
				if err := faulttest.Set(t, rdb, faulttest.Late, "k", "v"); err != nil {
					t.Errorf("SET beside the subscription: %v", err)
				}
				short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if m, err := hurt.ReceiveMessage(short); err == nil {
					t.Errorf("c00 heard %q", m.Payload)
				}
				f.healed(t, receipt)
				again := subscribe(t, r, "c00")
				publish(t, n, "two")
				if got := hear(t, again); got != "two" {
					t.Errorf("c00 heard %q after the heal", got)
				}
			})
		})
	}
}

// subscribe returns a subscription in force.
func subscribe(t *testing.T, r *rig, client string) *redis.PubSub {
	rdb := r.Raw(client, "n1")
	t.Cleanup(func() { _ = rdb.Close() })
	sub := rdb.Subscribe(t.Context(), "news")
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sub
}

func publish(t *testing.T, n testbed.Node, news string) {
	if _, err := testbed.Do(t.Context(), n, "PUBLISH", "news", news); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, sub *redis.PubSub) string {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := sub.ReceiveMessage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m.Payload
}

// Where nobody subscribes there is nothing to hurt.
func TestNotificationsUnsupported(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 1, 1)
	e := All()["notify-lost"]
	if err := e.New(e.Default).Supports(r.Target); err == nil || !strings.Contains(err.Error(), "no client subscribes") {
		t.Error(err)
	}
}
