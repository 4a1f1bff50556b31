//go:build !unix

package testbed

import "syscall"

func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
