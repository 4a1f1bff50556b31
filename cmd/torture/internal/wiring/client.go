package wiring

import (
	"errors"

	"locktorture/faults/link/gate"
	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/store"
)

// Conn is a client's incarnation: its lock and its way to the guarded store, both over
// connections that gate let pass. It severs these when it is closed.
func Conn(locker lockimpl.Locker, guarded *store.Client, gate *gate.Gate) *workload.Conn {
	return &workload.Conn{
		Locker: locker,
		Store:  guarded,
		Sever:  func() { gate.Sever() },
		Close: func() error {
			defer gate.Sever()
			return errors.Join(locker.Close(), guarded.Close())
		},
	}
}
