package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"locktorture/faults/testbed/internal/proc"
)

// askWait bounds the wait for one answer of a server, as whoever sits on a taken
// port may never give one.
const askWait = 500 * time.Millisecond

// errExited means that the server ended before it was ready, as it does when
// its port is taken.
var errExited = errors.New("server exited")

// awaitReady polls until the server on n's port names n's own child as its
// process: on a taken port somebody else answers.
func (n *processNode) awaitReady(ctx context.Context) error {
	want := strconv.Itoa(n.child.Pid())
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
		case <-n.child.Done:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", last)
		case <-time.After(proc.Poll):
		}
	}
}

func (n *processNode) configPath() string { return filepath.Join(n.dir(), "redis.conf") }
func (n *processNode) logPath() string    { return filepath.Join(n.dir(), "redis.log") }

// prepareConfig writes the configuration that the node runs with, unless the
// server has done that itself since its last start.
func (n *processNode) prepareConfig() error {
	if n.elected && n.served {
		return nil
	}
	return n.writeConfig()
}

// writeConfig writes the configuration that the node runs with, so that it can
// be read, and run again by hand.
func (n *processNode) writeConfig() error {
	lines := append(n.config(n.name, n.dir(), n.port),
		"set-proc-title no", // a sweep recognises the process by this file's path
		fmt.Sprintf("dir %q", n.dataDir()),
		fmt.Sprintf("logfile %q", n.logPath()),
	)
	if !n.sentinel {
		lines = append(lines, n.dataSettings()...)
	}
	return os.WriteFile(n.configPath(), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// dataSettings are the lines of a configuration that say what a server keeps.
func (n *processNode) dataSettings() []string {
	lines := []string{`save ""`, "repl-diskless-sync-delay 0"}
	if n.persist {
		lines = append(lines, "appendonly yes", "appendfsync "+string(n.bed.cfg.Fsync), "aof-load-truncated yes")
		if n.bed.cfg.Fsync == FsyncSecond {
			lines = append(lines, "aof-timestamp-enabled yes") // where a power loss cuts
		}
	} else {
		lines = append(lines, "appendonly no")
	}
	return lines
}

func (n *processNode) command() *exec.Cmd {
	args := []string{n.configPath()}
	if n.sentinel {
		args = append(args, "--sentinel")
	}
	cmd := exec.Command(n.bed.cfg.Binary, args...)
	cmd.Dir = n.dir()
	cmd.SysProcAttr = proc.Attributes()
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
