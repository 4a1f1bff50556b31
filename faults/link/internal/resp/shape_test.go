package resp

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
			var s Scanner
			s.Whole = func(byte, bool, [][]byte) { got = s.Shape() }
			for rest := reply; rest != ""; {
				n := min(size, len(rest))
				s.Feed([]byte(rest[:n]))
				rest = rest[n:]
			}
			if got != want {
				t.Errorf("%q in pieces of %d: %q; want %q", reply, size, got, want)
			}
		}
	}
}
