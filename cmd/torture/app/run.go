package app

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"locktorture/cmd/torture/internal/config"
)

// A runCommand is one verb that plays a scenario.
type runCommand struct {
	*tool
	scenario string // when neither an argument nor --scenario names one
	flags    map[string]string
	file     string
	print    bool
	output
	far workerFlags
}

func (t *tool) newRun(use, scenario string) *cobra.Command {
	r := &runCommand{tool: t, scenario: scenario, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use:   use,
		Short: "play a scenario against a lock and judge it",
		Args:  cobra.MaximumNArgs(1),
		RunE:  r.run,
	}
	r.addFlags(cmd)
	return cmd
}

func (t *tool) newDemo() *cobra.Command {
	cmd := t.newRun("demo", "demo")
	cmd.Short = "watch a broken lock being caught, with its witness (about 20 s)"
	cmd.Args = cobra.NoArgs
	return cmd
}

func (r *runCommand) addFlags(cmd *cobra.Command) {
	for _, s := range config.Settings {
		f := cmd.Flags().VarPF(&flagValue{r.flags, s}, s.Name, "", s.Help)
		if s.Bool {
			f.NoOptDefVal = "true"
		}
	}
	cmd.Flags().StringVar(&r.file, "scenario", "", "scenario file (YAML), or the name of a built-in scenario")
	cmd.Flags().BoolVar(&r.print, "print-config", false, "print the resolved scenario as YAML and stop")
	cmd.Flags().StringVar(&r.metrics, "metrics-addr", "", "offer live figures to Prometheus at host:port/metrics (and a Grafana dashboard at /dashboard.json)")
	r.output.addFlags(cmd.Flags(), "results.json")
	r.far.add(cmd.Flags())
}

func (r *runCommand) run(cmd *cobra.Command, args []string) error {
	cfg, err := r.resolve(args)
	if err != nil {
		return err
	}
	if r.print {
		return printYAML(cmd, cfg.Printable())
	}
	w, _ := r.people(cmd)
	if r.workers, err = r.far.open(r.tool, w); err != nil {
		return err
	}
	return r.playAndShow(cmd, cfg, r.output)
}

// resolve lays file, environment and flags over the built-in scenario.
func (r *runCommand) resolve(args []string) (config.Config, error) {
	name := r.scenario
	if r.file != "" {
		name = r.file
	}
	if len(args) > 0 {
		if name = args[0]; r.file != "" && r.file != name {
			return config.Config{}, fmt.Errorf("two scenarios: %s, and --scenario %s: leave one of them out", name, r.file)
		}
	}
	base, file := name, ""
	if isFile(name) {
		base, file = "standard", name
	}
	cfg, err := config.Base(base)
	if err != nil {
		return cfg, err
	}
	if file != "" {
		cfg.Scenario = strings.TrimSuffix(file, filepath.Ext(file))
		cfg.PerMinute = nil // a file says itself what it demands
		if err := cfg.ReadFile(file); err != nil {
			return cfg, err
		}
	}
	if err := cfg.ReadEnvironment(config.Environ()); err != nil {
		return cfg, err
	}
	if err := applyFlags(&cfg, r.flags); err != nil {
		return cfg, err
	}
	if err := cfg.Reconcile(); err != nil {
		return cfg, err
	}
	if cfg.Seed == 0 {
		cfg.Seed = drawSeed()
	}
	if err := r.validate(cfg); err != nil {
		return cfg, err
	}
	cfg.DeriveFloors()
	cfg.DeriveObjectives()
	return cfg, nil
}

// applyFlags lays the settings that were given as flags over cfg.
func applyFlags(cfg *config.Config, given map[string]string) error {
	for _, s := range config.Settings {
		if value, set := given[s.Name]; set {
			if err := cfg.Apply(s, value, "--"+s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func isFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.ContainsAny(name, `/\`)
}

// drawSeed returns a seed that is short enough to be typed.
func drawSeed() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand never fails on a supported platform
	}
	return binary.BigEndian.Uint64(b[:])&0xffffff | 1
}

func printYAML(cmd *cobra.Command, cfg config.Config) error {
	out, err := yaml.Dump(cfg)
	if err != nil {
		return harnessError{fmt.Errorf("print configuration: %w", err)}
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

// A flagValue remembers what a flag was set to: it is laid over the scenario
// after the file and the environment.
type flagValue struct {
	into    map[string]string
	setting config.Setting
}

func (v *flagValue) String() string { return "" }

func (v *flagValue) Type() string {
	if v.setting.Bool {
		return "bool"
	}
	return "value"
}

func (v *flagValue) Set(s string) error {
	if s == "" && v.setting.Name != "out" {
		return errors.New("needs a value")
	}
	v.into[v.setting.Name] = s
	return nil
}
