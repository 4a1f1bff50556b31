package link

import "testing"

func TestShape(t *testing.T) {
	for reply, want := range map[string]Shape{
		"+OK\r\n":                          {'+', '$'},
		"-ERR no\r\n":                      {'-', '!'},
		"!6\r\nERR no\r\n":                 {'!', '!'},
		"$-1\r\n":                          {'$', '_'},
		"_\r\n":                            {'_', '_'},
		"$2\r\nhi\r\n":                     {'$', '$'},
		"$0\r\n\r\n":                       {'$', '$'},
		":17\r\n":                          {':', '+'},
		":0\r\n":                           {':', '0'},
		":-2\r\n":                          {':', '-'},
		"*0\r\n":                           {'*', 0},
		"*-1\r\n":                          {'*', 0},
		"*2\r\n:0\r\n:5\r\n":               {'*', '0'},
		"*2\r\n*1\r\n:9\r\n$-1\r\n":        {'*', '+'},
		"*2\r\n$-1\r\n:5\r\n":              {'*', '_'},
		"%1\r\n$1\r\na\r\n:1\r\n":          {'%', '$'},
		"*1\r\n:-1\r\n*2\r\n:3\r\n$1\r\na": {'*', '-'}, // the second is not whole
	} {
		for size := 1; size <= len(reply); size++ {
			var got Shape
			var s scanner
			s.whole = func(byte, bool, [][]byte) { got = s.shape() }
			for rest := reply; rest != ""; {
				n := min(size, len(rest))
				s.feed([]byte(rest[:n]))
				rest = rest[n:]
			}
			if got != want {
				t.Errorf("%q in pieces of %d: %q; want %q", reply, size, got, want)
			}
		}
	}
}

// The shape of a reply is known for the last ones on a connection alone.
func TestShapesOfLateReplies(t *testing.T) {
	var p progress
	for range 3 * lateShapes {
		p.answer(Shape{':', '+'})
	}
	for request, want := range map[uint64]Shape{
		1: {}, lateShapes: {}, 2 * lateShapes: {}, 2*lateShapes + 2: {':', '+'}, 3 * lateShapes: {':', '+'}, 3*lateShapes + 1: {},
	} {
		if got := p.shape(request); got != want {
			t.Errorf("request %d: %q; want %q", request, got, want)
		}
	}
}

// A connection that ends before its first request has forwarded nothing, and
// never will.
func TestUnusedConnection(t *testing.T) {
	r := newRig(t, NewEmbedded())
	raw, err := r.link.Dial(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	c := raw.(*conn)
	c.pass(&c.requests, []byte(command("SET", "k", "v"))) // on its way when the connection is closed
	_ = c.Close()
	if n, err := c.writeOut([]byte("x")); n != 0 || err == nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if got := r.outcomes(); got != "SET k never-forwarded" {
		t.Error(got)
	}
}
