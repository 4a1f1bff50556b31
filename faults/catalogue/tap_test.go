package catalogue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
	"locktorture/workload/history"
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
		if left, err := query(t.Context(), r.Node("n1"), "PTTL", key); left != -1 {
			t.Errorf("PTTL %d (%v), want a key without expiry", left, err)
		}
		cancel()
		if res := <-done; !res.TookEffect || !res.Healed || res.Target.String() != `{"clients":["c01"],"nodes":["n1"],"key":"`+key+`"}` {
			t.Errorf("%+v, target %s", res, res.Target)
		}
	})
}

// The same without knowing the commands: the fault is in force before the second request of an acquire passes,
// and meets neither requests outside of one nor an acquire of a key that somebody holds.
func TestCutMidway(t *testing.T) {
	onEach(t, 1, 2, func(t *testing.T, r *rig) {
		victim := r.Dial(t, "c01", "n1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan faults.StepResult, 1)
		go func() {
			res, err := r.Run(ctx, faults.Step{
				When: faults.Trigger{On: watch.AcquireMidway}, For: time.Hour,
				Fault: All()["cut"].New(faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}),
			})
			if err != nil {
				t.Error(err)
			}
			done <- res.Steps[0]
		}()
		r.Grant("held", "c00")
		acquire := func(key string) error {
			e := history.Event{Process: r.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: "c01"}
			r.Rec.Append(e)
			err := setThenExpire(t.Context(), victim, key)
			e.Kind = history.Fail
			r.Rec.Append(e)
			return err
		}
		for i := 0; ; i++ { // the first ones may come before the nemesis listens
			if err := errors.Join(setThenExpire(t.Context(), victim, fmt.Sprintf("alone-%d", i)), acquire("held")); err != nil {
				t.Fatalf("outside of an acquire of a free key: %v", err)
			}
			if key := fmt.Sprintf("free-%d", i); acquire(key) != nil {
				if left, err := query(t.Context(), r.Node("n1"), "PTTL", key); left != -1 {
					t.Errorf("PTTL %d (%v), want a key without expiry", left, err)
				}
				break
			}
		}
		cancel()
		if res := <-done; !res.TookEffect || !res.Healed || res.Target == nil || !slices.Equal(res.Target.Clients, []string{"c01"}) {
			t.Errorf("%+v, target %s", res, res.Target)
		}
	})
}

// A client is paused between the steps of an operation before it has seen the answer to the first.
func TestPauseMidway(t *testing.T) {
	onEach(t, 1, 2, func(t *testing.T, r *rig) {
		for on, op := range map[watch.Moment]history.Op{watch.AcquireMidway: history.Acquire, watch.RenewalMidway: history.Extend, watch.ReleaseMidway: history.Release} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan faults.StepResult, 1)
			go func() {
				res, err := r.Run(ctx, faults.Step{When: faults.Trigger{On: on}, For: time.Hour, Fault: All()["pause-client"].New(faults.Params{Client: faults.RoleAny})})
				if err != nil {
					t.Error(err)
				}
				done <- res.Steps[0]
			}()
			client := r.Clients[1].(*faulttest.Client)
			before := len(client.Deeds())
			victim := r.Dial(t, client.Name(), "n1")
			for i := 0; len(client.Deeds()) == before && t.Context().Err() == nil; i++ { // the first ones may come before the nemesis listens
				key := fmt.Sprintf("%s-%d", on, i)
				if op != history.Acquire {
					r.Grant(key, client.Name())
				}
				e := history.Event{Process: r.Rec.NewProcess(), Kind: history.Invoke, Op: op, Key: key, Owner: client.Name()}
				r.Rec.Append(e)
				if err := victim.Do(t.Context(), "EXISTS", key).Err(); err != nil {
					t.Fatal(err)
				}
				paused := slices.Contains(client.Deeds()[before:], "paused")
				if err := victim.Do(t.Context(), "DEL", key).Err(); err != nil {
					t.Fatal(err)
				}
				e.Kind = history.Fail
				r.Rec.Append(e)
				if later := slices.Contains(client.Deeds()[before:], "paused"); later != paused {
					t.Errorf("%s: paused behind the second step", on)
				}
			}
			cancel()
			if res := <-done; res.Target == nil || !slices.Equal(res.Target.Clients, []string{client.Name()}) {
				t.Errorf("%s: %+v, target %s", on, res, res.Target)
			}
		}
	})
}

func setThenExpire(ctx context.Context, rdb *redis.Client, key string) error {
	if err := rdb.Do(ctx, "SETNX", key, "v").Err(); err != nil {
		return err
	}
	return rdb.Expire(ctx, key, time.Second).Err()
}

// A fault that begins while a request is under way, and drops the reply to it, has
// met an operation: it ends when its time is up, and does not wait for the client
// to send another one.
func TestLostReplyEndsInTime(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		r.TTL = time.Hour // twice as long is how long a fault waits for an operation
		conn, err := r.Link("c00", "n1").Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("*3\r\n$5\r\nBLPOP\r\n$4\r\nlist\r\n$1\r\n0\r\n")); err != nil {
			t.Fatal(err)
		}
		inForce := make(chan struct{})
		var once sync.Once
		r.Rec.Attach(history.SinkFunc(func(e *history.Event) {
			if e.Op == history.Fault && e.Kind != history.Invoke {
				once.Do(func() { close(inForce) })
			}
		}))
		done := make(chan faults.StepResult, 1)
		go func() {
			res, err := r.Run(t.Context(), faults.Step{
				For:   50 * time.Millisecond,
				Fault: All()["response-lost"].New(faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}),
			})
			if err != nil {
				t.Error(err)
			}
			done <- res.Steps[0]
		}()
		<-inForce
		if _, err := testbed.Do(t.Context(), r.Node("n1"), "RPUSH", "list", "v"); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(faulttest.Late))
		if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d bytes, %v; want a connection that the heal has closed", n, err)
		}
		if res := <-done; !res.TookEffect || !res.Healed {
			t.Errorf("%+v", res)
		}
	})
}
