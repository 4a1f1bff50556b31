package checker

import (
	"context"
	"html"
	"time"

	"github.com/anishathalye/porcupine"

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
func (j *Judge) linearizable(ctx context.Context, w window, eps time.Duration) (ok, decided bool) {
	defer func() {
		if recover() != nil {
			ok, decided = false, false
		}
	}()
	budget := stepBudget
	ok = porcupine.CheckOperations(w.model(ctx, &budget), j.moves(w, eps))
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
			if held&(1<<i) != 0 && conflicts(w[i].grant, w[m.grant].grant) {
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
func (j *Judge) moves(w window, eps time.Duration) []porcupine.Operation {
	var out []porcupine.Operation
	add := func(m move, call, ret time.Duration) {
		ret = later(eps, ret)
		out = append(out, porcupine.Operation{ClientId: m.grant, Input: m, Call: int64(call), Return: int64(ret)})
	}
	for i, g := range w {
		add(move{take, i}, g.inv, g.ok)
		for _, x := range g.extends {
			add(move{keep, i}, x[0], x[1])
		}
		proved := g.relOK != never && checkedRelease(j.h)
		if proved {
			add(move{give, i}, g.rel, g.relOK)
		}
		if !proved || g.end() < g.rel || g.relOK > g.d {
			add(move{lapse, i}, g.end(), never)
		}
	}
	return out
}
