package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// A StartError is a failure of the harness before a run began: a server that does not start, a
// full disk. A wrong choice of the user is any other error.
type StartError struct{ err error }

func (e StartError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e StartError) Unwrap() error { return e.err }

// startError tells wrongly chosen servers from a failure of the harness.
func startError(c config.Config, err error) error {
	switch {
	case errors.As(err, new(server.Error)):
		return StartError{wiring.UnfitError{Err: err}}
	case c.Testbed == testbed.KindExternal:
		return wiring.UnfitError{Err: err}
	case errors.Is(err, testbed.ErrUnsupported):
		return fmt.Errorf("--testbed: %w", err)
	}
	return StartError{err}
}

// PrepareOut makes the folder for results, and checks that it can be written. The undo, to be
// called at the end, removes the folders that it made and that are still empty.
func PrepareOut(out string) (undo func(), err error) {
	if strings.ContainsAny(out, "\r\n") {
		return nil, outError(out, errors.New("a line break in its name would cut the lines in two that speak of it"))
	}
	var made []string // the innermost first
	for dir := filepath.Clean(out); !exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			_ = os.Remove(dir) // one that holds something stays
		}
	}
	if err := probe(out); err != nil {
		undo()
		return nil, outError(out, err)
	}
	return undo, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// probe makes a folder, and something in it.
func probe(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	inside, err := os.MkdirTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return os.Remove(inside)
}

// diskErrors are the errors of a disk that takes nothing more, or nothing of this size; a file
// system whose disk fails may turn read-only while it is in use.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EFBIG, syscall.ENODEV, syscall.ENXIO, syscall.ESTALE}

// diskFailed says whether err is the disk's fault.
func diskFailed(err error) bool {
	return slices.ContainsFunc(diskErrors, func(disk error) bool { return errors.Is(err, disk) })
}

// outError says of a folder that it was given wrongly: one that is not there, or may
// not be written. A disk that fails is trouble of our own.
func outError(out string, err error) error {
	if diskFailed(err) && !errors.Is(err, syscall.EROFS) {
		return StartError{err}
	}
	return fmt.Errorf("--out is %q: give a folder that can be written: %w", out, err)
}

// unbegun ends a run that failed at its start. A failure of the harness is recorded, judged and
// reported like a later one. Nothing stays of a run whose settings were wrong, whose given
// servers cannot be used, that the user cancelled, or that is one of very many.
func (s *session) unbegun(ctx context.Context, o Options, why error) (*reports.Run, error) {
	left := s.close()
	if s.file != nil {
		left = errors.Join(left, s.file.Close())
	}
	unfit := !errors.As(why, new(StartError)) || errors.As(why, new(wiring.UnfitError))
	if unfit || ctx.Err() != nil || o.Keep != nil {
		return nil, errors.Join(why, left, os.RemoveAll(s.dir))
	}
	s.remote = nil // whatever workers have recorded is of no operation
	s.meta.Testbed.Name = s.env.cfg.Testbed
	if s.env.bed != nil {
		s.meta.Testbed = s.env.describe(s.plan)
	}
	s.head(o)
	s.header.Floors = nil // nothing is demanded of what did not begin
	s.judge = checker.New(s.header, s.judging)
	sinks := []history.Sink{s.judge}
	file, unwritten := historyfile.Create(filepath.Join(s.dir, historyfile.Name), s.header)
	if unwritten == nil {
		sinks = append(sinks, file)
	}
	s.rec = history.NewRecorder(sinks...)
	for _, err := range []error{why, left, unwritten, reports.WriteMeta(s.dir, s.meta), reports.Link(s.dir)} {
		s.noteTrouble(err)
	}
	s.ended = true
	s.rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
	if unwritten == nil {
		s.noteTrouble(file.Close())
	}
	return s.report(ctx, nil)
}
