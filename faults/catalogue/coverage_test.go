package catalogue_test

import (
	"testing"

	"locktorture/faults/catalogue"
	"locktorture/workload/history/coverage"
)

// Every fault has its place in the table of what a run has covered.
func TestEveryFaultHasItsClass(t *testing.T) {
	for name := range catalogue.All() {
		if !coverage.Known(name) {
			t.Errorf("fault %s has no class: a line of kinds in workload/history/coverage/class.go, none where it fits no class", name)
		}
	}
}
