//go:build !linux

package link

// dropsDials says that dials of other processes can be left unanswered here.
const dropsDials = false

// listenPlainly calls listen.
func listenPlainly(listen func() error) error { return listen() }

// dropDials does nothing here: a partitioned proxy accepts the dials of other
// processes, and then nothing passes. Those of this process wait all the same.
func dropDials(string) (answer func() error, err error) {
	return func() error { return nil }, nil
}
