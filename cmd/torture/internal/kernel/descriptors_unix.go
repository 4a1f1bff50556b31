//go:build unix

package kernel

import "syscall"

// Descriptors is how many files and connections this process may have open; 0
// when nobody says.
func Descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
