package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/nightly"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/workload/history/printable"
)

// A farmFlags are the flags that say which machines play for a verb.
type farmFlags struct {
	farm, nats string
	access     farm.Access
}

func (f *farmFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.farm, "farm", "", "listen at this address, such as nats://0.0.0.0:4222, and share the work among the workers that join there (see: torture worker)")
	flags.StringVar(&f.nats, "nats", "", "in place of --farm: URL of a NATS server with JetStream, which the workers join as well")
	addAccess(flags, &f.access)
}

// addAccess adds the flags for access to a NATS server.
func addAccess(flags *pflag.FlagSet, a *farm.Access) {
	flags.StringVar(&a.Credentials, "nats-creds", "", "file of credentials for NATS; a token or password stands in the URL, or a token in "+farm.TokenVariable)
	flags.StringVar(&a.CA, "nats-ca", "", "file of the authority that signed the other side's certificate (PEM)")
	flags.StringVar(&a.Cert, "nats-cert", "", "file of the certificate to present (PEM); for a farm at tls:// its server's")
	flags.StringVar(&a.Key, "nats-key", "", "file of the key of --nats-cert (PEM)")
}

// on reports whether a farm plays, and names the first flag that cannot work.
func (f *farmFlags) on() (bool, error) {
	name := "--farm"
	switch {
	case f.farm != "" && f.nats != "":
		return false, errors.New("--farm and --nats: the one offers a server of its own, the other uses one that is there; leave one of both out")
	case f.farm == "" && f.nats == "":
		if f.access != (farm.Access{}) {
			return false, errors.New("--nats-creds, --nats-ca, --nats-cert and --nats-key go with --farm or --nats alone")
		}
		return false, nil
	case f.nats != "":
		name = "--nats"
	}
	f.access.URL = f.farm + f.nats
	if err := f.access.Validate(); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if f.farm != "" && strings.HasPrefix(f.farm, "tls://") && f.access.Cert == "" {
		return false, fmt.Errorf("--farm %s needs --nats-cert and --nats-key", f.access)
	}
	return true, nil
}

// open makes dir, opens the farm for the job in it, and says so.
func (f *farmFlags) open(ctx context.Context, dir, about string, say func(string)) (*farm.Coordinator, error) {
	_, absent := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, harnessError{err}
	}
	if f.farm != "" && f.access.IsOpen() {
		say(fmt.Sprintf("whoever reaches %s can have commands run on all machines of the farm: nobody is asked for a token (%s, or nats://TOKEN@host:port)", f.access, farm.TokenVariable))
	}
	c, err := farm.Open(ctx, farm.Config{Access: f.access, Serve: f.farm != "", Dir: dir, Build: thisBuild(), About: about, Log: say})
	if err != nil {
		if absent != nil { // nothing began, and nothing is left
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return nil, harnessError{fmt.Errorf("farm: %w", err)}
	}
	say(fmt.Sprintf("farm at %s: workers join with torture worker --join URL", f.access))
	return c, nil
}

// leave ends the coordinator's part: with done nothing stays in the farm. What could not
// be removed from it takes no verdict away: it is told.
func leave(c *farm.Coordinator, done bool, say func(string)) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.Close(ctx, done); err != nil {
		say("leave the farm: " + err.Error())
	}
}

// lines returns how a verb tells people of its farm on w, one at a time.
func lines(w io.Writer) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "  %s\n", printable.Line(line))
	}
}

// thisBuild is this program.
func thisBuild() farm.Build {
	b := farm.Build{Version: version, Commit: revision(), Program: "unknown"}
	if build, ok := debug.ReadBuildInfo(); ok {
		b.Program = build.Path
	}
	return b
}

// farmDir is the directory of a job that may be gone on with: that of --resume, or a
// new one.
func farmDir(resume, out, what, file string, seed uint64) (string, error) {
	if resume == "" {
		return resultsDir(out, what, seed), nil
	}
	dir, err := resumed(resume, out, what, file)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		return "", fmt.Errorf("--resume %s: %s is none of torture %s: it has no %s", resume, dir, what, file)
	}
	return dir, nil
}

// forFarm chooses the testbed of each cell, which a worker must have.
func (n *nightlyCommand) forFarm(ctx context.Context, cells []nightly.Cell) error {
	for i := range cells {
		c := &cells[i].Config
		kind, _, err := testbed.Choose(ctx, testbed.Config{Kind: c.Testbed, Persist: true})
		if err != nil {
			return fmt.Errorf("choose servers: %w", err)
		}
		if !slices.Contains(huntBeds, kind) {
			return fmt.Errorf("testbed %s: workers of a farm start servers of their own: one of %s", kind, strings.Join(huntBeds, ", "))
		}
		c.Testbed = kind
	}
	return nil
}

// playOnFarm has the workers of a farm play the cells. lost is why the farm could play
// nothing more: the night can be gone on with then.
func (n *nightlyCommand) playOnFarm(cmd *cobra.Command, w io.Writer, cells []nightly.Cell, night *reports.Night) (lost, err error) {
	say := lines(cmd.ErrOrStderr())
	c, err := n.farm.open(cmd.Context(), n.dir, "nightly in "+n.dir, say)
	if err != nil {
		return nil, err
	}
	defer func() { leave(c, lost == nil && err == nil && cmd.Context().Err() == nil, say) }()
	if err := nightly.SavePlan(n.dir, thisBuild(), night, cells); err != nil {
		return nil, harnessError{err}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), max(0, n.night.Budget-n.elapsed())+time.Minute)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	done := make([]bool, len(cells))
	for i := range cells {
		all.Go(func() {
			one := &cells[i]
			err := nightly.PlayAfar(ctx, one, c, fmt.Sprintf("c%04d", i), filepath.Join(n.dir, reports.NightRuns))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if ctx.Err() == nil {
					lost = cmp.Or(lost, err)
					cancel()
				}
				return
			}
			done[i] = true
			n.printCell(w, i, len(cells), one)
		})
	}
	all.Wait()
	if lost == nil {
		n.sumFarm(cmd.Context(), cells, done, night)
	}
	return lost, nil
}

// sumFarm puts what was played into the night, in the order in which it was laid out.
func (n *nightlyCommand) sumFarm(ctx context.Context, cells []nightly.Cell, done []bool, night *reports.Night) {
	played := map[string]bool{}
	for i, c := range cells {
		name := c.Lock + " in " + c.Scenario
		if done[i] {
			played[name] = true
			night.Cells = append(night.Cells, c.NightCell)
			night.Testbed = c.Config.Testbed + ", on the workers of a farm"
			continue
		}
		why := cmp.Or(n.spent(ctx, n.night.Budget), "the time was up")
		night.LeftOut = append(night.LeftOut, fmt.Sprintf("%s, seed 0x%x: %s", name, c.Seed, why))
		if !played[name] {
			night.Missing = append(night.Missing, fmt.Sprintf("%s (%s) was not played: %s", name, c.Role, why))
			played[name] = true
		}
	}
	if ctx.Err() != nil {
		night.Missing = append(night.Missing, "the night was interrupted")
	}
}
