package history

import (
	"maps"
	"slices"
)

// A state is that of a process: the operation that is open, with a mark of its
// key and one of its owner, or that it is retired.
type state uint32

const (
	openOp    state = 0x0f
	retired   state = 0x10
	markBits        = 13
	keyMark         = 5 // where it stands
	ownerMark       = keyMark + markBits
)

// opened is the state of a process with e's operation open.
func opened(e *Event) state {
	return state(e.Op) | mark(e.Key)<<keyMark | mark(e.Owner)<<ownerMark
}

// mark tells most names apart, by what costs little: length, ends and middle.
func mark(name string) state {
	n := len(name)
	if n == 0 {
		return 0
	}
	m := uint32(n)
	for _, c := range [...]byte{name[0], name[n/2], name[max(n-2, 0)], name[n-1]} {
		m = m*31 + uint32(c)
	}
	return state(m*0x9e3779b1) >> (32 - markBits)
}

// names says whether name may be what the mark at bit was made of. A completion
// may leave names out.
func (s state) names(name string, at int) bool {
	return name == "" || s>>at&(1<<markBits-1) == mark(name)
}

const (
	pageSize  = 256
	nearPages = 1 << 16 // beyond, page numbers come from odd files and go to a map
)

// A page is the state of pageSize processes.
type page [pageSize]state

// processes is four bytes of state per process number. Numbers grow for as long
// as a run lasts, so they are dense; a file that skips wildly costs a page a
// line, not an array up to its largest number.
type processes struct {
	near []*page
	far  map[int]*page
}

// at returns the state of process n ≥ 0.
func (s *processes) at(n int) *state {
	i := n / pageSize
	if i < len(s.near) && s.near[i] != nil {
		return &s.near[i][n%pageSize]
	}
	return &s.page(i)[n%pageSize]
}

// page finds or makes page i.
func (s *processes) page(i int) *page {
	if i < nearPages {
		for len(s.near) <= i {
			s.near = append(s.near, nil)
		}
		if s.near[i] == nil {
			s.near[i] = new(page)
		}
		return s.near[i]
	}
	if s.far == nil {
		s.far = make(map[int]*page)
	}
	if s.far[i] == nil {
		s.far[i] = new(page)
	}
	return s.far[i]
}

// open lists the processes whose operation is open, ascending.
func (s *processes) open() []int {
	var found []int
	add := func(i int, p *page) {
		for j, state := range p {
			if state&openOp != 0 {
				found = append(found, i*pageSize+j)
			}
		}
	}
	for i, p := range s.near {
		if p != nil {
			add(i, p)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(s.far)) {
		add(i, s.far[i])
	}
	return found
}
