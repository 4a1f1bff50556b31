package server

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server that takes connections and never answers is at fault, and so said, whatever it
// was asked.
func TestAServerThatNeverAnswersIsAtFault(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, e := range []Endpoint{{Addr: l.Addr().String()}, {Addr: l.Addr().String(), Password: "x"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		conn, err := e.Dial(ctx)
		if err == nil {
			s := NewSession(ctx, conn)
			_, err = s.Do("INFO")
			s.Close()
		}
		cancel()
		if told := e.Explain(err); !errors.As(told, new(Error)) {
			t.Errorf("%v, and explained %v", err, told)
		}
	}
}

// What a caller has to give otherwise is said, and is no fault of the server's.
func TestWhatWouldBeRightIsSaid(t *testing.T) {
	for want, err := range map[string]error{
		"give a name that resolves": &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "redsi", IsNotFound: true}},
		"unixsocketperm":            &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)},
	} {
		if told := (Endpoint{}).Explain(err); !strings.Contains(told.Error(), want) || errors.As(told, new(Error)) {
			t.Errorf("%v: %v, want %s", err, told, want)
		}
	}
}
