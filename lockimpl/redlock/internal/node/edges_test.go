package node

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl/internal/redistest"
)

// Whatever a server answers, and whatever answers in its place, is a reply or an
// error.
func FuzzReadReply(f *testing.F) {
	for _, text := range []string{
		"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$2\r\nab\r\n", "$-1\r\n", "*2\r\n:1\r\n$1\r\na\r\n", "*-1\r\n",
		"$9223372036854775807\r\n", "$9223372036854775806\r\nx", "$-9223372036854775808\r\n", "$2147483648\r\n",
		"*9223372036854775807\r\n", "*1\r\n*9223372036854775807\r\n", "*-9223372036854775808\r\n",
		":9223372036854775808\r\n", "\r\n", "$\r\n", "*\r\n", "%1\r\n", "HTTP/1.1 400 Bad Request\r\n", strings.Repeat("*1\r\n", 100),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := readReply(bufio.NewReader(strings.NewReader(text))); err == nil && r.Err == nil && r.Fate != FateDone {
			t.Errorf("%q is neither a reply nor an error", text)
		}
	})
}

func TestHugeReplyIsRefusedBeforeItIsRead(t *testing.T) {
	for _, text := range []string{"$9223372036854775807\r\n", "$1073741824\r\n", "*9223372036854775807\r\n:1\r\n", "*1048576\r\n:1\r\n"} {
		if _, err := readReply(bufio.NewReader(strings.NewReader(text))); err == nil || !strings.Contains(err.Error(), errProtocol.Error()) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A large batch has a deadline for its write, which must not end the writes
// after it.
func TestLargeBatchDoesNotCostTheNextOneItsConnection(t *testing.T) {
	server := miniredis.RunT(t)
	redistest.Identify(server)
	const limit = 300 * time.Millisecond
	n := New(Config{Name: "n", Addr: server.Addr(), Timeout: limit})
	defer n.Close()
	if _, err := n.Do(t.Context(), increment("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Do(t.Context(), increment(strings.Repeat("k", 2*largeBatch))); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * limit)
	if _, err := n.Do(t.Context(), increment("a")); err != nil {
		t.Fatal(err)
	}
	if made := server.TotalConnectionCount(); made != 1 {
		t.Errorf("%d connections, want 1", made)
	}
}

// A hooked connection calls back in the midst of setting a deadline.
type hooked struct {
	net.Conn
	clearing func()
	deadline time.Time
	read     bool
}

func (h *hooked) SetReadDeadline(at time.Time) error {
	if at.IsZero() && h.clearing != nil {
		h.clearing()
	}
	h.deadline = at
	return nil
}

type timedOut struct{}

func (timedOut) Error() string   { return "timed out" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

func (h *hooked) Read([]byte) (int, error) {
	if h.read {
		return 0, net.ErrClosed
	}
	h.read = true
	return 0, timedOut{}
}

// A batch that is sent while the reader takes the deadline of an idle
// connection away has one all the same.
func TestBatchHasADeadlineWheneverItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hooked{}
		c := &conn{Conn: h, limit: time.Second}
		h.clearing = c.await // a sender, at that very moment
		_, _ = c.Read(nil)
		if h.deadline.IsZero() || time.Until(h.deadline) > time.Second {
			t.Errorf("deadline %v", h.deadline)
		}
	})
}
