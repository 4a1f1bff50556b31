package memredis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/faults/testbed/memredis"
)

// pipe returns a client of a server in memory.
func pipe(t *testing.T, s *memredis.Server) *redis.Client {
	rdb := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			replies := make(chan []byte, 64)
			session := s.Accept(func(b []byte) { replies <- slices.Clone(b) }, func() { close(replies) })
			go func() {
				for b := range replies {
					_, _ = far.Write(b)
				}
				_ = far.Close()
			}()
			go func() {
				buf := make([]byte, 64)
				for {
					n, err := far.Read(buf)
					if err != nil {
						session.Gone()
						return
					}
					session.Request(buf[:n])
				}
			}()
			return near, nil
		},
		Protocol: 2, MaxRetries: -1, DisableIdentity: true, PoolSize: 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// real returns a client of a redis-server of its own.
func real(t *testing.T) *redis.Client {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	socket := t.TempDir() + "/redis.sock"
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	rdb := redis.NewClient(&redis.Options{
		Network: "unix", Addr: socket, Protocol: 2, MaxRetries: -1, DisableIdentity: true, PoolSize: 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	for deadline := time.Now().Add(time.Minute); rdb.Ping(t.Context()).Err() != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("redis-server does not answer")
		}
	}
	return rdb
}

// A draw makes one command.
type draw func(rng *rand.Rand) []any

var (
	keyNames = []string{"a", "b", "c", "{x}d"}
	words    = []string{"", "1", "7", "-3", "x", "owner 12", "3.5", "00", "run 1 2 3"}
	numbers  = []string{"0", "1", "-1", "2", "5", "x", "9223372036854775807", "007"}
	scores   = []string{"1", "2.5", "-1", "(2", "+inf", "-inf", "x"}
)

func one(rng *rand.Rand, of []string) string { return of[rng.IntN(len(of))] }

func command(name string, args ...func(*rand.Rand) string) draw {
	return func(rng *rand.Rand) []any {
		out := []any{name}
		for _, a := range args {
			if text := a(rng); text != none {
				out = append(out, text)
			}
		}
		return out
	}
}

// none is an argument that is left out.
const none = "\x00none"

func key(rng *rand.Rand) string     { return one(rng, keyNames) }
func word(rng *rand.Rand) string    { return one(rng, words) }
func num(rng *rand.Rand) string     { return one(rng, numbers) }
func score(rng *rand.Rand) string   { return one(rng, scores) }
func field(rng *rand.Rand) string   { return one(rng, []string{"f", "g", "h"}) }
func pattern(rng *rand.Rand) string { return one(rng, []string{"*", "?", "[ab]", "x*"}) }
func far(rng *rand.Rand) string     { return one(rng, []string{"100000", "500000", "0", "-5", "x"}) }
func maybe(of ...string) func(*rand.Rand) string {
	return func(rng *rand.Rand) string { return one(rng, append(of, none)) }
}
func id(rng *rand.Rand) string { return fmt.Sprintf("%d-0", rng.IntN(9)) }
func is(text string) func(*rand.Rand) string {
	return func(*rand.Rand) string { return text }
}

// draws are every command that the server knows, and some that it does not.
var draws = []draw{
	command("GET", key), command("MGET", key, key, key), command("SET", key, word), command("SET", key, word, is("PX"), far, maybe("NX", "XX", "GET")),
	command("SET", key, word, maybe("NX", "XX"), maybe("KEEPTTL", "EX", "GET")), command("SETNX", key, word), command("SETEX", key, far, word),
	command("PSETEX", key, far, word), command("GETSET", key, word), command("GETDEL", key), command("INCR", key), command("DECR", key),
	command("INCRBY", key, num), command("DECRBY", key, num), command("STRLEN", key),
	command("DEL", key, key), command("UNLINK", key), command("EXISTS", key, key), command("TYPE", key), command("KEYS", pattern), command("DBSIZE"),
	command("TTL", key), command("PTTL", key), command("EXPIRE", key, far, maybe("NX", "XX", "GT", "LT")), command("PEXPIRE", key, far, maybe("NX", "XX", "GT", "LT")),
	command("PERSIST", key), command("PEXPIREAT", key, is("1000")), command("EXPIRETIME", is("nothing")),
	command("HSET", key, field, word), command("HSET", key, field, word, field), command("HSETNX", key, field, word), command("HGET", key, field),
	command("HMGET", key, field, field), command("HGETALL", key), command("HDEL", key, field, field), command("HEXISTS", key, field),
	command("HLEN", key), command("HINCRBY", key, field, num),
	command("ZADD", key, score, field), command("ZADD", key, maybe("NX", "XX", "CH"), score, field), command("ZREM", key, field), command("ZSCORE", key, field),
	command("ZCARD", key), command("ZRANK", key, field), command("ZRANGE", key, num, num, maybe("WITHSCORES")),
	command("ZRANGEBYSCORE", key, score, score, maybe("WITHSCORES")), command("ZRANGEBYSCORE", key, score, score, is("LIMIT"), num, num),
	command("ZCOUNT", key, score, score), command("ZREMRANGEBYSCORE", key, score, score),
	command("XADD", key, id, field, word), command("XLEN", key), command("XRANGE", key, maybe("-", "3-0"), is("+"), maybe("COUNT"), maybe("1")),
	command("PING"), command("SCRIPT", is("EXISTS"), word), command("NOSUCH", word), command("GET"), command("PUBLISH", key, word), command("EVALSHA", word, is("0")),
	command("EVAL", script, is("1"), key, word), command("EVAL", script, is("2"), key, key, word, num), command("EVAL", script, num, key),
}

// scripts are small ones, with every way to end.
var scripts = []string{
	"return redis.call('GET', KEYS[1])", "return redis.pcall('INCR', KEYS[1])", "return {1, 2.9, 'x', false, 3}", "return {ok = 'FINE'}",
	"return {err = 'CUSTOM it failed'}", "return redis.error_reply('WRONGTYPE so it is')", "return redis.status_reply('YES')",
	"return redis.call('SET', KEYS[1], ARGV[1], 'PX', 90000, 'NX')", "local m = redis.call('MGET', KEYS[1], 'b') return m[1] or 'none'",
	"local a, b = string.match(ARGV[1] or '', '^(%S+) (%d+)$') return {a or 'no', b or 'no'}", "return string.format('%.0f', 12345678901)",
	"return tonumber(ARGV[1]) or -1", "undefined_thing = 1", "return nothing_here", "return redis.call('NOSUCH')", "return redis.call('GET')",
	"if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DEL', KEYS[1]) else return 0 end", "return #ARGV", "return redis.call('HGETALL', KEYS[1])",
	"local r = redis.pcall('HSET', KEYS[1], 'f', 1) if type(r) == 'table' and r.err then return 'refused' end return r", "return nil", "return true", "syntax error here",
	"for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('PERSIST', k) end return 'done'",
}

func script(rng *rand.Rand) string { return one(rng, scripts) }

// loose makes replies comparable: of an error its code, of times left tens of
// seconds, and names of keys and fields in order where Redis gives them in none.
func loose(cmd []any, reply any, err error) any {
	if err != nil && err != redis.Nil {
		code, _, _ := strings.Cut(err.Error(), " ")
		return "error " + code
	}
	name := cmd[0].(string)
	if n, isInt := reply.(int64); isInt && strings.HasSuffix(name, "TTL") && n > 0 {
		return n >= 20
	}
	if all, isList := reply.([]any); isList && (name == "KEYS" || name == "HGETALL" || name == "EVAL") {
		texts := make([]string, len(all))
		for i, x := range all {
			texts[i] = fmt.Sprint(x)
		}
		slices.Sort(texts)
		return texts
	}
	return reply
}

// Random sequences of commands have the same replies from redis-server.
func TestRepliesAreThoseOfRedis(t *testing.T) {
	server := real(t)
	for seed := range uint64(20) {
		s := memredis.New(time.Now, "run", "history")
		mine := pipe(t, s)
		server.FlushAll(t.Context())
		rng := rand.New(rand.NewPCG(seed, 0))
		var done []string
		for range 400 {
			cmd := draws[rng.IntN(len(draws))](rng)
			done = append(done, fmt.Sprintf("%q", cmd))
			want, wantErr := server.Do(t.Context(), cmd...).Result()
			got, gotErr := mine.Do(t.Context(), cmd...).Result()
			if w, g := loose(cmd, want, wantErr), loose(cmd, got, gotErr); !reflect.DeepEqual(w, g) {
				t.Fatalf("seed %d: %q is answered %#v (%v) in place of %#v (%v), after\n%s", seed, cmd, got, gotErr, want, wantErr, strings.Join(done[max(0, len(done)-12):], "\n"))
			}
		}
		s.Close()
	}
}

// A key is there until its last millisecond, and gone after it, by the server's
// own clock; a clock that moves takes every expiry along.
func TestKeysExpireByTheServersClock(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	s := memredis.New(func() time.Time { return now }, "run", "history")
	defer s.Close()
	rdb := pipe(t, s)
	for _, x := range []struct {
		after time.Duration
		want  string
	}{{0, "v"}, {10 * time.Millisecond, "v"}, {11 * time.Millisecond, ""}} {
		now = time.UnixMilli(1_000_000)
		if err := rdb.Set(t.Context(), "k", "v", 10*time.Millisecond).Err(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(x.after)
		if got := rdb.Get(t.Context(), "k").Val(); got != x.want {
			t.Errorf("%v later it is %q, want %q", x.after, got, x.want)
		}
	}
	if at := rdb.Time(t.Context()).Val(); !at.Equal(now) {
		t.Errorf("TIME is %v, want %v", at, now)
	}
}

func TestRestartForgetsScriptsAndWhatItIsTold(t *testing.T) {
	s := memredis.New(time.Now, "first", "history")
	defer s.Close()
	rdb := pipe(t, s)
	sha := rdb.ScriptLoad(t.Context(), "return 1").Val()
	rdb.Set(t.Context(), "k", "v", 0)
	s.Restart("second", "history", false)
	if got := rdb.Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("with its data it has %q", got)
	}
	if err := rdb.EvalSha(t.Context(), sha, nil).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
		t.Errorf("a script of before: %v", err)
	}
	if info := rdb.Info(t.Context(), "server").Val(); !strings.Contains(info, "run_id:second") {
		t.Errorf("INFO: %s", info)
	}
	s.Restart("third", "history", true)
	if n := rdb.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%s keys after an empty restart", strconv.FormatInt(n, 10))
	}
}

func TestPublishReachesSubscribers(t *testing.T) {
	s := memredis.New(time.Now, "run", "history")
	defer s.Close()
	sub := pipe(t, s).Subscribe(t.Context(), "ch")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := pipe(t, s).Publish(t.Context(), "ch", "hello").Val(); n != 1 {
		t.Errorf("%d heard it", n)
	}
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != "hello" {
		t.Errorf("heard %v, %v", m, err)
	}
}
