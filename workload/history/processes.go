package history

import (
	"maps"
	"slices"
)

// The state of a process: the operation that is open, or that it is retired.
const (
	openOp  = 0x0f
	retired = 0x80
)

const (
	pageSize  = 256
	nearPages = 1 << 16 // beyond, page numbers come from odd files and go to a map
)

// A page is the state of pageSize processes.
type page [pageSize]byte

// processes is one byte of state per process number. Numbers grow for as long
// as a run lasts, so they are dense; a file that skips wildly costs a page a
// line, not an array up to its largest number.
type processes struct {
	near []*page
	far  map[int]*page
}

// at returns the state of process n ≥ 0.
func (s *processes) at(n int) *byte {
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
