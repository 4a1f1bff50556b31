package memredis

import "strings"

// A pattern is one of Lua's that is read once, in place of at every match: an anchor,
// letters and classes with their repetitions, and captures of text. simple tells whether it
// is no more than that.
type pattern struct {
	head  bool // it begins with ^
	items []item
	pairs int // of captures
}

type itemKind byte

const (
	one   itemKind = iota // repeated as repeat says
	open                  // of a capture
	shut                  // of the capture that was opened last
	atEnd                 // $
)

// An item is one piece of a pattern.
type item struct {
	kind   itemKind
	class  byte // letter of a class such as %d, '.', or 0: the letter itself
	letter byte
	repeat byte // one of * + - ?, or 0
	number int  // of the capture
}

// simple reads a pattern. It reports false where there is more to it: sets, %b, %f,
// captures that were seen before, and captures of a position, all of which are left to
// Lua, and so are errors.
func simple(text string) (p pattern, is bool) {
	text, p.head = strings.CutPrefix(text, "^")
	var opened []int
	for i := 0; i < len(text); i++ {
		it := item{letter: text[i]}
		switch c := text[i]; {
		case c == '(':
			if i+1 < len(text) && text[i+1] == ')' {
				return p, false
			}
			opened = append(opened, p.pairs)
			p.items = append(p.items, item{kind: open, number: p.pairs})
			p.pairs++
			continue
		case c == ')':
			if len(opened) == 0 {
				return p, false
			}
			p.items = append(p.items, item{kind: shut, number: opened[len(opened)-1]})
			opened = opened[:len(opened)-1]
			continue
		case c == '$' && i == len(text)-1:
			p.items = append(p.items, item{kind: atEnd})
			continue
		case c == '[' || c == ']' || strings.IndexByte("*+-?^$", c) >= 0:
			return p, false
		case c == '.':
			it.class = c
		case c == '%':
			if i++; i == len(text) {
				return p, false
			}
			it.letter = text[i]
			switch letter := text[i]; {
			case strings.IndexByte("dDsSwWaA", letter) >= 0:
				it.class = letter
			case isAlnum(letter):
				return p, false
			}
		}
		if i+1 < len(text) && strings.IndexByte("*+-?", text[i+1]) >= 0 {
			i++
			it.repeat = text[i]
		}
		p.items = append(p.items, it)
	}
	return p, len(opened) == 0
}

// find returns what the captures of the first match hold, or the match itself where there
// are none.
func (p *pattern) find(text string) (captured []string, found bool) {
	bounds := make([][2]int, p.pairs)
	for from := 0; from <= len(text); from++ {
		to := p.at(text, from, p.items, bounds)
		switch {
		case to >= 0 && p.pairs == 0:
			return []string{text[from:to]}, true
		case to >= 0:
			for _, b := range bounds {
				captured = append(captured, text[b[0]:b[1]])
			}
			return captured, true
		case p.head:
			return nil, false
		}
	}
	return nil, false
}

// at returns where a match of items ends that begins at a place, or -1.
func (p *pattern) at(text string, at int, items []item, bounds [][2]int) int {
	if len(items) == 0 {
		return at
	}
	it, rest := items[0], items[1:]
	fits := func(i int) bool { return i < len(text) && it.fits(text[i]) }
	switch {
	case it.kind == open:
		bounds[it.number][0] = at
		return p.at(text, at, rest, bounds)
	case it.kind == shut:
		bounds[it.number][1] = at
		return p.at(text, at, rest, bounds)
	case it.kind == atEnd:
		if at < len(text) {
			return -1
		}
		return p.at(text, at, rest, bounds)
	case it.repeat == '-':
		for ; ; at++ {
			if to := p.at(text, at, rest, bounds); to >= 0 {
				return to
			}
			if !fits(at) {
				return -1
			}
		}
	}
	least, most := 1, 1
	switch it.repeat {
	case '*':
		least, most = 0, len(text)
	case '+':
		most = len(text)
	case '?':
		least = 0
	}
	n := 0
	for n < most && fits(at+n) {
		n++
	}
	for ; n >= least; n-- {
		if to := p.at(text, at+n, rest, bounds); to >= 0 {
			return to
		}
	}
	return -1
}

// fits reports whether a byte is one of the item's.
func (it *item) fits(c byte) bool {
	switch it.class {
	case 0:
		return c == it.letter
	case '.':
		return true
	case 'd':
		return isDigit(c)
	case 'D':
		return !isDigit(c)
	case 's':
		return isBlank(c)
	case 'S':
		return !isBlank(c)
	case 'w':
		return isAlnum(c)
	case 'W':
		return !isAlnum(c)
	case 'a':
		return isAlnum(c) && !isDigit(c)
	}
	return !isAlnum(c) || isDigit(c) // %A
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isAlnum(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
