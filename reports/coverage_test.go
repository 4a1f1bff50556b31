package reports

import (
	"strings"
	"testing"

	"locktorture/reports/internal/sample"
	"locktorture/reports/stats"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/fold"
)

// covered is a run that paused a client in its section, and nothing else.
func covered(can *coverage.Abilities) *Run {
	table := &coverage.Summary{Can: can, Exercised: coverage.Uses{Exclusive: 2310, Extended: 12}}
	for _, c := range []coverage.Cell{
		{Phase: coverage.InSection, Class: coverage.ClientPaused}, {Phase: coverage.Expiry, Class: coverage.ClientPaused},
		{Phase: coverage.AcquireSent, Class: coverage.RequestLost}, {Phase: coverage.ReleaseSent, Class: coverage.RequestLost},
		{Phase: coverage.RenewalSent, Class: coverage.RequestLost},
	} {
		table.Cells = append(table.Cells, coverage.Count{Cell: c})
	}
	table.Cells[0].N, table.Met, table.Of = 7, 1, len(table.Cells)
	return &Run{Coverage: table, Stats: &stats.Summary{}, Meta: Meta{Faults: 1}}
}

func TestCoveredIsSaid(t *testing.T) {
	lines := covered(&coverage.Abilities{Extend: true, Wait: true}).Covered()
	if want := "exclusive 2 310 · wait 0 · renew 0 · extend 12 · shared – (lock has none) · re-entry – (lock has none) · multi – (lock has none) · fair – (lock has none)"; lines[0].Text != want || lines[0].Label != "exercised" {
		t.Errorf("%+v, want %q", lines[0], want)
	}
	if want := "1 of 5 cells (phase × fault class); never: client paused × expiry, request lost × acquire sent, request lost × release sent and 1 more (report#coverage)"; lines[1].Text != want || lines[1].Label != "coverage" {
		t.Errorf("%+v, want %q", lines[1], want)
	}
	if got := covered(nil).Covered()[0].Text; got != "exclusive 2 310 · extend 12" {
		t.Errorf("of a lock of which nobody says what it can: %q", got)
	}
	calm := covered(nil)
	calm.Meta.Faults = 0
	if lines := calm.Covered(); len(lines) != 1 {
		t.Errorf("without a fault: %+v", lines)
	}
}

// What was not covered can be seen in every form of the report.
func TestEmptyCellsAreVisible(t *testing.T) {
	r := covered(nil)
	if text := r.Summary(); !strings.Contains(text, "| client paused | · | 7 | · | never | · |") {
		t.Errorf("no row of a class in\n%s", text)
	}
	h := sample.History(sample.Failing)
	full := &Run{Meta: Meta{Faults: 1}, Report: sample.Report(h)}
	if err := full.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	page, err := full.page(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="coverage"`, `<td class="never"`, `<td class="met"`, `<td class="none"`, `<th scope="row">client paused</th>`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s in the page", want)
		}
	}
}

// TestSilenceIsNoFaultAskedFor: a worker that answers nothing for a while is told of beside
// the faults of the nemesis, and is none of those that were asked for.
func TestSilenceIsNoFaultAskedFor(t *testing.T) {
	silence := stats.Fault{Fault: fold.Fault{Name: history.WorkerSilent, TookEffect: true}}
	for _, c := range []struct {
		faults []stats.Fault
		want   string
	}{
		{[]stats.Fault{silence, silence}, "no faults; 2 silences of workers"},
		{[]stats.Fault{{Fault: fold.Fault{Name: "cut", TookEffect: true}}, silence}, "1 fault asked for, 1 planned, 1 begun, 1 took effect, 0 healed; 1 silence of workers"},
		{nil, "no faults"},
	} {
		r := &Run{Stats: &stats.Summary{Faults: c.faults}}
		for i := range c.faults {
			r.Stats.Faults[i].Healed = stats.Never
		}
		if got := r.faults(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
