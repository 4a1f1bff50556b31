package opinion

import (
	"context"
	"html"
	"time"

	"github.com/anishathalye/porcupine"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// stepBudget bounds the work, and with it the memory, spent on one window: a
// step remembers at most one state.
const stepBudget = 200_000

// A move is one operation of the lock model. The state is the set of grants
// that hold, as bits.
type move struct {
	what  moveKind
	grant int // its bit
}

type moveKind uint8

const (
	take  moveKind = iota // a grant: nobody whom it excludes may hold
	give                  // a release that proves that its owner held
	lapse                 // what may have ended the hold by now, or not: expiry, a release that proves nothing, a reported loss
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

// model is the lock of the window's key. It takes no step beyond the budget,
// nor once ctx has ended.
func (w window) model(ctx context.Context, budget *int) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{uint64(0)} },
		Step: func(state, input, _ any) []any {
			if *budget--; *budget < 0 || ctx.Err() != nil {
				return nil
			}
			return w.step(state.(uint64), input.(move))
		},
		DescribeOperation: func(input, _ any) string { return printable.Line(w.describe(input.(move))) },
		// Porcupine's page lays a state's description out as HTML.
		DescribeState: func(state any) string { return html.EscapeString(printable.Line(w.holders(state.(uint64)))) },
	}
	return model.ToModel()
}

func (w window) step(held uint64, m move) []any {
	bit := uint64(1) << m.grant
	switch m.what {
	case take:
		for i := range w {
			if held&(1<<i) != 0 && ledger.Conflicts(w[i].Grant, w[m.grant].Grant) {
				return nil
			}
		}
		return []any{held | bit}
	case lapse:
		if held&bit != 0 {
			return []any{held, held &^ bit}
		}
		return []any{held}
	}
	if held&bit == 0 {
		return nil
	}
	if m.what == keep {
		return []any{held}
	}
	return []any{held &^ bit}
}

// moves lists the window's operations. Answers count from the end of eps, the clock
// uncertainty.
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
		if !proved || g.End() < g.ReleasedAt || g.ReleaseOK > g.Deadline {
			add(move{lapse, i}, g.End(), ledger.Never)
		}
	}
	return out
}
