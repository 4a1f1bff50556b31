package catalogue

import (
	"slices"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
)

// TestPartitionsOfFewNodes: a partition may name fewer nodes than a quorum. Whom it
// keeps from whom then is still one of those nodes, each once.
func TestPartitionsOfFewNodes(t *testing.T) {
	for name, unseen := range map[string]func(i, clients, n, q int) []int{"split-vote": splitVote, "halves": halves, "ring": ring} {
		for n := 1; n <= 5; n++ {
			for i := range 6 {
				got := unseen(i, 6, n, 3)
				sorted := slices.Compact(slices.Sorted(slices.Values(got)))
				if len(sorted) != len(got) || len(got) > 0 && (sorted[0] < 0 || sorted[len(sorted)-1] >= n) {
					t.Errorf("%s: client %d of %d nodes does not see %v", name, i, n, got)
				}
			}
		}
	}
}

// TestSlowCloseOfADeadNode: a node that another step has down closes nothing, and
// that is no trouble of the harness.
func TestSlowCloseOfADeadNode(t *testing.T) {
	r := processRig(t, 3, 1)
	at := func(d time.Duration) faults.Trigger { return faults.Trigger{After: d} }
	of := func(name string) faults.Fault {
		return All()[name].New(faults.Params{Node: "n1", Client: faults.RoleAll})
	}
	res, err := faults.Run(t.Context(), faults.Schedule{
		{When: at(time.Millisecond), For: 3 * second, Fault: of("kill")},
		{When: at(1500 * time.Millisecond), For: second, Fault: of("slow-close")},
	}, r.Target, r.Rec, faulttest.Seeded(1))
	if err != nil || len(res.Steps) != 2 || res.Steps[1].TookEffect || res.Steps[1].Err == "" {
		t.Errorf("%+v, %v", res, err)
	}
}
