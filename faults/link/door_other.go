//go:build !unix

package link

import "errors"

// canVisit says why links have no doors here.
func canVisit() error { return errors.ErrUnsupported }

func (v *visit) read(p []byte) (int, error) { return v.near.Read(p) }

func (v *visit) idle() bool { return true }
