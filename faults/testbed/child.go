package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Waits around a child's birth and death.
const (
	readyPoll = 500 * time.Microsecond // between two looks at a starting server
	askWait   = 500 * time.Millisecond // for one answer, as whoever sits on a taken port may never give one
	deathWait = 5 * time.Second        // a killed child must be gone after this
)

// errExited means that the server ended before it was ready, as it does when
// its port is taken.
var errExited = errors.New("server exited")

// A child is one server process. Its reaper runs until the process is gone.
type child struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when the process has been reaped
	ended bool          // by its node, which guards it by its mutex
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// kill ends the process, stopped or not, and waits until it has been reaped.
// It succeeds on one already gone.
func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill pid %d: %w", c.pid(), err)
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(deathWait):
		return fmt.Errorf("kill pid %d: still there after %s; mend by hand: kill -9 %d", c.pid(), deathWait, c.pid())
	}
}

// A spawner starts every child from one goroutine locked to its OS thread: on
// Linux a child dies with the thread that forked it, not with the process.
type spawner struct {
	jobs chan func()
	done chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// close ends the thread, and on Linux every child that is still there.
func (s *spawner) close() {
	close(s.jobs)
	<-s.done
}

// start runs cmd with its output appended to the file at log.
func (s *spawner) start(cmd *exec.Cmd, log string) (*child, error) {
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
	c := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = cmd.Wait() // a killed child always "fails"; the log says the rest
	}()
	return c, nil
}

// awaitReady polls until the server on n's port names n's own child as its
// process: on a taken port somebody else answers.
func (n *processNode) awaitReady(ctx context.Context) error {
	want := strconv.Itoa(n.child.pid())
	var last error
	for {
		ask, cancel := context.WithTimeout(ctx, askWait)
		f, err := info(ask, n)
		cancel()
		switch {
		case err != nil:
			last = err
		case f["process_id"] != want:
			last = fmt.Errorf("process %s answers in place of %s", f["process_id"], want)
		case f["loading"] == "1":
			last = errors.New("still loading its data")
		default:
			return nil
		}
		select {
		case <-n.child.done:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", last)
		case <-time.After(readyPoll):
		}
	}
}

func (n *processNode) configPath() string { return filepath.Join(n.dir(), "redis.conf") }
func (n *processNode) logPath() string    { return filepath.Join(n.dir(), "redis.log") }

// writeConfig writes the configuration that the node runs with, so that it can
// be read, and run again by hand.
func (n *processNode) writeConfig() error {
	lines := []string{
		"# " + n.name + " of a locktorture run",
		"bind 127.0.0.1",
		fmt.Sprintf("port %d", n.port),
		"daemonize no",
		"set-proc-title no", // a sweep recognises the process by this file's path
		fmt.Sprintf("dir %q", n.dataDir()),
		fmt.Sprintf("logfile %q", n.logPath()),
		`save ""`,
		"repl-diskless-sync-delay 0",
	}
	if n.persist {
		lines = append(lines, "appendonly yes", "appendfsync "+string(n.bed.cfg.Fsync), "aof-load-truncated yes")
		if n.bed.cfg.Fsync == FsyncSecond {
			lines = append(lines, "aof-timestamp-enabled yes") // where a power loss cuts
		}
	} else {
		lines = append(lines, "appendonly no")
	}
	return os.WriteFile(n.configPath(), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

func (n *processNode) command() *exec.Cmd {
	cmd := exec.Command(n.bed.cfg.Binary, n.configPath())
	cmd.Dir = n.dir()
	cmd.SysProcAttr = childAttr()
	if n.clock != nil {
		cmd.Env = append(os.Environ(), n.clock.env(n.clockFile)...)
	}
	return cmd
}

// lastLine returns the end of a server's log for an error message.
func lastLine(path string) string {
	b, err := os.ReadFile(path)
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return ""
	}
	return "; its log ends: " + text[strings.LastIndexByte(text, '\n')+1:]
}
