package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"locktorture/reports/story"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// A witness shows at most this many rows of each kind.
const (
	maxClients = 6
	maxNodes   = 6
)

// labelWidth is how much room a row's name has.
const labelWidth = 2 * vg.Inch

const (
	storeRow  = "guarded store"
	storeNode = "store" // the store's node in the targets of faults
)

// A gantt is the witness of one violation, laid out: what clients believed,
// what the store took, and what the nodes stored, below each other.
type gantt struct {
	story.Story
	rows    []string // top first
	hosts   []string // of the clients' rows, one below the other; empty: nothing is said of hosts
	clients int      // the first rows
	nodes   int      // index of the first node's row
}

// Witness shows one violation: who held, who wrote, what the nodes knew, and
// the steps of its story as numbers.
func Witness(s story.Story, seed uint64) *Figure {
	s = printable.Of(s)
	g := &gantt{Story: s}
	g.layOut()
	f := &Figure{
		Name:  "witness-" + s.ID,
		Title: fmt.Sprintf("Witness %s – %s (seed %s)", s.ID, s.Title, unit.Seed(seed)),
		Alt:   witnessAlt(s),
		width: 11 * vg.Inch, height: vg.Length(1.75+0.64*float64(max(len(g.rows), 1))) * vg.Inch,
	}
	p := panel()
	p.Title.Text = shorten(bold(words(11, ink)), f.Title, f.width-vg.Inch)
	p.Add(layer(g.separators), layer(g.faults), layer(g.overlap), layer(g.holds), layer(g.writes), layer(g.stored), layer(g.struck), layer(g.steps))
	g.axes(p)
	if len(g.rows) == 0 {
		p.Add(notice("the history holds no span for this witness: see its story"))
	}
	f.rows = []row{{p, 0, 1}}
	return f
}

func (g *gantt) axes(p *plot.Plot) {
	length := g.To - g.From
	by, divisor, name := float64(time.Millisecond), float64(time.Millisecond), "ms"
	if length > 20*time.Second {
		by, divisor, name = float64(time.Second), float64(time.Second), "s"
	}
	limits(&p.X, 0, float64(length))
	by *= nice(float64(length)/by, 8)
	p.X.Tick.Marker = step{by: by, divisor: divisor}
	p.X.Label.Text = fmt.Sprintf("%s since second %s of the run", name, unit.Seconds(g.From))
	var ticks plot.ConstantTicks
	for i, r := range g.rows {
		if i < g.clients && g.hosts[i] != "" {
			r = g.hosts[i] + " · " + r
		}
		ticks = append(ticks, plot.Tick{Value: g.y(i), Label: shorten(bold(words(10, ink)), r, labelWidth)})
	}
	bare(&p.Y)
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Label.Font = sans(10, true)
	p.Y.Tick.Label.Color = ink
	limits(&p.Y, 0, float64(len(g.rows))+0.95)
}

// y is the middle of a row.
func (g *gantt) y(row int) float64 { return float64(len(g.rows)-1-row) + 0.5 }

// x is a moment of the run on the axis.
func (g *gantt) x(t time.Duration) float64 { return float64(min(max(t, g.From), g.To) - g.From) }

// layOut decides which rows there are.
func (g *gantt) layOut() {
	for _, owner := range g.owners() {
		if name := "client " + owner; len(g.rows) < maxClients && !slices.Contains(g.rows, name) {
			g.rows = append(g.rows, name)
		}
	}
	g.clients = len(g.rows)
	g.byHost()
	if len(g.Writes) > 0 {
		g.rows = append(g.rows, storeRow)
	}
	g.nodes = len(g.rows)
	var nodes []string
	for _, s := range g.Stored {
		nodes = append(nodes, s.Node)
	}
	for _, f := range g.Faults {
		if len(f.Nodes) <= maxNodes/2 {
			nodes = append(nodes, f.Nodes...)
		}
	}
	slices.Sort(nodes)
	for _, n := range slices.Compact(nodes) {
		if n != storeNode && len(g.rows)-g.nodes < maxNodes {
			g.rows = append(g.rows, "redis "+n)
		}
	}
}

// byHost puts the clients of each host together, hosts in the order of their first client.
func (g *gantt) byHost() {
	at := map[string]string{} // by row
	for _, e := range g.Events {
		if e.Host != "" && e.Process >= 0 {
			at["client "+e.Owner] = e.Host
		}
	}
	var hosts []string
	for _, r := range g.rows {
		hosts = append(hosts, at[r])
	}
	rank := func(row string) int { return slices.Index(hosts, at[row]) }
	slices.SortStableFunc(g.rows, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, r := range g.rows {
		g.hosts = append(g.hosts, at[r])
	}
}

// owners lists the clients in the order of their grants: first those that the
// violation is about, even one that held nothing then, since what it did is shown
// in its row.
func (g *gantt) owners() []string {
	holds := slices.Clone(g.Holds)
	slices.SortStableFunc(holds, func(a, b story.Hold) int { return cmp.Compare(a.From, b.From) })
	about := slices.Concat(g.Finding.Owners, g.Overlap.Owners[:])
	var first, rest []string
	for _, h := range holds {
		if slices.Contains(about, h.Owner) {
			first = append(first, h.Owner)
		} else {
			rest = append(rest, h.Owner)
		}
	}
	return slices.Concat(first, g.Finding.Owners, rest)
}

// nodeRow finds the row of a node, -1 when there is none.
func (g *gantt) nodeRow(node string) int {
	if node == storeNode {
		return g.row(storeRow)
	}
	return g.row("redis " + node)
}

// row finds who's row, -1 when there is none.
func (g *gantt) row(who string) int {
	for i, r := range g.rows {
		if r == who || strings.HasSuffix(r, " "+who) {
			return i
		}
	}
	return -1
}

func witnessAlt(s story.Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Gantt chart of %s.", s.Title)
	for _, step := range s.Steps {
		fmt.Fprintf(&b, " %d: at second %s %s %s.", step.N, unit.Seconds(step.Time), step.Who, step.Text)
	}
	return b.String()
}
