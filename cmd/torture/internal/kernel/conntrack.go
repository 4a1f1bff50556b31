package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Proc is where the kernel tells of itself; elsewhere nothing is there to read.
const Proc = "/proc"

// A ConnTrack is the kernel's table of the connections that it tracks, as firewalls and
// containers have it do. What is sent on a connection for which the table has no place
// is dropped, on loopback too: whoever waits for it sees everything time out.
type ConnTrack struct {
	Count, Max int64 // connections, and how many there may be
	Dropped    int64 // packets that were dropped since the machine started
}

// ReadConnTrack reads the table's figures below proc. It is not found where nothing is
// tracked, or the kernel does not tell.
func ReadConnTrack(proc string) (c ConnTrack, found bool) {
	var counted, bounded bool
	c.Count, counted = number(filepath.Join(proc, "sys/net/netfilter/nf_conntrack_count"))
	c.Max, bounded = number(filepath.Join(proc, "sys/net/netfilter/nf_conntrack_max"))
	c.Dropped = dropped(filepath.Join(proc, "net/stat/nf_conntrack"))
	return c, counted && bounded && c.Max > 0
}

// Full says whether there is no place for another connection.
func (c ConnTrack) Full() bool { return c.Count >= c.Max }

// Remedy says what gives the table place.
func (c ConnTrack) Remedy() string {
	return fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d on the host, or end what opens so many connections", 4*c.Max)
}

// String implements fmt.Stringer.
func (c ConnTrack) String() string { return fmt.Sprintf("%d of at most %d", c.Count, c.Max) }

func number(path string) (n int64, found bool) {
	text, err := os.ReadFile(path)
	if err == nil {
		n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	return n, err == nil
}

// dropped adds up a column of the kernel's statistics: a line of names, and a line of
// hexadecimal numbers for each processor.
func dropped(path string) (n int64) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	names, rows, _ := strings.Cut(string(text), "\n")
	column := slices.Index(strings.Fields(names), "drop")
	for row := range strings.Lines(rows) {
		if fields := strings.Fields(row); column >= 0 && column < len(fields) {
			one, _ := strconv.ParseInt(fields[column], 16, 64)
			n += one
		}
	}
	return n
}

// A Tracking holds the table of connections against what it was when the run began.
type Tracking struct {
	proc  string
	began ConnTrack
}

// BeginTracking notes what the table below proc is like.
func BeginTracking(proc string) Tracking {
	began, _ := ReadConnTrack(proc)
	return Tracking{proc, began}
}

// Look says, as an error, what has become of the table since that harms who uses connections.
func (t Tracking) Look(context.Context) error {
	c, found := ReadConnTrack(t.proc)
	lost := c.Dropped - t.began.Dropped
	if !found || lost <= 0 && !c.Full() {
		return nil
	}
	return &UntrackedError{lost, c}
}

// An UntrackedError is that packets are lost for want of place in the table of
// connections: other trouble of the same run follows from it.
type UntrackedError struct {
	lost int64
	now  ConnTrack
}

// Error implements error.
func (e *UntrackedError) Error() string {
	what := "the kernel's table of tracked connections is full"
	if e.lost > 0 {
		what = fmt.Sprintf("the kernel dropped %d packets of connections that it could not track", e.lost)
	}
	return fmt.Sprintf("%s (nf_conntrack: %s): what is sent is lost, on loopback too, and times out; remedy: %s", what, e.now, e.now.Remedy())
}
