package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/crash"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/workload"
	"locktorture/workload/history"
)

// CrashFile, in a run directory, holds what the Go runtime said when a panic
// ended the whole harness: one in a goroutine that the lock under test started
// itself, which nobody can recover.
const CrashFile = "crash.txt"

// AddCrash adds to the report of the history in dir how its run ended, if a
// crash ended it.
func AddCrash(dir string, r *checker.Report) error {
	text, err := os.ReadFile(filepath.Join(dir, CrashFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if crash, ok := workload.ReadCrash(string(text)); ok {
		r.Crashed(history.OneLine(crash.Error()), crash.Lock)
	}
	return nil
}

// AfterCrash keeps in the directory of a run whose process a crash has ended what the runtime
// said of it, and clears away what the run has left.
func AfterCrash(ctx context.Context, of crash.Run, said string) error {
	kept := os.WriteFile(filepath.Join(of.Dir, CrashFile), []byte(said), 0o600)
	return errors.Join(kept, ClearAway(ctx, of)) // a full disk keeps no server alive
}

// ClearAway ends and removes what a run has left whose process is gone: servers, containers,
// proxies, and its keys on servers that live on. What it could not remove is an error; the
// directory can be judged all the same.
func ClearAway(ctx context.Context, of crash.Run) error {
	_, err := testbed.Sweep(ctx, filepath.Join(of.Dir, NodesDir))
	return errors.Join(err, clearElsewhere(ctx, of))
}

// clearElsewhere clears away what the directory of a run says is not in it.
func clearElsewhere(ctx context.Context, of crash.Run) error {
	dir := of.Dir
	meta, err := reports.ReadMeta(dir)
	if err != nil {
		return err
	}
	var cfg config.Config
	if err := json.Unmarshal(meta.Config, &cfg); err != nil {
		return fmt.Errorf("%s: read the configuration: %w", dir, err)
	}
	if err := cfg.SetSecrets(of.Private); err != nil {
		return fmt.Errorf("%s: read the passwords of its servers: %w", dir, err)
	}
	switch {
	case cfg.Testbed == testbed.KindContainer, cfg.Image != "":
		_, err = testbed.SweepContainers(ctx)
	case cfg.Testbed == testbed.KindCompose:
		_, err = link.Sweep(ctx, remote(cfg.Proxy))
	case cfg.Testbed == testbed.KindExternal:
		err = cleanGiven(ctx, cfg)
	}
	return err
}
