package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
)

func asking(change func(*Config)) Config {
	c := Config{Catalogue: catalogue.Builtin(), Repeats: 5, Slice: time.Second}
	change(&c)
	return c
}

// What is asked for is measured in every scenario, once, or is said to be left out.
func TestSettingsAreThoseAskedFor(t *testing.T) {
	all, leftOut, err := asking(func(c *Config) { c.Workers, c.Nodes = []int{4, 4}, []int{1} }).settings()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range all {
		if seen[s.name]++; s.goroutines != 4 || s.masters != 1 {
			t.Errorf("%s has %d masters and %d workers", s.name, s.masters, s.goroutines)
		}
	}
	for _, s := range benchScenarios {
		if want := map[bool]int{true: 0, false: 1}[s.linked]; seen[s.name] != want {
			t.Errorf("%s is measured %d times, want %d", s.name, seen[s.name], want)
		}
	}
	if text := strings.Join(leftOut, "\n"); len(leftOut) != 3 || !strings.Contains(text, "dead-node on 1 master: ") {
		t.Errorf("left out:\n%s", text)
	}

	c := asking(func(c *Config) {
		c.Locks, c.Scenarios = []string{"redlock", "rueidislock", "redlock"}, []string{"extend"}
	})
	all, leftOut, err = c.settings()
	if err != nil || len(all) != 1 || len(all[0].locks) != 1 || all[0].locks[0].ID != "redlock" {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, want := range []string{"redlock: it is not measured on 1 master", "rueidislock: extend: no lease is extended by hand", "rueidislock: it is not measured on 5 masters"} {
		if !slices.Contains(leftOut, want) {
			t.Errorf("%q is not in %q", want, leftOut)
		}
	}
	if measured := c.measured(all); len(measured) != 1 || measured[0].About == "" {
		t.Errorf("%+v", measured)
	}
}

func TestNothingToMeasureSaysWhy(t *testing.T) {
	for want, c := range map[string]Config{
		"rueidislock: extend: no lease":              asking(func(c *Config) { c.Locks, c.Scenarios, c.Nodes = []string{"rueidislock"}, []string{"extend"}, []int{1} }),
		"slow-node on 1 master: one of them is hurt": asking(func(c *Config) { c.Scenarios, c.Nodes = []string{"slow-node"}, []int{1} }),
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
