package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/faults/link"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

// A benchScenario is one way in which locks are compared.
type benchScenario struct {
	name    string
	about   string
	nodes   []int
	workers []int
	hot     bool // all workers want one key
	clients bool // every worker is a client of its own; else goroutines of one
	extend  bool
	task    load.Task
	linked  bool             // the last node is behind a link …
	impair  *link.Impairment // … that suffers this
}

var waiting = load.Task{TTL: measure.TTL, Wait: measure.Patience}

var holding1ms = load.Task{TTL: measure.TTL, Wait: measure.Patience, Hold: time.Millisecond}

var benchScenarios = []benchScenario{
	{name: "uncontended", about: "every worker has a key of its own; goroutines of one client", nodes: []int{1, 5}, workers: []int{1, 16, 64, 256},
		task: load.Task{TTL: measure.TTL}},
	{name: "contended", about: "clients want one key and give it back at once", nodes: []int{1, 5}, workers: []int{16},
		hot: true, clients: true, task: waiting},
	{name: "contended-local", about: "goroutines of one client want one key and give it back at once", nodes: []int{1, 5}, workers: []int{16},
		hot: true, task: waiting},
	{name: "hot-key", about: "clients want one key and hold it for 1 ms", nodes: []int{1, 5}, workers: []int{16},
		hot: true, clients: true, task: holding1ms},
	{name: "hot-key-local", about: "goroutines of one client want one key and hold it for 1 ms", nodes: []int{1, 5}, workers: []int{16},
		hot: true, task: holding1ms},
	{name: "extend", about: "acquire, extend and release; every worker has a key of its own", nodes: []int{1, 5}, workers: []int{1},
		extend: true, task: load.Task{TTL: measure.TTL, Extend: true}},
	{name: "healthy", about: "as uncontended, the last node behind a link that does nothing: the baseline of slow-node and dead-node",
		nodes: []int{5}, workers: []int{16}, task: load.Task{TTL: measure.TTL}, linked: true},
	{name: "slow-node", about: "the replies of the last node come 50 ms late", nodes: []int{5}, workers: []int{16},
		task: load.Task{TTL: measure.TTL}, linked: true, impair: &link.Impairment{Kind: link.Delay, Toward: link.Down, Delay: 50 * time.Millisecond}},
	{name: "dead-node", about: "the last node swallows everything and answers nothing", nodes: []int{5}, workers: []int{16},
		task: load.Task{TTL: measure.TTL}, linked: true, impair: &link.Impairment{Kind: link.BlackHole}},
}

// Scenarios names and explains what bench can compare, a line each, with the masters and
// workers unless told otherwise.
func Scenarios() []string {
	var out []string
	for _, s := range benchScenarios {
		out = append(out, fmt.Sprintf("%-16s %s (%s masters; %s workers)", s.name, s.about, listed(s.nodes), listed(s.workers)))
	}
	return out
}

func listed(all []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}

// A setting is a scenario with a number of masters and workers.
type setting struct {
	benchScenario
	masters, goroutines int
	locks               []measure.Contestant
}

// fewestLinked is how many masters a scenario wants of which one is slow or dead, so that
// the others are a majority.
const fewestLinked = 3

// settings resolves what c asks for, and says what of it cannot be measured.
func (c Config) settings() (out []setting, leftOut []string, err error) {
	locks, err := c.contestants()
	if err != nil {
		return nil, nil, err
	}
	if err := c.known(); err != nil {
		return nil, nil, err
	}
	for _, s := range benchScenarios {
		if len(c.Scenarios) > 0 && !slices.Contains(c.Scenarios, s.name) {
			continue
		}
		for _, n := range asked(s.nodes, c.Nodes) {
			if s.linked && n < fewestLinked {
				leftOut = append(leftOut, fmt.Sprintf("%s on %s: one of them is hurt, and the others must be a majority", s.name, unit.Counted(n, "master")))
				continue
			}
			var fit []measure.Contestant
			for _, l := range locks {
				switch {
				case !l.Fits(n):
					leftOut = c.lacking(leftOut, l, fmt.Sprintf("it is not measured on %s", unit.Counted(n, "master")))
				case s.extend && !l.Extends:
					leftOut = c.lacking(leftOut, l, s.name+": no lease is extended by hand")
				default:
					fit = append(fit, l)
				}
			}
			for _, w := range asked(s.workers, c.Workers) {
				if len(fit) > 0 {
					out = append(out, setting{benchScenario: s, masters: n, goroutines: w, locks: fit})
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, nil, fmt.Errorf("nothing to measure: %s", strings.Join(leftOut, "; "))
	}
	return out, leftOut, nil
}

// lacking notes once why a lock that was named is not in a setting.
func (c Config) lacking(leftOut []string, l measure.Contestant, why string) []string {
	note := l.ID + ": " + why
	if len(c.Locks) == 0 || slices.Contains(leftOut, note) {
		return leftOut
	}
	return append(leftOut, note)
}

// asked returns what is asked for, each once, or what a scenario has.
func asked(has, all []int) []int {
	if len(all) == 0 {
		return has
	}
	return once(all)
}

// once returns all values in their order, each once.
func once[T comparable](all []T) (out []T) {
	for _, v := range all {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func (c Config) known() error {
	var names []string
	for _, s := range benchScenarios {
		names = append(names, s.name)
	}
	for _, name := range c.Scenarios {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--scenario: scenario %q is none of bench's%s: one of %s", name, config.DidYouMean(name, names), strings.Join(names, ", "))
		}
	}
	return nil
}

func (c Config) contestants() ([]measure.Contestant, error) {
	if len(c.Locks) == 0 {
		return measure.Contestants, nil
	}
	var out []measure.Contestant
	for _, id := range once(c.Locks) {
		l, err := measure.FindContestant(c.Catalogue, id)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
