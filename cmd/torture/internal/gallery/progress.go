package gallery

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/periodic"
	"locktorture/workload/history/printable"
)

// reminderEvery is how long a gallery may have nothing to tell before it says
// which rows are under way.
const reminderEvery = 10 * time.Second

// A Progress tells which rows of a gallery have ended and which are to come.
type Progress struct {
	w     io.Writer
	all   int
	began time.Time
	stop  func()

	mu     sync.Mutex
	ended  int
	active map[string]bool // by lock
	last   time.Time       // that something was told
}

// NewProgress tells of so many rows on w. The caller ends it.
func NewProgress(w io.Writer, all int) *Progress {
	now := time.Now()
	p := &Progress{w: w, all: all, began: now, active: map[string]bool{}, last: now}
	p.stop = periodic.Start(reminderEvery/10, p.remind)
	return p
}

// Stop stops the reminders.
func (p *Progress) Stop() { p.stop() }

func (p *Progress) remind() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) >= reminderEvery {
		p.print("to come: " + some(slices.Sorted(maps.Keys(p.active))))
	}
}

// some lists a line's worth of names, and how many there are beyond them.
func some(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], " "), len(names)-most)
}

// Begin notes that a lock's row is under way.
func (p *Progress) Begin(lock string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[lock] = true
}

// Row tells how a row ended.
func (p *Progress) Row(r Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, r.Lock)
	p.ended++
	p.print(fmt.Sprintf("%-22s %s", r.Lock, r.Result()))
}

// print prints one line. The caller holds mu.
func (p *Progress) print(text string) {
	p.last = time.Now()
	fmt.Fprintf(p.w, "%4.0f s  %2d/%d  %s\n", time.Since(p.began).Seconds(), p.ended, p.all, printable.Line(text))
}
