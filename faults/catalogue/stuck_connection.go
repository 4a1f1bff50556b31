package catalogue

import (
	"fmt"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var stuckConnectionEntry = Entry{
	Name:     "stuck-connection",
	Wire:     "Requests on the open connections, or on the next one where none is open, are held until the heal; others pass: one packet lost, and sent again late.",
	Survives: "A client that has given up and dialled anew is overtaken by what it sent before: its own late release must not free its next lease.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(1.25), On: watch.ReleaseSent,
	New: func(p faults.Params) faults.Fault {
		return stuckConnection{linkFault{Params: p, name: "stuck-connection", kind: link.StuckConnection}}
	},
}

// stuckConnection holds requests on some connections of a link, and lets later
// connections pass.
type stuckConnection struct{ linkFault }

func (f stuckConnection) Supports(t *faults.Target) error {
	if t.Fabric != nil && link.OneAtATime(t.Fabric) {
		return fmt.Errorf("%s: the toxics of a toxiproxy server act on all connections of a link: use the testbeds process, container, embedded or external", f.name)
	}
	return needLinks(t)
}
