package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
	"locktorture/workload/history"
)

func storiesOf(t *testing.T, h history.History, r checker.Report) []Story {
	t.Helper()
	c := NewCollector(h.Header, r.Violations, 3)
	for i := range h.Events {
		c.Event(&h.Events[i])
	}
	return c.Stories()
}

func TestDoubleGrant(t *testing.T) {
	h := sample.History(sample.Failing)
	all := storiesOf(t, h, sample.Report(h))
	if len(all) != 1 {
		t.Fatalf("%d stories", len(all))
	}
	s := all[0]
	if want := "double grant: two holders of k3 for at least 1 473 ms"; s.Title != want {
		t.Errorf("title %q, want %q", s.Title, want)
	}
	var got []string
	for _, step := range s.Steps {
		got = append(got, step.Who+" "+step.Text)
		if h.Events[step.Index].Time != step.Time {
			t.Errorf("step %d points at event %d of another time", step.N, step.Index)
		}
	}
	want := []string{
		"c07 acquire k3 → ok, token 4117, valid until 37.778",
		"n1 kill-restart until 40.315 (seen in force; seen gone)",
		"c12 acquire k3 → ok, token 4119, valid until 38.223",
		"c12 write k3, token 4119 → accepted (seq 1)",
		"c07 write k3, token 4117 → rejected by the fence (seq 2): stale token",
	}
	for i, w := range want {
		if i >= len(got) || got[i] != strings.TrimSuffix(w, ": stale token") {
			t.Errorf("steps:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			break
		}
	}
	if len(s.Stored) != 4 || len(s.Writes) != 2 || !s.Writes[1].Late || s.Writes[0].Late {
		t.Errorf("stored %+v, writes %+v", s.Stored, s.Writes)
	}
}

// Locks store names of their own: whose they are follows from who held, or asked, when
// they were seen.
func TestWhoseLeaseNodesStore(t *testing.T) {
	h, err := history.Parse(`
		 0ms a invoke acquire k
		 1ms a ok acquire k until 50ms
		 2ms witness ok key k node n1 value sample note k began 2ms holder x=1 pttl 90
		 2ms witness ok key k node n2 value sample note k began 2ms holder x=2 pttl 90
		 3ms witness fail key node n2 value sample err timeout
		10ms b invoke acquire k
		11ms b ok acquire k until 60ms
		12ms witness ok key k node n1 value sample note k began 12ms holder y pttl 90
		13ms witness ok key k node n2 value sample note k began 13ms holder x=2 pttl 79
		14ms a invoke release k
		15ms a ok release k
		16ms b invoke release k
		17ms b ok release k
		18ms witness ok key k node n1 value sample note k began 18ms pttl -2`)
	if err != nil {
		t.Fatal(err)
	}
	f := checker.Finding{ID: "S1", Key: "k", Owners: []string{"a", "b"}, Witness: []int{1, 6, 13}}
	var got []string
	for _, s := range storiesOf(t, h, checker.Report{Violations: []checker.Finding{f}})[0].Stored {
		got = append(got, fmt.Sprintf("%s %v %s/%s silent=%v", s.Node, s.From, s.Holder, s.Owner, s.Silent))
	}
	want := []string{
		"n1 2ms x=1/a silent=false", "n2 2ms x=2/a silent=false", "n2 3ms / silent=true", "n1 12ms y/b silent=false",
		"n2 13ms x=2/a silent=false", "n1 18ms / silent=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What an attempt left for a moment before somebody held is not that one's, and of two who
// held at once the tokens tell.
func TestWhoseLeaseNodesStoreByToken(t *testing.T) {
	h, err := history.Parse(`
		 0ms a invoke acquire k
		 1ms witness ok key k node n1 value sample note k began 1ms holder z pttl 90
		 2ms witness ok key k node n1 value sample note k began 2ms pttl -2
		 5ms a ok acquire k until 50ms fence 7
		 5ms b invoke acquire k
		 6ms b ok acquire k until 50ms fence 6
		 7ms witness ok key k node n1 value sample note k began 7ms holder x pttl 90
		 7ms witness ok key k node n2 value sample note k began 7ms holder y pttl 90
		15ms a invoke release k fence 7
		16ms a ok release k fence 7
		16ms b invoke release k fence 6
		17ms b ok release k fence 6`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Events { // the text format has no texts with a blank
		switch e := &h.Events[i]; e.Holder {
		case "x":
			e.Holder = "x 6"
		case "y":
			e.Holder = "y 7"
		}
	}
	f := checker.Finding{ID: "S1", Key: "k", Owners: []string{"a", "b"}, Witness: []int{3, 5, 11}}
	got := map[string]string{}
	for _, s := range storiesOf(t, h, checker.Report{Violations: []checker.Finding{f}})[0].Stored {
		got[s.Holder] = s.Owner
	}
	want := map[string]string{"": "", "z": "", "x 6": "b", "y 7": "a"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTitles(t *testing.T) {
	event := func(i int, owner string) history.Event {
		return history.Event{Index: i, Kind: history.OK, Op: history.Write, Key: "k", Owner: owner}
	}
	h := history.History{Events: []history.Event{event(0, "b"), event(1, "a")}}
	for id, want := range map[string]string{
		"S2": "x: a's stale write to k was accepted", "S5": "x: a released k, which was b's",
		"S3z": "x: a wrote to k after its lease had ended", "L9": "x: a released k, and it stayed taken", "L99": "x on k", "S1": "x on k",
	} {
		f := checker.Finding{ID: id, Name: "x", Key: "k", Owners: []string{"a", "b"}, Witness: []int{0, 1}, Text: "It. Remedy: do. Faults meanwhile: none.", What: "It.", Remedy: "do."}
		s := storiesOf(t, h, checker.Report{Violations: []checker.Finding{f}})[0]
		if s.Title != want || s.Why != "It." || s.Remedy != "do." {
			t.Errorf("%s: %q, want %q (%q, %q)", id, s.Title, want, s.Why, s.Remedy)
		}
	}
}

// TestTitlesOfStories holds titles against histories in which the last event
// of the proof does not tell by itself who broke the rule, and whom it hit.
func TestTitlesOfStories(t *testing.T) {
	const handover = `
		a invoke acquire k
		a ok acquire k fence 1 until 10ms
		b invoke acquire k
		b ok acquire k fence 2 until 100ms`
	for _, c := range []struct {
		name, history, id string
		owners            []string
		witness           []int
		want              string
	}{
		{"a late release", handover + `
			a invoke release k
			a ok release k
			c invoke acquire k
			c ok acquire k fence 3 until 200ms`, "S5", []string{"a", "b", "c"}, []int{3, 5, 7}, "x: a released k, which was b's"},
		{"a write between two of a section", handover + `
			b invoke write k value b1
			b ok write k value b1 seq 1
			a invoke write k value a1
			a ok write k value a1 seq 2
			b invoke write k value b2
			b ok write k value b2 seq 3`, "S3", []string{"b", "a"}, []int{5, 7, 9}, "x: a wrote to k inside b's critical section"},
		{"two updates of one version", handover + `
			b invoke write k value b1
			b ok write k value b1 seq 1 base 0
			a invoke write k value a1
			a ok write k value a1 seq 2 base 0`, "S3", []string{"b", "a"}, []int{5, 7}, "x: b and a both changed the same version of k"},
		{"a stale write that the store's log tells of", handover + `
			a invoke write k fence 1 value a1
			b invoke write k fence 2 value b1
			b info write k fence 2 value b1
			a ok write k fence 1 value a1 seq 2
			store ok audit k owner b fence 2 value b1 seq 1`, "S2", []string{"b"}, []int{7, 8}, "x: a's stale write to k was accepted"},
		{"one token twice", handover, "S4b", []string{"a", "b"}, []int{1, 3}, "x: two grants of k share a token"},
		{"a token that changed", `
			a invoke acquire k
			a ok acquire k fence 5 until 10ms
			a invoke extend k
			a ok extend k fence 6 until 12ms`, "S4b", []string{"a"}, []int{1, 3}, "x: a's lease of k changed its token"},
		{"a write after the lease", handover + `
			c invoke read k
			c ok read k
			c invoke read k
			c ok read k
			c invoke read k
			c ok read k
			c invoke read k
			a invoke write k value a1
			c ok read k
			a ok write k value a1 seq 1`, "S3z", []string{"a"}, []int{1, 13}, "x: a wrote to k 1.0 ms after its lease had ended"},
		{"one who waits", handover, "L3", []string{"b"}, []int{2, 3}, "x: b had to wait for k too long"},
		{"a loss without cause", handover + `
			b ok lost k`, "L5", []string{"b"}, []int{3, 4}, "x: b was told that it had lost k, and nothing was wrong"},
	} {
		h, err := history.Parse(c.history)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		f := checker.Finding{ID: c.id, Name: "x", Key: "k", Owners: c.owners, Witness: c.witness, Text: "It."}
		if s := storiesOf(t, h, checker.Report{Violations: []checker.Finding{f}})[0]; s.Title != c.want {
			t.Errorf("%s: %q, want %q", c.name, s.Title, c.want)
		}
	}
}

func TestSightings(t *testing.T) {
	h, err := history.Parse(`
		witness ok key k node n1 pttl 40 holder a
		witness ok key k node n1 pttl -1 holder a
		witness ok key k node n1 pttl -2`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"stores k for a, 40 ms left", "stores k for a, without an expiry", "stores nothing under k"} {
		if who, text := Sentence(h.Events[i]); who != "n1" || text != want {
			t.Errorf("%s %s, want n1 %s", who, text, want)
		}
	}
}

func TestStoriesOfLittle(t *testing.T) {
	event := history.Event{Index: 0, Time: time.Second, Kind: history.OK, Op: history.Write, Key: "k", Owner: "a"}
	for name, f := range map[string]checker.Finding{
		"no witness": {ID: "L1", Text: "nobody can acquire k."}, "no key": {ID: "S2", Witness: []int{0}},
		"a witness that is not there": {ID: "S2", Key: "k", Witness: []int{99}}, "empty": {},
	} {
		h := history.History{Events: []history.Event{event}}
		all := storiesOf(t, h, checker.Report{Violations: []checker.Finding{f}})
		if len(all) != 1 || all[0].Title == "" || all[0].To < all[0].From {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestCollectorIsBounded(t *testing.T) {
	c := NewCollector(history.Header{}, []checker.Finding{{ID: "S1", Key: "k", Witness: []int{500000, 900000}}}, 3)
	for i := range 1_000_000 {
		c.Event(&history.Event{Index: i, Time: time.Duration(i), Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "a"})
	}
	if n := len(c.cases[0].before) + len(c.cases[0].within); n > 2*keepBefore+keepWithin+keepAfter+2 {
		t.Errorf("%d events kept", n)
	}
}

// The stretch that a story shows is that of the proof's own leases, though the same owners
// overlap for longer later.
func TestStoryIsOfTheLeasesThatAreProved(t *testing.T) {
	holds := []Hold{
		{Owner: "a", From: 10, To: 30}, {Owner: "b", From: 28, To: 50},
		{Owner: "a", From: 60, To: 90}, {Owner: "c", From: 61, To: 90},
	}
	granted := func(owner string, at time.Duration) history.Event {
		return history.Event{Op: history.Acquire, Kind: history.OK, Owner: owner, Time: at}
	}
	proof := []history.Event{granted("a", 10), {Op: history.Release, Kind: history.OK, Owner: "c", Time: 27}, granted("b", 28)}
	if got := overlap(proved(holds, proof), []string{"a", "b", "c"}); got.From != 28 || got.To != 30 || got.Owners != [2]string{"a", "b"} {
		t.Errorf("%+v", got)
	}
}
