//go:build !unix

package proc

import "syscall"

// Attributes are of a child that nothing special is asked of.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
