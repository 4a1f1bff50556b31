package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Waits around a child's birth and death.
const (
	Poll      = 500 * time.Microsecond // between two looks at a starting server
	DeathWait = 5 * time.Second        // a killed child must be gone after this
)

// A Child is one server process. Its reaper runs until the process is gone.
type Child struct {
	Done  chan struct{} // closed when the process has been reaped
	Ended bool          // by who started it, and guards it
	cmd   *exec.Cmd
}

// Pid returns its process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Signal sends sig to it.
func (c *Child) Signal(sig os.Signal) error { return c.cmd.Process.Signal(sig) }

// How says how it ended, once it has been reaped.
func (c *Child) How() string { return c.cmd.ProcessState.String() }

// Gone reports whether it has been reaped.
func (c *Child) Gone() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// Kill ends the process, stopped or not, and waits until it has been reaped.
// It succeeds on one already gone.
func (c *Child) Kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill pid %d: %w", c.Pid(), err)
	}
	select {
	case <-c.Done:
		return nil
	case <-time.After(DeathWait):
		return fmt.Errorf("kill pid %d: still there after %s; mend by hand: kill -9 %d", c.Pid(), DeathWait, c.Pid())
	}
}

// A Spawner starts every child from one goroutine locked to its OS thread: on
// Linux a child dies with the thread that forked it, not with the process.
type Spawner struct {
	jobs chan func()
	done chan struct{}
}

// NewSpawner returns a Spawner, which Close ends.
func NewSpawner() *Spawner {
	s := &Spawner{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// Close ends the thread, and on Linux every child that is still there.
func (s *Spawner) Close() {
	close(s.jobs)
	<-s.done
}

// Start runs cmd with its output appended to the file at log.
func (s *Spawner) Start(cmd *exec.Cmd, log string) (*Child, error) {
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	started := make(chan error, 1)
	s.jobs <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, Done: make(chan struct{})}
	go func() {
		defer close(c.Done)
		_ = cmd.Wait() // a killed child always "fails"; the log says the rest
	}()
	return c, nil
}
