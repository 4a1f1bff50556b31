// Package kerneltest plays the kernel for tests.
package kerneltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// WriteCounters writes the files below proc in which a kernel describes its table of tracked
// connections: how many there are, how many there may be, and the packets that two processors
// have dropped.
func WriteCounters(t *testing.T, proc string, count, most, dropped int) {
	t.Helper()
	for name, text := range map[string]string{
		"sys/net/netfilter/nf_conntrack_count": fmt.Sprintln(count),
		"sys/net/netfilter/nf_conntrack_max":   fmt.Sprintln(most),
		"net/stat/nf_conntrack": fmt.Sprintf("entries  clashres found new invalid ignore delete insert insert_failed drop early_drop icmp_error\n"+
			"%08x  0 1f 0 4 0 0 0 3 %08x 7 0\n%08x  0 2f 0 4 0 0 0 3 %08x 7 0\n", count, dropped/2, count, dropped-dropped/2),
	} {
		path := filepath.Join(proc, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
