package testbed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"locktorture/faults/testbed/internal/proc"
)

// pidFile, in a testbed's folder, has one line per server ever started there:
// its process id and the path of its configuration.
const pidFile = "pids"

// pidFileMu orders the writers of one process; a line is one write.
var pidFileMu sync.Mutex

func appendPid(dir string, pid int, conf string) error {
	pidFileMu.Lock()
	defer pidFileMu.Unlock()
	f, err := os.OpenFile(filepath.Join(dir, pidFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %s\n", pid, conf)
	return errors.Join(err, f.Close())
}

// ownerFile, in a testbed's folder, says which process started it: see owner.
const ownerFile = "owner"

func writeOwner(ctx context.Context, dir string) error {
	return os.WriteFile(filepath.Join(dir, ownerFile), []byte(owner(ctx, os.Getpid())), 0o644)
}

// alive reports whether the harness that started the testbed in dir lives, here
// or on another machine.
func alive(ctx context.Context, dir string) bool {
	who, err := os.ReadFile(filepath.Join(dir, ownerFile))
	return err == nil && !orphaned(ctx, string(who))
}

// Sweep ends what a killed harness left behind of the testbed in dir: servers,
// where the kernel does not end them with their parent, and their shared
// memory. It touches only processes that still run with a configuration out of
// dir, and reports what it did. A folder without a testbed is no error, and
// one whose harness is alive is left alone.
func Sweep(ctx context.Context, dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, pidFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", dir, err)
	}
	defer func() { _ = f.Close() }()
	if alive(ctx, dir) {
		return nil, nil
	}
	var did []string
	var errs []error
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		what, err := sweepLine(ctx, lines.Text())
		if what != "" {
			did = append(did, what)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, lines.Err())...); err != nil {
		return did, fmt.Errorf("sweep %s: %w", dir, err)
	}
	return did, nil
}

func sweepLine(ctx context.Context, line string) (did string, err error) {
	first, conf, ok := strings.Cut(line, " ")
	pid, err := strconv.Atoi(first)
	if !ok || err != nil || conf == "" {
		return "", nil // a line cut short by the kill that made the sweep necessary
	}
	args, exists := proc.Args(ctx, pid)
	ours := exists && strings.Contains(args, conf)
	if ours {
		p, err := os.FindProcess(pid)
		if err != nil {
			return "", err
		}
		if err := p.Kill(); err != nil {
			return "", fmt.Errorf("kill pid %d: %w", pid, err)
		}
		did = fmt.Sprintf("killed pid %d (%s)", pid, conf)
	}
	if ours || !exists {
		err = removeShared(pid)
	}
	return did, err
}
