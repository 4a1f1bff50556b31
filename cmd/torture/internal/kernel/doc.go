// Package kernel reads what the machine's kernel allows a process that opens very many
// connections: how many files it may have open, and how many connections are tracked.
package kernel
