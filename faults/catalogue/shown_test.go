package catalogue

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"locktorture/faults/testbed"
)

// onServers are the faults that directed tests have injected and healed on real
// servers.
var onServers sync.Map

// markShown notes that a directed test has seen a fault to its end.
func (r *rig) markShown(fault string) {
	if slices.Contains([]string{testbed.KindProcess, testbed.KindSentinel, testbed.KindCluster}, r.Testbed.Name()) {
		onServers.Store(fault, true)
	}
}

// shown holds the catalogue to its directed tests: after a run of all tests,
// each fault has been shown on real servers.
type shown struct{ *testing.M }

func (m shown) Run() int {
	code := m.M.Run()
	if _, err := exec.LookPath("redis-server"); code != 0 || err != nil || partial() {
		return code
	}
	for _, name := range unseen(All()) {
		fmt.Fprintf(os.Stderr, "FAIL: no directed test shows fault %s on real servers: see rig.inject\n", name)
		code = 1
	}
	return code
}

// partial reports that not all tests were asked for.
func partial() bool {
	for name, all := range map[string]string{"test.run": "", "test.skip": "", "test.list": "", "test.count": "1"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != all {
			return true
		}
	}
	return false
}

// unseen names the faults of which no directed test has seen the end, apart
// from those that this machine cannot suffer.
func unseen(catalogue map[string]Entry) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		if _, seen := onServers.Load(name); seen || catalogue[name].Needs == testbed.AbilityClockJump && testbed.CanFakeClock() != nil {
			continue
		}
		names = append(names, name)
	}
	return names
}

// A fault that no test names is found.
func TestUnseen(t *testing.T) {
	const name = "never-tested"
	if got := unseen(map[string]Entry{name: {}}); !slices.Equal(got, []string{name}) {
		t.Errorf("unseen: %q", got)
	}
}
