package envelope

import (
	"context"
	"os"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports"
	"locktorture/reports/envelope"
)

// played is a cell after one round.
func played(t *testing.T, lock, name string, ttl, x time.Duration) envelope.Cell {
	t.Helper()
	found, err := catalogue.Builtin().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	s := virtual{&simulate.Player{Lock: found, Even: true}}
	c := Config{Hold: 20 * time.Millisecond}
	for _, a := range axes(c.Hold, fine) {
		if a.Name != name {
			continue
		}
		r := c.round(a, ttl, x, 7)
		if err := s.fits(r); err != nil {
			t.Fatal(err)
		}
		var cell envelope.Cell
		s.play(t.Context(), r).addTo(&cell)
		if cell.Rounds != 1 || cell.Offered < 10 {
			t.Fatalf("%s ttl %v %v: %+v", name, ttl, x, cell)
		}
		return cell
	}
	t.Fatalf("no axis %q", name)
	return envelope.Cell{}
}

// Each axis does what its line says: harm beyond it, none before it.
func TestLinesPartHarmFromNone(t *testing.T) {
	const ttl = 500 * time.Millisecond
	for _, x := range []struct {
		axis           string
		before, beyond time.Duration
	}{{"pause", 125 * time.Millisecond, 2 * time.Second}, {"clock", 125 * time.Millisecond, 2 * time.Second}} {
		if c := played(t, "redlock", x.axis, ttl, x.before); c.Faults == 0 || c.Unfenced() > 0 {
			t.Errorf("%s of %v under a lease of %v: %+v", x.axis, x.before, ttl, c)
		}
		if c := played(t, "redlock", x.axis, ttl, x.beyond); c.Faults == 0 || c.Unfenced() == 0 {
			t.Errorf("%s of %v under a lease of %v: %+v", x.axis, x.beyond, ttl, c)
		}
	}
	// Delays do no harm: they only keep requests from being served.
	near, far := played(t, "redlock", "delay", ttl, 5*time.Millisecond), played(t, "redlock", "delay", ttl, time.Second)
	if near.Unfenced()+far.Unfenced() > 0 || near.Available() < 0.9 || far.Available() > near.Available()-0.1 {
		t.Errorf("delays of 5 ms and 1 s: %+v, %+v", near, far)
	}
}

// After a crash others wait for about as long as the lease.
func TestACrashCostsALease(t *testing.T) {
	short, long := played(t, "redlock", "crash", 250*time.Millisecond, 0), played(t, "redlock", "crash", 4*time.Second, 0)
	if short.Faults == 0 || short.Longest > time.Second || long.Longest < 2*time.Second {
		t.Errorf("longest waits %v and %v: %+v, %+v", short.Longest, long.Longest, short, long)
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	for _, c := range []Config{{}, {Rounds: 1}, {Rounds: 1, Budget: time.Minute, Hold: time.Second}, {Rounds: 1, Budget: time.Minute, Masters: 2},
		{Catalogue: catalogue.Builtin(), Lock: "redlock", Rounds: 1, Budget: time.Minute, OnRedis: true},
	} {
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// On real servers a round is a run of its own, of which nothing stays.
func TestARoundOnRealServers(t *testing.T) {
	out := t.TempDir()
	c := Config{
		Catalogue: catalogue.Builtin(), Lock: "redlock", Hold: 20 * time.Millisecond, OnRedis: true, Jobs: 2, Out: out, Rounds: 1, Budget: time.Minute,
		Play: func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
			lock, err := catalogue.Builtin().Find(c.Lock)
			if err != nil {
				return nil, err
			}
			return run.Run(ctx, c, lock, o)
		},
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := c.stage()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range axes(c.Hold, c.grid()) {
		if a.Name != "pause" {
			continue
		}
		r := c.round(a, c.grid().ttls[0], c.grid().long[1], 7)
		if err := s.fits(r); err != nil {
			t.Fatal(err)
		}
		var cell envelope.Cell
		s.play(t.Context(), r).addTo(&cell)
		if cell.Rounds != 1 || cell.Offered < 10 || cell.Faults == 0 {
			t.Errorf("%+v", cell)
		}
	}
	if s.servers() == "" {
		t.Error("nobody knows on which servers that was")
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("%v stays, %v", left, err)
	}
}

// A round in which the harness lagged is played again, and in the end left out of its
// cell, which says so; what was proved in it is told apart.
func TestALaggingRoundIsNoFigure(t *testing.T) {
	lock, err := catalogue.Builtin().Find("redlock")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		lagging       int // rounds, before one is calm
		rounds, plays int
	}{{"calm", 0, 1, 1}, {"once", 1, 1, 2}, {"always", 99, 0, tries}} {
		plays := 0
		s, err := newRealServers(Config{Lock: "redlock", Jobs: 1, Out: t.TempDir(), Play: func(_ context.Context, _ config.Config, o run.Options) (*reports.Run, error) {
			o.Begin(run.Beginning{})
			plays++
			r := &reports.Run{}
			if plays <= c.lagging {
				r.Report.Inconclusive = []checker.Finding{{ID: "V4", Text: "The harness lagged."}}
				r.Report.Violations = []checker.Finding{{ID: "S3"}}
			}
			return r, nil
		}}, lock)
		if err != nil {
			t.Fatal(err)
		}
		var cell envelope.Cell
		s.play(t.Context(), search.Round{}).addTo(&cell)
		if plays != c.plays || cell.Rounds != c.rounds || cell.Void != 1-c.rounds || cell.Harm > 0 {
			t.Errorf("%s: %d plays, %+v", c.name, plays, cell)
		}
		if cell.Void > 0 && (cell.VoidWhy != "V4 The harness lagged." || cell.VoidHarm["S3"] != 1) {
			t.Errorf("%s: %+v", c.name, cell)
		}
	}
}
