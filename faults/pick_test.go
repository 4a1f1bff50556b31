package faults

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestPickClients(t *testing.T) {
	w := newWorld(5, 4)
	w.grant("k1", "c01")
	w.grant("k2", "c02.1")
	w.grant("k3", "c03")
	w.release("k3", "c03")
	if err := w.Take("c02"); err != nil {
		t.Fatal(err)
	}
	w.shared().bind([]bind{{"pair", []string{"c00", "c03"}}})
	for role, want := range map[string][]string{
		RoleHolder: {"c01"}, // c02 is taken
		RoleAll:    {"c00", "c01", "c02", "c03"},
		"c02":      {"c02"},
		"c03, c00": {"c03", "c00"},
		"pair":     {"c00", "c03"},
	} {
		got, err := w.PickClients(role, seeded(1))
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("%s: %v, %v; want %v", role, names(got), err, want)
		}
	}
	for _, role := range []string{RoleWaiter, "c99", "unbound"} {
		if got, err := w.PickClients(role, seeded(1)); !errors.Is(err, ErrMissed) {
			t.Errorf("%s: %v, %v", role, names(got), err)
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		got, _ := w.PickClients("", seeded(seed))
		seen[got[0].Name()] = true
	}
	if len(seen) != 3 || seen["c02"] {
		t.Errorf("any: %v", seen)
	}
	if err := w.Take("c02"); !errors.Is(err, ErrMissed) {
		t.Errorf("taken twice: %v", err)
	}
}

func TestPickNodes(t *testing.T) {
	w := newWorld(5, 1)
	if err := w.Take("n3"); err != nil {
		t.Fatal(err)
	}
	for role, n := range map[string]int{RoleAny: 1, RoleAll: 5, RoleMinority: 1, RoleMajority: 3, "n3,n1": 2} {
		got, err := w.PickNodes(t.Context(), role, nil, seeded(3))
		if err != nil || len(got) != n {
			t.Errorf("%s: %v, %v; want %d", role, names(got), err, n)
		}
		if slices.Contains(names(got), "n3") != (role == RoleAll || role == "n3,n1") {
			t.Errorf("%s picks %v, while another fault has n3", role, names(got))
		}
	}
	if err := w.Take("n1"); err != nil {
		t.Fatal(err)
	}
	if got, err := w.PickNodes(t.Context(), RoleMinority, nil, seeded(3)); !errors.Is(err, ErrMissed) {
		t.Errorf("no node can be spared any more: %v, %v", names(got), err)
	}
}

func TestSplitRole(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                   {"any", ""},
		"holder":             {"holder", ""},
		"any as victim-1":    {"any", "victim-1"},
		"victim-1 as asleep": {"victim-1", "asleep"},
	} {
		role, name := splitRole(text, RoleAny)
		if got := [2]string{role, name}; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
