//go:build unix && !linux

package child

import "syscall"

// attributes puts the child into a process group of its own. When the harness dies, the end of
// its input tells the child to leave.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// strays finds none: this kernel does not tell the environments of processes.
func strays(string) []stray { return nil }
