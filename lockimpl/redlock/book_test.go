package redlock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// A book keeps what clients were granted, and notes what must not be: two that
// could rely on one key at once, tokens out of order, a token twice.
type book struct {
	alone bool // whether two holders are an error: not where a node's clock jumps

	mu      sync.Mutex
	pages   map[string]*page
	grants  map[string]int // by the ability that was used
	wrong   []string
	onWrong func() // called with each finding; nil: nobody wants to know
}

// A page is about one key.
type page struct {
	held    []*holding
	written uint64          // highest token of a writer whose acquire has returned
	highest uint64          // the same of anybody
	tokens  map[uint64]bool // that have been returned; whether to a writer
}

// A holding is a lease in use.
type holding struct {
	lease  lockimpl.Lease
	shared bool
	who    string
}

// An inquiry is what had been returned when somebody asked for a key: the token
// that comes of it must be above it.
type inquiry struct {
	key, who         string
	shared           bool
	written, highest uint64
}

func newBook() *book { return &book{alone: true, pages: map[string]*page{}, grants: map[string]int{}} }

func (b *book) page(key string) *page {
	if b.pages[key] == nil {
		b.pages[key] = &page{tokens: map[uint64]bool{}}
	}
	return b.pages[key]
}

// ask notes that who is about to ask for key.
func (b *book) ask(who, key string, shared bool) inquiry {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.page(key)
	return inquiry{key: key, who: who, shared: shared, written: p.written, highest: p.highest}
}

// granted notes what came of an inquiry.
func (b *book) granted(r inquiry, ability string, lease lockimpl.Lease) *holding {
	h := &holding{lease: lease, shared: r.shared, who: r.who + " (" + ability + ")"}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grants[ability]++
	p, token := b.page(r.key), lease.Fence()
	b.checkToken(p, r, h)
	p.tokens[token] = p.tokens[token] || !r.shared
	p.highest = max(p.highest, token)
	if !r.shared {
		p.written = max(p.written, token)
	}
	p.held = append(p.held, h)
	b.checkHolders(p, r.key)
	return h
}

func (b *book) checkToken(p *page, r inquiry, h *holding) {
	token, least := h.lease.Fence(), r.highest
	if r.shared {
		least = r.written
	}
	if token <= least {
		b.note("%s: %s was given token %d, asked for after %d had been returned", r.key, h.who, token, least)
	}
	if byWriter, again := p.tokens[token]; again && (byWriter || !r.shared) {
		b.note("%s: %s was given token %d, which somebody had before", r.key, h.who, token)
	}
}

// extended looks at a key again after an extension.
func (b *book) extended(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkHolders(b.page(key), key)
}

// left notes that a lease is not used any more.
func (b *book) left(key string, h *holding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.page(key)
	for i := range p.held {
		if p.held[i] == h {
			p.held = append(p.held[:i:i], p.held[i+1:]...)
			return
		}
	}
}

// checkHolders finds two that rely on one key at this moment, of which one
// writes.
func (b *book) checkHolders(p *page, key string) {
	if !b.alone {
		return
	}
	var first *holding
	for _, h := range p.held {
		if !relied(h.lease) {
			continue
		}
		if first != nil && !(first.shared && h.shared) {
			b.note("%s is held by %s, token %d, for another %v, and by %s, token %d, for another %v", key,
				first.who, first.lease.Fence(), time.Until(first.lease.ValidUntil()), h.who, h.lease.Fence(), time.Until(h.lease.ValidUntil()))
		}
		if first == nil || !h.shared {
			first = h
		}
	}
}

// relied reports whether the holder of a lease may rely on it at this moment.
func relied(lease lockimpl.Lease) bool {
	select {
	case <-lease.(lockimpl.LostNotifier).Lost():
		return false
	default:
		return time.Now().Before(lease.ValidUntil())
	}
}

// note needs mu, or nobody beside it.
func (b *book) note(format string, args ...any) {
	if b.onWrong != nil {
		b.onWrong()
	}
	if len(b.wrong) < 10 {
		b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
	}
}

func (b *book) findings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong
}

// total is the number of all grants.
func (b *book) total() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.grants {
		n += k
	}
	return n
}

// paper is a lease of which only the words matter.
type paper struct {
	fence uint64
	until time.Time
}

func (p paper) Fence() uint64                             { return p.fence }
func (p paper) ValidUntil() time.Time                     { return p.until }
func (paper) Lost() <-chan struct{}                       { return nil }
func (paper) Extend(context.Context, time.Duration) error { return nil }
func (paper) Release(context.Context) error               { return nil }

// What the book is for: each wrong history beside a right one.
func TestBookFindsWhatMustNotBe(t *testing.T) {
	type grant struct {
		shared bool
		fence  uint64
		valid  bool
		late   bool // asked for before the one in front of it was returned
	}
	for name, c := range map[string]struct {
		grants []grant
		wrong  int
	}{
		"one after the other":             {[]grant{{false, 1, false, false}, {false, 2, true, false}}, 0},
		"two writers":                     {[]grant{{false, 1, true, false}, {false, 2, true, false}}, 1},
		"two readers":                     {[]grant{{true, 1, true, false}, {true, 1, true, false}}, 0},
		"a writer beside a reader":        {[]grant{{true, 1, true, false}, {false, 2, true, false}}, 1},
		"a reader beside a writer":        {[]grant{{false, 1, true, false}, {true, 2, true, false}}, 1},
		"a lower token":                   {[]grant{{false, 2, false, false}, {false, 1, true, false}}, 1},
		"a lower token, asked for before": {[]grant{{false, 2, false, false}, {false, 1, true, true}}, 0},
		"a token twice, asked for before": {[]grant{{false, 2, false, false}, {false, 2, true, true}}, 1},
		"a reader below a writer":         {[]grant{{false, 2, false, false}, {true, 1, true, false}}, 1},
		"a reader below a reader":         {[]grant{{true, 2, false, false}, {true, 1, true, false}}, 0},
		"a reader with a writer's token":  {[]grant{{false, 2, false, false}, {true, 2, true, true}}, 1},
		"a writer with a reader's token":  {[]grant{{true, 2, false, false}, {false, 2, true, true}}, 1},
	} {
		b := newBook()
		early := []inquiry{b.ask("r", "k", true), b.ask("w", "k", false)}
		for _, g := range c.grants {
			r := b.ask("now", "k", g.shared)
			if g.late {
				r = early[1]
				if g.shared {
					r = early[0]
				}
			}
			until := time.Now().Add(-time.Second)
			if g.valid {
				until = time.Now().Add(time.Hour)
			}
			b.granted(r, "acquire", paper{g.fence, until})
		}
		if len(b.wrong) != c.wrong {
			t.Errorf("%s: %d findings %q, want %d", name, len(b.wrong), b.wrong, c.wrong)
		}
	}
}
