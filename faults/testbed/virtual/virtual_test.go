package virtual_test

import (
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults/testbed"
	"locktorture/faults/testbed/virtual"
)

// TestLook: what a node stores is told as a connection would tell it, as long as the node
// would answer.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bed := virtual.New(1, 1)
		n := bed.Nodes()[0].(*virtual.Node)
		for _, args := range [][]string{
			{"SET", "text", "owner 17", "PX", "700"}, {"HSET", "fields", "b", "2", "a", "1"}, {"ZADD", "members", "6", "m2"}, {"ZADD", "members", "5", "m1"},
		} {
			if _, err := testbed.Do(t.Context(), n, args...); err != nil {
				t.Fatal(err)
			}
		}
		look := func(key string, wantLeft time.Duration, want string) {
			t.Helper()
			if left, text, err := n.Look(key); err != nil || left > wantLeft || left < wantLeft-10*time.Millisecond || text != want {
				t.Errorf("%s: %v %q %v, want %v %q", key, left, text, err, wantLeft, want)
			}
		}
		look("text", 700*time.Millisecond, "owner 17")
		look("fields", -1, "a=1 b=2")
		look("members", -1, "m1 m2")
		time.Sleep(time.Second)
		look("text", -2, "")
		if _, err := n.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.Look("fields"); err == nil {
			t.Error("a node that stands still was looked into")
		}
		if _, err := n.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.Look("fields"); err == nil {
			t.Error("a dead node was looked into")
		}
		time.Sleep(10 * time.Second) // of the clients that asked
		if err := bed.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
