// Package terminal writes a run for people at a terminal and for logs: what
// is about to run, how it goes, and how it ended. Its last line is always
// "VERDICT name exit code".
package terminal
