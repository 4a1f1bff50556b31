package hunt

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/plan"
)

// rounds are some that a search draws for a lock on the process testbed.
func rounds(t *testing.T, lock string, n int) (*Hunt, []search.Round) {
	t.Helper()
	base, err := Base()
	if err != nil {
		t.Fatal(err)
	}
	base.Lock, base.Testbed = lock, "embedded"
	l, err := catalogue.Builtin().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(t.Context(), Config{Lock: l, Base: base, Budget: 1, Seed: 5, Jobs: 1, Dir: t.TempDir(), Beyond: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []search.Round
	for range n {
		r := h.search.Next()
		h.search.Record(r, search.Outcome{Cells: []string{string(r.Load.Mode)}})
		all = append(all, r)
	}
	return h, all
}

// words splits a command as a shell does that knows single quotes alone.
func words(command string) (all []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

// TestCommandPlaysTheRound: what is printed of a round, as a command and as a file,
// gives the same load and the same steps again.
// What is found of a hunt that was told whether the store compares tokens is played again so.
func TestCommandSaysWhetherTheStoreComparesTokens(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		fenced *bool
		want   string
	}{{nil, ""}, {&yes, " --fenced=true"}, {&no, " --fenced=false"}} {
		r := Report{Lock: "single", Fenced: c.fenced}
		f := &search.Found{Finding: search.Finding{ID: "S3"}}
		if got := r.Play(f); strings.Contains(got, "--fenced") != (c.want != "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, want %q at its end", got, c.want)
		}
	}
}

func TestCommandPlaysTheRound(t *testing.T) {
	for _, lock := range []string{"redlock", "getset-timestamp"} {
		h, all := rounds(t, lock, 60)
		for _, r := range all {
			want := r.Over(h.base)
			got, err := config.Base("calm")
			if err != nil {
				t.Fatal(err)
			}
			command := Command(lock, want.Nodes, r)
			for _, w := range words(command)[3:] {
				name, value, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
				i := slices.IndexFunc(config.Settings, func(s config.Setting) bool { return s.Name == name })
				if i < 0 {
					t.Fatalf("no setting %q in %s", name, command)
				}
				if err := config.Settings[i].Set(&got, value); err != nil {
					t.Fatalf("%s: %v in %s", name, err, command)
				}
			}
			var specs []faults.Spec
			if got.Faults.Any() {
				if specs, err = plan.Parse(got.Faults.Plan); err != nil {
					t.Fatalf("%v in %s", err, command)
				}
			}
			if text(t, built(t, specs, r)) != text(t, built(t, r.Steps, r)) {
				t.Errorf("%s\nplays\n%s\nwant\n%s", command, text(t, specs), text(t, r.Steps))
			}
			if got.Load != want.Load || got.Clients != want.Clients || got.TTL != want.TTL || got.Duration != want.Duration || got.Seed != want.Seed {
				t.Errorf("%s\nplays %+v, want %+v", command, got, want)
			}
			path := filepath.Join(t.TempDir(), "F1.yaml")
			if err := writeScenario(path, want, "S1 double grant"); err != nil {
				t.Fatal(err)
			}
			file, err := config.Base("standard")
			if err != nil {
				t.Fatal(err)
			}
			if err := file.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			if text(t, file.Faults) != text(t, want.Faults) || file.Load != want.Load || file.TTL != want.TTL || file.Clients != want.Clients {
				t.Errorf("the file has\n%+v\nwant\n%+v", file, want)
			}
		}
	}
}

func built(t *testing.T, specs []faults.Spec, r search.Round) plan.Plan {
	t.Helper()
	steps, err := plan.Build(faultcatalogue.All(), specs, r.TTL)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Plan{Steps: steps}
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestWhatIsDrawnFits: all that is drawn for a lock is accepted by a run of it, and
// what correct locks rest on is left alone unless that is asked for.
func TestWhatIsDrawnFits(t *testing.T) {
	for _, lock := range []string{"redlock", "token-lua"} {
		h, all := rounds(t, lock, 60)
		steps := 0
		for _, r := range all {
			if err := h.exec.Fits(r); err != nil {
				t.Errorf("%s: %v", lock, err)
			}
			steps += r.Count()
		}
		if steps < 120 {
			t.Errorf("%s: %d steps in 60 rounds", lock, steps)
		}
		h.cfg.Beyond = false
		space, leftOut := h.space(t.Context())
		if slices.Contains(space.Faults, "flushall") || !slices.ContainsFunc(leftOut, func(s string) bool { return strings.HasPrefix(s, "flushall: ") }) {
			t.Errorf("%s: drawn %v, left out %v", lock, space.Faults, leftOut)
		}
		if got := slices.Contains(space.Faults, "kill-empty"); got != (lock == "redlock") {
			t.Errorf("%s: kill-empty drawn: %v", lock, got)
		}
	}
}
