package ledger

import (
	"maps"
	"slices"
)

// A proc is one process: its open operation, and where it acted last.
type proc struct {
	open   *Op
	holder *Holder
	owner  string // of holder, as the last event spelt it …
	key    string // … which mostly is the very string of the next one
}

const (
	procPage  = 256
	ProcSweep = 16 // pages that there may be before any is looked at
)

// procs finds processes by number. Numbers only grow, since a process retires after an unknown
// outcome. Processes are kept in pages: a page is dropped once all of its processes are
// retired, or, where there are many pages, once none of its processes has an open operation.
type procs struct {
	Pages map[int]*procPages
	near  int
	page  *procPages // of near
	many  int        // how many pages were left when they were looked at
}

type procPages struct {
	slots [procPage]proc
	gone  int
}

func (p *procs) at(n int) *proc {
	i := int(uint(n) / procPage)
	if p.page == nil || p.near != i {
		if p.Pages == nil {
			p.Pages = make(map[int]*procPages)
		}
		p.near, p.page = i, p.Pages[i]
		if p.page == nil {
			p.sweep()
			p.page = new(procPages)
			p.Pages[i] = p.page
		}
	}
	return &p.page.slots[uint(n)%procPage]
}

// sweep drops pages without an open operation, once there are twice as many pages as the last
// sweep left. A process that it forgets is looked up again by name.
func (p *procs) sweep() {
	if len(p.Pages) < max(ProcSweep, 2*p.many) {
		return
	}
	maps.DeleteFunc(p.Pages, func(_ int, page *procPages) bool {
		for i := range page.slots {
			if page.slots[i].open != nil {
				return false
			}
		}
		return true
	})
	p.many = len(p.Pages)
}

// retire forgets a process.
func (p *procs) retire(n int) {
	slot := p.at(n)
	*slot = proc{}
	p.page.gone++
	if p.page.gone == procPage {
		delete(p.Pages, p.near)
		p.page = nil
	}
}

// withOpenOp lists the processes with an open operation, by number.
func (p *procs) withOpenOp() []*proc {
	var out []*proc
	for _, i := range slices.Sorted(maps.Keys(p.Pages)) {
		for s := range p.Pages[i].slots {
			if slot := &p.Pages[i].slots[s]; slot.open != nil {
				out = append(out, slot)
			}
		}
	}
	return out
}
