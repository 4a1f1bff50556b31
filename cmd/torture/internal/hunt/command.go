package hunt

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/faults/testbed"
	"locktorture/workload/history/printable"
)

// Play is the command that plays what is left of a finding's round.
func (r *Report) Play(f *search.Found) string {
	command := Command(r.Lock, r.Nodes, smallest(f))
	if isDeployment(r.Testbed) {
		command += " --testbed=" + r.Testbed
	}
	if r.Fenced != nil {
		command += fmt.Sprintf(" --fenced=%t", *r.Fenced)
	}
	return command
}

// isDeployment reports whether a kind of testbed is a different service for the lock, so that a
// finding must be played again on the same kind.
func isDeployment(kind string) bool {
	return kind == testbed.KindSentinel || kind == testbed.KindCluster
}

// Command is the command line that plays a round against a lock. It is safe to print.
func Command(lock string, nodes int, r search.Round) string {
	words := []string{"torture run calm"}
	add := func(name, value string) {
		words = append(words, printable.Shell("--"+name+"="+value))
	}
	add("lock", printable.Line(catalogue.HideSecrets(lock)))
	if nodes > 0 { // else as many as the lock is made for
		add("nodes", strconv.Itoa(nodes))
	}
	for _, s := range settings(r) {
		add(s[0], s[1])
	}
	return strings.Join(words, " ")
}

// settings are a round's flags by name, in the order of a command. Those that the
// built-in scenario calm has anyhow are left out.
func settings(r search.Round) [][2]string {
	l := r.Load
	all := [][2]string{
		{"clients", strconv.Itoa(r.Clients)}, {"keys", strconv.Itoa(l.Keys)}, {"ttl", r.TTL.String()}, {"duration", r.Duration.String()},
		{"hold", l.Hold.String()}, {"think", l.Think.String()}, {"mode", string(l.Mode)},
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	for _, s := range []struct {
		name, value string
		isSet       bool
	}{
		{"wait", l.Wait.String(), l.Wait > 0}, {"timeout", l.Timeout.String(), l.Timeout > 0}, {"renew", "true", l.Renew},
		{"long-hold", number(l.LongHold), l.LongHold > 0}, {"extend", number(l.Extend), l.Extend > 0}, {"readers", number(l.Readers), l.Readers > 0},
		{"faults", faultsText(r.Steps), len(r.Steps) > 0},
	} {
		if s.isSet {
			all = append(all, [2]string{s.name, s.value})
		}
	}
	return append(all, [2]string{"seed", strconv.FormatUint(r.Seed, 10)})
}

// faultsText writes steps as --faults takes them.
func faultsText(steps []faults.Spec) string {
	var all []string
	for _, s := range steps {
		all = append(all, stepText(s))
	}
	return strings.Join(all, ",")
}

func stepText(s faults.Spec) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s.Fault // a Spec is plain data: it always marshals
	}
	var set map[string]any
	if err := json.Unmarshal(raw, &set); err != nil {
		return s.Fault
	}
	delete(set, "fault")
	text := s.Fault
	for _, name := range slices.Sorted(maps.Keys(set)) {
		text += fmt.Sprintf(":%s=%s", name, strings.ReplaceAll(fmt.Sprint(set[name]), ",", "+"))
	}
	return text
}

// scenarioFile is the name of the scenario file of a finding with a label.
func scenarioFile(label string) string { return label + ".yaml" }

// writeScenarios writes, for each kind of finding that was made small, a file that
// torture run takes.
func (h *Hunt) writeScenarios(r *Report) (err error) {
	for i, f := range kinds(r.Found) {
		if f.Small == nil {
			continue
		}
		c := f.Small.Round.Over(h.base)
		c.Scenario, c.Out, c.Nodes = "hunt", "", r.Nodes
		if !isDeployment(c.Testbed) {
			c.Testbed = testbed.KindAuto
		}
		err = errors.Join(err, writeScenario(filepath.Join(h.cfg.Dir, scenarioFile(fmt.Sprintf("F%d", i+1))), c, describe(f.Finding)))
	}
	return err
}

func writeScenario(path string, c config.Config, about string) error {
	c.Lock = catalogue.HideSecrets(c.Lock)
	text, err := yaml.Dump(c.Printable())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	head := "# " + strings.ReplaceAll(about, "\n", " ") + "\n"
	return os.WriteFile(path, append([]byte(head), text...), 0o600)
}
