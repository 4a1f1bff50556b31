//go:build !linux

package socket

// DropsDials says that dials of other processes can be left unanswered here.
const DropsDials = false

// ListenPlainly calls listen.
func ListenPlainly(listen func() error) error { return listen() }

// DropDials does nothing here: a partitioned proxy accepts the dials of other
// processes, and then nothing passes. Those of this process wait all the same.
func DropDials(string) (answer func() error, err error) {
	return func() error { return nil }, nil
}
