package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"strings"
	"testing"
	"time"

	"locktorture/reports/pagetest"
)

// full is a report of two leases: harm beyond the line of the longer one, and short of
// that of the shorter one.
func full() *Report {
	const s = time.Second
	r := &Report{Lock: "redlock", Masters: 5, Fenced: true, Hold: 20 * time.Millisecond, Clients: 4, Rate: 10, Patience: s, Times: 3, Rounds: 2, TTLs: []time.Duration{s, 4 * s}}
	line := []time.Duration{s, 4 * s}
	pause := NewMap(Axis{Name: "pause", Title: "pause of a holder", Values: []time.Duration{s / 2, 2 * s, 8 * s}, Lines: line, Line: "longer than the lease"}, r.TTLs)
	for t := range pause.Cells {
		for x := range pause.Cells[t] {
			pause.Cells[t][x] = Cell{Rounds: 2, Faults: 6, Offered: 100, Served: 99}
		}
	}
	pause.Cells[0][0].Saves, pause.Cells[0][1].Saves = 1, 6
	pause.Cells[1][2].Saves, pause.Cells[1][2].Served = 5, 40
	pause.Cells[1][2].Add(map[string]int{"S1": 1, "S10": 1})
	pause.Cells[0][2] = Cell{}
	crash := NewMap(Axis{Name: "crash", Title: "crash of a holder", Values: []time.Duration{0}, Line: "about a TTL"}, r.TTLs)
	crash.Cells[1][0] = Cell{Rounds: 1, Faults: 3, Longest: 4100 * time.Millisecond}
	r.Maps = []Map{pause, crash}
	r.Advise()
	return r
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	r := full()
	if err := r.Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"    1 s              1│        6         –",
		"    4 s              0         0│   5 + 1!",
		"ttl 1 s    covers no pause that was tried; not measured",
		"ttl 4 s    covers pauses up to 2 s; after a holder's crash others waited up to 4.1",
		"1 violation happened in spite of everything (S1 ×1, S10 ×1)", "1 cell short of the theoretical line showed harm",
	} {
		if text := strings.ReplaceAll(out.String(), "\u202f", " "); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	r.Maps[0].Cells[0][0] = Cell{}
	if got := r.Choices()[0].Covers[0]; !strings.Contains(got, "not played") {
		t.Errorf("a cell without a round: %s", got)
	}
	if !r.Played() || (&Report{}).Played() {
		t.Error("whether anything was played")
	}
	empty := &Report{Fenced: true}
	if empty.Advise(); len(empty.Advice) != 1 || !strings.Contains(empty.Advice[0], "Nothing was played") {
		t.Errorf("of nothing that was played: %q", empty.Advice)
	}
	raw, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(raw), `"fence_saves":6`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// A map that has no line has no cell that is short of it.
func TestMapsWithoutALine(t *testing.T) {
	r := full()
	r.Maps[1].Cells[0][0] = Cell{Rounds: 1, Faults: 3, Saves: 1}
	if r.Advise(); !strings.Contains(strings.Join(r.Advice, "\n"), "1 cell short of the theoretical line showed harm") {
		t.Errorf("%q", r.Advice)
	}
}

// Rounds that say nothing, and cells that have fewer than was asked for, are named: first
// of all, in every form.
func TestWhatIsInNoFigureIsSaid(t *testing.T) {
	r := full()
	r.Maps[0].Cells[0][0].AddVoid("V4 the harness lagged by 300 ms.", map[string]int{"S1": 2})
	r.Maps[0].Cells[1][1] = Cell{Missing: "the lock has no clock"}
	r.Maps[1].Cells[0][0] = Cell{}
	want := []string{
		`1 of 10 rounds are in no figure`, `"V4 the harness lagged by 300 ms."`, "proved in them all the same, of no cell: S1 ×2",
		"1 cell cannot be played: the lock has no clock", "2 cells without a round", "1 cell with fewer rounds than the 2 that were asked for",
	}
	var text, page bytes.Buffer
	if err := errors.Join(r.Text(&text), r.Page(&page)); err != nil {
		t.Fatal(err)
	}
	shown := strings.ReplaceAll(html.UnescapeString(page.String()), "\u00a0", " ")
	for _, one := range want {
		if !strings.Contains(text.String(), one) || !strings.Contains(shown, one) {
			t.Errorf("%q is not in\n%s\nor not on the page", one, text.String())
		}
	}
	if w := (&Report{}).Warnings(); len(w) > 0 {
		t.Errorf("of nothing: %q", w)
	}
}

func TestPageInABrowser(t *testing.T) {
	var pages []pagetest.Page
	for name, r := range map[string]*Report{"envelope": full(), "envelope empty": {Lock: "single"}} {
		r.Advise()
		var page bytes.Buffer
		if err := r.Page(&page); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, pagetest.HTML(t, name, page.Bytes()))
	}
	pagetest.Check(t, pages...)
}
