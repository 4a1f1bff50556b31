package faults

import (
	"errors"

	"locktorture/faults/link"
)

// notify hurts the connections on which clients hear of releases, and no
// others.
type notify struct{ roadFault }

func newNotify(name string, kind link.Kind) func(Params) Fault {
	return func(p Params) Fault { return notify{roadFault{Params: p, name: name, kind: kind}} }
}

func (f notify) Supports(t *Target) error {
	if err := needLinks(t); err != nil {
		return err
	}
	if !t.Notifies {
		return errors.New("no client subscribes to releases: it needs a lock that does, and a load that waits")
	}
	return nil
}
