package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// A process is a running child in a process group of its own.
type process struct {
	pid    int
	stdin  *os.File
	stdout *os.File
	gone   chan struct{}    // closed when the process has been reaped
	how    *os.ProcessState // valid once gone is closed
	wg     sync.WaitGroup

	mu      sync.Mutex
	stopped time.Time     // since when; zero when it runs
	frozen  time.Duration // for how long in all, the present stop apart
	ending  bool          // it has been told to leave, or killed
}

// launch starts the command. The kernel kills the child when the thread that
// forked it ends, so one thread forks it, waits for it, and does nothing else.
func launch(c Command) (*process, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, c.Log
	cmd.WaitDelay, cmd.SysProcAttr = time.Second, attributes()
	p := &process{stdin: stdin, stdout: stdout, gone: make(chan struct{})}
	started := make(chan error)
	p.wg.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		_, _ = childIn.Close(), childOut.Close()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // a process that was killed always "fails"
		p.how = cmd.ProcessState
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		close(p.gone)
	})
	if err := <-started; err != nil {
		p.wg.Wait()
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	return p, nil
}

// signal sends sig to the whole group.
func (p *process) signal(sig syscall.Signal) (time.Time, error) {
	select {
	case <-p.gone:
		return time.Time{}, ErrGone
	default:
	}
	at := time.Now()
	if err := syscall.Kill(-p.pid, sig); err != nil {
		return time.Time{}, fmt.Errorf("send %v to process group %d: %w", sig, p.pid, err)
	}
	return at, nil
}

// stopTimeout bounds the wait for a stop to take effect.
const stopTimeout = 5 * time.Second

// stop returns once the process is seen to be stopped.
func (p *process) stop() (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.signal(syscall.SIGSTOP)
	if err != nil {
		return at, err
	}
	if p.stopped.IsZero() {
		p.stopped = at
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := at.Add(stopTimeout); !p.halted(); {
		if time.Now().After(deadline) {
			return at, fmt.Errorf("process %d does not stop", p.pid)
		}
		select {
		case <-tick.C:
		case <-p.gone:
			return at, ErrGone
		}
	}
	return at, nil
}

// halted says whether the process is stopped, according to the kernel; where the kernel does
// not tell, a signal that was sent counts as obeyed.
func (p *process) halted() bool {
	found, err := procfs.NewProc(p.pid)
	if err != nil {
		return true
	}
	stat, err := found.Stat()
	return err != nil || stat.State == "T"
}

func (p *process) cont() (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.signal(syscall.SIGCONT)
	if err == nil && !p.stopped.IsZero() {
		p.frozen += time.Since(p.stopped)
		p.stopped = time.Time{}
	}
	return at, err
}

func (p *process) kill() (time.Time, error) {
	p.expectEnd()
	at, err := p.signal(syscall.SIGKILL)
	if err == nil {
		<-p.gone
	}
	return at, err
}

// standstill is for how long in all the process has been stopped, and whether it is stopped
// now.
func (p *process) standstill() (total time.Duration, at bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped.IsZero() {
		return p.frozen, false
	}
	return p.frozen + time.Since(p.stopped), true
}

// expectEnd notes that the harness is about to end the process.
func (p *process) expectEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = p.ending || !closedWithin(p.gone, 0)
}

// expected says whether the harness ends the process, or has ended it.
func (p *process) expected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending
}

// A DeathError says how a child ended that the harness had not ended.
type DeathError struct {
	Pid    int
	Status string // such as "signal: killed" or "exit status 1"
	Log    string // the end of what it wrote to its standard error
	Kill   bool   // by a signal with which others end a process, and not by its own fault
}

func (e *DeathError) Error() string {
	text := fmt.Sprintf("its process %d ended (%s) although nobody had told it to", e.Pid, e.Status)
	if e.Log != "" {
		text += "; its log ends: " + e.Log
	}
	return text
}

// died returns how the process ended, if the harness did not end it.
func (p *process) died() *DeathError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending || !closedWithin(p.gone, 0) {
		return nil
	}
	e := &DeathError{Pid: p.pid, Status: p.how.String()}
	if status, ok := p.how.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		switch status.Signal() {
		case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU, syscall.SIGXFSZ:
			e.Kill = true
		}
	}
	return e
}
