package app

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
	"locktorture/workload/history/printable"
)

// A runCommand is one verb that plays a scenario.
type runCommand struct {
	*tool
	scenario string // when neither an argument nor --scenario names one
	flags    map[string]string
	file     string
	images   []string // of the servers, to be played on one after another
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
	cmd.Flags().StringSliceVar(&r.images, "image-matrix", nil, "images of the servers, by comma, e.g. redis:6.2,redis:7.4,valkey/valkey:8.1: play the scenario on each, with one seed, and print one table of verdicts (testbed container)")
	cmd.Flags().BoolVar(&r.print, "print-config", false, "print the resolved scenario as YAML and stop")
	cmd.Flags().StringVar(&r.metrics, "metrics-addr", "", "offer live figures to Prometheus at host:port/metrics (and a Grafana dashboard at /dashboard.json)")
	r.output.addFlags(cmd.Flags(), "results.json")
	r.far.add(cmd.Flags())
}

func (r *runCommand) run(cmd *cobra.Command, args []string) error {
	if len(r.images) > 0 {
		return r.runMatrix(cmd, args)
	}
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
	if err != nil && len(args) == 0 && r.file != "" {
		return cfg, fmt.Errorf("--scenario: %w", err)
	}
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

// An imageResult is how the scenario went on one image.
type imageResult struct {
	Image      string `json:"image"`
	Server     string `json:"server,omitempty"` // what the servers say they are
	Verdict    string `json:"verdict"`
	Headline   string `json:"headline,omitempty"` // of the verdict
	judged     checker.Verdict
	Exit       int      `json:"exit"`
	Violations []string `json:"violations"` // ids
	Dir        string   `json:"dir,omitempty"`
	Why        string   `json:"why,omitempty"` // it was not played, or is not what its name says
}

// runMatrix plays the scenario on each of the images, and prints how that went. It ends
// with the gravest of their verdicts.
func (r *runCommand) runMatrix(cmd *cobra.Command, args []string) error {
	configs, err := r.resolveImages(args)
	if err != nil {
		return err
	}
	each := output{json: r.json, quiet: true, metrics: r.metrics}
	var results []imageResult
	for i, cfg := range configs {
		fmt.Fprintf(cmd.ErrOrStderr(), "image %d of %d: %s\n", i+1, len(configs), cfg.Image)
		played, err := r.execute(cmd, cfg, each)
		if played != nil {
			annotate(cmd, played)
		}
		results = append(results, resultOn(cfg.Image, played, err))
		if cmd.Context().Err() != nil {
			break
		}
	}
	if err := r.printMatrix(cmd, results); err != nil {
		return harnessError{fmt.Errorf("print the table: %w", err)}
	}
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	w, _ := r.people(cmd)
	return verdict(w, gravest(results))
}

// resolveImages resolves the scenario for each image, all with one seed.
func (r *runCommand) resolveImages(args []string) (configs []config.Config, err error) {
	switch _, image := r.flags["redis-image"]; {
	case image:
		return nil, errors.New("--redis-image beside --image-matrix: name that image in the matrix, too, and leave --redis-image out")
	case r.print:
		return nil, errors.New("--print-config beside --image-matrix: give --redis-image IMAGE to see what one run is made of")
	}
	if _, err := r.resolve(args); err != nil {
		return nil, err
	}
	for _, image := range r.images {
		r.flags["redis-image"] = image
		cfg, err := r.resolve(args)
		if err != nil {
			return nil, fmt.Errorf("--image-matrix: %w", err)
		}
		r.flags["seed"] = fmt.Sprint(cfg.Seed)
		configs = append(configs, cfg)
	}
	return configs, nil
}

func resultOn(image string, r *reports.Run, err error) imageResult {
	res := imageResult{Image: image, Verdict: "NOT PLAYED", judged: checker.HarnessError, Exit: exitHarness, Violations: []string{}}
	if err != nil {
		res.Why = printable.HideUserinfo(err.Error())
		return res
	}
	shown := r.Printable()
	res.judged, res.Headline = r.Verdict(), shown.Headline()
	res.Server, res.Verdict, res.Exit, res.Dir = r.Meta.Testbed.Version, string(res.judged)+shown.Qualified(), res.judged.Exit(), r.Dir
	for _, f := range r.Report.Violations {
		if !slices.Contains(res.Violations, f.ID) {
			res.Violations = append(res.Violations, f.ID)
		}
	}
	if troubles := r.Troubles(); len(troubles) > 0 {
		res.Why = printable.HideUserinfo(troubles[0])
	} else if !named(image, res.Server) {
		res.Why = "another version under that name, such as a build of this machine's own"
	}
	return res
}

// named reports whether the image's tag fits what its servers say they are; a tag that
// is no version fits any. A digest says nothing of a version.
func named(image, server string) bool {
	image, _, _ = strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	tag, _, _ = strings.Cut(tag, "-")
	if !tagged || tag == "" || tag[0] < '0' || tag[0] > '9' {
		return true
	}
	product, version, _ := strings.Cut(server, " ")
	return strings.HasPrefix(version+".", tag+".") && (!strings.Contains(image, "valkey") || product == "valkey")
}

// gravest is the verdict for all images: the worst.
func gravest(results []imageResult) checker.Verdict {
	worst := checker.Pass
	for _, r := range results {
		worst = checker.Worse(worst, r.judged)
	}
	return worst
}

func (r *runCommand) printMatrix(cmd *cobra.Command, results []imageResult) error {
	if r.json {
		out := json.NewEncoder(cmd.OutOrStdout())
		out.SetIndent("", "  ")
		return out.Encode(results)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "image\tservers\tverdict\tfound\tresults")
	for _, res := range results {
		where := "–"
		if res.Dir != "" {
			where = filepath.Join(res.Dir, reports.ResultsFile)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", res.Image, cmp.Or(res.Server, "–"), res.Verdict, cmp.Or(strings.Join(res.Violations, " "), "–"), where)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, res := range results {
		if res.Headline != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "VERDICT %s  %s: %s\n", res.Verdict, res.Image, printable.Lines(res.Headline))
		}
		if res.Why != "" && !strings.Contains(res.Headline, res.Why) {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", res.Image, printable.Lines(res.Why))
		}
	}
	return nil
}
