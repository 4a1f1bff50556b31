package story

import (
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
	"locktorture/workload/history"
)

func tell(t *testing.T, h history.History, r checker.Report) []Story {
	t.Helper()
	c := NewCollector(h.Header, r.Violations, 3)
	for i := range h.Events {
		c.Event(&h.Events[i])
	}
	return c.Stories()
}

func TestDoubleGrant(t *testing.T) {
	h := sample.History(sample.Failing)
	all := tell(t, h, sample.Report(h))
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

func TestTitles(t *testing.T) {
	event := func(i int, owner string) history.Event {
		return history.Event{Index: i, Kind: history.OK, Op: history.Write, Key: "k", Owner: owner}
	}
	h := history.History{Events: []history.Event{event(0, "b"), event(1, "a")}}
	for id, want := range map[string]string{
		"S2": "x: a's stale write to k was accepted", "S5": "x: a released k, which was b's",
		"S3z": "x: a wrote to k after its lease had ended", "L9": "x on k", "S1": "x on k",
	} {
		f := checker.Finding{ID: id, Name: "x", Key: "k", Owners: []string{"a", "b"}, Witness: []int{0, 1}, Text: "It. Remedy: do. Faults meanwhile: none."}
		s := tell(t, h, checker.Report{Violations: []checker.Finding{f}})[0]
		if s.Title != want || s.Why != "It." || s.Remedy != "do." {
			t.Errorf("%s: %q, want %q (%q, %q)", id, s.Title, want, s.Why, s.Remedy)
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
		all := tell(t, h, checker.Report{Violations: []checker.Finding{f}})
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
