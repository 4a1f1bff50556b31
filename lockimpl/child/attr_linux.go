package child

import (
	"slices"
	"syscall"

	"github.com/prometheus/procfs"
)

// attributes put the child into a group of its own and have the kernel kill it
// when the thread that forked it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// strays are the processes that have mark in their environment.
func strays(mark string) (all []stray) {
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil // without /proc nobody can tell
	}
	for _, p := range processes {
		environ, err := p.Environ()
		if err != nil || !slices.Contains(environ, mark) {
			continue // another user's, or gone
		}
		stat, err := p.Stat()
		if err == nil && stat.State != "Z" {
			all = append(all, stray{p.PID, stat.PGRP, stat.Comm})
		}
	}
	return all
}
