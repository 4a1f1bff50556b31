package proc

import "syscall"

// Attributes lets the kernel kill the child when the thread that forked it
// ends, and keeps the terminal's Ctrl-C from it.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
