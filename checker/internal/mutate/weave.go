package main

import (
	"fmt"
	"slices"
	"strings"
)

// switchboard is the file that is added to the package: the number of the
// mutant that is alive comes from the environment, 0 is none. The sites that are
// evaluated are marked in a file, which outlives the process whatever ends it.
const switchboard = `package %[1]s

import (
	"cmp"
	"os"
	"strconv"
	"syscall"
)

type mutantID = int

var aliveMutant, _ = strconv.Atoi(os.Getenv("` + environment + `"))

var seenMutants = func() []byte {
	file, err := os.OpenFile(os.Getenv("` + seenEnvironment + `"), os.O_RDWR, 0)
	if err != nil {
		return make([]byte, %[2]d)
	}
	defer file.Close()
	seen, err := syscall.Mmap(int(file.Fd()), 0, %[2]d, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return seen
}()

func mutantAt(site int) int {
	seenMutants[site] = 1
	return aliveMutant
}

func mutantAsleep(k int) uint {
	if mutantAt(k) == k {
		return 0
	}
	return 1
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantSum[T mutantNumber](k int, add bool, a, b T) T {
	if (mutantAt(k) == k) != add {
		return a + b
	}
	return a - b
}

func mutantProduct[T mutantNumber](k int, multiply bool, a, b T) T {
	if (mutantAt(k) == k) != multiply {
		return a * b
	}
	return a / b
}

func mutantExtremum[T cmp.Ordered](k int, largest bool, first T, more ...T) T {
	for _, x := range more {
		if ((mutantAt(k) == k) != largest) == (x > first) {
			first = x
		}
	}
	return first
}
`

// Names of environment variables: which mutant is alive, and the file of the sites.
const (
	environment     = "CHECKER_MUTANT"
	seenEnvironment = "CHECKER_SEEN"
)

// A site is one place with all its mutants, and the sites within it.
type site struct {
	from, to int
	mutants  []*mutant
	within   []*site
}

// weave returns source with all its mutants in it, each asleep.
func weave(source []byte, mutants []*mutant) string {
	root := &site{to: len(source)}
	places := map[[2]int]*site{}
	var all []*site
	for _, m := range mutants {
		at := [2]int{m.from, m.to}
		if places[at] == nil {
			places[at] = &site{from: m.from, to: m.to}
			all = append(all, places[at])
		}
		places[at].mutants = append(places[at].mutants, m)
		m.site = places[at].mutants[0].id
	}
	slices.SortFunc(all, func(a, b *site) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	stack := []*site{root}
	for _, s := range all {
		for stack[len(stack)-1].to < s.to || stack[len(stack)-1].to <= s.from {
			stack = stack[:len(stack)-1]
		}
		top := stack[len(stack)-1]
		top.within = append(top.within, s)
		stack = append(stack, s)
	}
	return root.render(source)
}

// plain renders source[from:to] with the sites that lie in it.
func (s *site) plain(source []byte, from, to int) string {
	var b strings.Builder
	for _, w := range s.within {
		if w.from < from || w.to > to {
			continue
		}
		b.Write(source[from:w.from])
		b.WriteString(w.render(source))
		from = w.to
	}
	b.Write(source[from:to])
	return b.String()
}

func (s *site) render(source []byte) string {
	inner := s.plain(source, s.from, s.to)
	if len(s.mutants) == 0 {
		return inner
	}
	switch m := s.mutants[0]; m.kind {
	case boolean:
		return fmt.Sprintf("(func() bool { switch mutantAt(%d) { %s}; return %s }())", m.id, s.cases("return "), inner)
	case arithmetic:
		return s.arithmetic(source, m)
	case extremum:
		largest := m.op == "min" // what it is while the mutant sleeps
		open := s.from + len(m.op) + 1
		return fmt.Sprintf("mutantExtremum(%d, %t, %s", m.id, largest, s.plain(source, open, s.to))
	case literal: // an untyped 1 that is shifted takes the type that the place wants
		return fmt.Sprintf("(%s + 1>>mutantAsleep(%d))", inner, m.id)
	default:
		if len(s.mutants) == 1 { // no switch: inner may be a break
			return fmt.Sprintf("if mutantAt(%d) != %d { %s }", m.id, m.id, inner)
		}
		return fmt.Sprintf("switch mutantAt(%d) { %sdefault: %s }", m.id, s.cases(""), inner)
	}
}

// cases lists the variants of an expression or statement.
func (s *site) cases(before string) string {
	var b strings.Builder
	for _, m := range s.mutants {
		fmt.Fprintf(&b, "case mutantID(%d): %s%s; ", m.id, before, m.after)
	}
	return b.String()
}

// arithmetic splits x op y behind the operand x, whose end is where the
// operator was looked for.
func (s *site) arithmetic(source []byte, m *mutant) string {
	call, straight := "mutantSum", m.op == "-"
	if m.op == "*" || m.op == "/" {
		call, straight = "mutantProduct", m.op == "/"
	}
	x := strings.TrimSuffix(s.plain(source, s.from, m.operator), " ")
	y := s.plain(source, m.operator+1, s.to)
	return fmt.Sprintf("%s(%d, %t, %s, %s)", call, m.id, straight, x, y)
}
