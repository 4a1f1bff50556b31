package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// DropsDials says that dials of other processes can be left unanswered here.
const DropsDials = true

// dropAll is a socket filter that keeps zero bytes of every packet.
var dropAll = []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}

// DropDials makes the listener at addr, which must be this process's own, drop
// every packet that is for itself: a SYN is never answered, so that a dial
// neither succeeds nor is refused. Connections that it has accepted have
// sockets of their own and notice nothing. answer ends it.
func DropDials(addr string) (answer func() error, err error) {
	fd, err := listeners.find(addr)
	if err != nil {
		return nil, err
	}
	filter := unix.SockFprog{Len: uint16(len(dropAll)), Filter: &dropAll[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &filter); err != nil {
		return nil, fmt.Errorf("drop dials to %s: %w", addr, err)
	}
	return func() error {
		if !listensAt(fd, addr) { // it was closed, and its filter with it
			return nil
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); err != nil {
			return fmt.Errorf("answer dials to %s: %w", addr, err)
		}
		return nil
	}, nil
}

// multipathOff is the setting of GODEBUG under which net.Listen opens plain TCP
// sockets: those of Multipath TCP, its default, bear no filter.
const multipathOff = "multipathtcp=0"

// environment is held while GODEBUG has multipathOff.
var environment sync.Mutex

// ListenPlainly calls listen such that its sockets can bear a filter. The
// setting is the process's, and there for as long as listen runs: toxiproxy
// listens by net.Listen, which can be told in no other way.
func ListenPlainly(listen func() error) error {
	environment.Lock()
	defer environment.Unlock()
	before, had := os.LookupEnv("GODEBUG")
	settings := multipathOff
	if before != "" {
		settings = before + "," + multipathOff
	}
	if err := os.Setenv("GODEBUG", settings); err != nil {
		return err
	}
	err := listen()
	if had {
		return errors.Join(err, os.Setenv("GODEBUG", before))
	}
	return errors.Join(err, os.Unsetenv("GODEBUG"))
}

// listeners finds the sockets on which this process listens: toxiproxy does not
// give its own away.
var listeners listenerIndex

// A listenerIndex remembers the descriptors of listening sockets by their
// addresses. What it remembers is checked before use.
type listenerIndex struct {
	mu sync.Mutex
	at map[string]int
}

func (x *listenerIndex) find(addr string) (fd int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if fd, known := x.at[addr]; known && listensAt(fd, addr) {
		return fd, nil
	}
	if x.at, err = listening(); err != nil {
		return 0, err
	}
	fd, known := x.at[addr]
	if !known {
		return 0, fmt.Errorf("this process does not listen at %s", addr)
	}
	return fd, nil
}

// listening lists the addresses at which this process listens.
func listening() (map[string]int, error) {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if addr := listenAddr(fd); addr != "" {
			at[addr] = fd
		}
	}
	return at, nil
}

func listensAt(fd int, addr string) bool { return listenAddr(fd) == addr }

// listenAddr returns the address at which the socket fd listens, or nothing.
func listenAddr(fd int) string {
	if on, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || on == 0 {
		return ""
	}
	name, err := unix.Getsockname(fd)
	at, ok := name.(*unix.SockaddrInet4)
	if err != nil || !ok {
		return ""
	}
	return net.JoinHostPort(net.IP(at.Addr[:]).String(), strconv.Itoa(at.Port))
}
