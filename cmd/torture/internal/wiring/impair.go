package wiring

import (
	"context"
	"errors"
	"time"

	"locktorture/faults/link"
)

// healLimit bounds the heal of what Impair did.
const healLimit = 20 * time.Second

// Impair impairs all links, or none, and returns the heal, which runs even when
// ctx has ended.
func Impair(ctx context.Context, links []link.Link, i link.Impairment) (heal func() error, err error) {
	var applied []link.Applied
	heal = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
		defer cancel()
		var errs []error
		for _, a := range applied {
			_, err := a.Heal(ctx)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	for _, l := range links {
		a, err := l.Impair(ctx, i)
		if err != nil {
			return nil, errors.Join(err, heal())
		}
		applied = append(applied, a)
	}
	return heal, nil
}
