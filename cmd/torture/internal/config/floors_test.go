package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// A floor that nothing can reach is left out, be it the scenario's own or written down by
// --print-config; what the user asked for in other words stays.
func TestFloorsThatAreInherited(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(text string) string // of what --print-config printed; nil: the scenario is played as it is
		dropped bool
	}{
		"the scenario as it is": {nil, true},
		"as it was printed":     {func(text string) string { return text }, true},
		"changed":               {func(text string) string { return strings.Replace(text, "fence_saves: 2", "fence_saves: 7", 1) }, false},
		"for half the time":     {func(text string) string { return strings.Replace(text, "duration: 1m0s", "duration: 30s", 1) }, false},
		"of another scenario":   {func(text string) string { return strings.Replace(text, "scenario: standard", "scenario: calm", 1) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Base("standard")
			if err != nil {
				t.Fatal(err)
			}
			cfg.Duration = time.Minute
			cfg.DeriveFloors()
			if c.change != nil {
				text, err := yaml.Dump(cfg.Printable())
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "printed.yaml")
				if err := os.WriteFile(file, []byte(c.change(string(text))), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg = Config{}
				if err := cfg.ReadFile(file); err != nil {
					t.Fatal(err)
				}
				cfg.DeriveFloors()
			}
			less, had := cfg.WithoutFloor("fence_saves")
			if _, demanded := less.Floors["fence_saves"]; had != c.dropped || demanded == c.dropped {
				t.Errorf("dropped: %t; demanded are %v", had, less.Floors)
			}
			if less.Floors["grants"] != 600 {
				t.Errorf("demanded are %v", less.Floors)
			}
		})
	}
}
