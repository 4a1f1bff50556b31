package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/plan"
	"locktorture/faults/watch"
	"locktorture/workload"
	"locktorture/workload/history/coverage"
)

// TestFindsWhatIsThere: the model's flaws are found on every one of some seeds.
func TestFindsWhatIsThere(t *testing.T) {
	for seed := range uint64(5) {
		m := newModel()
		s := New(m.space, seed, Log{})
		hunt(m, s, 150)
		for _, id := range []string{"S5", "S1", "L1"} {
			if !slices.ContainsFunc(s.Log().Found, func(f *Found) bool { return f.ID == id }) {
				t.Errorf("seed %d: %s was not found in 150 rounds", seed, id)
			}
		}
	}
}

// TestSameSeedSameRounds: a search draws the same rounds from the same seed and the
// same outcomes.
func TestSameSeedSameRounds(t *testing.T) {
	var logs []Log
	for range 2 {
		m := newModel()
		s := New(m.space, 7, Log{})
		hunt(m, s, 40)
		logs = append(logs, s.Log())
	}
	for i, p := range logs[0].Rounds {
		if !reflect.DeepEqual(p.Round, logs[1].Rounds[i].Round) {
			t.Fatalf("round %d differs:\n%+v\n%+v", p.Number, p.Round, logs[1].Rounds[i].Round)
		}
	}
}

// TestRandom: a search that is not guided draws the same rounds whatever they showed.
func TestRandom(t *testing.T) {
	m := newModel()
	m.space.Random = true
	learning, ignorant := New(m.space, 7, Log{}), New(m.space, 7, Log{})
	for i := range 3 * firstSwarm {
		r, same := learning.Next(), ignorant.Next()
		if r.Origin != Swarm || !reflect.DeepEqual(r, same) {
			t.Fatalf("round %d differs:\n%+v\n%+v", i+1, r, same)
		}
		learning.Record(r, m.Play(t.Context(), r))
	}
}

// TestGoesOn: a search that was stored and read again knows what it knew.
func TestGoesOn(t *testing.T) {
	m := newModel()
	s := New(m.space, 3, Log{})
	hunt(m, s, 30)
	text, err := json.Marshal(s.Log())
	if err != nil {
		t.Fatal(err)
	}
	var log Log
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	again := New(m.space, 3, log)
	if !reflect.DeepEqual(again.Log().Sums(), s.Log().Sums()) {
		t.Errorf("sums %+v, want %+v", again.Log().Sums(), s.Log().Sums())
	}
	if !reflect.DeepEqual(again.seen, s.seen) || !reflect.DeepEqual(again.near, s.near) || !reflect.DeepEqual(again.moment, s.moment) {
		t.Error("what was reached before is not known any more")
	}
	known := len(log.Found)
	for _, f := range hunt(m, again, 30) {
		if f.Number <= 30 {
			t.Errorf("%s is found anew in round %d", f.Key(), f.Number)
		}
	}
	if known == 0 {
		t.Error("nothing was found in 30 rounds: the test says nothing")
	}
}

// TestNovelty: ground is new once, a near miss when it is clearly nearer, and a
// void round neither teaches nor counts.
func TestNovelty(t *testing.T) {
	s := New(newModel().space, 1, Log{})
	outcome := func(near float64, cells ...string) Outcome {
		return Outcome{Cells: cells, Near: map[string]float64{"gap": near}}
	}
	for i, c := range []struct {
		o         Outcome
		new, near int
		corpus    bool
	}{
		{outcome(100, "a", "b"), 2, 1, true},
		{outcome(99, "a", "b"), 0, 0, false},
		{outcome(89, "b"), 0, 1, true},
		{Outcome{Void: "the disk is full", Cells: []string{"z"}}, 0, 0, false},
		{outcome(200, "a", "z"), 1, 0, true},
	} {
		p, _ := s.Record(Round{}, c.o)
		if p.New != c.new || p.Near != c.near || p.Corpus() != c.corpus {
			t.Errorf("outcome %d: new %d, near %d, corpus %v; want %d, %d, %v", i, p.New, p.Near, p.Corpus(), c.new, c.near, c.corpus)
		}
	}
	sums := s.Log().Sums()
	if sums.Rounds != 4 || sums.Void != 1 || sums.Cells != 3 || sums.Quiet != 0 || sums.Corpus != 3 {
		t.Errorf("sums %+v", sums)
	}
}

// TestVoidRoundsFindNothing: what a round shows that says nothing is no finding.
func TestVoidRoundsFindNothing(t *testing.T) {
	s := New(newModel().space, 1, Log{})
	s1 := Finding{ID: "S1", Blame: "server"}
	if _, fresh := s.Record(Round{}, Outcome{Void: "a node died", Findings: []Finding{s1}}); len(fresh) > 0 {
		t.Error("a void round has findings")
	}
	_, fresh := s.Record(Round{}, Outcome{Findings: []Finding{s1, s1, {ID: "S1", Blame: "server", Fault: "cut"}}})
	if len(fresh) != 2 {
		t.Errorf("%d findings, want 2: they differ by the fault", len(fresh))
	}
	if _, fresh = s.Record(Round{}, Outcome{Findings: []Finding{s1}}); len(fresh) != 0 || s.Log().Found[0].Rounds != 2 {
		t.Errorf("%d findings anew, in %d rounds", len(fresh), s.Log().Found[0].Rounds)
	}
}

// TestUnseen holds the estimates against figures worked out by hand.
func TestUnseen(t *testing.T) {
	species, chance := unseen(10, map[string]int{"a": 1, "b": 1, "c": 1, "d": 2, "e": 5})
	if want := 0.9 * 3 * 2 / (2 * 2); species != want || chance != 0.3 {
		t.Errorf("%v unseen, %v; want %v, 0.3", species, chance, want)
	}
	if species, chance = unseen(10, map[string]int{"a": 10, "b": 4}); species != 0 || chance != 0 {
		t.Errorf("all seen often: %v, %v", species, chance)
	}
	if _, chance = unseen(0, nil); chance != 1 {
		t.Errorf("nothing seen: the next is new with %v", chance)
	}
}

// TestMomentsThatNeverCome are drawn less, and not never.
func TestMomentsThatNeverCome(t *testing.T) {
	w := weights{}
	for range 30 {
		w.note(map[string]bool{string(watch.RenewalSent): false, string(watch.InSection): true})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	n := map[watch.Moment]int{}
	for range 2000 {
		n[w.moment(rng, []watch.Moment{watch.RenewalSent, watch.InSection, watch.Expiry})]++
	}
	if n[watch.RenewalSent] == 0 || 5*n[watch.RenewalSent] > n[watch.Expiry] || n[watch.Expiry] > n[watch.InSection] {
		t.Error(n)
	}
}

// TestDrawnRoundsCanBeBuilt: of what is drawn from the whole catalogue nearly every
// step is one that a schedule can be built of, and all are within their round.
func TestDrawnRoundsCanBeBuilt(t *testing.T) {
	m := newModel()
	m.space.Faults = FaultNames(func(catalogue.Entry) bool { return true })
	m.space.Fits = func(r Round) error {
		_, err := plan.Build(entries, r.Steps, r.TTL)
		return err
	}
	s := New(m.space, 11, Log{})
	steps, kinds := 0, map[string]bool{}
	for range 400 {
		r := s.Next()
		s.Record(r, Outcome{Cells: []string{string(r.Load.Mode)}})
		built, err := plan.Build(entries, r.Steps, r.TTL)
		if err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		for _, x := range built {
			if x.When.After+max(0, x.When.Then)+x.For > r.Duration {
				t.Errorf("%+v ends beyond %v", x.Spec(), r.Duration)
			}
			kinds[x.Fault.Name()] = true
		}
		steps += r.Count()
	}
	if steps < 1000 || len(kinds) < len(m.space.Faults)*9/10 {
		t.Errorf("%d steps of %d kinds in 400 rounds, of %d kinds", steps, len(kinds), len(m.space.Faults))
	}
}

// TestOrphansAreLeftOut: a step that waits for a name goes with the one that binds it.
func TestOrphansAreLeftOut(t *testing.T) {
	binds := faults.Spec{Fault: "cut", Params: faults.Params{Client: "holder as victimQ"}}
	waits := faults.Spec{Fault: "kill-empty", On: faults.Bound, By: "victimQ"}
	names := faults.Spec{Fault: "pause-client", Params: faults.Params{Client: "victimQ"}}
	if got := withoutOrphans([]faults.Spec{waits, names, {Fault: "reset"}}); len(got) != 1 || got[0].Fault != "reset" {
		t.Errorf("%+v", got)
	}
	if got := withoutOrphans([]faults.Spec{binds, waits, names}); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

// TestAimed: rounds that are aimed reach for every cell, those that were reached
// least most of all, with the load that its phase needs.
func TestAimed(t *testing.T) {
	space := newModel().space
	space.Faults = FaultNames(func(catalogue.Entry) bool { return true })
	space = space.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	rare := coverage.Cell{Phase: coverage.RenewalSent, Class: coverage.Stalled}.String()
	rounds := func(cell string) int {
		if cell == rare {
			return 0
		}
		return 500
	}
	renews, at := 0, 0
	for range 200 {
		r := space.aimed(rng, rounds)
		if len(r.Steps) == 0 || r.Origin != Aimed {
			t.Fatalf("%+v", r)
		}
		if r.Load.Renew && r.Load.Hold.Mean > r.TTL || r.Load.LongHold > 0 {
			renews++
		}
		if slices.ContainsFunc(r.Steps, func(x faults.Spec) bool {
			return slices.Contains([]watch.Moment{watch.RenewalDue, watch.NextRenewalDue, watch.RenewalSent}, x.On)
		}) {
			at++
		}
	}
	if renews < 150 || at < 150 {
		t.Errorf("of 200 rounds aimed at renewals %d renew, %d have steps at that moment", renews, at)
	}
	if n := len(space.cells()); n < 80 {
		t.Errorf("%d cells to aim at", n)
	}
	for _, p := range coverage.Phases() {
		if len(aims[p].moments) == 0 {
			t.Errorf("nothing leads to %s", p)
		}
	}
}

// Rounds that are drawn have steps that a moment heals, all of which can be played, and where some read
// and others write, steps that hit those who wait to write.
func TestDrawnEndsAndRoles(t *testing.T) {
	space := newModel().space
	space.Faults = FaultNames(func(catalogue.Entry) bool { return true })
	space.Modes = []workload.Mode{workload.ModeMixed, workload.ModeExclusive, workload.ModeRW}
	space = space.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	ended, hit := 0, map[string]int{}
	for range 300 {
		for _, r := range []Round{space.swarm(rng, weights{}), space.aimed(rng, func(string) int { return 0 }), space.patterned(rng, rng.IntN(100))} {
			for _, x := range r.Steps {
				role, _ := faults.SplitRole(x.Client, "")
				hit[role]++
				if x.Until == "" {
					continue
				}
				ended++
				if _, err := plan.Build(entries, []faults.Spec{x}, r.TTL); err != nil {
					t.Errorf("%+v: %v", x, err)
				}
			}
		}
	}
	if ended < 50 || hit[faults.RoleWriter] < 10 || hit[faults.RoleReader] < 10 || hit[faults.RoleWanted] < 50 {
		t.Errorf("%d steps are healed at a moment; hit are %v", ended, hit)
	}
}

// TestSuggestions are played soon and more than once, by turns with other rounds, until
// what they show is found.
func TestSuggestions(t *testing.T) {
	s := New(newModel().space, 1, Log{})
	f, g := Finding{ID: "S1", Blame: "server"}, Finding{ID: "S6", Blame: "server"}
	s.Suggest(Round{Seed: 101}, f)
	s.Suggest(Round{Seed: 102}, g)
	seeds := map[uint64]int{}
	for range 5 {
		if r := s.Next(); r.Origin == Scouted {
			seeds[r.Seed]++
		}
	}
	if seeds[101] != 2 || seeds[102] != 2 {
		t.Errorf("of the first five rounds: %v", seeds)
	}
	s.Suggest(Round{Seed: 103}, f)
	s.Suggest(Round{Seed: 104}, g)
	s.Record(Round{}, Outcome{Findings: []Finding{f}})
	for range 9 {
		if r := s.Next(); r.Origin == Scouted && r.Seed == 103 {
			t.Error("a round is played for what has been found")
		}
	}
}

// TestCalmRounds: of the rounds that are drawn a good part has leases that outlast what
// the lock takes to clear up, and all well in the end for about as long.
func TestCalmRounds(t *testing.T) {
	space := newModel().space
	space.Settles = time.Second
	space = space.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	long, calm := 0, 0
	const rounds = 300
	for range rounds {
		r := space.swarm(rng, weights{})
		if r.TTL < 2*space.Settles {
			continue
		}
		long++
		end := time.Duration(0)
		for _, x := range r.Steps {
			end = max(end, x.At+max(0, x.Then)+x.For+time.Duration(max(0, x.Times-1))*x.Every)
		}
		if r.Duration-end >= space.Settles && len(r.Steps) > 0 {
			calm++
		}
	}
	if long < rounds/3 || calm < rounds/10 {
		t.Errorf("of %d rounds %d have long leases, %d of them calm in the end", rounds, long, calm)
	}
}

// TestRecordsAreBredFrom: the round that came nearest stays a favourite.
func TestRecordsAreBredFrom(t *testing.T) {
	s := New(newModel().space, 1, Log{})
	for i := range 30 {
		near := map[string]float64{"gap": 100}
		if i == 20 {
			near["gap"] = 1
		}
		s.Record(Round{Seed: uint64(i)}, Outcome{Cells: []string{strconv.Itoa(i)}, Near: near})
	}
	bred := 0
	const draws = 300
	for range draws {
		if s.breed(s.corpus()).Seed == 20 {
			bred++
		}
	}
	if bred < draws/10 {
		t.Errorf("bred from %d times of %d", bred, draws)
	}
}

// TestAimedAtABareQuorum: some rounds that are aimed at a node which forgets first cut a
// client off from the nodes that a quorum can spare, and hit one of the others while that
// client holds; none do where there are no nodes to spare.
func TestAimedAtABareQuorum(t *testing.T) {
	for nodes, want := range map[int]bool{1: false, 5: true} {
		space := (&Space{Faults: []string{"cut", "kill-empty"}, Nodes: nodes}).withDefaults()
		rng := rand.New(rand.NewPCG(1, 2))
		found := 0
		for range 200 {
			r := space.aimed(rng, func(string) int { return 0 })
			for _, x := range r.Steps {
				first := slices.IndexFunc(r.Steps, func(y faults.Spec) bool {
					_, name := faults.SplitRole(y.Client, "")
					return y.Fault == "cut" && y.Node == faults.RoleMinority && name != "" && name == x.By && y.At <= x.At && y.At+y.For > x.At
				})
				if x.Fault == "kill-empty" && x.Node == faults.RoleSwing && x.On == watch.AcquireReplied && first >= 0 {
					found++
				}
			}
		}
		if want != (found >= 20) || !want && found > 0 {
			t.Errorf("%d nodes: %d of 200 rounds forget what rests on a bare quorum", nodes, found)
		}
	}
}

// TestAimedAtTheMaster: where a master has replicas, some rounds have it forget and come
// back before it is missed; without replicas none names it.
func TestAimedAtTheMaster(t *testing.T) {
	for _, elected := range []bool{false, true} {
		space := (&Space{Faults: []string{"kill-empty", "kill"}, Nodes: 1, Elected: elected}).withDefaults()
		rng := rand.New(rand.NewPCG(1, 2))
		soon, named := 0, 0
		for range 200 {
			for _, x := range space.aimed(rng, func(string) int { return 0 }).Steps {
				if x.Node == faults.RoleMaster {
					named++
					if x.For < time.Second/2 && x.Fault == "kill-empty" {
						soon++
					}
				}
			}
		}
		if elected && soon < 20 || !elected && named > 0 {
			t.Errorf("elected %v: the master is named by %d steps, and forgets and is back soon in %d", elected, named, soon)
		}
	}
}

// TestPatterns: each pattern draws rounds that can be played, where the space has what it
// needs, and says so where it has not.
func TestPatterns(t *testing.T) {
	all := FaultNames(func(catalogue.Entry) bool { return true })
	for i, draw := range patterns {
		kept := 0
		for seed := range uint64(50) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := Space{Faults: all, Nodes: 5, Elected: true, Clients: 5, Keys: 4, Longest: 3 * time.Second, Modes: []workload.Mode{workload.ModeExclusive, workload.ModeRW}}.withDefaults()
			s.Fits = func(r Round) error {
				_, err := plan.Build(catalogue.All(), r.Steps, r.TTL)
				return err
			}
			r := Round{Seed: seed}
			s.drawShape(&r, rng)
			if !draw(&s, &r, rng, int(seed)) {
				t.Fatalf("pattern %d was not drawn of all faults", i)
			}
			drawn := len(r.Steps)
			if r = s.fitted(r); drawn > 0 && len(r.Steps) == drawn {
				kept++
			}
			for _, x := range r.Steps {
				if x.At+x.For > r.Duration {
					t.Errorf("pattern %d, seed %d: %s ends after the round: at %v for %v of %v", i, seed, x.Fault, x.At, x.For, r.Duration)
				}
			}
		}
		if kept < 45 {
			t.Errorf("pattern %d: all of its steps can be played in %d of 50 rounds", i, kept)
		}
		none := Space{Faults: []string{"script-flush"}, Nodes: 5, Elected: true}.withDefaults()
		if draw(&none, &Round{TTL: time.Second, Duration: 3 * time.Second}, rand.New(rand.NewPCG(1, 1)), 0) {
			t.Errorf("pattern %d was drawn of a flush of scripts alone", i)
		}
	}
}

// TestAsleep: everybody waits for as long as the round lasts, which is longer than any key
// may stay without a grant, and what hits its holder is over before its lease is.
func TestAsleep(t *testing.T) {
	s := Space{Faults: FaultNames(func(catalogue.Entry) bool { return true }), Nodes: 1, Clients: 5}.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[watch.Moment]bool{}
	for before := range 12 {
		r := Round{TTL: time.Second, Duration: 3 * time.Second}
		if !asleep(&s, &r, rng, before) {
			t.Fatal("not drawn of all faults")
		}
		x := r.Steps[0]
		seen[x.On] = true
		if left := r.Duration - x.At - 2*r.TTL; r.Load.Wait < left || left < 6*r.TTL || x.For >= r.TTL/2 || r.Clients > 3 {
			t.Errorf("%d clients wait for %v of %v, with leases of %v, behind %s at %v for %v", r.Clients, r.Load.Wait, r.Duration, r.TTL, x.Fault, x.At, x.For)
		}
	}
	if !seen[watch.InSection] || !seen[watch.ReleaseSent] {
		t.Errorf("steps at %v alone", seen)
	}
}

// TestPatternsTakeTheirChoicesInTurn: a holder stands still at each moment of its lease, and
// renews or extends, within the first rounds that a pattern draws.
func TestPatternsTakeTheirChoicesInTurn(t *testing.T) {
	s := Space{Faults: FaultNames(func(catalogue.Entry) bool { return true }), Nodes: 3, Clients: 5}.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for before := range 9 {
		r := Round{TTL: time.Second, Duration: 3 * time.Second}
		if !outlived(&s, &r, rng, before) {
			t.Fatal("not drawn of all faults")
		}
		for _, x := range r.Steps {
			if x.For <= r.TTL || x.Client != faults.RoleHolder {
				t.Errorf("%s of %q for %v of a lease of %v", x.Fault, x.Client, x.For, r.TTL)
			}
			seen[fmt.Sprint(x.On, " ", r.Load.Renew, " ", r.Load.Extend, " ", r.Load.LongHold)] = true
		}
	}
	for _, want := range []string{"in-section false 0 0", "renewal-due true 0 0", "renewal-due false 0 0.3", "in-section false 1 0", "release-sent false 0 0"} {
		if !seen[want] {
			t.Errorf("nobody stands still so: %s; seen %v", want, seen)
		}
	}
}
