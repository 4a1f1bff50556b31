package app

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/run"
	"locktorture/workload/history/printable"
)

// A selftestCommand is `torture selftest`: the gate for the harness itself.
type selftestCommand struct {
	*galleryCommand
	isBlind   bool
	blind     hunt.Blind
	isVirtual bool
	virtual   hunt.Virtual
	resume    string
	trend     string
	farm      farmFlags
}

func (t *tool) newSelftest() *cobra.Command {
	s := &selftestCommand{galleryCommand: &galleryCommand{tool: t, categories: []catalogue.Category{catalogue.Recipes, catalogue.Mutants}}}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "check that this harness catches every known flaw and accuses no correct lock",
		Long: "selftest plays every recipe and every mutant of the full lock under the faults that show its flaw, and the\n" +
			"same against the corrected lock, and says how many operations it took to catch each. It exits with 1 when\n" +
			"a flaw survives or a correct lock is accused.\n\n" +
			"With --blind it does not use the faults and loads that are known to show the flaws: every lock of every category gets the\n" +
			"plain run, then a hunt, until its stated flaw is found or its budget is spent; so do the corrected locks, of which nothing\n" +
			"may be found. A lock without fencing must show a flaw other than S3 and S3z, where one is stated. --jobs is then how many\n" +
			"locks are played at once. Ctrl-C keeps the rows that are done; --resume goes on with the others.\n\n" +
			"With --virtual the same is done in virtual time by the search of torture simulate, for every lock that can run there, in\n" +
			"about two minutes. A flaw counts as found when the corrected lock does not show it in the same round. --jobs is\n" +
			"how many processes play. The same --seed and --seeds give the same findings on any machine. It is no evidence about Redis itself.",
		Args: cobra.NoArgs,
		RunE: s.run,
	}
	s.addFlags(cmd)
	f := cmd.Flags()
	s.farm.add(f)
	f.BoolVar(&s.isBlind, "blind", false, "without the schedules that are known to show the flaws: plain run, then hunt")
	f.BoolVar(&s.isVirtual, "virtual", false, "without those schedules, in virtual time")
	f.DurationVar(&s.blind.Budget, "budget", 10*time.Minute, "with --blind: time for each lock, run and hunt together; with --virtual: for all flaws together, and again for all corrected locks (1m when not given)")
	f.DurationVar(&s.blind.Plain, "plain", time.Minute, "with --blind: length of the plain run")
	f.StringSliceVar(&s.blind.Only, "only", nil, "with --blind or --virtual: these locks alone, corrected ones too")
	f.IntVar(&s.virtual.Seeds, "seeds", 0, "with --virtual: rounds for each lock at most; 0: as many as --budget allows")
	f.BoolVar(&s.virtual.Random, "random", false, "with --virtual: look for each flaw again with rounds that are drawn at random alone, to compare")
	f.BoolVar(&s.virtual.Large, "large", false, "with --virtual: do not shrink what is found")
	f.BoolVar(&s.markdown, "markdown", false, "with --blind or --virtual: print the table as Markdown")
	f.StringVar(&s.resume, "resume", "", "with --blind: directory of an earlier one to go on with, or latest; rows that are done stay as they are")
	f.StringVar(&s.trend, "trend", "", "with --blind: file to which what was found is appended, a line each time")
	return cmd
}

// The flags that go with one way of selftest alone.
var (
	ofBlind   = []string{"plain", "resume", "trend", "farm", "nats", "nats-creds", "nats-ca", "nats-cert", "nats-key"}
	ofVirtual = []string{"seeds", "random", "large"}
	ofBoth    = []string{"budget", "only", "markdown"}
	ofGallery = []string{"lock", "fault", "html"}
)

func (s *selftestCommand) run(cmd *cobra.Command, _ []string) error {
	if s.isBlind && s.isVirtual {
		return errors.New("--blind and --virtual exclude each other: servers, or virtual time")
	}
	for _, x := range []struct {
		names  []string
		refuse bool
		why    string
	}{
		{ofGallery, s.isBlind || s.isVirtual, "does not go with --blind or --virtual (--only chooses locks)"},
		{ofBlind, !s.isBlind, "goes with --blind alone"},
		{ofVirtual, !s.isVirtual, "goes with --virtual alone"},
		{ofBoth, !s.isBlind && !s.isVirtual, "goes with --blind or --virtual alone"},
	} {
		if i := slices.IndexFunc(x.names, cmd.Flags().Changed); x.refuse && i >= 0 {
			return fmt.Errorf("--%s %s", x.names[i], x.why)
		}
	}
	switch {
	case s.isVirtual:
		return s.runVirtual(cmd)
	case s.isBlind:
		return s.runBlind(cmd)
	}
	return s.galleryCommand.run(cmd, s.printDetections)
}

func (s *selftestCommand) runBlind(cmd *cobra.Command) error {
	b := &s.blind
	isFarm, err := s.farm.on()
	if err != nil {
		return err
	}
	record, err := s.blindRecord(cmd)
	if err != nil {
		return err
	}
	switch {
	case b.Plain <= 0 || b.Budget <= b.Plain:
		return fmt.Errorf("--budget is %v and --plain %v: a plain run above 0, and a budget above that", b.Budget, b.Plain)
	case s.jobs < 1:
		return fmt.Errorf("--jobs is %d: at least 1", s.jobs)
	}
	b.Locks, b.Seed, b.Jobs, b.Play, b.Done = s.locks, s.seed, s.jobs, s.playWith, slices.Clone(record.Rows)
	if s.monitored {
		b.Scouts = 1
	}
	if _, err := b.Chosen(); err != nil {
		return err
	}
	for _, out := range []string{s.out, b.Out} {
		discard, err := run.PrepareOut(out)
		if err != nil {
			return startError(cmd.Context(), err)
		}
		defer discard()
	}
	say := lines(cmd.ErrOrStderr())
	if isFarm {
		if b.Farm, err = s.farm.open(cmd.Context(), b.Out, "blind selftest in "+b.Out, say); err != nil {
			return err
		}
	}
	rows, err := s.playBlind(cmd, record)
	if b.Farm != nil {
		leave(b.Farm, err == nil, say)
	}
	if err != nil {
		return harnessError{err}
	}
	if err := s.printBlind(cmd.OutOrStdout(), rows); err != nil {
		return harnessError{fmt.Errorf("print selftest: %w", err)}
	}
	switch {
	case cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case slices.ContainsFunc(rows, func(r hunt.BlindRow) bool { return !r.OK() }):
		return exitCode(1)
	}
	return nil
}

// blindRecord is a new record, or the one to go on with, whose settings are taken over.
func (s *selftestCommand) blindRecord(cmd *cobra.Command) (*hunt.BlindRecord, error) {
	b := &s.blind
	if s.resume == "" {
		b.Out = resultsDir(s.out, "blind", s.seed)
		return &hunt.BlindRecord{
			Schema: 1, Version: version, Commit: revision(), Began: time.Now(), Host: hostLine(), Budget: b.Budget, Plain: b.Plain, Seed: s.seed, Only: b.Only,
		}, nil
	}
	for _, name := range []string{"budget", "plain", "only", "seed"} {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s beside --resume %s: that selftest has its own; leave one of both out", name, s.resume)
		}
	}
	dir, err := resumed(s.resume, s.out, "blind selftest", hunt.BlindFile)
	if err != nil {
		return nil, err
	}
	r, err := hunt.LoadBlind(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", s.resume, err)
	}
	b.Out, b.Budget, b.Plain, b.Only, s.seed = dir, r.Budget, r.Plain, r.Only, r.Seed
	return r, nil
}

// playBlind plays the rows that are open, and writes down each that is done.
func (s *selftestCommand) playBlind(cmd *cobra.Command, record *hunt.BlindRecord) ([]hunt.BlindRow, error) {
	b := &s.blind
	began := time.Now()
	tell := func(text string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%5.0f s  %s\n", time.Since(began).Seconds(), printable.Line(text))
	}
	tell(fmt.Sprintf("dir %s, %d rows done", b.Out, len(b.Done)))
	var unsaved error
	b.Log = func(line string) { tell("  " + line) }
	b.Row = func(r hunt.BlindRow) {
		tell(fmt.Sprintf("%-24s %-9s %-4s after %.1f s, %d operations, %d rounds  %s", r.Lock, r.Outcome, r.ID, r.Took.Seconds(), r.Operations, r.Rounds, r.Why))
		record.Rows = append(record.Rows, r)
		unsaved = errors.Join(unsaved, record.Save(b.Out))
	}
	rows, err := b.Rows(cmd.Context())
	if err = errors.Join(err, unsaved); err != nil {
		return nil, err
	}
	record.Rows = rows
	if err := record.Save(b.Out); err != nil {
		return nil, err
	}
	if s.trend != "" && cmd.Context().Err() == nil {
		return rows, record.AppendTrend(s.trend)
	}
	return rows, nil
}

func (s *selftestCommand) printBlind(w io.Writer, rows []hunt.BlindRow) error {
	switch {
	case s.json:
		return printJSON(w, struct {
			hunt.BlindSums
			Rows []hunt.BlindRow `json:"rows"`
		}{hunt.SumBlind(rows), rows})
	case s.markdown:
		return hunt.BlindMarkdown(w, printable.Of(rows))
	}
	return hunt.BlindTable(w, printable.Of(rows))
}

func (g *galleryCommand) printDetections(w io.Writer, rows []gallery.Row) error {
	found := gallery.Detect(rows)
	if g.json {
		return printJSON(w, found)
	}
	return found.Print(w)
}
