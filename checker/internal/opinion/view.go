package opinion

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"locktorture/checker/internal/words"
)

// A View is Porcupine's own picture of a window around an anomaly: which order
// of its operations it tried, and where none is left. It opens in a browser.
type View struct {
	Key     string
	Witness []int // the grants in the window, by their events
	HTML    []byte
}

// view is Porcupine's picture of w. One that cannot be drawn is left out: it decides
// nothing.
func (s *Second) view(w window) []View {
	defer func() { _ = recover() }()
	budget := stepBudget
	model := w.model(context.Background(), &budget)
	_, info := porcupine.CheckOperationsVerbose(model, w.moves(s.j.Header, s.j.Header.Epsilon), 0)
	var page bytes.Buffer
	if err := porcupine.Visualize(model, info, &page); err != nil {
		return nil
	}
	v := View{Key: w[0].Holder.Key.Name, HTML: page.Bytes()}
	for _, g := range w {
		v.Witness = append(v.Witness, g.OKIdx)
	}
	slices.Sort(v.Witness)
	return []View{v}
}

// describe says in words what an operation of the model is.
func (w window) describe(m move) string {
	g := w[m.grant]
	who := fmt.Sprintf("%s%s", g.Owner(), words.Token(g.Fence))
	switch m.what {
	case take:
		return who + " is granted " + g.Holder.Key.Name
	case give:
		return who + " releases"
	case keep:
		return who + " extends"
	case end:
		return fmt.Sprintf("%s: ended at %s", who, words.At(g.End()))
	}
	return fmt.Sprintf("%s: may have ended, from %s on", who, words.At(g.End()))
}

// holders says in words who holds in a state of the model.
func (w window) holders(held uint64) string {
	var names []string
	for i, g := range w {
		if held&(1<<i) != 0 {
			names = append(names, g.Owner()+words.Token(g.Fence))
		}
	}
	if len(names) == 0 {
		return "free"
	}
	return "held by " + strings.Join(names, " and ")
}
