package link_test

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults/link"
)

// manually runs test over two connections of a manual fabric to an echo.
func manually(t *testing.T, test func(t *testing.T, e *echo, m *link.Manual, a, b net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{}
		f, m := link.NewManual(1, func(string) link.Server { return e })
		var conns []net.Conn
		for _, node := range []string{"n1", "n2"} {
			l, err := f.Open(t.Context(), "c00", node, node)
			if err != nil {
				t.Fatal(err)
			}
			c, err := l.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
		test(t, e, m, conns[0], conns[1])
		for _, c := range conns {
			_ = c.Close()
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond) // what is sent at one instant travels as one
}

func data(all []link.Message) (texts []string) {
	for _, m := range all {
		texts = append(texts, m.Link+" "+string(m.Data))
	}
	return texts
}

// A message arrives when it is told to, in any order among connections, and in its own
// order within one.
func TestMessagesArriveWhenTheyAreTold(t *testing.T) {
	manually(t, func(t *testing.T, e *echo, m *link.Manual, a, b net.Conn) {
		send(t, a, "first")
		send(t, b, "second")
		send(t, a, "third")
		time.Sleep(time.Hour)
		if got := e.requests(); len(got) > 0 {
			t.Fatalf("%v arrived by themselves", got)
		}
		if got, want := data(m.Waiting()), []string{"c00.n1 first", "c00.n2 second"}; !slices.Equal(got, want) {
			t.Fatalf("waiting are %v, want %v", got, want)
		}
		select {
		case <-m.News():
			t.Error("there is news of what was looked at already")
		default:
		}
		m.Deliver(m.Waiting()[1])
		m.Deliver(m.Waiting()[0])
		if got, want := e.requests(), []string{"second", "first"}; !slices.Equal(got, want) {
			t.Errorf("arrived %v, want %v", got, want)
		}
		// Both replies, and the request behind the first one.
		if got, want := data(m.Waiting()), []string{"c00.n2 second", "c00.n1 first", "c00.n1 third"}; !slices.Equal(got, want) {
			t.Fatalf("waiting are %v, want %v", got, want)
		}
		m.Deliver(m.Waiting()[1])
		reply := make([]byte, 16)
		if n, err := a.Read(reply); err != nil || string(reply[:n]) != "first" {
			t.Errorf("read %q, %v", reply[:n], err)
		}
	})
}

// A connection that is broken carries nothing more, and its client sees its end.
func TestABrokenConnectionLosesItsMessages(t *testing.T) {
	manually(t, func(t *testing.T, e *echo, m *link.Manual, a, b net.Conn) {
		send(t, a, "lost")
		send(t, b, "kept")
		m.Break(m.Waiting()[0])
		if _, err := a.Read(make([]byte, 1)); err == nil {
			t.Error("the broken connection can still be read")
		}
		if got, want := data(m.Waiting()), []string{"c00.n2 kept"}; !slices.Equal(got, want) {
			t.Fatalf("waiting are %v, want %v", got, want)
		}
		m.Deliver(m.Waiting()[0])
		if got := e.requests(); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("arrived %v", got)
		}
	})
}
