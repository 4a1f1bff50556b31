package resolve

import (
	"slices"

	"locktorture/faults/link"
	"locktorture/workload/history"
)

// lessons are what operations of known outcome teach.
type lessons struct {
	alone   map[history.Op][]string // commands each of which sufficed for a yes
	yes, no map[way]bool
}

// A way is how one node took its part in an operation.
type way struct {
	op       history.Op
	commands string // in the order in which they were sent
	reply    link.Shape
}

func newLessons() lessons {
	return lessons{alone: map[history.Op][]string{}, yes: map[way]bool{}, no: map[way]bool{}}
}

// learn takes a finished operation. One that was refused when its lease would
// have run out may have been refused for that alone.
func (l *lessons) learn(o *operation, e *history.Event, r *Resolver) {
	if o.mixed || o.more || e.Kind == history.Fail && e.Time-o.began >= r.validity {
		return
	}
	taught := l.no
	if e.Kind == history.OK {
		taught = l.yes
		if name := o.only(); name != "" && !slices.Contains(l.alone[o.op], name) {
			l.alone[o.op] = append(l.alone[o.op], name)
		}
	}
	for w, n := range o.ways() {
		if n >= r.quorum {
			taught[w] = true
		}
	}
}

// isYes reports that w goes with a yes, and has never gone with a no.
func (l *lessons) isYes(w way) bool { return l.yes[w] && !l.no[w] && !w.reply.IsError() }

// harmless reports that a command by itself sufficed for other operations and
// never for op: it cannot bring op about.
func (l *lessons) harmless(op history.Op, name string) bool {
	if slices.Contains(l.alone[op], name) {
		return false
	}
	for _, names := range l.alone {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
