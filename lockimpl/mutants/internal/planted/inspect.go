// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
)

// An Inspection is what the nodes say about a key, each at a moment of its own:
// it may have changed by now, and says nothing about who may rely on the key.
type Inspection struct {
	Holders []Holder // who has a part of the key on some node, most nodes first
	Waiting int      // the most that are queued on any node
	Nodes   int      // how many answered
}

// A Holder is who has a part of a key.
type Holder struct {
	Name   string        // Config.Name of its client, or ""
	Shared bool          // it reads (at most three readers are told, the same by each node)
	Fence  uint64        // what most of its nodes issued to it: its token, unless they disagreed; 0 for readers
	Left   time.Duration // until the last of its nodes lets it go
	Nodes  int           // how many it has: a quorum, unless it is only trying
}

// Held returns the holder that has a quorum of the nodes, if there is one.
func (l *Lock) Held(in Inspection) (Holder, bool) {
	if len(in.Holders) == 0 || in.Holders[0].Nodes < l.quorum {
		return Holder{}, false
	}
	return in.Holders[0], true
}

// stillHeld is Held, and of several readers the one that was told last, as long as it is one of them.
func (l *Lock) stillHeld(in Inspection, last Holder) (Holder, bool) {
	for _, h := range in.Holders {
		if h.Nodes >= l.quorum && h.Fence == last.Fence && h.Name == last.Name {
			return h, true
		}
	}
	return l.Held(in)
}

// labelled stands between the random part of an owner's id and its name.
const labelled = "@"

// Inspect asks the nodes who holds key. It changes nothing, and takes no place
// in a queue. It returns an error when fewer than a quorum answered.
func (l *Lock) Inspect(ctx context.Context, key string) (Inspection, error) {
	if ctx == nil || key == "" {
		return Inspection{}, fmt.Errorf("inspect: %w: it takes a context and a key", ErrMisconfigured)
	}
	if l.closed.Load() {
		return Inspection{}, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.NodeTimeout)
	defer cancel()
	k := l.keys(key)
	replies, errs := make([]node.Reply, len(l.nodes)), make([]error, len(l.nodes))
	l.eachNode(func(i int) {
		replies[i], errs[i] = l.nodes[i].Do(ctx, func(w *node.Writer) {
			w.Script(script.Inspect, 3)
			w.Refs(&k.Lock, &k.Readers, &k.Tickets)
		})
	})
	var in Inspection
	byOwner := map[string]*part{}
	for i := range replies {
		if errs[i] = l.of(i, errs[i]); errs[i] == nil {
			in.Nodes++
			in.note(&replies[i], byOwner)
		}
	}
	if in.Nodes < l.quorum {
		return in, fmt.Errorf("inspect %s: %w", shown(key), joined(ErrNoQuorum, errs...))
	}
	for _, p := range byOwner {
		in.Holders = append(in.Holders, p.Holder)
	}
	slices.SortFunc(in.Holders, func(a, b Holder) int { return b.Nodes - a.Nodes })
	return in, nil
}

// A part is what nodes say of one owner.
type part struct {
	Holder
	issued map[uint64]int // how many nodes issued a value
}

func (p *part) add(fence uint64, left time.Duration) {
	p.Nodes++
	p.Left = max(p.Left, left)
	p.issued[fence]++
	if n, most := p.issued[fence], p.issued[p.Fence]; n > most || n == most && fence > p.Fence {
		p.Fence = fence
	}
}

// note takes in what one node said; see inspect.lua.
func (in *Inspection) note(r *node.Reply, byOwner map[string]*part) {
	in.Waiting = max(in.Waiting, int(r.At(1)))
	left := time.Duration(r.At(0)) * time.Millisecond
	note := func(owner string, shared bool, fence uint64) {
		p := byOwner[owner]
		if p == nil {
			_, name, _ := strings.Cut(owner, labelled)
			p = &part{Holder: Holder{Name: name, Shared: shared}, issued: map[uint64]int{}}
			byOwner[owner] = p
		}
		p.add(fence, left)
	}
	switch held := r.Str(2); held {
	case "":
	case "r":
		for i := 3; i < 6; i++ {
			if owner := r.Str(i); owner != "" {
				note(owner, true, 0)
			}
		}
	default:
		owner, value, _ := strings.Cut(held, " ")
		fence, _ := strconv.ParseUint(value, 10, 64)
		note(owner, false, fence)
	}
}

// Watch looks every so often, once in a millisecond at most, who holds key, and tells when that
// has changed, and the first time, until ctx ends, or the lock is closed. With Do it is what a
// leader election takes: who leads runs in Do, and the others see who that is. What is told may have changed
// by then: nobody may act as if it held the key because of it. Of several readers one is told, until
// the nodes tell of it no more. While no quorum of
// nodes answers nothing is told, and the last error is in that of Watch.
func (l *Lock) Watch(ctx context.Context, key string, every time.Duration, tell func(h Holder, held bool)) error {
	if ctx == nil || key == "" || every <= 0 {
		return fmt.Errorf("watch: %w: it takes a context, a key, and a positive time between two looks", ErrMisconfigured)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.untilClose, cancel)()
	var last Holder
	first, wasHeld := true, false
	for {
		in, err := l.Inspect(ctx, key)
		if err == nil && !l.closed.Load() {
			h, held := l.stillHeld(in, last)
			if first || held != wasHeld || h.Fence != last.Fence || h.Name != last.Name {
				tell(h, held)
			}
			first, wasHeld, last = false, held, h
		}
		sleep(ctx, max(every, leastPause))
		if l.closed.Load() {
			return ErrClosed
		}
		if ctx.Err() != nil {
			return oneLine(ctx.Err(), err)
		}
	}
}
