package script

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// what the scripts are asked, each with the key names that it takes.
var (
	queueKeys  = []string{"node", "lock", "fence", "tomb", "flag", "tickets", "beats"}
	sharedKeys = append(queueKeys[:len(queueKeys):len(queueKeys)], "readers")
)

// An ask is one of the ways to ask a node for the lock.
type ask func(n node, run string, ttl, proposal int64) string

var asks = map[string]ask{
	"acquire": func(n node, run string, ttl, proposal int64) string {
		return n.call(Acquire, queueKeys, "me", ttl, run, proposal+1, patience)
	},
	"wait": func(n node, run string, ttl, proposal int64) string {
		return n.call(Wait, queueKeys, "me", ttl, run, proposal, "x:c:1", time.Now().UnixMicro(), patience)
	},
	"shared": func(n node, run string, ttl, proposal int64) string {
		return n.call(AcquireShared, sharedKeys, "me", ttl, run, proposal, "", 0, patience)
	},
	"shared, waiting": func(n node, run string, ttl, proposal int64) string {
		return n.call(AcquireShared, sharedKeys, "me", ttl, run, proposal, "s:c:1", time.Now().UnixMicro(), patience)
	},
}

// numbers reads a reply: one number, or the first ones of a list.
func numbers(reply string) (v, second int64) {
	_, _ = fmt.Sscanf(strings.Trim(reply, "[]"), "%d %d", &v, &second)
	return v, second
}

// mark is the high-water mark of a node.
func (n node) mark() (hw int64) {
	var floor int64
	_, _ = fmt.Sscanf(n.get("node"), run+" %d %d", &floor, &hw)
	return hw
}

// A node that cannot vouch grants nothing, whichever way it is asked.
func TestNodeRefusesWhatItCannotVouchFor(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for name, c := range map[string]struct {
			stored map[string]string
			run    string
			ttl    int64
			want   string
		}{
			"not admitted":    {nil, run, ttl, "-2"},
			"another server":  {map[string]string{"node": strings.Repeat("f", 40) + " 0 0 700000", "fence": "5"}, run, ttl, "-2"},
			"longer lease":    {map[string]string{"node": run + " 0 0 700000", "fence": "5"}, run, maxTTL + 1, "[-3 700000]"},
			"released before": {map[string]string{"node": run + " 0 0 700000", "fence": "5", "tomb": "1", "flag": "1"}, run, ttl, "-1"},
		} {
			for way, ask := range asks {
				n := newNode(t, rdb, c.stored)
				if got := ask(n, c.run, c.ttl, 0); got != c.want {
					t.Errorf("%s, %s: %s, want %s", name, way, got, c.want)
				}
				if n.get("lock") != "" {
					t.Errorf("%s, %s: the lock is taken", name, way)
				}
			}
		}
	})
}

// The token that a node issues is above its floor, which stands for what it may
// have forgotten, above its fence, and, where that is lost, above its mark; and
// the mark follows it.
func TestTokenIsAboveEverythingThatTheNodeRemembers(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for _, c := range []struct {
			record, fence string
			above         int64
		}{
			{"0 0", "", 0}, {"0 0", "9", 9}, {"0 0", "9 3", 3}, {"20 20", "9", 20}, {"20 20", "9 3", 20}, {"20 30", "", 30},
			{"20 30", "25", 25}, {"5 30", "25 24", 24},
		} {
			for way, ask := range asks {
				stored := map[string]string{"node": run + " " + c.record + " 700000"}
				if c.fence != "" {
					stored["fence"] = c.fence
				}
				n := newNode(t, rdb, stored)
				least := c.above
				if !strings.HasPrefix(way, "shared") { // a writer's is above the readers' as well
					var f int64
					_, _ = fmt.Sscanf(c.fence, "%d", &f)
					least = max(least, f)
				}
				reply := ask(n, run, ttl, 0)
				v, top := numbers(reply)
				if v <= least {
					t.Errorf("record %s, fence %q, %s: %s, want a token above %d", c.record, c.fence, way, reply, least)
				}
				if hw := n.mark(); hw < v || strings.HasPrefix(way, "shared") && hw < top {
					t.Errorf("record %s, fence %q, %s: answered %s, and the mark is %d", c.record, c.fence, way, reply, hw)
				}
				var stands int64
				if _, err := fmt.Sscanf(n.get("fence"), "%d", &stands); err != nil || stands < v {
					t.Errorf("record %s, fence %q, %s: answered %s, and the fence is %q", c.record, c.fence, way, reply, n.get("fence"))
				}
			}
		}
	})
}

// A proposal is a hint, also where the client knows the node's whole record and
// the node need not look further: what is stored by others in the meantime, in
// the fence, in the queue or as a tomb, counts.
func TestKnownRecordDoesNotHideWhatOthersStored(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		const record = run + " 0 1000 700000"
		for name, c := range map[string]struct {
			stored map[string]string
			above  int64 // the token; below 0 is the refusal
		}{
			"nothing":                      {map[string]string{"fence": "400"}, 499},
			"a higher fence":               {map[string]string{"fence": "600"}, 600},
			"the very proposal":            {map[string]string{"fence": "500"}, 500},
			"a longer fence":               {map[string]string{"fence": "1000"}, 1000},
			"a fence with fewer digits":    {map[string]string{"fence": "90"}, 499},
			"readers' fence":               {map[string]string{"fence": "600 20"}, 600},
			"a release of this attempt":    {map[string]string{"fence": "400", "flag": "1", "tomb": "1"}, -1},
			"another record":               {map[string]string{"fence": "400", "node": run + " 700 1000 700000"}, 700},
			"a shorter limit":              {map[string]string{"fence": "400", "node": run + " 0 1000 1000"}, -3},
			"the record of another server": {map[string]string{"fence": "400", "node": strings.Repeat("f", 40) + " 0 1000 700000"}, -2},
		} {
			stored := map[string]string{"node": record}
			for k, v := range c.stored {
				stored[k] = v
			}
			n := newNode(t, rdb, stored)
			reply := n.call(Acquire, queueKeys, "me", ttl, record, 500, patience)
			v, _ := numbers(reply)
			if c.above >= 0 && v <= c.above || c.above < 0 && v != c.above {
				t.Errorf("%s: %s, want %d", name, reply, c.above)
			}
		}
		n := newNode(t, rdb, map[string]string{"node": record, "fence": "400"})
		now := time.Now().UnixMicro()
		n.rdb.Set(t.Context(), n.k["lock"], "holder 1", 0)
		n.call(Wait, queueKeys, "other", ttl, run, 0, "x:c:1", now, patience)
		n.rdb.Del(t.Context(), n.k["lock"])
		for _, known := range []string{record, run} {
			if got := n.call(Acquire, queueKeys, "me", ttl, known, 500, patience); got != "[0 0 2]" {
				t.Errorf("beside a waiter, known %q: %s, want [0 0 2]", known, got)
			}
		}
	})
}

// A request that is sent once more is answered as the first one was: with the
// value that was issued then.
func TestSecondCopyOfARequestHasTheSameAnswer(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for way, ask := range asks {
			n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5"})
			first, _ := numbers(ask(n, run, ttl, 0))
			fence := n.get("fence")
			second, _ := numbers(ask(n, run, ttl, 0))
			if first <= 5 || second != first {
				t.Errorf("%s: %d, and then %d", way, first, second)
			}
			if n.get("fence") != fence {
				t.Errorf("%s: the fence was %s, and is %s", way, fence, n.get("fence"))
			}
		}
	})
}

// A reader is one for as long as its own lease lives, whatever those of others do:
// one that has ended is neither answered as before nor stretched, and a shorter
// lease that comes or goes ends no longer one.
func TestReadersHaveLeasesOfTheirOwn(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		const long, short = 500_000, 1_000
		record := map[string]string{"node": run + " 0 0 700000", "fence": "5"}
		left := func(n node, key string) int64 { return n.rdb.PTTL(t.Context(), n.k[key]).Val().Milliseconds() }
		score := func(n node, who string) int64 {
			return int64(n.rdb.ZScore(t.Context(), n.k["readers"], who).Val()) - n.rdb.Time(t.Context()).Val().UnixMilli()
		}
		take := func(n node, who string, ttl int64) {
			if v, _ := numbers(n.call(AcquireShared, sharedKeys, who, ttl, run, 0, "", 0, patience)); v <= 5 {
				t.Errorf("%s is not granted", who)
			}
		}
		release := func(n node, who string) string {
			return n.call(ReleaseShared, sharedKeys, who, 0, 0, "t:wake:", patience)
		}
		check := func(n node, what string, want int64) {
			for _, key := range []string{"lock", "readers"} {
				if got := left(n, key); got > want || got < want-60_000 && want > short || got <= 0 {
					t.Errorf("%s: %s lives for %d ms, want %d", what, key, got, want)
				}
			}
		}
		n := newNode(t, rdb, record)
		take(n, "a", short)
		take(n, "b", long)
		check(n, "a short one, then a long one", long)
		release(n, "a")
		check(n, "the short one has left", long)

		n = newNode(t, rdb, record)
		take(n, "a", short)
		take(n, "b", long)
		take(n, "c", long/2)
		release(n, "c")
		check(n, "one of three has left", long)

		n = newNode(t, rdb, record)
		take(n, "b", long)
		take(n, "a", short)
		check(n, "a long one, then a short one", long)
		if release(n, "b") != "1" {
			t.Error("the long one could not leave")
		}
		check(n, "the long one has left", short)

		n = newNode(t, rdb, record)
		take(n, "a", short)
		renew := []string{"node", "lock", "fence", "readers"}
		if got := n.call(RenewShared, renew, "a", run, long, 0); got != "1" || score(n, "a") < long-60_000 {
			t.Errorf("extended: %s, %d ms left", got, score(n, "a"))
		}
		check(n, "extended", long)
		if got := n.call(RenewShared, renew, "a", run, short, 0); got != "1" || score(n, "a") < long-60_000 {
			t.Errorf("extended by less: %s, %d ms left", got, score(n, "a"))
		}
		check(n, "extended by less", long)

		// a's lease has ended, b's has not: the lock key is still there.
		n = newNode(t, rdb, record)
		take(n, "b", long)
		n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: 1, Member: "a"})
		if got := n.call(RenewShared, renew, "a", run, long, 0); got != "0" {
			t.Errorf("a lease that has ended was extended: %s", got)
		}
		if got := n.call(WriteBackShared, renew, "a", run, 100); got != "0" {
			t.Errorf("a write-back of a reader whose lease has ended: %s", got)
		}
		take(n, "a", long)
		if score(n, "a") < long-60_000 {
			t.Error("a reader that came back was told of a lease that has ended")
		}

		// A writer has the key: the readers before it are nobody.
		n = newNode(t, rdb, record)
		n.rdb.Set(t.Context(), n.k["lock"], "w 6", 0)
		n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(time.Now().UnixMilli() + ttl), Member: "a"})
		for what, got := range map[string]string{
			"asks":    n.call(AcquireShared, sharedKeys, "a", ttl, run, 0, "", 0, patience)[:2],
			"extends": n.call(RenewShared, renew, "a", run, long, 0), "writes back": n.call(WriteBackShared, renew, "a", run, 100),
		} {
			if got != "[0" && got != "0" {
				t.Errorf("a reader beside a writer %s: %s", what, got)
			}
		}
		release(n, "a")
		if n.get("lock") != "w 6" {
			t.Error("a reader's release freed a writer")
		}
	})
}

// What is extended, stored or given back asks who holds the lock, on which server,
// and never shortens, lowers or creates.
func TestHolderAloneChangesItsLease(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		other := strings.Repeat("f", 40)
		keys, renewShared := []string{"node", "lock", "fence"}, []string{"node", "lock", "fence", "readers"}
		held := func(lock string) node {
			n := newNode(t, rdb, map[string]string{"node": run + " 10 40 700000", "fence": "30 20", "lock": lock})
			n.rdb.PExpire(t.Context(), n.k["lock"], (ttl-10_000)*time.Millisecond)
			n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(time.Now().UnixMilli() + ttl), Member: "me"})
			return n
		}
		for name, c := range map[string]struct {
			lock string
			do   func(n node) string
			want string
		}{
			"renew":                      {"me 30", func(n node) string { return n.call(Renew, keys, "me", run, ttl+50_000, 0) }, "1"},
			"renew by less":              {"me 30", func(n node) string { return n.call(Renew, keys, "me", run, 1000, 0) }, "1"},
			"renew another's":            {"you 30", func(n node) string { return n.call(Renew, keys, "me", run, ttl, 0) }, "3"},
			"renew, another server":      {"me 30", func(n node) string { return n.call(Renew, keys, "me", other, ttl, 0) }, "-2"},
			"renew, too long":            {"me 30", func(n node) string { return n.call(Renew, keys, "me", run, maxTTL+1, 0) }, "[-3 700000]"},
			"raise another's":            {"you 30", func(n node) string { return n.call(WriteBack, keys, "me", run, 50) }, "0"},
			"raise, another server":      {"me 30", func(n node) string { return n.call(WriteBack, keys, "me", other, 50) }, "-2"},
			"raise below what it has":    {"me 30", func(n node) string { return n.call(WriteBack, keys, "me", run, 25) }, "[2 30]"},
			"a reader's, another server": {"r", func(n node) string { return n.call(WriteBackShared, renewShared, "me", other, 50) }, "-2"},
			"reader, another server":     {"r", func(n node) string { return n.call(RenewShared, renewShared, "me", other, ttl, 0) }, "-2"},
			"reader, too long":           {"r", func(n node) string { return n.call(RenewShared, renewShared, "me", run, maxTTL+1, 0) }, "[-3 700000]"},
			"reader below a writer":      {"r", func(n node) string { return n.call(WriteBackShared, renewShared, "me", run, 20) }, "[2 21]"},
			"reader, floor above":        {"r", func(n node) string { return n.call(WriteBackShared, renewShared, "me", run, 5) }, "[2 21]"},
			"limit, another server":      {"me 30", func(n node) string { return n.call(Limit, []string{"node"}, other, maxTTL+1) }, "-2"},
			"limit below":                {"me 30", func(n node) string { return n.call(Limit, []string{"node"}, run, 1) }, "1"},
			"give back another's":        {"you 30", func(n node) string { return n.call(Release, queueKeys, "me", 0, 0, "t:wake:", patience) }, "0"},
		} {
			n := held(c.lock)
			if got := c.do(n); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if n.get("lock") != c.lock || n.get("fence") != "30 20" || n.get("node") != run+" 10 40 700000" {
				t.Errorf("%s: lock %q, fence %q, record %q", name, n.get("lock"), n.get("fence"), n.get("node"))
			}
			if left := n.rdb.PTTL(t.Context(), n.k["lock"]).Val(); left < (ttl-60_000)*time.Millisecond || name == "renew" && left < ttl*time.Millisecond {
				t.Errorf("%s: the lease has %v left", name, left)
			}
		}
	})
}

// Gossip on renewal and on release raises the fence of readers and writers, and
// the mark with it, and keeps what was given to writers apart.
func TestGossipRaisesFenceAndMark(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		keys := []string{"node", "lock", "fence"}
		for way, say := range map[string]func(n node, token int64){
			"renew":          func(n node, token int64) { n.call(Renew, keys, "me", run, ttl, token) },
			"release":        func(n node, token int64) { n.call(Release, queueKeys, "me", token, 0, "t:wake:", patience) },
			"shared renew":   func(n node, token int64) { n.call(RenewShared, append(keys, "readers"), "me", run, ttl, token) },
			"shared release": func(n node, token int64) { n.call(ReleaseShared, sharedKeys, "me", token, 0, "t:wake:", patience) },
		} {
			for _, c := range []struct{ fence, raised string }{{"30 20", "50 20"}, {"60 20", "60 20"}, {"60", "60"}, {"", ""}} {
				stored := map[string]string{"node": run + " 0 40 700000", "lock": "me 30"}
				if c.fence != "" {
					stored["fence"] = c.fence
				}
				if strings.HasPrefix(way, "shared") {
					stored["lock"] = "r"
				}
				n := newNode(t, rdb, stored)
				n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(time.Now().UnixMilli() + ttl), Member: "me"})
				say(n, 50)
				if got := n.get("fence"); got != c.raised {
					t.Errorf("%s, fence %q: %q, want %q", way, c.fence, got, c.raised)
				}
				if hw := n.mark(); hw != 50 {
					t.Errorf("%s, fence %q: the mark is %d, want 50", way, c.fence, hw)
				}
			}
		}
	})
}
