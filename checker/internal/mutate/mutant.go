package main

import (
	"cmp"
	"fmt"

	"locktorture/workload/history"
)

// A mutant is one change of one place.
type mutant struct {
	id     int
	file   string // base name
	line   int
	in     string // the function or declaration
	nth    int    // among equal changes of this function, from 1
	before string
	after  string
	from   int // offsets of before in the file
	to     int
	kind   kind
	op     string // what is put in for an operator, or for min and max

	operator int // offset of an arithmetic operator

	alone bool // needs a build of its own: the compiler wants to know it
	site  int  // the first mutant of its place; of one that is woven in
}

// A kind says how a mutant is woven into the one program that holds them all.
type kind uint8

const (
	boolean    kind = iota // an expression of type bool
	arithmetic             // a binary expression of two operands of one type
	extremum               // a call of min or max
	statement              // replaced, or left out
	literal                // an integer
)

// name tells mutants apart across edits elsewhere: no line numbers.
func (m *mutant) name() string {
	n := ""
	if m.nth > 1 {
		n = fmt.Sprintf(" (%d)", m.nth)
	}
	before, after := m.change()
	return fmt.Sprintf("%s %s: %s => %s%s", m.file, m.in, before, after, n)
}

// change returns what stood there and what stands in its place, on one line each.
func (m *mutant) change() (before, after string) {
	const nothing = "(nothing)"
	return cmp.Or(history.OneLine(m.before), nothing), cmp.Or(history.OneLine(m.after), nothing)
}
