// Package crash lets a second process finish what a crash of this one has left:
// a panic in a goroutine that a lock under test has started itself ends the
// program, and nobody in it can recover that. The second process is this program
// once more; it reads from a pipe what the Go runtime says when it dies
// (debug.SetCrashOutput).
package crash

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// ExitCode is that of a Go program which a panic has ended.
const ExitCode = 2

// variable, in the environment, makes this program the monitor.
const variable = "LOCKTORTURE_CRASH_MONITOR"

// Monitoring reports whether this process is to be the monitor, by Serve.
func Monitoring() bool { return os.Getenv(variable) != "" }

// A Monitor is the second process, as the first one sees it. A nil Monitor
// watches nothing.
type Monitor struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// Start starts the second process, with this one's standard output and error.
// The caller closes it.
func Start() (*Monitor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start crash monitor: %w", err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start crash monitor: %w", err)
	}
	m := &Monitor{pipe: out, cmd: &exec.Cmd{
		Path: self, Args: os.Args[:1], Env: append(os.Environ(), variable+"=1"), Stdin: in, Stdout: os.Stdout, Stderr: os.Stderr,
	}}
	err = m.cmd.Start()
	if err = errors.Join(err, in.Close()); err == nil {
		err = debug.SetCrashOutput(out, debug.CrashOptions{})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start crash monitor: %w", err), m.Close())
	}
	return m, nil
}

// The monitor reads these lines before anything that the runtime says.
const (
	begun = "run "
	keyed = "key " // what the run that has just begun needs and no file may hold, as hexadecimal digits
	ended = "end "
)

// A Run is one that was under way when its process died.
type Run struct {
	Dir     string
	Private string
}

// Watch has the second process finish the run in dir when this one dies before
// end is called. It gets what is private for that through a pipe.
func (m *Monitor) Watch(dir, private string) (end func() error, err error) {
	if m == nil {
		return func() error { return nil }, nil
	}
	if strings.Contains(dir, "\n") {
		return nil, fmt.Errorf("watch the run in %q: a folder's name with a line break is not supported", dir)
	}
	if _, err := fmt.Fprintf(m.pipe, "%s%s\n%s%x\n", begun, dir, keyed, private); err != nil {
		return nil, fmt.Errorf("watch the run in %s: %w", dir, err)
	}
	return func() error {
		_, err := fmt.Fprintf(m.pipe, "%s%s\n", ended, dir)
		return err
	}, nil
}

// Close ends the second process, and waits for it.
func (m *Monitor) Close() error {
	if m == nil {
		return nil
	}
	err := errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), m.pipe.Close())
	if m.cmd.Process != nil {
		err = errors.Join(err, m.cmd.Wait())
	}
	return err
}

// Serve is what the second process does: it waits for the end of the first one,
// which in is the pipe from, and returns what the runtime said of a crash, with
// the runs that were under way; an empty text when there was none.
func Serve(in io.Reader) (text string, runs []Run, err error) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // they are for the first one
	var said strings.Builder
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		switch dir, isBegin := strings.CutPrefix(line, begun); {
		case said.Len() > 0:
			said.WriteString(line)
		case isBegin:
			runs = append(runs, Run{Dir: strings.TrimSuffix(dir, "\n")})
		case strings.HasPrefix(line, keyed) && len(runs) > 0:
			private, err := hex.DecodeString(strings.TrimSpace(strings.TrimPrefix(line, keyed)))
			if err != nil {
				return said.String(), runs, fmt.Errorf("read what is private of the run in %s: %w", runs[len(runs)-1].Dir, err)
			}
			runs[len(runs)-1].Private = string(private)
		default:
			if dir, isEnd := strings.CutPrefix(line, ended); isEnd {
				runs = slices.DeleteFunc(runs, func(r Run) bool { return r.Dir == strings.TrimSuffix(dir, "\n") })
				break
			}
			said.WriteString(line)
		}
		if errors.Is(err, io.EOF) {
			return said.String(), runs, nil
		}
		if err != nil {
			return said.String(), runs, err
		}
	}
}
