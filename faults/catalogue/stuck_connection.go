package catalogue

import (
	"fmt"

	"locktorture/faults"
	"locktorture/faults/link"
)

// stuckConnection holds requests on some connections of a link, and lets later
// connections pass.
type stuckConnection struct{ roadFault }

func (f stuckConnection) Supports(t *faults.Target) error {
	if t.Fabric != nil && link.OneAtATime(t.Fabric) {
		return fmt.Errorf("%s: the toxics of a toxiproxy server act on all connections of a link: use the testbeds process, container, embedded or external", f.name)
	}
	return needLinks(t)
}
