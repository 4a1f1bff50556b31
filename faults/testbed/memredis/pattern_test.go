package memredis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// TestPatternsMatchAsInLua holds what is read once to what Lua finds, on patterns and texts
// that are drawn from few letters, so that many match.
func TestPatternsMatchAsInLua(t *testing.T) {
	l := lua.NewState()
	defer l.Close()
	find := l.GetField(l.GetGlobal("string"), "match")
	inLua := func(text, pattern string) (found []string, ok bool) {
		defer l.SetTop(0)
		if err := l.CallByParam(lua.P{Fn: find, NRet: lua.MultRet, Protect: true}, lua.LString(text), lua.LString(pattern)); err != nil {
			t.Fatalf("string.match(%q, %q): %v", text, pattern, err)
		}
		if l.GetTop() == 0 { // gopher-lua's way to say nil
			return nil, false
		}
		for i := 1; i <= l.GetTop(); i++ {
			if l.Get(i) == lua.LNil {
				return nil, false
			}
			found = append(found, l.Get(i).String())
		}
		return found, true
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, from ...string) string {
		var b strings.Builder
		for range rng.IntN(n) {
			b.WriteString(from[rng.IntN(len(from))])
		}
		return b.String()
	}
	patterns := []string{`^(%S+) (%d+) (%d+) (%d+)$`, `^(%d+) ?(%d*)$`, `^%S+ %d+$`, `~(%d+)$`, `^.:(.-):`, `^(%S+) (%d+) (%d+)`}
	for range 3000 {
		p := draw(7, "a", "%d", "%S", "%s", "%w", ".", " ", "%.", "%a", "%D", "%W", "%A", "a*", "%d+", "%S-", "%w?", "(%d*)", "(a)", "(.-)", "((a)1)", "(%S+)")
		patterns = append(patterns, draw(2, "^")+p+draw(2, "$"))
	}
	simples, matches := 0, 0
	for _, text := range patterns {
		p, is := simple(text)
		if !is {
			continue
		}
		simples++
		for range 10 {
			subject := draw(12, "a", "1", "22", " ", ".", "b", "~", ":", "3 4 5", "\n", "x y")
			want, found := inLua(subject, text)
			got, ok := p.find(subject)
			if ok != found || !slices.Equal(got, want) {
				t.Fatalf("match(%q, %q) = %q, %v; want %q, %v", subject, text, got, ok, want, found)
			}
			if found {
				matches++
			}
		}
	}
	if simples < 2000 || matches < 5000 {
		t.Fatalf("%d patterns were simple and %d texts matched, want 2000 and 5000 at least", simples, matches)
	}
}

// TestPatternsThatAreLeftToLua lists what is not read here.
func TestPatternsThatAreLeftToLua(t *testing.T) {
	for _, text := range []string{"[ab]", "%b()", "%f[a]", "(a)%1", "()", "(a", "a)", "%", "a**", "$a", "a^", "%x"} {
		if _, is := simple(text); is {
			t.Errorf("simple(%q) = true, want false", text)
		}
	}
}
