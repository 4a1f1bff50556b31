package script

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// waits has a writer or a reader ("s:…") ask for the lock and queue.
func (n node) waits(member string, patience int64) string {
	ticket := n.rdb.Time(n.t.Context()).Val().UnixMicro()
	if strings.HasPrefix(member, "s:") {
		return n.call(AcquireShared, sharedKeys, member, ttl, run, 0, member, ticket, patience)
	}
	return n.call(Wait, queueKeys, member, ttl, run, 0, member, ticket, patience)
}

// beat sets until when a waiter counts as alive, from now.
func (n node) beat(member string, ms int64) {
	now := n.rdb.Time(n.t.Context()).Val().UnixMilli()
	n.rdb.ZAdd(n.t.Context(), n.k["beats"], redis.Z{Score: float64(now + ms), Member: member})
}

// The first live waiter is granted the lock and leaves the queue; nobody goes
// ahead of it but readers of readers; one that does not ask any more, or whose
// sign of life is of another clock, holds up nobody.
func TestQueueServesTheFirstThatLives(t *testing.T) {
	const refused = "[0 0 2]"
	both(t, func(t *testing.T, rdb *redis.Client) {
		queued := func(members ...string) node {
			n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
			for _, m := range members {
				n.waits(m, patience)
			}
			n.rdb.Del(t.Context(), n.k["lock"])
			return n
		}
		expect := func(what, got, want string) {
			t.Helper()
			if (want == "") == (got == refused) || want != "" && got != want {
				t.Errorf("%s: %s", what, got)
			}
		}
		n := queued("x:c:1", "x:c:2", "s:c:3")
		expect("the second writer", n.waits("x:c:2", patience), refused)
		expect("a reader behind writers", n.waits("s:c:3", patience), refused)
		expect("a reader that does not queue", n.call(AcquireShared, sharedKeys, "r", ttl, run, 0, "", 0, patience), refused)
		expect("a writer that does not queue", n.call(Acquire, queueKeys, "w", ttl, run, 1, patience), refused)
		expect("the first", n.waits("x:c:1", patience), "")
		if n.rdb.ZScore(t.Context(), n.k["tickets"], "x:c:1").Err() == nil || n.rdb.ZScore(t.Context(), n.k["beats"], "x:c:1").Err() == nil {
			t.Error("who was granted the lock is still queued")
		}

		n = queued("x:c:1")
		if got, _ := numbers(n.call(Acquire, queueKeys, "holder", ttl, run, 1, "")); got <= 5 {
			t.Errorf("the repair of a lease waits for the queue: %d", got)
		}

		n = queued("s:c:1")
		expect("a reader behind none", n.waits("s:c:1", patience), "")
		if n.rdb.ZCard(t.Context(), n.k["tickets"]).Val() != 0 || n.rdb.ZCard(t.Context(), n.k["beats"]).Val() != 0 {
			t.Error("a reader that was granted the lock is still queued")
		}
		if got := n.call(Acquire, queueKeys, "w", ttl, run, 1, patience); !strings.HasSuffix(got, " 1]") {
			t.Errorf("a writer beside readers: %s", got)
		}

		for what, ms := range map[string]int64{"does not ask any more": -1, "is from another clock": patience + 10_000} {
			for _, next := range []string{"x:c:2", "s:c:2"} {
				n = queued("x:c:1~"+strconv.Itoa(patience), next)
				n.beat("x:c:1~"+strconv.Itoa(patience), ms)
				expect("behind one that "+what, n.waits(next, patience), "")
			}
		}
		n = queued("s:c:0", "x:c:1", "s:c:2") // behind a live reader a dead writer stays in the queue
		n.beat("x:c:1", -1)
		expect("a reader behind a dead writer", n.waits("s:c:2", patience), "")
		n = queued("x:c:1~"+strconv.Itoa(patience), "x:c:2")
		expect("behind one that is more patient", n.waits("x:c:2", 1000), refused)

		n = queued("x:c:1", "x:c:2")
		n.call(Leave, []string{"lock", "tickets", "beats"}, "x:c:1", "t:wake:", patience)
		expect("behind one that left", n.waits("x:c:2", patience), "")
	})
}

// Asking again keeps the place and renews the sign of life; a ticket is not older
// than a second; and nothing of a queue stays for ever.
func TestPlaceInTheQueue(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "lock": "holder 5"})
		place := func() float64 { return n.rdb.ZScore(t.Context(), n.k["tickets"], "x:c:1").Val() }
		alive := func() float64 { return n.rdb.ZScore(t.Context(), n.k["beats"], "x:c:1").Val() }
		n.call(Wait, queueKeys, "x:c:1", ttl, run, 0, "x:c:1", 1, patience)
		first := place()
		if old := time.Since(time.UnixMicro(int64(first))); old > 10*time.Second {
			t.Errorf("a ticket of %v ago", old)
		}
		n.beat("x:c:1", 10)
		before := alive()
		n.waits("x:c:1", patience)
		if place() != first || alive() <= before {
			t.Errorf("asked again: place %v after %v, alive until %v after %v", place(), first, alive(), before)
		}
		for _, key := range []string{"flag", "tickets", "beats"} {
			if left := n.rdb.PTTL(t.Context(), n.k[key]).Val(); left <= 0 {
				t.Errorf("%s stays for ever: %v", key, left)
			}
		}
	})
}

// One call keeps the places of several waiters: it renews their signs of life, takes the
// places anew of those that lost them, in their order and behind those who kept theirs, and
// names the first once the lock may be had.
func TestKeepKeepsPlaces(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		keys := []string{"node", "lock", "flag", "tickets", "beats"}
		const longer = maxTTL + 1
		members := []string{"x:c:z", "x:c:b", "x:c:a"}
		made := func(lock string) node {
			stored := map[string]string{"node": run + " 0 0 700000", "fence": "5"}
			if lock != "" {
				stored["lock"] = lock
			}
			return newNode(t, rdb, stored)
		}
		now := func() int64 { return rdb.Time(t.Context()).Val().UnixMicro() }
		keep := func(n node, ticket int64, run string, ttl int64) string {
			args := []any{run, patience, 1}
			for i, m := range members {
				args = append(args, m, ticket+int64(i), ttl)
			}
			return n.call(Keep, keys, args...)
		}
		queued := func(n node) string {
			return fmt.Sprint(n.rdb.ZRange(t.Context(), n.k["tickets"], 0, -1).Val())
		}

		n := made("holder 5")
		if got := keep(n, now(), run, ttl); got != "[0 ]" || queued(n) != "[x:c:z x:c:b x:c:a]" {
			t.Errorf("held: %s, queued %s", got, queued(n))
		}
		n.rdb.Del(t.Context(), n.k["lock"])
		for _, m := range members {
			n.beat(m, 10)
		}
		if got := keep(n, now(), run, ttl); got != "[0 x:c:z]" || queued(n) != "[x:c:z x:c:b x:c:a]" {
			t.Errorf("free: %s, queued %s", got, queued(n))
		}
		for _, m := range members {
			if left := n.rdb.ZScore(t.Context(), n.k["beats"], m).Val() - float64(now()/1000); left < patience-10_000 || left > patience {
				t.Errorf("%s counts as alive for %v ms, want %d", m, left, patience)
			}
		}
		for _, key := range []string{"flag", "tickets", "beats"} {
			if left := n.rdb.PTTL(t.Context(), n.k[key]).Val(); left <= 0 {
				t.Errorf("%s stays for ever: %v", key, left)
			}
		}

		n = made("holder 5") // all tickets are old: they lost their places
		n.call(Wait, queueKeys, "x:c:y", ttl, run, 0, "x:c:y", 1, patience)
		if keep(n, 1, run, ttl); queued(n) != "[x:c:y x:c:z x:c:b x:c:a]" {
			t.Errorf("lost places: queued %s", queued(n))
		}

		for clock, ticket := range map[string]int64{"ahead of": now() + time.Hour.Microseconds(), "behind": 1} {
			n = made("holder 5") // a client whose clock is not the node's
			if keep(n, ticket, run, ttl); queued(n) != "[x:c:z x:c:b x:c:a]" {
				t.Errorf("a clock %s the node's: queued %s", clock, queued(n))
			}
			for i, m := range members {
				n.call(Wait, queueKeys, m, ttl, run, 0, m, ticket+int64(i), patience)
			}
			if queued(n) != "[x:c:z x:c:b x:c:a]" {
				t.Errorf("a clock %s the node's, asked as well: queued %s", clock, queued(n))
			}
		}

		for name, ask := range map[string]func(n node) string{
			"of another server":       func(n node) string { return keep(n, now(), strings.Repeat("f", 40), ttl) },
			"longer than it grants":   func(n node) string { return keep(n, now(), run, longer) },
			"nobody waits any longer": func(n node) string { return n.call(Keep, keys, run, patience, 1) },
		} {
			n := made("")
			want := map[bool]string{true: "-2", false: "[0 ]"}[name == "of another server"]
			if got := ask(n); got != want || queued(n) != "[]" {
				t.Errorf("%s: %s, queued %s", name, got, queued(n))
			}
		}
		n = newNode(t, rdb, nil)
		if got := keep(n, now(), run, ttl); got != "-2" || queued(n) != "[]" {
			t.Errorf("not admitted: %s, queued %s", got, queued(n))
		}
	})
}

// A release over which a doubt hangs keeps late copies of its acquire out, of
// writers and readers, whichever way they ask.
func TestTombKeepsALateCopyOut(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for way, release := range map[string]func(n node) string{
			"release":        func(n node) string { return n.call(Release, queueKeys, "me", 0, 60_000, "t:wake:", patience) },
			"shared release": func(n node) string { return n.call(ReleaseShared, sharedKeys, "me", 0, 60_000, "t:wake:", patience) },
		} {
			for how, ask := range asks {
				n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5"})
				if got := release(n); got != "0" {
					t.Errorf("%s: %s", way, got)
				}
				if got := ask(n, run, ttl, 0); got != "-1" {
					t.Errorf("%s, then a copy of %s: %s, want -1", way, how, got)
				}
			}
		}
	})
}

// A write-back stores the token for writers and readers, and keeps the readers'
// gossip; a floor stands for the writers that a node has forgotten. Readers that
// were there before a key was free are none when it is taken again.
func TestWriteBackStoresTheToken(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for fence, want := range map[string]string{"30 20": "50", "40": "50", "60 20": "60 50", "60": "60", "": ""} {
			stored := map[string]string{"node": run + " 0 40 700000", "lock": "me 30"}
			if fence != "" {
				stored["fence"] = fence
			}
			n := newNode(t, rdb, stored)
			if got := n.call(WriteBack, []string{"node", "lock", "fence"}, "me", run, 50); got != "1" || n.get("fence") != want || n.mark() != 50 {
				t.Errorf("fence %q: %s, then %q and the mark %d, want %q", fence, got, n.get("fence"), n.mark(), want)
			}
		}
		n := newNode(t, rdb, map[string]string{"node": run + " 40 40 700000", "fence": "30 20", "lock": "r"})
		n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(time.Now().UnixMilli() + ttl), Member: "me"})
		if got := n.call(WriteBackShared, []string{"node", "lock", "fence", "readers"}, "me", run, 30); got != "[2 41]" {
			t.Errorf("a reader's write-back below the floor: %s, want [2 41]", got)
		}
		n.rdb.Del(t.Context(), n.k["lock"])
		n.call(AcquireShared, sharedKeys, "you", ttl, run, 0, "", 0, patience)
		if got := n.call(RenewShared, []string{"node", "lock", "fence", "readers"}, "me", run, ttl, 0); got != "0" {
			t.Errorf("a reader from before extends: %s", got)
		}
	})
}

// A node that does not know its run sits out a quarantine of its own, as long as
// anybody's leases may be, and is admitted by nothing but what names that
// quarantine, after its end, above every mark.
func TestQuarantineAndAdmission(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		keys, other := []string{"node", "quarantine"}, strings.Repeat("f", 40)
		now := func() int64 { return rdb.Time(t.Context()).Val().UnixMilli() }
		quarantine := func(n node) (of string, id, until, length int64) {
			_, _ = fmt.Sscanf(n.get("quarantine"), "%s %d %d %d", &of, &id, &until, &length)
			return of, id, until - now(), length
		}
		begins := func(what string, stored map[string]string, least, most int64) node {
			n := newNode(t, rdb, stored)
			got := n.call(Hello, keys, run, 5000)
			of, _, left, length := quarantine(n)
			if !strings.HasPrefix(got, "[0 ") || of != run || left < least-1000 || left > most || length < least {
				t.Errorf("%s: %s, %d ms left of %d for %s; want %d to %d", what, got, left, length, of, least, most)
			}
			return n
		}
		begins("empty", nil, 5000, 5000)
		n := begins("data of another server", map[string]string{"node": other + " 20 5 100"}, 5000, 5000)
		if got := n.call(Hello, keys, run, 5000); got != "[0 20 100]" {
			t.Errorf("its mark is that of its floor: %s, want [0 20 100]", got)
		}
		begins("it granted longer", map[string]string{"node": other + " 20 5 700000"}, 714_000, 715_000)
		begins("the quarantine of another", map[string]string{"quarantine": fmt.Sprintf("%s 7 %d 1000", other, now()-10_000)}, 5000, 5000)
		begins("that of another was longer", map[string]string{"quarantine": fmt.Sprintf("%s 7 %d 60000", other, now()-10_000)}, 60_000, 60_000)
		begins("a shorter one", map[string]string{"quarantine": fmt.Sprintf("%s 7 %d 1000", run, now()+500)}, 4500, 4500+100)
		begins("the clock was set back", map[string]string{"quarantine": fmt.Sprintf("%s 7 %d 5000", run, now()+90_000)}, 5000, 5000)

		admitted := func(stored map[string]string, ticketOf string, force int) (string, node) {
			n := newNode(t, rdb, stored)
			return n.call(Admit, keys, run, ticketOf, 5, maxTTL, force), n
		}
		over := fmt.Sprintf("%s 7 %d 5000", run, now()-1)
		data := map[string]string{"node": other + " 20 30 100", "quarantine": over}
		if got, n := admitted(data, run+"/7", 0); got != "1" || n.get("node") != run+" 30 30 700000" || n.get("quarantine") != "" {
			t.Errorf("admitted: %s, %q, quarantine %q", got, n.get("node"), n.get("quarantine"))
		}
		for what, c := range map[string]struct{ quarantine, ticket string }{
			"another quarantine":       {over, run + "/8"},
			"another server's":         {strings.Replace(over, run, other, 1), other + "/7"},
			"before the end":           {fmt.Sprintf("%s 7 %d 5000", run, now()+60_000), run + "/7"},
			"without having been seen": {"", run + "/7"},
		} {
			stored := map[string]string{"node": other + " 20 30 100"}
			if c.quarantine != "" {
				stored["quarantine"] = c.quarantine
			}
			if got, n := admitted(stored, c.ticket, 0); got != "0" || n.get("node") != stored["node"] {
				t.Errorf("%s: %s, %q", what, got, n.get("node"))
			}
		}
		early := map[string]string{"quarantine": fmt.Sprintf("%s 7 %d 5000", run, now()+60_000)}
		if got, n := admitted(early, run+"/7", 1); got != "1" || n.get("node") != run+" 5 5 700000" {
			t.Errorf("forced: %s, %q", got, n.get("node"))
		}
	})
}

// Whoever gives the lock back, or leaves the head of the queue, tells the first who waits.
func TestWhoLetsGoWakesTheFirst(t *testing.T) {
	giveBackKeys := []string{"lock", "flag", "tickets", "beats"}
	both(t, func(t *testing.T, rdb *redis.Client) {
		for name, c := range map[string]struct {
			lock  string
			letGo func(n node) string
		}{
			"give back": {"holder 5", func(n node) string { return n.call(GiveBack, giveBackKeys, "holder", "wake:", patience) }},
			"release":   {"holder 5", func(n node) string { return n.call(Release, queueKeys, "holder", 0, 0, "wake:", patience) }},
			"a reader's": {"r", func(n node) string {
				n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(n.rdb.Time(t.Context()).Val().UnixMilli() + ttl), Member: "holder"})
				return n.call(ReleaseShared, sharedKeys, "holder", 0, 0, "wake:", patience)
			}},
			"leave": {"", func(n node) string {
				return n.call(Leave, []string{"lock", "tickets", "beats"}, "x:before:1", "wake:", patience)
			}},
		} {
			n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
			sub := rdb.Subscribe(t.Context(), "wake:c")
			if _, err := sub.Receive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.lock == "" {
				n.waits("x:before:1", patience)
			}
			n.waits("x:c:1", patience)
			n.waits("x:c:2", patience)
			if rdb.Del(t.Context(), n.k["lock"]); c.lock != "" {
				rdb.Set(t.Context(), n.k["lock"], c.lock, time.Hour)
			}
			if got := c.letGo(n); got != "1" {
				t.Errorf("%s: %s", name, got)
			}
			if rdb.Del(t.Context(), n.k["lock"]); c.lock == "" { // it has left already
				if got := c.letGo(n); got != "0" {
					t.Errorf("%s again: %s", name, got)
				}
			}
			rdb.Publish(t.Context(), "wake:c", "nobody else")
			for _, want := range []string{"x:c:1", "nobody else"} {
				msg, err := sub.ReceiveMessage(t.Context())
				if err != nil || msg.Payload != want {
					t.Errorf("%s: told %v (%v), want %s", name, msg, err, want)
					break
				}
			}
			_ = sub.Close()
		}
	})
}

// Whoever asks for a lock that may be had, and takes away the place of a dead waiter, tells the
// first behind it: once, and nobody where none was dead.
func TestWhoDropsTheDeadWakesTheFirstBehindThem(t *testing.T) {
	keepKeys := []string{"node", "lock", "flag", "tickets", "beats"}
	both(t, func(t *testing.T, rdb *redis.Client) {
		for name, ask := range map[string]func(n node) string{
			"a try":         func(n node) string { return n.call(Acquire, queueKeys, "w", ttl, run, 1, patience) },
			"a reader":      func(n node) string { return n.call(AcquireShared, sharedKeys, "r", ttl, run, 0, "", 0, patience) },
			"a waiter":      func(n node) string { return n.waits("x:d:1", patience) },
			"who waits too": func(n node) string { return n.waits("s:d:1", patience) },
			"a line": func(n node) string {
				return n.call(Keep, keepKeys, run, patience, 0, "x:d:1", n.rdb.Time(n.t.Context()).Val().UnixMicro(), ttl)
			},
		} {
			for _, dead := range []bool{true, false} {
				n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
				sub := rdb.Subscribe(t.Context(), "t:wake:c", "t:wake:before", "t:wake:d")
				for range 3 {
					if _, err := sub.Receive(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if dead {
					n.waits("x:before:1", patience)
				}
				n.waits("x:c:1", patience)
				n.waits("x:c:2", patience)
				n.beat("x:before:1", -1)
				rdb.Del(t.Context(), n.k["lock"])
				for range 3 {
					if got := ask(n); got != "[0 0 2]" && got != "[0 x:c:1]" {
						t.Errorf("%s: %s", name, got)
					}
				}
				rdb.Publish(t.Context(), "t:wake:c", "nobody else")
				want := []string{"x:c:1", "nobody else"}
				if !dead {
					want = want[1:]
				}
				for _, want := range want {
					msg, err := sub.ReceiveMessage(t.Context())
					if err != nil || msg.Payload != want {
						t.Errorf("%s, dead %v: told %v (%v), want %s", name, dead, msg, err, want)
						break
					}
				}
				_ = sub.Close()
			}
		}
	})
}

// A ticket within a second of the node's clock is as its client says, and one beyond that is
// moved to that bound.
func TestTicketsKeepToTheClockOfTheNode(t *testing.T) {
	m := miniredis.RunT(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m.SetTime(now)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer rdb.Close()
	n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
	for ahead, want := range map[time.Duration]time.Duration{
		-time.Hour: -time.Second, -900 * time.Millisecond: -900 * time.Millisecond, 0: 0,
		900 * time.Millisecond: 900 * time.Millisecond, time.Hour: time.Second,
	} {
		member := "x:c:" + ahead.String()
		n.call(Wait, queueKeys, member, ttl, run, 0, member, now.Add(ahead).UnixMicro(), patience)
		if got := rdb.ZScore(t.Context(), n.k["tickets"], member).Val(); int64(got) != now.Add(want).UnixMicro() {
			t.Errorf("a ticket %v ahead is %v ahead", ahead, time.UnixMicro(int64(got)).Sub(now))
		}
	}
}

// Places that were lost are taken again in their order, though one call does not keep all of
// them and two are executed in the same millisecond.
func TestKeepKeepsTheOrderOfSeveralCalls(t *testing.T) {
	m := miniredis.RunT(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m.SetTime(now)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer rdb.Close()
	for _, ticket := range []int64{1, now.Add(time.Hour).UnixMicro()} {
		n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
		keys := []string{"node", "lock", "flag", "tickets", "beats"}
		n.call(Keep, keys, run, patience, 0, "x:c:z", ticket, ttl, "x:c:y", ticket+1, ttl)
		n.call(Keep, keys, run, patience, 2, "x:c:b", ticket+2, ttl, "x:c:a", ticket+3, ttl)
		if got := fmt.Sprint(rdb.ZRange(t.Context(), n.k["tickets"], 0, -1).Val()); got != "[x:c:z x:c:y x:c:b x:c:a]" {
			t.Errorf("tickets from %d: queued %s", ticket, got)
		}
	}
}

// A reader who takes away the place of a dead writer, and is granted the lock, tells the readers
// behind that place, who may have it too; those behind a writer that lives are told nothing.
func TestReaderWhoDropsTheDeadWakesTheOtherReaders(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "5", "lock": "holder 5"})
		sub := rdb.Subscribe(t.Context(), "t:wake:c")
		defer sub.Close()
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"x:before:1", "s:d:1", "s:c:1", "s:c:2", "x:d:2", "s:c:3"} {
			n.waits(member, patience)
		}
		n.beat("x:before:1", -1)
		rdb.Del(t.Context(), n.k["lock"])
		if got := n.waits("s:d:1", patience); got != "[6 6]" {
			t.Errorf("the first reader: %s", got)
		}
		for _, set := range []string{"tickets", "beats"} { // of the dead nothing stays, and of who was granted the lock
			if got := n.rdb.ZCard(t.Context(), n.k[set]).Val(); got != 4 {
				t.Errorf("%d %s, want 4", got, set)
			}
		}
		rdb.Publish(t.Context(), "t:wake:c", "nobody else")
		for _, want := range []string{"s:c:1", "s:c:2", "nobody else"} {
			if msg, err := sub.ReceiveMessage(t.Context()); err != nil || msg.Payload != want {
				t.Fatalf("told %v (%v), want %s", msg, err, want)
			}
		}
	})
}
