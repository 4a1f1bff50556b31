//go:build unix && !linux

package child

import "syscall"

// attributes put the child into a group of its own. When the harness dies the
// end of its input is what tells it to leave.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
