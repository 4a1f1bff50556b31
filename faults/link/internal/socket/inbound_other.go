//go:build !unix

package socket

import "errors"

// CanCarry says why links have no ingresses here.
func CanCarry() error { return errors.ErrUnsupported }

// Idle reports whether nothing of the client's is on its way to the link.
func (c *Inbound) Idle() bool { return true }
