package simulate

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/workload"
)

func TestVirtualTimePasses(t *testing.T) {
	if err := SelfCheck(); err != nil {
		t.Fatal(err)
	}
}

func TestABubbleThatDeadlocksIsAnError(t *testing.T) {
	if err := inBubble(func() { <-make(chan int) }); err == nil {
		t.Error("no error")
	}
}

func player(t testing.TB, id string) *Player {
	t.Helper()
	lock, err := catalogue.Builtin().Find(id)
	if err != nil {
		t.Fatal(err)
	}
	p := &Player{Lock: lock}
	if err := p.Supports(); err != nil {
		t.Fatal(err)
	}
	return p
}

// stormy is a round in which clients, links and nodes are hurt, by the clock and at
// moments of the lock.
func stormy(seed uint64, mode workload.Mode) search.Round {
	r := search.Round{
		Seed: seed, Clients: 3, TTL: 400 * time.Millisecond, Duration: 1700 * time.Millisecond,
		Load: config.Load{
			Keys: 2, Hold: workload.Fixed(30 * time.Millisecond), Think: workload.Fixed(20 * time.Millisecond), Writes: 2,
			Wait: 200 * time.Millisecond, LongHold: 0.1, Renew: true, Mode: mode,
		},
		Steps: []faults.Spec{
			{At: 100 * time.Millisecond, Fault: "stall", For: 300 * time.Millisecond, Params: faults.Params{Client: "any"}},
			{At: 300 * time.Millisecond, Fault: "pause-client", For: 500 * time.Millisecond, On: "acquire-replied"},
			{At: 500 * time.Millisecond, Fault: "crash-client", On: "in-section"},
			{At: 700 * time.Millisecond, Fault: "kill", For: 200 * time.Millisecond},
			{At: 900 * time.Millisecond, Fault: "response-lost", For: 200 * time.Millisecond, On: "release-sent"},
			{At: time.Second, Fault: "partition-client", For: 300 * time.Millisecond},
			{At: 1200 * time.Millisecond, Fault: "latency", For: 300 * time.Millisecond},
		},
	}
	if mode == workload.ModeRW {
		r.Load.Readers = 0.5
	}
	return r
}

// One round has one history on one processor, as searches and replays play it.
func TestARoundRepeatsExactly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, x := range []struct {
		lock string
		mode workload.Mode
	}{
		{"redlock", workload.ModeRW}, {"redlock", workload.ModeMixed}, {"single", workload.ModeFair}, {"single", workload.ModeReentrant}, {"single", workload.ModeMulti},
		{"redlock-plain", workload.ModeExclusive}, {"routed", workload.ModeExclusive}, {"token-watchdog", workload.ModeExclusive}, {"redsync", workload.ModeExclusive}, {"redislock", workload.ModeExclusive},
	} {
		t.Run(x.lock+"/"+string(x.mode), func(t *testing.T) {
			p, r := player(t, x.lock), stormy(11, x.mode)
			var first Result
			for i := range 2 {
				res := p.Play(t.Context(), r)
				if res.Err != nil {
					t.Fatal(res.Err)
				}
				if i == 0 {
					first = res
				}
				if res.Hash != first.Hash || res.Attempts != first.Attempts {
					t.Fatalf("play %d: history %s of %d attempts, first %s of %d", i+1, res.Hash, res.Attempts, first.Hash, first.Attempts)
				}
			}
			if first.Grants < 10 || first.Report.Evidence.FaultedHandovers == 0 {
				t.Errorf("%d grants, %d hand-overs under faults", first.Grants, first.Report.Evidence.FaultedHandovers)
			}
		})
	}
	a, b := player(t, "single").Play(t.Context(), stormy(11, "")), player(t, "single").Play(t.Context(), stormy(12, ""))
	if a.Hash == b.Hash {
		t.Error("another seed has the same history")
	}
}

// What a search draws for any lock repeats too: each lock has clients, timers and
// goroutines of its own that might tell two things of one instant in either order. Those
// that wait for the end of an instant repeat on several processors as well.
func TestRoundsThatSearchesDrawRepeatForEveryLock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds = 2
	locks := catalogue.Builtin()
	unplanted := slices.Concat(locks.In(catalogue.Full), locks.In(catalogue.Recipes), locks.In(catalogue.Controls), locks.In(catalogue.Libraries))
	for i, lock := range unplanted { // a mutant's goroutines are those of its corrected twin, a control
		p, seed := &Player{Lock: lock}, uint64(i)
		if p.Supports() != nil {
			continue
		}
		t.Run(lock.ID, func(t *testing.T) {
			s := search.New(p.space(Job{}), seed, search.Log{})
			for n := range rounds {
				r := draw(s)
				first := p.Play(t.Context(), r)
				if lock.WithLinger != nil {
					runtime.GOMAXPROCS(4)
				}
				again := p.Play(t.Context(), r)
				runtime.GOMAXPROCS(1)
				if first.Err != nil || again.Err != nil {
					t.Fatalf("round %d of seed %d: errors %v, %v", n+1, seed, first.Err, again.Err)
				}
				if first.Hash != again.Hash {
					t.Errorf("round %d of seed %d: history %s of %d attempts, then %s of %d", n+1, seed, first.Hash, first.Attempts, again.Hash, again.Attempts)
				}
				s.Record(r, first.Outcome)
			}
		})
	}
}

// A client that stands still between the check and the write, as its lock reports a
// loss, does not hold up the clock.
func TestLossInAPauseDoesNotStopTheClock(t *testing.T) {
	p := player(t, "redlock")
	r := search.Round{
		Seed: 1, Clients: 1, TTL: 400 * time.Millisecond, Duration: 2 * time.Second,
		Load:  config.Load{Keys: 1, Hold: workload.Fixed(600 * time.Millisecond), Think: workload.Fixed(10 * time.Millisecond), Writes: 2, Renew: true},
		Steps: []faults.Spec{{At: 100 * time.Millisecond, Fault: "pause-client", For: 900 * time.Millisecond, On: "renewal-due"}},
	}
	played := make(chan Result, 1)
	go func() { played <- p.Play(context.Background(), r) }()
	select {
	case res := <-played:
		if res.Err != nil || res.Grants == 0 {
			t.Errorf("%d grants, error %v", res.Grants, res.Err)
		}
	case <-time.After(time.Minute):
		t.Fatal("virtual time stands still")
	}
}

// What searches once held against a sound lock, each with the mistake that it was.
func TestSoundRounds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, r := range map[string]search.Round{
		// L9: who asks for two keys at once, and is refused for the sake of the other one, was
		// taken for a witness that the first, just released, was not free.
		"refused for the sake of another key": {
			Seed: 9812033, Clients: 2, TTL: 700 * time.Millisecond, Duration: 9 * time.Second,
			Load: config.Load{Keys: 3, Hold: workload.Fixed(210 * time.Millisecond), Think: workload.Fixed(time.Millisecond), Writes: 3, Mode: workload.ModeMulti},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if res := player(t, "redlock").Play(t.Context(), r); res.Err != nil || len(res.Report.Violations) > 0 {
				t.Errorf("%v, error %v", res.Report.Violations, res.Err)
			}
		})
	}
}

// What a broken lock does is found blind, made small, and replayed.
func TestExploreFindsShrinksAndReplays(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := player(t, "exists-set")
	r := Report{Lock: "exists-set", Nodes: 1}
	p.Explore(t.Context(), Job{Lock: "exists-set", Seed: 1, Rounds: 20, First: true}, func(told RoundReport) { r.Add(told) })
	r.Conclude()
	if len(r.Found) == 0 || r.Exit != 1 {
		t.Fatalf("%s: %s, %d findings", r.Verdict, r.Why, len(r.Found))
	}
	f := r.Found[0]
	if f.Small == nil || f.Small.Again != proofs || f.Small.Of != proofs || f.Small.After.Steps > 12 {
		t.Fatalf("not made small: %+v", f.Small)
	}
	path := filepath.Join(t.TempDir(), "finding.json")
	if err := ReplayOf(r.Lock, r.Nodes, &f).Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := ReadReplay(path)
	if err != nil {
		t.Fatal(err)
	}
	res := p.Play(t.Context(), again.Round)
	if res.Hash != again.Hash || len(res.Report.Violations) == 0 {
		t.Errorf("replayed: history %s, want %s; %d violations", res.Hash, again.Hash, len(res.Report.Violations))
	}
	if !slices.ContainsFunc(res.Outcome.Findings, func(g search.Finding) bool { return g.Text == again.Finding.Text }) {
		t.Errorf("the file says %q; replayed: %v", again.Finding.Text, res.Outcome.Findings)
	}
}

// The nodes are looked at while a round goes on: what a failed attempt leaves behind for
// no longer than a lease shows.
func TestNodesAreLookedAt(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := search.Round{
		Seed: 1, Clients: 5, TTL: 2 * time.Second, Duration: 4 * time.Second,
		Load: config.Load{Keys: 1, Hold: workload.Fixed(20 * time.Millisecond), Think: workload.Fixed(10 * time.Millisecond), Writes: 2, Mode: workload.ModeExclusive},
	}
	for lock, want := range map[string]bool{"no-undo": true, "no-undo-twin": false} {
		res := player(t, lock).Play(t.Context(), r)
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		if got := slices.ContainsFunc(res.Outcome.Findings, func(f search.Finding) bool { return f.ID == "L8" }); got != want {
			t.Errorf("%s: L8 %v, want %v: %v", lock, got, want, res.Outcome.Findings)
		}
	}
}

// What the corrected lock shows in the same round is not the flaw, and what nobody asked
// for does not count.
func TestOnlyItsOwnFindingsCount(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	locks := catalogue.Builtin()
	r := search.Round{
		Seed: 1, Clients: 3, TTL: 400 * time.Millisecond, Duration: time.Second,
		Load: config.Load{Keys: 1, Hold: workload.Fixed(20 * time.Millisecond), Think: workload.Fixed(10 * time.Millisecond), Writes: 2},
	}
	for name, x := range map[string]struct {
		job  Job
		want bool
	}{
		"beside a sound lock":  {Job{Lock: "exists-set", Twin: "single", Counts: []string{"S1"}}, true},
		"beside itself":        {Job{Lock: "exists-set", Twin: "exists-set", Counts: []string{"S1"}}, false},
		"nobody asked for it":  {Job{Lock: "exists-set", Twin: "single", Counts: []string{"S2"}}, false},
		"beside nobody at all": {Job{Lock: "exists-set"}, true},
	} {
		p, err := x.job.player(locks)
		if err != nil {
			t.Fatal(err)
		}
		found := p.own(t.Context(), r, p.Play(t.Context(), r).Outcome.Findings)
		if (len(found) > 0) != x.want {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// The same seed explores the same rounds, on one processor as in every worker, and a sound
// lock shows nothing in them.
func TestExploreRepeatsAndSparesTheSound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := player(t, "single")
	var hashes [2][]string
	for i := range hashes {
		r := Report{}
		p.Explore(t.Context(), Job{Lock: "single", Seed: 5, Rounds: 3}, func(told RoundReport) {
			hashes[i] = append(hashes[i], told.Hash)
			r.Add(told)
		})
		if len(r.Found) > 0 || r.Void > 0 {
			t.Fatalf("findings %v, void %v", r.Found, r.Voids)
		}
	}
	for i, h := range hashes[0] {
		if hashes[1][i] != h {
			t.Errorf("round %d: history %s, then %s", i+1, h, hashes[1][i])
		}
	}
}

func TestLocksThatCannotLiveInVirtualTimeAreRefused(t *testing.T) {
	for _, id := range []string{"redis-py", "rueidislock", "failover", "renew-limited"} {
		lock, err := catalogue.Builtin().Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if (&Player{Lock: lock}).Supports() == nil {
			t.Errorf("%s is not refused", id)
		}
	}
}

func TestReportsVerdict(t *testing.T) {
	for name, x := range map[string]struct {
		told []RoundReport
		exit int
	}{
		"nothing":          {nil, 3},
		"nothing found":    {[]RoundReport{{Round: 1, Grants: 5, Faulted: 2}}, 0},
		"no fault met":     {[]RoundReport{{Round: 1, Grants: 5}}, 3},
		"mostly void":      {[]RoundReport{{Round: 1, Void: "x"}, {Round: 2, Void: "x"}, {Round: 3, Grants: 5, Faulted: 1}}, 70},
		"found beside all": {[]RoundReport{{Round: 1, Void: "x"}, {Round: 2, Found: []Found{{Finding: search.Finding{ID: "S1"}}}}}, 1},
	} {
		r := Report{}
		for _, told := range x.told {
			r.Add(told)
		}
		if r.Conclude(); r.Exit != x.exit {
			t.Errorf("%s: exit %d (%s), want %d", name, r.Exit, r.Why, x.exit)
		}
	}
}

// TestAHealthyNetworkLetsALockUndo: without a fault no message is so slow that a client
// could not connect anew, undo and be answered within the time that its lock documents. The
// full lock was accused of a key left behind (L8) when messages took 55 to 100 ms: each of
// its connections took longer to make than an exchange with a node may.
func TestAHealthyNetworkLetsALockUndo(t *testing.T) {
	p := player(t, "redlock")
	within := p.Lock.UndoWithin(2 * time.Second)
	slow := time.Duration(0)
	for seed := range uint64(500) {
		r := search.Round{Seed: seed, TTL: 2 * time.Second, Duration: 3 * time.Second}
		pace := p.Pace(r)
		travel := (pace.Least + pace.Spread) * time.Duration(max(1, pace.Slower))
		if pace.Ranks != nil {
			travel += pace.Ranks.Longest
		}
		slow = max(slow, travel)
	}
	if took := 2 * 4 * slow; took > within/2+within/10 { // dial, greet, load, ask
		t.Errorf("messages take up to %v, so that an undo on a new connection takes %v, and %v are documented with what went before", slow, took, within)
	}
	if slow < within/30 {
		t.Errorf("messages take %v at most: too even to show anything", slow)
	}
}
