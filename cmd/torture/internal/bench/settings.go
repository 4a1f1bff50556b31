package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/faults/link"
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
	{name: "uncontended", about: "every goroutine has a key of its own; one client", nodes: []int{1, 5}, workers: []int{1, 16, 64, 256},
		task: load.Task{TTL: measure.TTL}},
	{name: "contended", about: "16 clients want one key and give it back at once", nodes: []int{1, 5}, workers: []int{16},
		hot: true, clients: true, task: waiting},
	{name: "contended-local", about: "16 goroutines of one client want one key and give it back at once", nodes: []int{1, 5}, workers: []int{16},
		hot: true, task: waiting},
	{name: "hot-key", about: "16 clients want one key and hold it for 1 ms", nodes: []int{1, 5}, workers: []int{16},
		hot: true, clients: true, task: holding1ms},
	{name: "hot-key-local", about: "16 goroutines of one client want one key and hold it for 1 ms", nodes: []int{1, 5}, workers: []int{16},
		hot: true, task: holding1ms},
	{name: "extend", about: "one goroutine acquires, extends and releases", nodes: []int{1, 5}, workers: []int{1},
		extend: true, task: load.Task{TTL: measure.TTL, Extend: true}},
	{name: "healthy", about: "as uncontended, the last node behind a link that does nothing: what slow-node and dead-node are held against",
		nodes: []int{5}, workers: []int{16}, task: load.Task{TTL: measure.TTL}, linked: true},
	{name: "slow-node", about: "the replies of the last node come 50 ms late", nodes: []int{5}, workers: []int{16},
		task: load.Task{TTL: measure.TTL}, linked: true, impair: &link.Impairment{Kind: link.Delay, Toward: link.Down, Delay: 50 * time.Millisecond}},
	{name: "dead-node", about: "the last node swallows everything and answers nothing", nodes: []int{5}, workers: []int{16},
		task: load.Task{TTL: measure.TTL}, linked: true, impair: &link.Impairment{Kind: link.BlackHole}},
}

// Scenarios names and explains what bench can compare, a line each.
func Scenarios() []string {
	var out []string
	for _, s := range benchScenarios {
		out = append(out, fmt.Sprintf("%-16s %s", s.name, s.about))
	}
	return out
}

// A setting is a scenario with a number of masters and workers.
type setting struct {
	benchScenario
	masters, goroutines int
	locks               []measure.Contestant
}

// settings resolves what c asks for.
func (c Config) settings() ([]setting, error) {
	locks, err := c.contestants()
	if err != nil {
		return nil, err
	}
	if err := c.known(); err != nil {
		return nil, err
	}
	var out []setting
	for _, s := range benchScenarios {
		if len(c.Scenarios) > 0 && !slices.Contains(c.Scenarios, s.name) {
			continue
		}
		for _, n := range c.pick(s.nodes, c.Nodes) {
			for _, w := range c.pick(s.workers, c.Workers) {
				one := setting{benchScenario: s, masters: n, goroutines: w}
				for _, l := range locks {
					if l.Fits(n) && (l.Extends || !s.extend) {
						one.locks = append(one.locks, l)
					}
				}
				if len(one.locks) > 0 {
					out = append(out, one)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing to measure: no lock of %s runs in any of the chosen scenarios, nodes and workers", strings.Join(c.Locks, ", "))
	}
	return out, nil
}

// pick returns what is asked for of what a scenario has; a scenario with only
// one choice is asked for no other.
func (Config) pick(has, asked []int) []int {
	if len(asked) == 0 || len(has) == 1 {
		return has
	}
	return asked
}

func (c Config) known() error {
	var names []string
	for _, s := range benchScenarios {
		names = append(names, s.name)
	}
	for _, name := range c.Scenarios {
		if !slices.Contains(names, name) {
			return fmt.Errorf("scenario %q is none of bench's%s: one of %s", name, config.DidYouMean(name, names), strings.Join(names, ", "))
		}
	}
	return nil
}

func (c Config) contestants() ([]measure.Contestant, error) {
	if len(c.Locks) == 0 {
		return measure.Contestants, nil
	}
	var out []measure.Contestant
	for _, id := range c.Locks {
		l, err := measure.FindContestant(c.Catalogue, id)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
