package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/cmd/torture/internal/kernel"
	"locktorture/faults/testbed"
)

// A noBed has no servers.
type noBed struct{}

func (noBed) Name() string          { return "none" }
func (noBed) Version() string       { return "" }
func (noBed) Nodes() []testbed.Node { return nil }
func (noBed) Store() testbed.Node   { return nil }
func (noBed) Close() error          { return nil }

// tell writes what the kernel says of its table below proc: the drops of two processors.
func tell(t *testing.T, proc string, count, most, dropped int) {
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

// TestDroppedPacketsAreTheCause: the watchdog ends the run at the first packet that is
// dropped, and whatever else befell it follows from that.
func TestDroppedPacketsAreTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proc := t.TempDir()
		tell(t, proc, 5, 65536, 31)
		running, stop := context.WithCancelCause(t.Context())
		watching, end := context.WithCancel(t.Context())
		silent := errors.New("n1 has not answered for 20s")
		s := &session{ended: true}
		w := &watchdog{file: &hangingDisk{since: time.Now()}, net: kernel.BeginTracking(proc), note: func(mishap) {}, stop: stop, end: end, env: &environment{bed: noBed{}}, known: map[string]bool{}}
		for _, l := range w.looks() {
			w.running.Go(func() { w.repeat(watching, l) })
		}
		time.Sleep(time.Second + watchEvery/2) // between two looks: the files below are written one by one
		if running.Err() != nil {
			t.Fatalf("ended before: %v", context.Cause(running))
		}
		w.report("node n1", silent, time.Now())
		tell(t, proc, 65536, 65536, 33)
		time.Sleep(2 * watchEvery)
		s.mishaps = w.close()
		got := s.troubles()
		if len(got) != 2 || !strings.HasPrefix(got[0], "the kernel dropped 2 packets") || !slices.Contains(got, silent.Error()) {
			t.Errorf("troubles are %q", got)
		}
	})
}
