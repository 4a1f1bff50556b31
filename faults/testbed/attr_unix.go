//go:build unix && !linux

package testbed

import "syscall"

// childAttr keeps the terminal's Ctrl-C from the child.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
