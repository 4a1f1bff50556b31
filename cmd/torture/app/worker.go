package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locktorture/cmd/torture/internal/distributed"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/nightly"
	"locktorture/cmd/torture/internal/run"
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
	dir    string // for journals of runs
}

func (t *tool) newWorker() *cobra.Command {
	w := &workerCommand{tool: t}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "run clients of a run, or rounds of a hunt, simulate, selftest or nightly, for a torture on another machine",
		Long: "worker joins the farm of a hunt, simulate, selftest --blind or nightly with --farm or --nats, on however many\n" +
			"machines, and plays the rounds that they queue until it is stopped. It waits for a farm that is not there yet, and for one\n" +
			"that went away. It must be the same build as they are. Ctrl-C returns the rounds under way to the queue; those of a\n" +
			"worker that is killed are given to another one after 15 s.\n\n" +
			"It also runs some of the clients of a torture run --workers, and plays nothing else meanwhile. What these clients record\n" +
			"is kept in --dir until the run has received it: a worker that was killed, and is started again with the same --name and\n" +
			"--dir before the run is judged, sends the rest.",
		Args: cobra.NoArgs,
		RunE: w.run,
	}
	f := cmd.Flags()
	f.StringVar(&w.worker.Access.URL, "join", "", "URL of the farm, such as nats://coordinator:4222 (or "+distributed.JoinVariable+")")
	f.IntVar(&w.worker.Slots, "slots", 3*runtime.NumCPU(), "rounds at once; fewer while the machine is too busy to judge by time; 0: none, clients of runs alone")
	f.StringVar(&w.dir, "dir", "", "folder for what the clients of runs see; by default one for the worker's name, among the temporary files")
	f.StringVar(&w.worker.Name, "name", "", "name of this worker in the farm; host and process when empty")
	f.DurationVar(&w.worker.Idle, "idle", 0, "end after this long without anything to play, e.g. 1m; 0: never")
	f.BoolVar(&w.exec, "allow-exec", false, "also play locks that are commands (exec:COMMAND): the coordinator chooses them")
	addAccess(f, &w.worker.Access)
	return cmd
}

func (w *workerCommand) run(cmd *cobra.Command, _ []string) (err error) {
	one := &w.worker
	if one.Access.URL == "" {
		one.Access.URL = os.Getenv(distributed.JoinVariable)
	}
	switch {
	case one.Slots < 0:
		return fmt.Errorf("--slots is %d: 1 or more, or 0 for clients of runs alone", one.Slots)
	case one.Idle < 0:
		return fmt.Errorf("--idle is %v: 0 or more", one.Idle)
	case one.Access.URL == "":
		return errors.New("--join is missing: the URL of a farm, such as nats://coordinator:4222")
	}
	if one.Name == "" {
		one.Name = workerName()
	}
	if !farm.Named(one.Name) {
		return fmt.Errorf("--name is %q: letters, digits, - and _", one.Name)
	}
	if err := one.Access.Validate(); err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	if !w.monitored {
		return errors.New("worker starts this program again to play: it cannot be part of another one")
	}
	if one.Slots > 0 {
		if one.Abilities, err = workerAbilities(cmd.Context()); err != nil {
			return harnessError{err}
		}
	}
	if err := one.Validate(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	dir, release, err := farm.Scratch()
	if err != nil {
		return harnessError{err}
	}
	defer release()
	one.Dir, one.Build, one.Gate, one.Log = dir, thisBuild(), hunt.NewGate(one.Slots), lines(cmd.OutOrStdout())
	if w.exec {
		one.Env = []string{allowExec + "=1"}
	}
	if w.dir == "" {
		w.dir = filepath.Join(os.TempDir(), "torture-worker-"+one.Name)
	}
	one.Beside = w.host
	err = one.Run(cmd.Context())
	if err == nil || errors.Is(err, distributed.ErrTaken) {
		return err
	}
	return harnessError{err}
}

// host runs clients of runs, beside the rounds of farms.
func (w *workerCommand) host(ctx context.Context, conn *nats.Conn, alone sync.Locker) error {
	one := &distributed.Worker{
		Conn: conn, Name: w.worker.Name, Build: thisBuild(), Dir: w.dir, Log: w.worker.Log, Alone: alone, Open: run.Host(w.locks),
	}
	return one.Run(ctx)
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

// workerFlags say who has the clients of a run.
type workerFlags struct {
	count, spawn int
	farm         farmFlags
}

func (f *workerFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.count, "workers", 0, "run the clients on this many workers, and wait until they have joined: torture worker --join URL, with the URL of --farm or --nats")
	flags.IntVar(&f.spawn, "spawn-workers", 0, "run the clients in this many worker processes, which this command starts on this machine")
	f.farm.add(flags)
}

// open returns who has the clients; nil: this process.
func (f *workerFlags) open(t *tool, w io.Writer) (*run.Workers, error) {
	on, err := f.farm.on()
	switch {
	case err != nil:
		return nil, err
	case f.count < 0 || f.spawn < 0:
		return nil, errors.New("--workers and --spawn-workers: 1 or more")
	case f.count > 0 && f.spawn > 0:
		return nil, errors.New("--workers waits for processes that others start, --spawn-workers starts them: leave one of both out")
	case f.count+f.spawn == 0 && on:
		return nil, errors.New("--farm and --nats: of a run, they go with --workers or --spawn-workers")
	case f.count+f.spawn == 0:
		return nil, nil
	case f.count > 0 && !on:
		return nil, errors.New("--workers needs --farm (a server of NATS of this process's own, such as nats://0.0.0.0:4222) or --nats (one that is there)")
	case f.spawn > 0 && !t.monitored:
		return nil, errors.New("--spawn-workers starts this program again: it cannot be part of another one")
	}
	s := &distributed.Session{Access: f.farm.access, Serve: f.farm.nats == "", Spawn: f.spawn, Build: thisBuild(), Log: lines(w)}
	return &run.Workers{Count: f.count + f.spawn, Open: s.Open, Leave: s.Leave}, nil
}
