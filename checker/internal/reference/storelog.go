package reference

import (
	"slices"

	"locktorture/workload/history"
)

// audit appends the store's log, in some histories with lines too many or too few, and with
// lines that say something else than was asked for or answered.
func (g *generator) audit() {
	var lies float64
	if g.honest < 1 {
		lies = []float64{0, 0, .05, .2}[g.IntN(4)]
	}
	nameless := g.chance(.15)
	var lines []history.Event
	for _, line := range g.audits {
		if nameless { // a log need not know whose a write was
			line.Owner, line.Fence = "", 0
		}
		n := 1
		if g.chance(lies) {
			n = g.twist(&line)
		}
		lines = append(lines, slices.Repeat([]history.Event{line}, n)...)
		if n == 2 && g.chance(.5) {
			g.twist(&lines[len(lines)-1])
		}
	}
	slices.SortStableFunc(lines, func(a, b history.Event) int { return int(a.Seq) - int(b.Seq) })
	for _, line := range lines {
		g.append(line)
	}
}

// twist makes a line of the store's log differ from what was asked for or answered, and
// returns how often it stands there.
func (g *generator) twist(line *history.Event) (times int) {
	switch g.IntN(9) {
	case 0:
		line.Value += "?"
	case 1:
		line.Owner = g.clients[g.IntN(len(g.clients))].owner
	case 2:
		line.Owner = ""
	case 3:
		line.Seq = 1 + g.Uint64N(g.seq+1)
	case 4:
		line.Fence = uint64(g.IntN(5))
	case 5:
		line.Key = g.keys[g.IntN(len(g.keys))]
	case 6:
		line.Kind = history.OK + history.Fail - line.Kind
	case 7:
		return 2
	default:
		return 0
	}
	return 1
}
