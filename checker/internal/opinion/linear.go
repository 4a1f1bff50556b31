package opinion

import (
	"context"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// stepBudget bounds the work, and with it the memory, spent on one window: a
// step from one state remembers two at most.
const stepBudget = 200_000

// A move is one operation of the lock model. A state is the set of grants
// that hold, as bits.
type move struct {
	what  moveKind
	grant int // its bit
}

type moveKind uint8

const (
	take  moveKind = iota // a grant: nobody whom it excludes may hold
	give                  // a release that proves that its owner held
	end                   // expiry, a release that proves nothing, or a reported loss, behind which nothing shows that its owner holds
	lapse                 // one behind which something may: it has ended the hold by now, or not
	keep                  // an extension that succeeded: its owner holds
)

// linearizable asks Porcupine whether the window's operations have an order in
// which nobody holds a key that another holds. Expiry is a silent step that is
// allowed from the deadline on, and clocks may be apart by eps. Acquires of unknown outcome are left out: they
// may never have held.
func (w window) linearizable(ctx context.Context, h history.Header, eps time.Duration) (ok, decided bool) {
	defer func() {
		if recover() != nil {
			ok, decided = false, false
		}
	}()
	budget := stepBudget
	ok = porcupine.CheckOperations(w.model(ctx, &budget), w.moves(h, eps))
	return ok, budget >= 0 && ctx.Err() == nil
}

// model is the lock of the window's key: the states in which it can be, in order, since a lapse
// leaves two. It takes no step beyond the budget, nor once ctx has ended.
func (w window) model(ctx context.Context, budget *int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []uint64{0} },
		Step: func(states, input, _ any) (bool, any) {
			var next []uint64
			for _, held := range states.([]uint64) {
				if *budget--; *budget < 0 || ctx.Err() != nil {
					return false, nil
				}
				next = w.step(next, held, input.(move))
			}
			slices.Sort(next)
			next = slices.Compact(next)
			return len(next) > 0, next
		},
		Equal:             func(a, b any) bool { return slices.Equal(a.([]uint64), b.([]uint64)) },
		DescribeOperation: func(input, _ any) string { return printable.Line(w.describe(input.(move))) },
		// Porcupine's page lays a state's description out as HTML.
		DescribeState: func(states any) string {
			var all []string
			for _, held := range states.([]uint64) {
				all = append(all, w.holders(held))
			}
			return html.EscapeString(printable.Line(strings.Join(all, ", or ")))
		},
	}
}

// step appends the states that m leads to where held holds.
func (w window) step(next []uint64, held uint64, m move) []uint64 {
	bit := uint64(1) << m.grant
	switch m.what {
	case take:
		for i := range w {
			if held&(1<<i) != 0 && ledger.Conflicts(w[i].Grant, w[m.grant].Grant) {
				return next
			}
		}
		return append(next, held|bit)
	case lapse:
		return append(next, held, held&^bit)
	case end:
		return append(next, held&^bit)
	}
	if held&bit == 0 {
		return next
	}
	if m.what == keep {
		return append(next, held)
	}
	return append(next, held&^bit)
}

// moves lists the window's operations. Answers count from the end of eps, the clock
// uncertainty. A hold that nothing later shows to go on ends as soon as it may: if there is an
// order of one owner at a time, the end can be moved to the front of all that was called behind it,
// since a free key admits whatever a held one does. Otherwise Porcupine would try each such end at
// each place, and both ways.
func (w window) moves(h history.Header, eps time.Duration) []porcupine.Operation {
	var out []porcupine.Operation
	add := func(m move, call, ret time.Duration) {
		ret = ledger.Later(eps, ret)
		out = append(out, porcupine.Operation{ClientId: m.grant, Input: m, Call: int64(call), Return: int64(ret)})
	}
	for i, g := range w {
		add(move{take, i}, g.Inv, max(g.OK, g.taken))
		for _, x := range g.extends {
			add(move{keep, i}, x[0], x[1])
		}
		proved := g.ReleaseOK != ledger.Never && ledger.CheckedRelease(h)
		if proved {
			add(move{give, i}, g.ReleasedAt, g.ReleaseOK)
		}
		switch {
		case proved && g.End() >= g.ReleasedAt && g.ReleaseOK <= g.Deadline:
		case !proved && g.extendedBefore(g.End(), eps):
			add(move{end, i}, g.End(), g.End())
		default:
			add(move{lapse, i}, g.End(), ledger.Never)
		}
	}
	return out
}
