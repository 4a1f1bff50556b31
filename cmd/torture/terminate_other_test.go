//go:build !unix

package main

import "os"

var terminate = os.Interrupt
