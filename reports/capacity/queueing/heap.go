package queueing

// An agenda holds what happens at which time, the earliest first. Of several at one
// time the one that was added first comes first.
type agenda[T any] struct {
	all   []entry[T]
	added uint64
}

type entry[T any] struct {
	at  float64
	seq uint64
	job T
}

func (e entry[T]) before(o entry[T]) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

func (a *agenda[T]) add(at float64, job T) {
	a.added++
	a.all = append(a.all, entry[T]{at, a.added, job})
	for i := len(a.all) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.all[i].before(a.all[up]) {
			return
		}
		a.all[i], a.all[up] = a.all[up], a.all[i]
		i = up
	}
}

// pop removes the earliest; there must be one.
func (a *agenda[T]) pop() T {
	first, last := a.all[0].job, len(a.all)-1
	a.all[0] = a.all[last]
	a.all = a.all[:last]
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < last && a.all[down].before(a.all[least]) {
				least = down
			}
		}
		if least == i {
			return first
		}
		a.all[i], a.all[least] = a.all[least], a.all[i]
		i = least
	}
}
