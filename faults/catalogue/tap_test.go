package catalogue

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
)

// A lock that takes a key and then sets its expiry leaves it for ever when it
// is cut off between the two. The fault is locked to the reply to the first,
// and nothing comes between.
func TestCutAfterReply(t *testing.T) {
	onEach(t, 2, 2, func(t *testing.T, r *rig) {
		other, victim := r.Dial(t, "c00", "n1"), r.Dial(t, "c01", "n1")
		step := faults.Step{
			When:  faults.Trigger{On: faults.Reply("setnx", "n1"), By: "c01"},
			For:   time.Hour,
			Fault: All()["cut"].New(faults.Params{Client: faults.RoleAny, Node: faults.RoleThat}),
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan faults.StepResult, 1)
		go func() {
			res, err := r.Run(ctx, step)
			if err != nil {
				t.Error(err)
			}
			done <- res.Steps[0]
		}()
		defer func() { cancel() }()
		if err := setThenExpire(t.Context(), other, "theirs"); err != nil {
			t.Errorf("another client: %v", err)
		}
		key := ""
		for i := 0; ; i++ { // the first ones may come before the nemesis listens
			key = fmt.Sprintf("ours-%d", i)
			if setThenExpire(t.Context(), victim, key) != nil {
				break
			}
		}
		if left, err := ask(t.Context(), r.Node("n1"), "PTTL", key); left != -1 {
			t.Errorf("PTTL %d (%v), want a key without expiry", left, err)
		}
		cancel()
		if res := <-done; !res.Bit || !res.Healed || res.Target.String() != `{"clients":["c01"],"nodes":["n1"],"key":"`+key+`"}` {
			t.Errorf("%+v, target %s", res, res.Target)
		}
	})
}

func setThenExpire(ctx context.Context, rdb *redis.Client, key string) error {
	if err := rdb.Do(ctx, "SETNX", key, "v").Err(); err != nil {
		return err
	}
	return rdb.Expire(ctx, key, time.Second).Err()
}
