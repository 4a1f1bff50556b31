package link

import (
	"net"
	"runtime"
	"strconv"
	"testing"
	"time"

	"locktorture/faults/internal/ports"
)

// The port of a proxy that is about to start again is nobody else's, although
// nothing listens there and nothing holds it.
func TestStoppedPortIsNotTakenByAnotherProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ports are reserved on Linux alone")
	}
	mine, other := newFabric(embeddedBackend(t)), newFabric(embeddedBackend(t))
	r := openEmbedded(t, mine)
	p := r.port.(*embeddedPort)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if err := p.letGo(); err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(r.addr)
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	other.backend.(*embedded).picker = ports.Links.From(number)
	if thief := openEmbedded(t, other); thief.addr == r.addr {
		t.Errorf("another fabric listens on %s", r.addr)
	}
	if err := p.enable(t.Context(), true); err != nil {
		t.Error(err)
	}
}

// A proxy starts although a process that is being started has a copy of the
// socket that held its port, for the moment until it runs its program.
func TestStartAwaitsCopiesOfTheHeldSocket(t *testing.T) {
	r := openEmbedded(t, newFabric(embeddedBackend(t)))
	p := r.port.(*embeddedPort)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	release := p.held
	p.held = func() error {
		err := release()
		copied, failed := net.Listen("tcp", r.addr)
		if failed != nil {
			t.Error(failed)
			return err
		}
		time.AfterFunc(20*time.Millisecond, func() { _ = copied.Close() })
		return err
	}
	if err := p.enable(t.Context(), true); err != nil {
		t.Error(err)
	}
}

func embeddedBackend(t *testing.T) *embedded {
	f := NewEmbedded().(*fabric)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f.backend.(*embedded)
}

func openEmbedded(t *testing.T, f *fabric) *proxyLink {
	l, err := f.Open(t.Context(), "c", "n", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	return l.(*proxyLink)
}
