package catalogue

import (
	"fmt"

	"locktorture/faults"
)

// needLinks says whether t has links to impair.
func needLinks(t *faults.Target) error {
	if t.Link == nil {
		return fmt.Errorf("needs links between clients and nodes, which this run does without")
	}
	return nil
}

// needClients says whether t has clients to affect.
func needClients(t *faults.Target) error {
	if len(t.Clients) == 0 {
		return fmt.Errorf("needs clients that can be paused and crashed; none are given")
	}
	return nil
}

// needNodes says whether every node of t can do T, and who could.
func needNodes[T any](t *faults.Target, what, who string) error {
	for _, n := range t.Testbed.Nodes() {
		if _, ok := n.(T); !ok {
			return fmt.Errorf("%s testbed: %s cannot be %s; %s can", t.Testbed.Name(), n.Name(), what, who)
		}
	}
	return nil
}
