//go:build unix

package main_test

import "syscall"

const terminate = syscall.SIGTERM
