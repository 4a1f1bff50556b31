package catalogue

import (
	"errors"

	"locktorture/faults"
	"locktorture/faults/link"
)

// notify impairs only the connections over which clients are notified of releases.
type notify struct{ linkFault }

func newNotify(name string, kind link.Kind) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return notify{linkFault{Params: p, name: name, kind: kind}} }
}

func (f notify) Supports(t *faults.Target) error {
	if err := needLinks(t); err != nil {
		return err
	}
	if !t.Notifies {
		return errors.New("no client subscribes to releases: it needs a lock that does, and a load that waits")
	}
	return nil
}
