package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// command encodes one.
func command(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// scanned feeds stream to a Scanner in pieces and returns what it saw.
func scanned(requests bool, stream string, piece func() int) []string {
	var saw []string
	s := Scanner{Requests: requests}
	s.Whole = func(first byte, nothing bool, words [][]byte) {
		saw = append(saw, fmt.Sprintf("%c %t %s", first, nothing, words))
	}
	for rest := []byte(stream); len(rest) > 0; {
		n := min(piece(), len(rest))
		s.Feed(rest[:n])
		rest = rest[n:]
	}
	if s.Blind {
		saw = append(saw, "blind")
	}
	return saw
}

func TestScanner(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name     string
		requests bool
		stream   string
		want     []string
	}{
		{"commands", true, command("SET", "k", "v") + command("PING"), []string{"* false [SET k v]", "* false [PING]"}},
		{"words are bounded", true, command("SET", long, "a", "b", "c", "d"), []string{"* false [SET " + long[:maxWord] + " a b]"}},
		{"binary payload", true, command("SET", "k\r\n*1\r\n", "\r\n"), []string{"* false [SET k\r\n*1\r\n \r\n]"}},
		{"inline", true, "PING\r\nset k v\n\r\n", []string{"* false [PING]", "* false [set k v]"}},
		{"empty command", true, "*0\r\n" + command("PING"), []string{"* true []", "* false [PING]"}},
		{"scalars", false, "+OK\r\n-ERR x\r\n:1\r\n_\r\n#t\r\n,1.5\r\n", []string{"+ false []", "- false []", ": false []", "_ true []", "# false []", ", false []"}},
		{"nulls", false, "$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n", []string{"$ true []", "* true []", "* true []", "$ false []"}},
		{"nested", false, "*2\r\n*2\r\n:1\r\n$-1\r\n%1\r\n+a\r\n*0\r\n:5\r\n", []string{"* false []", ": false []"}},
		{"push and attribute", false, ">2\r\n+message\r\n$1\r\nx\r\n|1\r\n+a\r\n+b\r\n:1\r\n", []string{"> false []", "| false []"}},
		{"not RESP", false, "HTTP/1.1 200 OK\r\n", []string{"blind"}},
		{"streamed string", false, "$?\r\n", []string{"blind"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, piece := range []func() int{
				func() int { return len(c.stream) },
				func() int { return 1 },
				func() int { return 1 + rng.IntN(9) },
			} {
				if got := scanned(c.requests, c.stream, piece); strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("saw %q, want %q", got, c.want)
				}
			}
		})
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(true, command("EVAL", "return 1", "0"))
	f.Add(false, "*2\r\n:1\r\n$3\r\nabc\r\n")
	f.Fuzz(func(t *testing.T, requests bool, stream string) {
		whole := scanned(requests, stream, func() int { return len(stream) })
		bytewise := scanned(requests, stream, func() int { return 1 })
		if strings.Join(whole, "|") != strings.Join(bytewise, "|") {
			t.Errorf("in one piece %q, bytewise %q", whole, bytewise)
		}
	})
}
