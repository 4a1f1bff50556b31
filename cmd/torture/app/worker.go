package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/nightly"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/faults/testbed"
)

// allowExec, in the environment of a process that plays, lets it play commands as locks.
const allowExec = "LOCKTORTURE_FARM_ALLOW_EXEC"

// servePlayer plays tasks for a worker and returns the exit code.
func (t *tool) servePlayer() int {
	exec := os.Getenv(allowExec) == "1"
	return farm.ServePlayer(map[string]farm.Player{
		hunt.ScenarioKind:  hunt.PlayScenario(t.locks, t.playWith, exec),
		simulate.RoundKind: simulate.PlayRound(t.locks),
		nightly.CellKind:   nightly.PlayCell(t.locks, t.playCell, exec),
	}, os.Stdin)
}

// A workerCommand is `torture worker`.
type workerCommand struct {
	*tool
	worker farm.Worker
	exec   bool
}

func (t *tool) newWorker() *cobra.Command {
	w := &workerCommand{tool: t}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "play rounds for a hunt, a simulation, a selftest or a night that runs elsewhere",
		Long: "worker joins the farm of a hunt, simulate, selftest --blind or nightly with --farm or --nats, on however many\n" +
			"machines, and plays what they lay out until it is stopped. It waits for a farm that is not there yet, and for one\n" +
			"that went away. It must be the same build as they are. Ctrl-C gives back what is being played; a worker that is\n" +
			"killed loses nothing either: another one has its rounds after 15 s.",
		Args: cobra.NoArgs,
		RunE: w.run,
	}
	f := cmd.Flags()
	f.StringVar(&w.worker.Access.URL, "join", "", "URL of the farm, such as nats://coordinator:4222")
	f.IntVar(&w.worker.Slots, "slots", 3*runtime.NumCPU(), "rounds at once; fewer while the machine is too busy to judge by time")
	f.StringVar(&w.worker.Name, "name", "", "name of this worker in the farm; host and process when empty")
	f.DurationVar(&w.worker.Idle, "idle", 0, "end when there was nothing to play for so long, e.g. 1m; 0: never")
	f.BoolVar(&w.exec, "allow-exec", false, "also play locks that are commands (exec:COMMAND): the coordinator chooses them")
	addAccess(f, &w.worker.Access)
	return cmd
}

func (w *workerCommand) run(cmd *cobra.Command, _ []string) (err error) {
	one := &w.worker
	switch {
	case one.Access.URL == "":
		return errors.New("--join is missing: the URL of a farm, such as nats://coordinator:4222")
	case one.Slots < 1:
		return fmt.Errorf("--slots is %d: at least 1", one.Slots)
	case one.Idle < 0:
		return fmt.Errorf("--idle is %v: 0 or more", one.Idle)
	case !w.monitored:
		return errors.New("worker starts this program again to play: it cannot be part of another one")
	}
	if one.Name == "" {
		one.Name = workerName()
	}
	if one.Abilities, err = workerAbilities(cmd.Context()); err != nil {
		return harnessError{err}
	}
	if err := one.Validate(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	dir, release, err := farm.Scratch()
	if err != nil {
		return harnessError{err}
	}
	defer release()
	one.Dir, one.Build, one.Gate, one.Say = dir, thisBuild(), hunt.NewGate(one.Slots), lines(cmd.OutOrStdout())
	if w.exec {
		one.Env = []string{allowExec + "=1"}
	}
	if err := one.Run(cmd.Context()); err != nil {
		return harnessError{err}
	}
	return nil
}

// workerName is the host and the process.
func workerName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "worker"
	}
	fit := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	return fmt.Sprintf("%s-%d", strings.Map(fit, host), os.Getpid())
}

// workerAbilities are the testbeds that this machine has, and virtual time.
func workerAbilities(ctx context.Context) ([]string, error) {
	all := []string{}
	for _, kind := range []string{testbed.KindProcess, testbed.KindContainer, testbed.KindEmbedded} {
		if _, _, err := testbed.Choose(ctx, testbed.Config{Kind: kind, Persist: true}); err == nil {
			all = append(all, kind)
		}
	}
	if simulate.SelfCheck() == nil {
		all = append(all, farm.Virtual)
	}
	if len(all) == 0 {
		return nil, errors.New("this machine can play nothing: it has no testbed, and no virtual time")
	}
	return all, ctx.Err()
}
