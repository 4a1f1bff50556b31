package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"locktorture/checker"
	"locktorture/workload"
)

// CrashFile, in a run directory, holds what the Go runtime said when a panic
// ended the whole harness: one in a goroutine that the lock under test started
// itself, which nobody can recover.
const CrashFile = "crash.txt"

// catchCrash has the runtime write there while the run lasts.
func catchCrash(dir string) (end func() error, err error) {
	path := filepath.Join(dir, CrashFile)
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := debug.SetCrashOutput(file, debug.CrashOptions{}); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path))
	}
	return func() error {
		return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), file.Close(), os.Remove(path))
	}, nil
}

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
		r.Crashed(oneLine(crash), crash.Lock)
	}
	return nil
}
