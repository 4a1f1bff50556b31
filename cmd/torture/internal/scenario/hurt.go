package scenario

import (
	"context"
	"errors"

	"locktorture/faults/link"
	"locktorture/lockimpl"
)

// hurt impairs all roads, or none, and returns the heal, which runs even when
// ctx has ended.
func hurt(ctx context.Context, roads []link.Link, i link.Impairment) (heal func() error, err error) {
	var wounds []link.Wound
	heal = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setUpTime)
		defer cancel()
		var errs []error
		for _, w := range wounds {
			_, err := w.Heal(ctx)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	for _, road := range roads {
		w, err := road.Impair(ctx, i)
		if err != nil {
			return nil, errors.Join(err, heal())
		}
		wounds = append(wounds, w)
	}
	return heal, nil
}

// closeClients waits for what the lock has under way, and closes its links;
// fabric is nil without links.
func closeClients(lockers []lockimpl.Locker, fabric link.Fabric) error {
	var errs []error
	for _, l := range lockers {
		errs = append(errs, l.Close())
	}
	if fabric != nil {
		errs = append(errs, fabric.Close())
	}
	return errors.Join(errs...)
}
