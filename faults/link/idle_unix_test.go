//go:build unix

package link

import (
	"errors"
	"syscall"
	"testing"

	"locktorture/faults/link/gate"
)

func TestIdleConnectionShowsItsEnd(t *testing.T) {
	r := newRig(t, NewEmbedded())
	g := gate.New()
	defer g.Sever()
	near, err := g.Dial(testContext(t), r.link.Dial)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	ended := func() bool {
		raw, err := near.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		var peek error
		err = raw.Read(func(fd uintptr) bool {
			n, _, peek = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			return true
		})
		return err == nil && n <= 0 && !errors.Is(peek, syscall.EAGAIN)
	}
	if ended() {
		t.Error("ended before the cut")
	}
	r.impair(Impairment{Kind: Cut})
	await(t, "the end", ended)
}
