package plan

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

const second = time.Second

func count(plan faults.Schedule, name string) int {
	n := 0
	for _, s := range plan {
		if s.Fault.Name() == name {
			n++
		}
	}
	return n
}

// The standard plan has what the standard scenario's evidence needs, begins with
// a while without faults, is over before the main phase is, and takes away one
// minority at a time.
func TestStandard(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		atOnce bool
		needs  map[string]int
	}{
		{nodes: 5, needs: map[string]int{"latency": 2, "one-way": 1, "kill": 1, "kill-late": 2, "cut": 3}},
		{nodes: 5, atOnce: true, needs: map[string]int{"kill-empty": 2, "kill-late": 1, "cut": 3, "split-vote": 1}},
		{nodes: 1, needs: map[string]int{"latency": 2, "kill": 1, "kill-late": 2, "cut": 1}},
		{nodes: 1, atOnce: true, needs: map[string]int{"kill-empty": 2, "kill-late": 1}},
	} {
		everywhere := map[string]int{
			"pause-client": 11, "stall": 7, "request-lost": 5, "crash-client": 7, "store-reply-lost": 2, "response-lost": 13, "slow-reply": 5, "zombie": 5,
			"stuck-connection": 2, "fast-lost-reply": 3,
		}
		maps.Copy(c.needs, everywhere)
		w := faulttest.New(c.nodes, 16)
		for seed := range uint64(100) {
			all := seed%2 == 1 // what a lock can do brings steps of its own, and all of them fit
			w.Target.Reads, w.Target.Reenters, w.Target.Extends, w.Target.Notifies = all, all, all, all
			plan, err := Standard(StandardConfig{Main: time.Minute, AtOnce: c.atOnce}, w.Linked(), faulttest.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			for name, n := range c.needs {
				if count(plan.Steps, name) < n {
					t.Errorf("%d nodes, seed %d: %s ×%d, want %d", c.nodes, seed, name, count(plan.Steps, name), n)
				}
			}
			if left := beyondFakes(plan.LeftOut); len(left) > 0 {
				t.Errorf("%d nodes, seed %d: left out %v", c.nodes, seed, left)
			}
			checkTurns(t, plan.Steps)
			if !all { // readers, and the writers who wait for them, are met at the end
				checkStandard(t, plan.Steps, w.TTL)
			}
		}
	}
}

// beyondFakes drops what the fake testbed alone cannot suffer.
func beyondFakes(left []LeftOut) []LeftOut {
	return slices.DeleteFunc(slices.Clone(left), func(l LeftOut) bool { return l.Fault == "pause-node" })
}

// checkTurns checks that the moment to which a step turns comes with every critical section: one that comes
// with some of them alone, as that of a late extension, may not come before the run is over.
func checkTurns(t *testing.T, steps faults.Schedule) {
	t.Helper()
	everySection := []watch.Moment{"", watch.AcquireSent, watch.AcquireReplied, watch.InSection, watch.ReleaseSent}
	for _, s := range steps {
		if !slices.Contains(everySection, s.When.Else) {
			t.Errorf("%s at %v turns to %s, which may never come", s.Fault.Name(), s.When.On, s.When.Else)
		}
	}
}

func checkStandard(t *testing.T, steps faults.Schedule, ttl time.Duration) {
	t.Helper()
	var free time.Duration
	for _, s := range steps {
		if end := s.When.After + s.For; end > time.Minute-ttl || s.When.After < 3*ttl {
			t.Errorf("%s from %v to %v, want it between %v and %v", s.Fault.Name(), s.When.After, end, 3*ttl, time.Minute-ttl)
		}
		if s.When.On.Foreseen() && (s.When.Within == 0 || s.When.Else == "") {
			t.Errorf("%s waits for a renewal that may never fall due", s.Fault.Name())
		}
		if _, late := s.When.On.Late(); late && (s.When.Within == 0 || s.When.Else == "") {
			t.Errorf("%s waits for the end of a lease that may never come near", s.Fault.Name())
		}
		if name := s.Fault.Name(); strings.HasPrefix(name, "kill") || name == "one-way" || name == "pause-node" || name == "split-vote" {
			if s.When.After < free {
				t.Errorf("%s at %v, while another one recovers until %v", name, s.When.After, free)
			}
			free = s.When.After + s.For + ttl
		}
	}
}

// The standard plan strikes at requests that are sent when little is left of a lease, and
// at the answers to those who took a key that nobody held, of a minority too where there
// is one.
func TestStandardAimsAtTheEndsOfLeases(t *testing.T) {
	for nodes, parts := range map[int][]string{1: {faults.RoleAll}, 5: {faults.RoleAll, faults.RoleMinority}} {
		w := faulttest.New(nodes, 16)
		for seed := range uint64(20) {
			plan, err := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			moments := map[watch.Moment]int{}
			taken := map[string]int{}
			late := map[time.Duration]int{} // by how late each command is
			slow := 0                       // who take a key while each of their commands is late
			for _, s := range plan.Steps {
				moments[s.When.On]++
				if s.Fault.Name() == "latency" && s.When.On == watch.LateRelease {
					late[s.Spec().Delay]++
				}
				if s.Fault.Name() == "latency" && s.Spec().Client == faults.RoleTaker {
					slow++
				}
				if spec := s.Spec(); spec.Client == faults.RoleTaker && spec.Fault == "response-lost" {
					taken[spec.Node]++
				}
			}
			if moments[watch.LateRelease] < 5 || moments[watch.LateRenewal] < 2 {
				t.Errorf("%d nodes, seed %d: %d steps at late releases, %d at late renewals", nodes, seed, moments[watch.LateRelease], moments[watch.LateRenewal])
			}
			if slow < 1 {
				t.Errorf("%d nodes, seed %d: nobody who takes a key is slow", nodes, seed)
			}
			if late[w.TTL/10] < 2 || late[w.TTL/20] < 1 {
				t.Errorf("%d nodes, seed %d: commands of late releases are late by %v", nodes, seed, late)
			}
			for _, part := range parts {
				if taken[part] < 2 {
					t.Errorf("%d nodes, seed %d: the answers of %s nodes to those who take a key are lost %d times", nodes, seed, part, taken[part])
				}
			}
		}
	}
}

// What is to meet a renewal waits for a lease that was extended before, of a lock that extends any.
func TestStandardAimsAtRenewals(t *testing.T) {
	for _, extends := range []bool{false, true} {
		target := faulttest.New(5, 16).Linked()
		target.Extends = extends
		plan, err := Standard(StandardConfig{Main: time.Minute}, target, faulttest.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		next, freed, brief := 0, 0, map[string]int{}
		for _, s := range plan.Steps {
			if s.When.On == watch.RenewalSent && s.For < target.TTL/6 { // which leaves most of the lease
				brief[s.Fault.Name()]++
			}
			if s.When.On == watch.NextRenewalDue {
				next++
			}
			if s.Until == watch.ReleaseReplied && s.Fault.Name() == "stall" {
				freed++
			}
		}
		if freed < 4 || extends != (next >= 10) || !extends && next > 0 {
			t.Errorf("of a lock that extends leases %t, %d steps wait for an extended one, and %d stalls end when the key is given back", extends, next, freed)
		}
		if brief["response-lost"] < 2 || brief["request-lost"] < 1 {
			t.Errorf("of a lock that extends leases %t, extensions fail for a moment by %v", extends, brief)
		}
	}
}

// The standard plan ends readers, of locks that have any.
func TestStandardEndsReaders(t *testing.T) {
	for _, reads := range []bool{false, true} {
		w := faulttest.New(1, 16)
		target := w.Linked()
		target.Reads = reads
		for seed := range uint64(20) {
			plan, err := Standard(StandardConfig{Main: time.Minute}, target, faulttest.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			ended, late := 0, map[string]bool{} // late: shortly before the final phase
			for _, s := range plan.Steps {
				if s.Fault.Name() != "crash-client" {
					continue
				}
				client := s.Spec().Client
				if client == faults.RoleReader {
					ended++
					if s.When.After > time.Minute-target.TTL {
						t.Errorf("seed %d: a reader is to be ended at %v, when nobody may read any more", seed, s.When.After)
					}
				}
				late[client] = late[client] || s.When.After > time.Minute-2*target.TTL
				if s.When.After+s.For > time.Minute {
					t.Errorf("seed %d: %s is ended at %v for %v", seed, client, s.When.After, s.For)
				}
			}
			if plan.Asked != len(plan.Steps) || len(plan.LeftOut) > 0 {
				t.Errorf("seed %d: %d steps of %d, without %v", seed, len(plan.Steps), plan.Asked, plan.LeftOut)
			}
			if late[faults.RoleReader] != reads || late[faults.RoleWriter] != reads {
				t.Errorf("with readers %t, seed %d: %v are ended shortly before the final phase, where others read on", reads, seed, late)
			}
			if want := map[bool]int{true: 3}[reads]; ended < want || !reads && ended > 0 {
				t.Errorf("with readers %t, seed %d: %d are ended, want %d", reads, seed, ended, want)
			}
		}
	}
}

// In a short plan there is no time to wait for a writer.
func TestShortStandardEndsNoWriters(t *testing.T) {
	target := faulttest.New(1, 16).Linked()
	target.Reads = true
	plan, err := Standard(StandardConfig{Main: 4 * target.TTL}, target, faulttest.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if ends := func(s faults.Step) bool { return s.Spec().Client == faults.RoleWriter }; slices.ContainsFunc(plan.Steps, ends) {
		t.Errorf("a writer is waited for: %v", plan.Steps)
	}
}

// The standard plan loses requests and answers of those who hold a key more than once, where
// anybody does.
func TestStandardMeetsReentries(t *testing.T) {
	for _, nodes := range []int{1, 5} {
		for _, reenters := range []bool{false, true} {
			target := faulttest.New(nodes, 16).Linked()
			target.Reenters = reenters
			plan, err := Standard(StandardConfig{Main: time.Minute}, target, faulttest.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			met := map[string]int{}
			for _, s := range plan.Steps {
				if s.Spec().Client == faults.RoleNested {
					if s.When.Within == 0 || s.When.Else != s.When.On {
						t.Errorf("%s at %s waits for a re-entry that may never come", s.Fault.Name(), s.When.On)
					}
					met[s.Fault.Name()+" "+string(s.When.On)]++
				}
			}
			for _, what := range []string{"response-lost acquire-sent", "response-lost release-sent", "request-lost acquire-sent", "request-lost release-sent", "crash-client release-sent"} {
				if (met[what] > 0) != reenters {
					t.Errorf("%d nodes, re-entries %t: %d of %s", nodes, reenters, met[what], what)
				}
			}
		}
	}
}

// The standard plan comes between two steps of each operation of a lock, where commands can be seen: what was sent is kept
// back, or its client stands still, until the lease has run out.
func TestStandardComesBetweenSteps(t *testing.T) {
	for _, c := range []struct{ taps, extends bool }{{true, true}, {true, false}, {false, true}} {
		target := faulttest.New(1, 16).Linked()
		target.Taps, target.Extends = c.taps, c.extends
		plan, err := Standard(StandardConfig{Main: time.Minute}, target, faulttest.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[string]int{}, map[string]int{}
		for _, s := range plan.Steps {
			if faults.Tapped(s.When.On) {
				got[s.Fault.Name()+" "+string(s.When.On)]++
				if stands := s.Fault.Name() == "pause-client"; s.For <= target.TTL || s.When.Within == 0 || s.When.Else == "" || stands != (s.Until == watch.InSection) {
					t.Errorf("%s at %s: %+v", s.Fault.Name(), s.When.On, s)
				}
			}
		}
		if c.taps {
			want = map[string]int{"zombie acquire-midway": 2, "pause-client acquire-midway": 1, "zombie release-midway": 1, "pause-client release-midway": 1}
		}
		if c.taps && c.extends {
			want["zombie renewal-midway"], want["pause-client renewal-midway"] = 1, 2
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}

// Releases are lost that nothing else is lost with: what goes on renewing the lease in the
// background gets through, within a third of a lease.
func TestStandardLosesReleasesAlone(t *testing.T) {
	for _, nodes := range []int{1, 5} {
		w := faulttest.New(nodes, 16)
		for seed := range uint64(20) {
			plan, err := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, s := range plan.Steps {
				if s.Fault.Name() == "request-lost" && s.When.On == watch.ReleaseSent && s.For < w.TTL/3 && s.Spec().Node == faults.RoleAll {
					lost++
				}
			}
			if lost < 2 {
				t.Errorf("%d nodes, seed %d: a release is lost alone %d times", nodes, seed, lost)
			}
		}
	}
}

// Of those who take a key that nobody held, some lose one answer alone: what is sent again
// within a quarter of a lease passes. Others hear nothing until they give up.
func TestStandardLosesAnswersAloneAndForLong(t *testing.T) {
	w := faulttest.New(1, 16)
	for seed := range uint64(20) {
		plan, err := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		alone, closed, long := 0, 0, 0
		for _, s := range plan.Steps {
			switch spec := s.Spec(); {
			case spec.Client != faults.RoleTaker || s.When.On != watch.AcquireSent:
			case spec.Fault == "fast-lost-reply":
				closed++
			case spec.Fault == "response-lost" && s.For < w.TTL/8:
				alone++
			case spec.Fault == "response-lost" && s.For > w.TTL/4:
				long++
			}
		}
		if alone < 3 || closed < 2 || long < 4 {
			t.Errorf("seed %d: answers lost alone %d times, with their connection %d times, for long %d times", seed, alone, closed, long)
		}
	}
}

func TestStandardIsReproducible(t *testing.T) {
	w := faulttest.New(5, 16)
	a, _ := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(7))
	b, _ := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(7))
	c, _ := Standard(StandardConfig{Main: time.Minute}, w.Linked(), faulttest.Seeded(8))
	text := func(p Plan) string {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text(a) != text(b) || text(a) == text(c) {
		t.Error("a seed makes one plan, another seed another one")
	}
}

func TestStandardSaysWhatItLeavesOut(t *testing.T) {
	for name, c := range map[string]struct {
		nodes int
		main  time.Duration
		plain bool
		fault string
		why   string
	}{
		"no killer":   {nodes: 5, main: time.Minute, plain: true, fault: "kill-late", why: "fake testbed: n1 cannot be killed; process, container and embedded can"},
		"no time":     {nodes: 5, main: 5 * second, fault: "kill-late", why: "no room"},
		"ten minutes": {nodes: 5, main: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := faulttest.New(c.nodes, 4)
			if c.plain {
				var nodes []testbed.Node
				for _, n := range w.Testbed.Nodes() {
					nodes = append(nodes, faulttest.PlainNode(n.Name()))
				}
				w.Testbed = faulttest.Bed(nodes...)
			}
			plan, err := Standard(StandardConfig{Main: c.main}, w.Linked(), faulttest.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			if c.fault == "" {
				if len(beyondFakes(plan.LeftOut)) > 0 || count(plan.Steps, "pause-client") != 130 {
					t.Errorf("left out %v; %v", plan.LeftOut, plan.Steps)
				}
				return
			}
			said := 0
			for _, l := range plan.LeftOut {
				if l.Fault == c.fault && strings.Contains(l.Why, c.why) {
					said++
				}
			}
			if said != 1 {
				t.Errorf("%d times: left out %v", said, plan.LeftOut)
			}
			if plan.Steps.Check(w.Linked()) != nil {
				t.Error("the plan holds what the target cannot suffer")
			}
		})
	}
}

// Where no node can be spared, one client may lose them all, and a holder the one that it needs, for a moment; nobody else.
func TestSpared(t *testing.T) {
	for _, c := range []struct {
		nodes int
		spec  faults.Spec
		want  bool
	}{
		{5, faults.Spec{Fault: "kill", Params: faults.Params{Node: faults.RoleAny}}, true},
		{1, faults.Spec{Fault: "kill", Params: faults.Params{Node: faults.RoleAny}}, false},
		{1, faults.Spec{Fault: "kill", Params: faults.Params{Node: faults.RoleSwing}}, false},
		{1, faults.Spec{Fault: "kill", On: watch.InSection, Params: faults.Params{Node: faults.RoleSwing}}, true},
		{1, faults.Spec{Fault: "cut", Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}}, false},
		{1, faults.Spec{Fault: "cut", On: watch.AcquireSent, Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}}, true},
		{1, faults.Spec{Fault: "cut", Params: faults.Params{Client: faults.RoleWaiter, Node: faults.RoleAll}}, true},
		{1, faults.Spec{Fault: "cut", On: watch.AcquireSent, Params: faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}}, false},
		{1, faults.Spec{Fault: "cut", Params: faults.Params{Client: "waiter as late", Node: "all as gone"}}, true},
		{1, faults.Spec{Fault: "cut", On: watch.AcquireSent, Params: faults.Params{Client: "any as late", Node: faults.RoleAll}}, true},
		{1, faults.Spec{Fault: "cut", On: faults.AtTime, Params: faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}}, false},
		{1, faults.Spec{Fault: "kill", On: faults.AtTime, Params: faults.Params{Node: faults.RoleSwing}}, false},
		{1, faults.Spec{Fault: "power-loss", Params: faults.Params{Node: faults.RoleSwing}}, true}, // it has a moment of its own
	} {
		if err := spared(faulttest.New(c.nodes, 2).Target, c.spec, catalogue.All()[c.spec.Fault]); (err == nil) != c.want {
			t.Errorf("%d nodes, %+v: %v", c.nodes, c.spec, err)
		}
	}
}

func TestNamed(t *testing.T) {
	w := faulttest.New(5, 4)
	specs, err := Parse("pause-client,kill:empty,latency:at=3s,one-way:times=3:every=4s")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Named(catalogue.All(), specs, 20*second, w.Linked(), faulttest.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if n := count(plan.Steps, "pause-client"); n < 2 || count(plan.Steps, "kill-empty") < n-1 || count(plan.Steps, "latency") != 1 || count(plan.Steps, "one-way") != 3 || plan.Steps[0].Fault.Name() != "one-way" {
		t.Errorf("plan %v", plan.Steps)
	}
	if _, err := Named(catalogue.All(), []faults.Spec{{Fault: "pause-node"}}, 20*second, w.Linked(), faulttest.Seeded(1)); err == nil || !strings.Contains(err.Error(), "process can") {
		t.Errorf("error %v", err)
	}
}

// A random plan takes away one minority at a time, and keeps to the
// assumptions of correct locks unless it is told not to.
func TestRandom(t *testing.T) {
	w := faulttest.New(5, 8)
	catalogue := catalogue.All()
	seen := map[string]bool{}
	for seed := range uint64(60) {
		beyond := seed%2 == 1
		plan, err := Random(Budget{Main: time.Minute, Beyond: beyond}, w.Linked(), faulttest.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		var gone time.Duration
		for _, s := range plan.Steps {
			e := catalogue[s.Fault.Name()]
			seen[s.Fault.Name()] = true
			if e.Beyond != "" && !beyond {
				t.Errorf("seed %d: %s breaks an assumption: %s", seed, s.Fault.Name(), e.Beyond)
			}
			if e.Takes && s.When.After < gone {
				t.Errorf("seed %d: %s at %v, while nodes are gone until %v", seed, s.Fault.Name(), s.When.After, gone)
			}
			if e.Takes {
				gone = s.When.After + s.For
			}
			if s.When.After+s.For > time.Minute-w.TTL {
				t.Errorf("seed %d: %s ends after the main phase", seed, s.Fault.Name())
			}
		}
	}
	for name, e := range catalogue {
		if supported := e.New(e.Default).Supports(w.Linked()) == nil; supported != seen[name] {
			t.Errorf("%s: supported %t, drawn %t", name, supported, seen[name])
		}
	}
	only, err := Random(Budget{Main: time.Minute, Faults: []string{"latency"}}, w.Linked(), faulttest.Seeded(1))
	if err != nil || len(only.Steps) == 0 || count(only.Steps, "latency") != len(only.Steps) {
		t.Errorf("only latency: %v, %v", only.Steps, err)
	}
}

func TestRestarts(t *testing.T) {
	w := faulttest.New(5, 4).Linked()
	w.Quarantine = second
	plan, err := Restarts(20*second, w, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	together, single := 0, 0
	var last time.Duration
	for _, s := range plan.Steps {
		switch {
		case !strings.HasPrefix(s.Fault.Name(), "kill"):
			continue
		case s.Spec().Node == faults.RoleMajority:
			together++
		default:
			single++
		}
		if gap := s.When.After - last; last > 0 && gap < w.Quarantine+w.TTL {
			t.Errorf("a node is emptied %v after another: it is not back by then", gap)
		}
		last = s.When.After
	}
	if together == 0 || single <= together {
		t.Errorf("%d restarts of a quorum, %d of one node: %s", together, single, plan.Steps)
	}
	for _, short := range []time.Duration{second, w.Quarantine + w.TTL + w.TTL/16} { // the latter but for the pause before it
		if _, err := Restarts(short, w, rand.New(rand.NewPCG(1, 2))); err == nil {
			t.Errorf("a main phase of %v, too short for one restart, is refused", short)
		}
	}
	if _, err := Restarts(20*second, faulttest.New(1, 4).Linked(), rand.New(rand.NewPCG(1, 2))); err == nil {
		t.Error("a single node has no minority")
	}
}

func TestForgetful(t *testing.T) {
	w := faulttest.New(5, 4)
	plan, err := Forgetful(20*second, false, w.Linked())
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Steps.String(); got != "cut ×4  pause-client ×4  kill-empty ×4" {
		t.Errorf("plan %q", got)
	}
	w.Quarantine = 3 * second // which the last one need not wait for
	if plan, err := Forgetful(12*second, false, w.Linked()); err != nil || count(plan.Steps, "kill-empty") != 2 {
		t.Errorf("plan %q, %v", plan.Steps, err)
	}
	if _, err := Forgetful(second, false, w.Linked()); err == nil {
		t.Error("a main phase too short for one attempt is refused")
	}
	if _, err := Forgetful(time.Minute, false, faulttest.New(1, 4).Linked()); err == nil {
		t.Error("a single node has no minority")
	}
	late, err := Forgetful(20*second, true, w.Linked())
	if err != nil || late.Steps[2].For <= w.TTL {
		t.Errorf("late: %+v, %v", late, err)
	}
}

// What was left out is told in a line for each reason, whatever sequence had no room for it.
func TestOmissions(t *testing.T) {
	p := Plan{LeftOut: []LeftOut{{Fault: "kill", Why: "none can be spared"}, {"cut", 2, "no room"}, {Fault: "kill-late", Why: "none can be spared"}, {"stall", 1, "no room"}}}
	want := []string{"kill, kill-late: none can be spared", "cut ×2, stall ×1: no room"}
	if got := p.Omissions(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	drawn, err := Standard(StandardConfig{Main: 8 * second}, faulttest.New(5, 4).Linked(), faulttest.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, l := range drawn.LeftOut {
		if told[l.Fault] {
			t.Errorf("%s is left out twice: %v", l.Fault, drawn.LeftOut)
		}
		told[l.Fault] = true
	}
	if len(told) == 0 {
		t.Error("eight seconds have room for all")
	}
}

// After a fault that makes a node forget, or restart, or evict, there is time for a lock that keeps it out.
func TestGapAfterNodesThatForget(t *testing.T) {
	w := faulttest.New(5, 4)
	w.Quarantine = 7 * second
	entries := catalogue.All()
	gap := afterNodes(entries, w.Target, second)
	long := 0
	for name, e := range entries {
		forgets := strings.HasPrefix(name, "kill") || strings.HasPrefix(e.Beyond, "nodes do not forget") || strings.Contains(e.Beyond, "noeviction")
		if got := gap(faults.Spec{Fault: name}); (got >= w.Quarantine) != forgets {
			t.Errorf("%v after %s: forgets %t", got, name, forgets)
		}
		if forgets {
			long++
		}
	}
	if long < 9 {
		t.Errorf("%d faults make a node forget", long)
	}
}

// The steps of the standard plan are as many as it has in a minute, and those of nodes that forget at once only where the
// lock keeps them out.
func TestStandardSteps(t *testing.T) {
	w := faulttest.New(5, 4)
	w.Extends, w.Taps = true, true
	for _, atOnce := range []bool{true, false} {
		sequences, all := StandardSteps(atOnce, w.Target), map[string]int{}
		for _, steps := range sequences {
			for _, x := range steps {
				all[x.Fault]++
			}
		}
		if len(sequences) != 6 || all["kill-empty"] > 0 != atOnce || all["stuck-connection"] != 3 || all["kill-late"] != map[bool]int{true: 1, false: 2}[atOnce] {
			t.Errorf("at once %t: %d sequences of %v", atOnce, len(sequences), all)
		}
	}
}
