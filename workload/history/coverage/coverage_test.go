package coverage_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

func follow(t *testing.T, text string) *coverage.Table {
	t.Helper()
	h, err := history.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	table := coverage.New(h.Header)
	for i := range h.Events {
		table.Event(&h.Events[i])
	}
	return table
}

// met lists the cells that a history has met, each with how often.
func met(table *coverage.Table) map[string]int {
	all := map[string]int{}
	for _, c := range table.Cells() {
		if c.N > 0 {
			all[c.Cell.String()] = c.N
		}
	}
	return all
}

const header = "header ttl 900ms nodes 5 quorum 3 fenced\n"

// bit is a fault that is in force from one moment to another.
func bit(fault, target string) (begin, heal string) {
	at := fault + " target " + target
	return "nemesis invoke fault " + at + "\n nemesis ok fault " + at + " receipt seen", "nemesis invoke heal " + at + "\n nemesis ok heal " + at
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault string // with its target
		text  string // F stands for its begin, H for its heal
		want  map[string]int
	}{
		{"an acquire that is sent while requests are lost", `request-lost {"clients":["c0"],"nodes":["n1"]}`, `
			F
			c0 invoke acquire k
			c0 fail acquire k
			H`, map[string]int{"request lost × acquire sent": 1}},
		{"one that was under way when they began to be", `request-lost {"clients":["c0"]}`, `
			c0 invoke acquire k
			F
			c0 info acquire k
			H`, map[string]int{"request lost × acquire sent": 1}},
		{"one of a client that is not hit", `request-lost {"clients":["c1"]}`, `
			F
			c0 invoke acquire k
			H`, map[string]int{}},
		{"one that was answered before", `request-lost {"clients":["c0"]}`, `
			c0 invoke acquire k
			c0 fail acquire k
			F
			H`, map[string]int{}},
		{"incarnations are their client", `request-lost {"clients":["c0"]}`, `
			F
			c0 invoke acquire k owner c0.2
			H`, map[string]int{"request lost × acquire sent": 1}},
		{"no target is everybody", `latency {}`, `
			F
			c0 invoke acquire k
			H`, map[string]int{"late reply × acquire sent": 1}},
		{"a pause right after the grant, through a section, its renewal and its end", `pause-client {"clients":["c0"]}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			   2ms F
			   3ms c0 invoke write k value v
			   4ms c0 ok write k value v
			 500ms c1 invoke acquire l
			 950ms c0 invoke release k
			       c0 fail release k
			       H`, map[string]int{
			"client paused × acquire replied": 1, "client paused × in section": 1, "client paused × renewal due": 1,
			"client paused × expiry": 1, "client paused × release sent": 1,
		}},
		{"an extension by hand", `cut {"clients":["c0"],"nodes":["n1","n2"]}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			 400ms c1 invoke acquire l
			       F
			       c0 invoke extend k
			       c0 ok extend k until 2s
			       H`, map[string]int{
			"minority cut × acquire replied": 1, "minority cut × renewal due": 1, "minority cut × renewal sent": 1,
			"minority cut × renewal replied": 1,
		}},
		{"a renewal of the lock's own", `stall {"clients":["c0"]}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			       F
			 310ms c9 ok extend k owner c0 began 290ms ended 299ms until 1200ms
			       H`, map[string]int{"stall × renewal sent": 1, "stall × renewal due": 1}},
		{"most nodes out of reach", `cut {"clients":["c0"],"nodes":["n1","n2","n3"]}`, `
			c0 invoke acquire k
			F
			H`, map[string]int{"majority cut × acquire sent": 1}},
		{"waiting, and woken", `notify-lost {}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			   2ms F
			   3ms c1 invoke acquire k note wait
			   5ms c0 invoke release k
			   6ms c0 ok release k
			   7ms c1 ok acquire k until 900ms
			       H`, map[string]int{"notification lost × waiting": 1, "notification lost × woken": 1}},
		{"woken by an expiry", `kill {"nodes":["n1"]}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			   3ms c1 invoke acquire k note wait
			 901ms F
			       H`, map[string]int{"node restarted × woken": 1, "node restarted × acquire replied": 1, "node restarted × renewal due": 1}},
		{"free when it was asked for, waiting once another was faster", `notify-lost {}`, `
			F
			c1 invoke acquire k note wait
			c0 invoke acquire k
			c0 ok acquire k until 900ms
			H`, map[string]int{"notification lost × waiting": 1}},
		{"a crash counts what was under way, and nothing that comes later", `crash-client {"clients":["c0"]}`, `
			   0ms c0 invoke acquire k
			   1ms c0 ok acquire k until 900ms
			   2ms F
			 500ms c5 invoke acquire k owner c0.1
			       H`, map[string]int{"client crashed × acquire replied": 1}},
		{"the store alone", `store-reply-lost {"clients":["c0"],"nodes":["store"]}`, `
			c0 invoke acquire k
			c0 ok acquire k until 900ms
			F
			c0 invoke write k value v
			c0 ok write k value v
			c0 invoke release k
			H`, map[string]int{"reply lost × in section": 1}},
		{"a reader's first mark", `kill-empty {"nodes":["n1"]}`, `
			c0 invoke acquire k mode r
			c0 ok acquire k mode r until 900ms
			c0 invoke read k mode r
			c0 ok read k mode r
			F
			c0 invoke release k
			c0 ok release k
			H`, map[string]int{"node empty × in section": 1, "node empty × release sent": 1, "node empty × release replied": 1}},
		{"what the fault has nothing to do with", `script-flush {"nodes":["n1"]}`, `
			F
			c0 invoke acquire k
			H`, map[string]int{}},
	} {
		fault, target, _ := strings.Cut(c.fault, " ")
		begin, heal := bit(fault, target)
		text := header
		for line := range strings.Lines(c.text) {
			line = strings.TrimSpace(line)
			switch at, last := strings.TrimSuffix(strings.TrimSuffix(line, "F"), "H"), line[max(len(line)-1, 0):]; {
			case last == "F":
				text += at + begin + "\n"
			case last == "H":
				text += at + heal + "\n"
			default:
				text += line + "\n"
			}
		}
		if got := met(follow(t, text)); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What nothing proves counts nowhere; what is proved by the heal counts from the
// beginning, and what is proved and in force counts before it is healed.
func TestProof(t *testing.T) {
	const begin = header + `
		nemesis invoke fault stall target {"clients":["c0"]}
		c0 invoke acquire k
		nemesis info fault stall target {"clients":["c0"]}
		nemesis invoke heal stall target {"clients":["c0"]}
		`
	for _, c := range []struct {
		name, rest string
		want       int
	}{
		{"by nobody", `nemesis info heal stall target {"clients":["c0"]}`, 0},
		{"by the heal", `nemesis ok heal stall target {"clients":["c0"]} receipt "12 bytes"`, 1},
	} {
		if got := met(follow(t, begin+c.rest))["stall × acquire sent"]; got != c.want {
			t.Errorf("proved %s: %d, want %d", c.name, got, c.want)
		}
	}
	standing, _ := bit("stall", `{"clients":["c0"]}`)
	if got := met(follow(t, header+standing+"\nc0 invoke acquire k"))["stall × acquire sent"]; got != 1 {
		t.Errorf("in force: %d, want 1", got)
	}
	failed := header + "nemesis invoke fault kill target n1\nc0 invoke acquire k\nnemesis fail fault kill target n1"
	if got := met(follow(t, failed)); len(got) != 0 {
		t.Errorf("a fault that did nothing: %v", got)
	}
}

func TestAbilities(t *testing.T) {
	table := follow(t, header)
	full := coverage.Abilities{Renew: true, Extend: true, Wait: true, Notify: true, Several: true, Empty: true, Clocks: true}
	if all := table.Of(full); len(all) != len(table.Cells()) || coverage.Met(all) != 0 {
		t.Errorf("%d of %d cells, %d met", len(all), len(table.Cells()), coverage.Met(all))
	}
	for _, c := range table.Of(coverage.Abilities{}) {
		switch {
		case slices.Contains([]coverage.Phase{coverage.RenewalDue, coverage.RenewalSent, coverage.RenewalReplied, coverage.Waiting, coverage.Woken}, c.Phase),
			slices.Contains([]coverage.Class{coverage.MinorityCut, coverage.SplitVote, coverage.NodeEmpty, coverage.ClockShifted, coverage.NotificationLost}, c.Class):
			t.Errorf("%v counts for a lock that can do nothing, on one node", c.Cell)
		}
	}
	if len(table.Of(coverage.Abilities{Extend: true})) <= len(table.Of(coverage.Abilities{})) {
		t.Error("an extension by hand is no renewal")
	}
}

func TestMerge(t *testing.T) {
	begin, heal := bit("stall", `{"clients":["c0"]}`)
	one := follow(t, header+begin+"\nc0 invoke acquire k\n"+heal)
	two := follow(t, header+begin+"\nc0 invoke acquire k\nc0 ok acquire k until 1s\nc0 invoke write k value v") // in force still
	one.Merge(two)
	if got := met(one)["stall × acquire sent"]; got != 2 {
		t.Errorf("%d, want 2", got)
	}
	if one.Uses().Exclusive != 1 || one.NearMisses().Validity == nil {
		t.Errorf("%+v %+v", one.Uses(), one.NearMisses())
	}
}

func TestStates(t *testing.T) {
	begin, heal := bit("stall", `{"clients":["c0"]}`)
	got := map[string]int{}
	for s, n := range follow(t, header+`
		0ms c0 invoke acquire k
		    c0 ok acquire k until 900ms
		`+begin+`
		    c0 invoke release k
		    c0 info release k
		`+heal+`
		    c1 invoke acquire k
		    c1 ok acquire k until 950ms
		 1s c1 ok lost k`).States() {
		got[s.String()] = n
	}
	want := map[string]int{
		"acquire sent under no fault: ok": 2, "release sent under stall: info": 1,
		"expiry under no fault: ran out": 1, "expiry under no fault: fail": 1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNearMisses(t *testing.T) {
	near := follow(t, header+`
		  0ms c0 invoke acquire k
		  1ms c0 ok acquire k until 900ms
		850ms c0 invoke write k value v
		      c0 ok write k value v
		860ms c0 invoke release k
		      c0 ok release k
		      witness ok key k node n1 pttl 40 holder x note lock:k value sample
		      c1 invoke acquire k
		870ms c1 ok acquire k until 1800ms
		880ms c1 invoke release k
		      c1 ok release k
		      witness ok key k node n1 pttl 40 holder x note lock:k value sample
		920ms witness ok key k node n1 pttl -2 note lock:k value sample`).NearMisses()
	const ms = time.Millisecond
	if near.Validity == nil || *near.Validity != 50*ms || near.Gap == nil || *near.Gap != 10*ms || near.Left != 1 || near.Longest != 40*ms {
		text, _ := json.Marshal(near)
		t.Errorf("%s", text)
	}
}

func TestUses(t *testing.T) {
	uses := follow(t, header+`
		c0 invoke acquire a
		c0 ok acquire a
		c1 invoke acquire b note wait
		c1 ok acquire b
		c2 invoke acquire c mode r
		c2 ok acquire c mode r
		c3 invoke acquire d note fair
		c3 ok acquire d
		c4 invoke acquire e note multi
		c4 ok acquire e
		c5 invoke acquire f note re-entry
		c5 ok acquire f
		c6 invoke acquire g
		c6 fail acquire g
		c0 invoke extend a
		c0 ok extend a until 2s
		c7 ok extend a owner c0 began 15ms until 3s
		500ms c8 invoke extend b owner c1
		500ms c8 ok extend b owner c1 began 490ms
		500ms c9 invoke extend b owner c1
		501ms c9 ok extend b owner c1 began 500ms`).Uses()
	if want := (coverage.Uses{Exclusive: 1, Waited: 1, Shared: 1, Fair: 1, Multi: 1, Reentrant: 1, Extended: 2, Renewed: 2}); uses != want {
		t.Errorf("%+v, want %+v", uses, want)
	}
}

func TestNamesAreReadBack(t *testing.T) {
	for _, c := range follow(t, header).Cells() {
		text, err := json.Marshal(c)
		var back coverage.Count
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != c {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
	var p coverage.Phase
	if err := p.UnmarshalText([]byte("nowhere")); err == nil {
		t.Error("an unknown phase was read")
	}
}
