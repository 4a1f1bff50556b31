//go:build !unix

package main_test

import "os"

var terminate = os.Interrupt
