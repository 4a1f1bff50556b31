package envelope

import (
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports/envelope"
)

// played is a cell after one round.
func played(t *testing.T, lock, name string, ttl, x time.Duration) envelope.Cell {
	t.Helper()
	found, err := catalogue.Builtin().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	p := &simulate.Player{Lock: found, Even: true}
	c := Config{Hold: 20 * time.Millisecond}
	for _, a := range axes(c.Hold) {
		if a.Name != name {
			continue
		}
		r := c.round(a, ttl, x, 7)
		if err := p.Fits(r); err != nil {
			t.Fatal(err)
		}
		var cell envelope.Cell
		c.one(t.Context(), p, r, &cell)
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
	for _, c := range []Config{{}, {Rounds: 1}, {Rounds: 1, Budget: time.Minute, Hold: time.Second}, {Rounds: 1, Budget: time.Minute, Masters: 2}} {
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
