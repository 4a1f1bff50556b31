package child

import "syscall"

// attributes put the child into a group of its own and have the kernel kill it
// when the thread that forked it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
