package faults_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

func TestPickClients(t *testing.T) {
	w := faulttest.New(5, 4)
	w.Grant("k1", "c01")
	w.Grant("k2", "c02.1")
	w.Grant("k3", "c03")
	w.Release("k3", "c03")
	w.Inside(t, func(s *faults.Scope) {
		if err := s.Claim("c02"); err != nil {
			t.Error(err)
		}
		s.Bind("pair", "c00", "c03")
		for role, want := range map[string][]string{
			faults.RoleHolder: {"c01"}, // c02 is taken
			faults.RoleAll:    {"c00", "c01", "c02", "c03"},
			"c02":             {"c02"},
			"c03, c00":        {"c03", "c00"},
			"pair":            {"c00", "c03"},
			"c03, pair, c03":  {"c03", "c00"}, // each once
		} {
			got, err := s.PickClients(role, faulttest.Seeded(1))
			if err != nil || !slices.Equal(phrase.Names(got), want) {
				t.Errorf("%s: %v, %v; want %v", role, phrase.Names(got), err, want)
			}
		}
		for _, role := range []string{faults.RoleWaiter, "c99", "unbound"} {
			if got, err := s.PickClients(role, faulttest.Seeded(1)); !errors.Is(err, faults.ErrMissed) {
				t.Errorf("%s: %v, %v", role, phrase.Names(got), err)
			}
		}
		seen := map[string]bool{}
		for seed := range uint64(40) {
			got, _ := s.PickClients("", faulttest.Seeded(seed))
			seen[got[0].Name()] = true
		}
		if len(seen) != 3 || seen["c02"] {
			t.Errorf("any: %v", seen)
		}
		restored := s.CutLink(faults.LinkID{Client: "c01", Node: "n1"})
		for seed := range uint64(40) {
			if got, _ := s.PickClients("", faulttest.Seeded(seed)); got[0].Name() == "c01" {
				t.Error("any: c01, which is cut off from a node already")
			}
		}
		restored()
		if err := s.Claim("c02"); !errors.Is(err, faults.ErrMissed) {
			t.Errorf("taken twice: %v", err)
		}
	})
}

// pickAfter names the clients of a role that a step picks that has looked for one for so long.
func pickAfter(t *testing.T, s *faults.Scope, role string, waited time.Duration) string {
	t.Helper()
	s.Wait(waited)
	got, err := s.PickClients(role, faulttest.Seeded(1))
	if err != nil && !errors.Is(err, faults.ErrMissed) {
		t.Error(err)
	}
	return strings.Join(phrase.Names(got), " ")
}

// A reader holds a key beside another reader; after half a TTL without such a one one who reads alone
// will do, and where nobody reads any holder.
func TestPickReader(t *testing.T) {
	w := faulttest.New(1, 3)
	w.Grant("k0", "c00")
	w.Inside(t, func(s *faults.Scope) {
		pick := func(waited time.Duration) string { return pickAfter(t, s, faults.RoleReader, waited) }
		soon, late := w.Target.TTL/2, w.Target.TTL/2+1
		if got := pick(soon) + "," + pick(late); got != ",c00" {
			t.Errorf("nobody reads: %s", got)
		}
		w.GrantToRead("k1", "c01")
		if got := pick(soon) + "," + pick(late); got != ",c01" {
			t.Errorf("only c01 reads: %s", got)
		}
		w.GrantToRead("k2", "c02")
		if got := pick(soon); got != "" {
			t.Errorf("c01 and c02 read, and each another key: %s", got)
		}
		w.GrantToRead("k1", "c00")
		for _, waited := range []time.Duration{soon, late} {
			if got := pick(waited); got != "c00" && got != "c01" {
				t.Errorf("c00 and c01 read: %s", got)
			}
		}
	})
}

// Whose lease is over holds nothing. At a command that passes, its client is the holder if it holds anything, since the
// command may name the key otherwise; between two steps only of the key in question.
func TestPickHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 2)
		w.Inside(t, func(s *faults.Scope) {
			w.Grant("k0", "c00")
			pick := func() string { return pickAfter(t, s, faults.RoleHolder, 0) }
			for on, want := range map[watch.Moment]string{faults.Command("SET", ""): "c00", watch.RenewalMidway: ""} {
				s.Occasion.Moment, s.Occasion.Node, s.Occasion.Owner, s.Occasion.Key = on, "n1", "c00", "lock:k0"
				if got := pick(); got != want {
					t.Errorf("at %s: %q, want %q", on, got, want)
				}
			}
			s.Occasion = faults.Occasion{}
			time.Sleep(w.Target.TTL)
			if got := pick(); got != "" {
				t.Errorf("behind the end of its lease: %q", got)
			}
		})
	})
}

// Who gives back what it held is the holder of that moment, though it holds it no more.
func TestPickWhoGivesBack(t *testing.T) {
	w := faulttest.New(1, 2)
	w.Inside(t, func(s *faults.Scope) {
		for _, m := range []watch.Moment{watch.ReleaseSent, watch.ReleaseMidway, watch.ReleaseReplied} {
			s.Occasion.Moment, s.Occasion.Owner, s.Occasion.Key = m, "c01", "k0"
			if got, err := s.PickClients(faults.RoleHolder, faulttest.Seeded(1)); err != nil || !slices.Equal(phrase.Names(got), []string{"c01"}) {
				t.Errorf("at %s: %v, %v", m, phrase.Names(got), err)
			}
		}
	})
}

// A writer waits for what readers hold. Where there is none, any waiter will do soon, and then
// anybody.
func TestPickWriter(t *testing.T) {
	w := faulttest.New(1, 4)
	w.Grant("k0", "c00")
	ask := func(key, owner string, m history.Mode) {
		w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: owner, Mode: m})
	}
	ask("free", "c03", history.Exclusive)
	ask("k0", "c01", history.Exclusive)
	w.Inside(t, func(s *faults.Scope) {
		pick := func(waited time.Duration) string { return pickAfter(t, s, faults.RoleWriter, waited) }
		if got := pick(0); got != "" {
			t.Errorf("nobody reads: %s", got)
		}
		if got := pick(w.Target.TTL/8 + 1); got != "c01" {
			t.Errorf("c01 waits, for what c00 holds to write: %s", got)
		}
		w.GrantToRead("k1", "c02")
		ask("k1", "c03", history.Shared)
		if got := pick(0); got != "" {
			t.Errorf("c03 asks to read: %s", got)
		}
		ask("k1", "c00", history.Exclusive)
		if got := pick(0); got != "c00" {
			t.Errorf("c00 waits to write what c02 reads: %s", got)
		}
		if got := pick(w.Target.TTL/4 + 1); got == "" {
			t.Error("after a quarter of a TTL nobody will do")
		}
		if err := s.Claim("c01"); err != nil {
			t.Error(err)
		}
		if got := pickAfter(t, s, faults.RoleWaiter, 0); got != "c03" {
			t.Errorf("another fault has c01, and %q is the next waiter", got)
		}
	})
}

// Where nobody waits, a holder does something that the fault can meet, and somebody idle does not.
func TestPickWriterWhereNobodyWaits(t *testing.T) {
	w := faulttest.New(1, 16)
	w.Grant("k0", "c09")
	w.Inside(t, func(s *faults.Scope) {
		if got := pickAfter(t, s, faults.RoleWriter, w.Target.TTL/8+1); got != "" {
			t.Errorf("nobody waits: %s", got)
		}
		if got := pickAfter(t, s, faults.RoleWriter, w.Target.TTL/4+1); got != "c09" {
			t.Errorf("%q, want the holder", got)
		}
	})
}

// A wanted holder is one for whose key another client asks, or was refused just now;
// at a moment of somebody's lease only he.
func TestPickWanted(t *testing.T) {
	w := faulttest.New(5, 4)
	w.Grant("k0", "c00")
	w.Grant("k1", "c01")
	w.Grant("k2", "c02")
	ask := func(key, owner string, kinds ...history.Kind) {
		p := w.Rec.NewProcess()
		for _, kind := range kinds {
			w.Rec.Append(history.Event{Process: p, Kind: kind, Op: history.Acquire, Key: key, Owner: owner})
		}
	}
	pick := func(s *faults.Scope) []string {
		got, err := s.PickClients(faults.RoleWanted, faulttest.Seeded(1))
		if (err != nil) != (len(got) == 0) || err != nil && !errors.Is(err, faults.ErrMissed) {
			t.Errorf("%v, %v", phrase.Names(got), err)
		}
		return phrase.Names(got)
	}
	w.Inside(t, func(s *faults.Scope) {
		if got := pick(s); len(got) > 0 {
			t.Errorf("nobody asks: %v", got)
		}
		ask("k0", "c00#2", history.Invoke)
		ask("k3", "c03", history.Invoke)
		if got := pick(s); len(got) > 0 {
			t.Errorf("nobody asks for what another one holds: %v", got)
		}
		ask("k1", "c03", history.Invoke, history.Fail)
		if got := pick(s); !slices.Equal(got, []string{"c01"}) {
			t.Errorf("c03 was refused k1: %v", got)
		}
		w.Grant("k4", "c02")
		ask("k4", "c03", history.Invoke)
		s.Occasion.Owner, s.Occasion.Key = "c02", "k2"
		if got := pick(s); len(got) > 0 {
			t.Errorf("nobody asks for c02's: %v", got)
		}
		ask("k2", "c03", history.Invoke)
		if got := pick(s); !slices.Equal(got, []string{"c02"}) {
			t.Errorf("c03 asks for k2: %v", got)
		}
	})
}

// Of leases that were extended, one that was extended long ago first is nearly over: the
// step waits for another one, for half a TTL.
func TestPickWantedWhoGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 3)
		w.Inside(t, func(s *faults.Scope) {
			w.Grant("k0", "c00")
			w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Key: "k0", Owner: "c01"})
			s.Occasion.Moment, s.Occasion.Owner, s.Occasion.Key = watch.NextRenewalDue, "c00", "k0"
			third := w.Target.TTL / 3
			for _, c := range []struct {
				pause, sought time.Duration
				want          string
			}{{third, 0, "c00"}, {third, 0, ""}, {0, w.Target.TTL/2 + 1, "c00"}} {
				time.Sleep(c.pause)
				w.Extend("k0", "c00")
				if got := pickAfter(t, s, faults.RoleWanted, c.sought); got != c.want {
					t.Errorf("extended after %v, sought for %v: %q, want %q", c.pause, c.sought, got, c.want)
				}
			}
		})
	})
}

func TestPickNodes(t *testing.T) {
	w := faulttest.New(5, 1)
	w.Inside(t, func(s *faults.Scope) {
		if err := s.Claim("n3"); err != nil {
			t.Error(err)
		}
		for role, n := range map[string]int{faults.RoleAny: 1, faults.RoleAll: 5, faults.RoleMinority: 1, faults.RoleMajority: 3, "n3,n1": 2, "n3, n1, n3": 2} {
			got, err := s.PickNodes(t.Context(), role, nil, faulttest.Seeded(3))
			if err != nil || len(got) != n {
				t.Errorf("%s: %v, %v; want %d", role, phrase.Names(got), err, n)
			}
			if slices.Contains(phrase.Names(got), "n3") != (role == faults.RoleAll || strings.HasPrefix(role, "n3")) {
				t.Errorf("%s picks %v, while another fault has n3", role, phrase.Names(got))
			}
		}
		if err := s.Claim("n1"); err != nil {
			t.Error(err)
		}
		if got, err := s.PickNodes(t.Context(), faults.RoleMinority, nil, faulttest.Seeded(3)); !errors.Is(err, faults.ErrMissed) {
			t.Errorf("no node can be spared any more: %v, %v", phrase.Names(got), err)
		}
	})
}

// The swing nodes are those of the lease of the moment, or of a client that is named, and not of whoever holds beside.
func TestPickSwing(t *testing.T) {
	w := faulttest.New(3, 2)
	w.Grant("k0", "c00")
	w.Grant("k1", "c01")
	w.Inside(t, func(s *faults.Scope) {
		for _, n := range []string{"n1", "n3"} {
			defer s.CutLink(faults.LinkID{Client: "c00", Node: n})()
		}
		for seed := range uint64(20) {
			s.Occasion = faults.Occasion{}
			named, err := s.PickNodes(t.Context(), faults.RoleSwing, w.Clients[:1], faulttest.Seeded(seed))
			s.Occasion.Owner, s.Occasion.Key = "c00", "k0"
			atMoment, alsoErr := s.PickNodes(t.Context(), faults.RoleSwing, nil, faulttest.Seeded(seed))
			if got := append(phrase.Names(named), phrase.Names(atMoment)...); !slices.Equal(got, []string{"n2", "n2"}) {
				t.Errorf("%v (%v, %v), want the one node that c00 reaches", got, err, alsoErr)
			}
		}
	})
}

func TestSplitRole(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                   {"any", ""},
		"holder":             {"holder", ""},
		"any as victim-1":    {"any", "victim-1"},
		"victim-1 as asleep": {"victim-1", "asleep"},
	} {
		role, name := faults.SplitRole(text, faults.RoleAny)
		if got := [2]string{role, name}; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", text, got)
		}
		if again, _ := faults.SplitRole(faults.JoinRole(role, name), ""); again != role || name == "" && faults.JoinRole(role, name) != role {
			t.Errorf("%q and %q together are %q", role, name, faults.JoinRole(role, name))
		}
	}
}
