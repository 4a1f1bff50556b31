//go:build unix && !linux

package child

import "syscall"

// attributes put the child into a group of its own. When the harness dies the
// end of its input is what tells it to leave.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// strays are not looked for where the kernel does not tell what processes were given.
func strays(string) []stray { return nil }
