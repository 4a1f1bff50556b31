package accept

import (
	"io"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// listener hands out what a test gives it.
type listener struct {
	accepted chan any // a net.Conn or an error; closed with the listener
}

func (l listener) Accept() (net.Conn, error) {
	switch one := (<-l.accepted).(type) {
	case net.Conn:
		return one, nil
	case error:
		return nil, one
	}
	return nil, net.ErrClosed
}

func (l listener) Close() error {
	close(l.accepted)
	return nil
}

func (listener) Addr() net.Addr { return &net.TCPAddr{} }

// Close ends every connection, and returns only when nobody serves one any more.
func TestCloseEndsWhatIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listener{make(chan any)}
		loop := New(l)
		var serving, far atomic.Int32
		loop.Serve(func(c net.Conn) func() {
			return func() {
				serving.Add(1)
				_, err := c.Read(make([]byte, 1))
				if err == nil {
					t.Error("a read got something from nobody")
				}
				time.Sleep(time.Minute) // what there is to tidy up
				serving.Add(-1)
			}
		})
		loop.Go(func() {
			<-loop.Context().Done()
			far.Add(1)
		})
		var clients []net.Conn
		for range 3 {
			near, client := net.Pipe()
			clients = append(clients, client)
			l.accepted <- near
		}
		synctest.Wait()
		if n := serving.Load(); n != 3 {
			t.Fatalf("%d connections are served, want 3", n)
		}
		if err := loop.Close(); err != nil {
			t.Error(err)
		}
		if serving.Load() != 0 || far.Load() != 1 {
			t.Errorf("after Close %d are served, and %d of 1 have ended", serving.Load(), far.Load())
		}
		for _, c := range clients {
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("a client is connected still: %v", err)
			}
		}
	})
}

// A process that has as many files open as it may goes on when it has fewer.
func TestARefusalOfTheSystemIsNotTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listener{make(chan any)}
		loop := New(l)
		served := make(chan struct{})
		loop.Serve(func(net.Conn) func() { return func() { close(served) } })
		l.accepted <- &net.OpError{Op: "accept", Err: syscall.EMFILE}
		near, client := net.Pipe()
		defer client.Close()
		l.accepted <- near
		<-served
		if err := loop.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Connections are admitted one after the other, in their order; who is not admitted is
// disconnected.
func TestConnectionsAreAdmittedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listener{make(chan any)}
		loop := New(l)
		var admitted []net.Conn // of the accepting goroutine alone
		loop.Serve(func(c net.Conn) func() {
			admitted = append(admitted, c)
			time.Sleep(time.Second)
			return nil
		})
		var all []net.Conn
		for range 5 {
			near, client := net.Pipe()
			all = append(all, near)
			l.accepted <- near
			if _, err := client.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("one who was not admitted: %v, want EOF", err)
			}
		}
		if err := loop.Close(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(admitted, all) {
			t.Errorf("admitted %v, want %v", admitted, all)
		}
	})
}
