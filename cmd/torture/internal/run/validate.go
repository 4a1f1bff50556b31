package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/kernel"
	"locktorture/faults"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/testbed"
	"locktorture/workload"
)

// Validate names the first setting of c that cannot work with lock, with its
// value and what would. It starts nothing, asks no server and makes no file.
func Validate(c config.Config, lock catalogue.Lock) error {
	if err := c.Validate(); err != nil {
		return err
	}
	for _, check := range []func(config.Config, catalogue.Lock) error{fitsDeployment, fitsMasters, fitsLinks, FitsMode, FitsFaults} {
		if err := check(c, lock); err != nil {
			return err
		}
	}
	return nil
}

// fitForWorkers are the testbeds whose servers keep an address that other processes
// reach.
var fitForWorkers = []string{testbed.KindProcess, testbed.KindEmbedded, testbed.KindExternal}

// FitsWorkers checks that clients at this many workers can play c.
func FitsWorkers(c config.Config, l catalogue.Lock, workers int) error {
	switch {
	case workers < 1 || workers > c.Clients:
		return fmt.Errorf("%d workers: at least 1, and at most as many as there are clients (%s is %d)", workers, c.At("clients"), c.Clients)
	case l.Child:
		return fmt.Errorf("lock %s lives in child processes, whose writes this process puts in order itself: it cannot be played by workers", l.ID)
	case c.Testbed != "" && c.Testbed != testbed.KindAuto && !slices.Contains(fitForWorkers, c.Testbed):
		return fmt.Errorf("%s is %s: workers reach servers of testbed %s alone", c.At("testbed"), c.Testbed, strings.Join(fitForWorkers, ", "))
	}
	steps := c.Faults.Steps
	if len(steps) == 0 && !plans[c.Faults.Plan] {
		steps, _ = plan.Parse(c.Faults.Plan) // what is wrong with it, FitsFaults says
	}
	for _, s := range steps {
		if faults.Tapped(s.On) {
			return fmt.Errorf("%s: %s at %s waits for a command on a link of this process, and the links are the workers': use a moment of the history, such as acquire-sent", c.At("faults"), s.Fault, s.On)
		}
	}
	return nil
}

// fitsDeployment checks that the lock can ask Redis Sentinel for its master, or a Redis Cluster
// for its slots.
func fitsDeployment(c config.Config, l catalogue.Lock) error {
	var can bool
	var one, asks string
	switch c.Testbed {
	case testbed.KindSentinel:
		can, one, asks = l.Sentinel, "one master with its replicas", "asks Redis Sentinel for its master"
	case testbed.KindCluster:
		can, one, asks = l.Cluster, "one Redis Cluster", "follows the slots of a Redis Cluster"
	case testbed.KindExternal: // whether those servers have replicas, they alone know
		return nil
	default:
		if l.Acknowledged {
			return fmt.Errorf("%s is %s, and lock %s grants nothing before a replica has its key: --testbed %s has replicas", c.At("testbed"), cmp.Or(c.Testbed, testbed.KindAuto), l.ID, testbed.KindSentinel)
		}
		return nil
	}
	switch others := "token-lua and other recipes for one master have, and locks on lockimpl/adapt's GoRedis"; {
	case can && l.Masters(c) == 1:
		return nil
	case can:
		return fmt.Errorf("%s is %d, and testbed %s has %s: leave --nodes out", c.At("nodes"), c.Nodes, c.Testbed, one)
	case l.Child && c.Testbed == testbed.KindCluster:
		return fmt.Errorf("%s is %s, and lock %s lives in processes of its own: a cluster's servers tell all clients the same addresses, which are no links of its own, so that faults would pass it by; testbeds process and sentinel take it", c.At("testbed"), c.Testbed, l.ID)
	case l.Category != catalogue.Recipes && l.Category != catalogue.Libraries:
		return fmt.Errorf("%s is %s, and lock %s wants masters that are independent of one another, each with all its keys: %s", c.At("testbed"), c.Testbed, l.ID, others)
	default:
		return fmt.Errorf("%s is %s, and lock %s has no client that %s: %s", c.At("testbed"), c.Testbed, l.ID, asks, others)
	}
}

// fitsMasters checks that the lock can run on this many masters.
func fitsMasters(c config.Config, l catalogue.Lock) error {
	n := l.Masters(c)
	given := fmt.Sprintf("%s is %d", c.At("nodes"), n)
	if len(c.Redis) > 0 {
		given = fmt.Sprintf("%s gives %d masters", c.At("redis"), n)
	}
	if l.Nodes == 1 && n != 1 && !l.AnyNodes {
		return fmt.Errorf("%s: lock %s is made for 1 master (--lock redlock is for several)", given, l.ID)
	}
	locker, err := l.Build(c, n)
	switch {
	case errors.As(err, new(*catalogue.DialsError)):
		return nil
	case err != nil && n != l.Nodes:
		return fmt.Errorf("%s: lock %s is made for %d: %w", given, l.ID, l.Nodes, err)
	case err != nil:
		return fmt.Errorf("lock %s cannot be made on %d: %w", l.ID, n, err)
	}
	return locker.Close()
}

// The file descriptors of this process that are needed at most, and what is left for all else. A link, as an
// ingress, takes a listener, the reservation of its port, and both ends of what passes through it.
const (
	perLink    = 8
	perIngress = 6
	elsewhere  = 256
)

// fitsLinks checks that there are ports and file descriptors for all links: one for each client
// to each master, and one to the store.
func fitsLinks(c config.Config, l catalogue.Lock) error {
	if c.Testbed == "compose" {
		return nil // which has a limit of its own
	}
	per := l.Masters(c) + 1
	if c.Testbed == testbed.KindSentinel || c.Testbed == testbed.KindCluster {
		per = len(previewTestbed(c, 1).Nodes()) + 1
	}
	ports, files := link.EmbeddedLimit(), perLink
	if l.Child {
		ports, files = ports/2, files+perIngress
	}
	links, what := ports, fmt.Sprintf("there are ports for %d", ports)
	if n := kernel.Descriptors(); n > 0 && (n-elsewhere)/files < links {
		links = max(n-elsewhere, 0) / files
		what = fmt.Sprintf("this process may open as many files as %d take (ulimit -n is %d)", links, n)
	}
	if c.Clients*per <= links {
		return nil
	}
	return fmt.Errorf("%s is %d: with %d masters and the store each client has %d links, and %s: at most %d clients",
		c.At("clients"), c.Clients, per-1, per, what, links/per)
}

// FitsMode checks that the lock can do what the mode needs. A lock in a child process, or one
// that connects when it is made, says so itself once it runs.
func FitsMode(c config.Config, l catalogue.Lock) error {
	if l.Child {
		return nil
	}
	locker, err := l.Build(c, l.Masters(c))
	switch {
	case errors.As(err, new(*catalogue.DialsError)):
		return nil
	case err != nil:
		return err
	}
	if err := workload.Lacks(c.Load.Mode, locker); err != nil {
		return errors.Join(fmt.Errorf("%s is %s: lock %s: %w", c.At("load.mode"), c.Load.Mode, l.ID, err), locker.Close())
	}
	return locker.Close()
}

// plans are the names that stand for a plan of faults.
var plans = map[string]bool{
	"": true, "none": true, "standard": true, "amnesia": true, "amnesia-late": true, "restarts": true,
	"random": true, "random-beyond": true, "pause": true,
}

// FitsFaults checks that the faults exist and have the parameters that they need.
func FitsFaults(c config.Config, l catalogue.Lock) error {
	t, known := Preview(c, l), faultcatalogue.All()
	if len(t.Testbed.Nodes()) > 0 && t.Testbed.Name() != unknownBed {
		if _, err := drawPlan(c, l, t); err != nil {
			return fmt.Errorf("%s: %w", c.At("faults"), err)
		}
		return nil
	}
	if steps := c.Faults.Steps; len(steps) > 0 {
		built, err := plan.Build(known, steps, c.TTL)
		if err != nil {
			return err
		}
		return plan.Fit(built, c.Duration, t)
	}
	if err := fitsPlan(c, t); err != nil || plans[c.Faults.Plan] {
		return err
	}
	specs, err := plan.Parse(c.Faults.Plan)
	if err == nil {
		err = plan.FitNamed(known, specs, c.Duration, t)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.At("faults"), err)
	}
	return nil
}

// fitsPlan checks that there is room for a plan with a length of its own.
func fitsPlan(c config.Config, t *faults.Target) (err error) {
	switch c.Faults.Plan {
	case "pause":
		err = plan.FitNamed(faultcatalogue.All(), []faults.Spec{{Fault: "pause-client"}}, c.Duration, t)
	case "amnesia", "amnesia-late":
		_, err = plan.Forgetful(c.Duration, c.Faults.Plan == "amnesia-late", t)
	case "restarts":
		_, err = plan.Restarts(c.Duration, t, stream(c.Seed, streamPlan))
	}
	if misfit := (*plan.MisfitError)(nil); errors.As(err, &misfit) {
		return fmt.Errorf("%s: %w", c.At("faults"), misfit)
	}
	return nil // what else it may lack, the testbed says
}

// Preview is the run as the nemesis will know it, before anything is started: the names of
// clients and nodes, and the durations. Where the kind of testbed is known, its abilities are
// too.
func Preview(c config.Config, l catalogue.Lock) *faults.Target {
	n := l.Masters(c)
	t := &faults.Target{
		Testbed: previewTestbed(c, n), Quorum: n/2 + 1, TTL: c.TTL, Notifies: notifies(c, l), OwnWrites: l.Child,
		Link: func(string, string) link.Link { return nil }, Fabric: link.NewVirtual(0, link.Pace{}, nil),
	}
	if c.Testbed == testbed.KindCompose {
		t.Fabric = link.NewRemote(link.RemoteConfig{}) // which has no links
	}
	if l.Quarantine != nil {
		t.Quarantine = l.Quarantine(c)
	}
	for i := range c.Clients {
		t.Clients = append(t.Clients, previewClient{name: clientName(i)})
	}
	return t
}

// unknownBed is the name of the testbed that is yet to be chosen.
const unknownBed = "planned"

func previewTestbed(c config.Config, nodes int) testbed.Testbed {
	if c.Testbed != "" && c.Testbed != testbed.KindAuto {
		return testbed.SpecimenOf(testbed.Config{
			Kind: c.Testbed, Nodes: nodes, Image: c.Image, Persist: c.Persist, Fsync: fsync(c), FakeClock: needs(c.Faults, testbed.AbilityClockJump) && testbed.CanFakeClock() == nil,
		})
	}
	bed := previewBed{}
	for i := range nodes {
		bed.nodes = append(bed.nodes, previewNode{name: fmt.Sprintf("n%d", i+1)})
	}
	return bed
}

type previewBed struct {
	testbed.Testbed
	nodes []testbed.Node
}

func (b previewBed) Name() string          { return unknownBed }
func (b previewBed) Nodes() []testbed.Node { return b.nodes }

type previewNode struct {
	testbed.Node
	name string
}

func (n previewNode) Name() string { return n.name }

type previewClient struct {
	faults.Client
	name string
}

func (c previewClient) Name() string { return c.name }

// Cancel and WallClock are what clients of some locks have: the lock says so
// once it is built.
func (c previewClient) Cancel() int                           { return 0 }
func (c previewClient) WallClock() (*faults.WallClock, error) { return &faults.WallClock{}, nil }

func clientName(i int) string { return fmt.Sprintf("c%02d", i) }

// clientNames are those of so many clients.
func clientNames(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = clientName(i)
	}
	return all
}
