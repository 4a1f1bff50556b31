package script

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"locktorture/lockimpl/internal/redistest"
)

const (
	run      = "0123456789abcdef0123456789abcdef01234567"
	ttl      = 600_000 // ms: nothing expires while the test runs
	patience = 600_000
	maxTTL   = 700_000
)

// names are the keys of one lock, as the lock itself names them.
func names(lock string) map[string]string {
	base := "t:{" + lock + "}:"
	return map[string]string{
		"node": "t:node", "quarantine": "t:quarantine", "lock": base + "l", "fence": base + "f", "flag": base + "q",
		"tickets": base + "qt", "beats": base + "qb", "readers": base + "r", "tomb": base + "x:",
	}
}

// A call is one script execution.
type call struct {
	script *Script
	keys   []string
	args   []any
}

func (c call) on(rdb *redis.Client) string {
	got, err := rdb.Eval(context.Background(), c.script.Source, c.keys, c.args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "error: " + err.Error()
	}
	return fmt.Sprint(steady(c.script, got))
}

// steady blots out of a reply what a clock put there.
func steady(s *Script, reply any) any {
	list, ok := reply.([]any)
	switch {
	case !ok:
		return reply
	case s == Hello:
		return []any{list[0], list[2], list[3]}
	case s == Inspect:
		readers := list[3:]
		slices.SortFunc(readers, func(a, b any) int { return strings.Compare(a.(string), b.(string)) }) // else in the order of times
		return append([]any{list[0].(int64) > 0}, list[1:]...)
	case len(list) == 3 && list[0] == int64(0) && list[1].(int64) > 0: // {0, pttl, kind}
		return []any{list[0], "pttl", list[2]}
	}
	return reply
}

// draw draws a call on one of two locks by one of three owners. Tokens come
// from the nodes alone: proposals would follow clocks.
func draw(t *rapid.T) call {
	k := names(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "lock"))
	owner := rapid.SampledFrom([]string{"owner-one", "owner-two", "owner-six"}).Draw(t, "owner")
	at := rapid.SampledFrom([]string{run, run, run, run, "another-run"}).Draw(t, "run")
	token := rapid.IntRange(1, 12).Draw(t, "token")
	tomb := rapid.SampledFrom([]int{0, 0, ttl}).Draw(t, "tomb")
	queue := []string{k["node"], k["lock"], k["fence"], k["tomb"] + owner, k["flag"], k["tickets"], k["beats"]}
	member := rapid.SampledFrom([]string{"x:c:" + owner, "s:c:" + owner, ""}).Draw(t, "member")
	waiter := "x:c:" + owner
	ticket := time.Now().UnixMicro() // in the order of the calls, whatever bound it is moved to
	length := rapid.SampledFrom([]int{ttl, ttl, ttl, maxTTL + 1}).Draw(t, "ttl")
	return rapid.SampledFrom([]call{
		{Acquire, queue, []any{owner, length, at, 1, patience}},
		{Wait, queue, []any{owner, length, at, 0, waiter, ticket, patience}},
		{AcquireShared, append(queue, k["readers"]), []any{owner, length, at, 0, member, ticket, patience}},
		{WriteBack, []string{k["node"], k["lock"], k["fence"]}, []any{owner, at, token}},
		{WriteBackShared, []string{k["node"], k["lock"], k["fence"], k["readers"]}, []any{owner, at, token}},
		{Renew, []string{k["node"], k["lock"], k["fence"]}, []any{owner, at, length, token}},
		{RenewShared, []string{k["node"], k["lock"], k["fence"], k["readers"]}, []any{owner, at, length, token}},
		{GiveBack, []string{k["lock"], k["flag"], k["tickets"], k["beats"]}, []any{owner, "wake:", patience}},
		{Release, queue, []any{owner, token - 1, tomb, "wake:", patience}},
		{ReleaseShared, append(queue, k["readers"]), []any{owner, token - 1, tomb, "wake:", patience}},
		{Keep, []string{k["node"], k["lock"], k["flag"], k["tickets"], k["beats"]}, []any{at, patience, 1, waiter, ticket, length, "x:c:behind", ticket + 1, ttl}},
		{Leave, []string{k["lock"], k["tickets"], k["beats"]}, []any{waiter, "wake:", patience}},
		{Inspect, []string{k["lock"], k["readers"], k["tickets"]}, nil},
		{Hello, []string{k["node"], k["quarantine"]}, []any{at, ttl}},
		{Limit, []string{k["node"]}, []any{at, rapid.SampledFrom([]int{1, maxTTL, maxTTL + 1}).Draw(t, "limit")}},
		{Admit, []string{k["node"], k["quarantine"]}, []any{at, "no ticket", token, maxTTL, "1"}},
	}).Draw(t, "call")
}

// admit lets an empty server serve.
func admit(t *rapid.T, rdb *redis.Client) {
	ctx := context.Background()
	if err := rdb.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	k := []string{"t:node", "t:quarantine"}
	hello, err := rdb.Eval(ctx, Hello.Source, k, run, ttl).Slice()
	if err != nil {
		t.Fatal(err)
	}
	if got := rdb.Eval(ctx, Admit.Source, k, run, hello[1], 3, maxTTL, "1").Val(); got != int64(1) {
		t.Fatalf("admit: %v", got)
	}
}

// state is all that a server stores, without times.
func state(t *rapid.T, rdb *redis.Client) map[string]any {
	ctx, all := context.Background(), map[string]any{}
	for _, key := range rdb.Keys(ctx, "*").Val() {
		switch rdb.Type(ctx, key).Val() {
		case "string":
			if all[key] = rdb.Get(ctx, key).Val(); key == "t:quarantine" {
				all[key] = "set"
			}
		case "zset":
			members := rdb.ZRange(ctx, key, 0, -1).Val()
			if strings.HasSuffix(key, ":qb") || strings.HasSuffix(key, ":r") { // in the order of times
				slices.Sort(members)
			}
			all[key] = members
		default:
			t.Fatalf("key %s is a %s", key, rdb.Type(ctx, key).Val())
		}
	}
	return all
}

func TestScriptsAnswerTheSameOnRedisAndEmbedded(t *testing.T) {
	real := redistest.Start(t)
	m := miniredis.RunT(t)
	m.ClockTTL(true)
	embedded := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = embedded.Close() })
	rapid.Check(t, func(t *rapid.T) {
		admit(t, real)
		admit(t, embedded)
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			c := draw(t)
			if a, b := c.on(real), c.on(embedded); a != b {
				t.Fatalf("%s %v %v: redis-server answers %s, the embedded server %s", c.script.Name, c.keys, c.args, a, b)
			}
		}
		if a, b := state(t, real), state(t, embedded); !reflect.DeepEqual(a, b) {
			t.Fatalf("redis-server stores\n%v\nthe embedded server\n%v", a, b)
		}
	})
}
