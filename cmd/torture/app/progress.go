package app

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/gallery"
	"locktorture/workload/history/printable"
)

// newsEvery is how often a gallery that has nothing to tell says what it does.
const newsEvery = 10 * time.Second

// A progress tells which rows of a gallery have ended and which are to come.
type progress struct {
	w     io.Writer
	all   int
	began time.Time
	over  chan struct{}
	news  sync.WaitGroup

	mu     sync.Mutex
	ended  int
	active map[string]bool
	told   time.Time
}

// newProgress starts to tell; end stops it.
func newProgress(w io.Writer, all int) *progress {
	now := time.Now()
	p := &progress{w: w, all: all, began: now, over: make(chan struct{}), active: map[string]bool{}, told: now}
	p.news.Go(p.remind)
	return p
}

func (p *progress) end() {
	close(p.over)
	p.news.Wait()
}

func (p *progress) remind() {
	tick := time.NewTicker(newsEvery / 10)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.underWay()
		case <-p.over:
			return
		}
	}
}

func (p *progress) underWay() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.told) >= newsEvery {
		p.say("to come: " + strings.Join(slices.Sorted(maps.Keys(p.active)), " "))
	}
}

func (p *progress) begin(lock string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[lock] = true
}

func (p *progress) row(r gallery.Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, r.Lock)
	p.ended++
	p.say(fmt.Sprintf("%-22s %s", r.Lock, outcome(r)))
}

// say prints one line. The caller holds mu.
func (p *progress) say(text string) {
	p.told = time.Now()
	fmt.Fprintf(p.w, "%4.0f s  %2d/%d  %s\n", time.Since(p.began).Seconds(), p.ended, p.all, printable.Line(text))
}
