package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var killEntry = Entry{
	Name:     "kill",
	Wire:     "The node is killed (SIGKILL), refuses connections, and comes back with everything it had acknowledged.",
	Survives: "A minority may be down at any time: acquisitions go on, no lease is lost, nobody holds twice.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0.5),
	New: restart("kill", testbed.WithData, false),
}

// kill ends the processes of nodes without warning, and starts them again at the heal.
type kill struct {
	faults.Params
	name string
	how  testbed.Restart
	late bool // not before every lease of the past has expired
}

func (f kill) Name() string { return f.name }

func (f kill) Supports(t *faults.Target) error {
	if err := needNodes[testbed.Killer](t, "killed", "process, container and embedded"); err != nil {
		return err
	}
	for _, n := range t.Testbed.Nodes() {
		r, choosy := n.(testbed.Restarter)
		if !choosy && f.how == testbed.PowerLoss {
			return fmt.Errorf("%s testbed: %s cannot lose power; process with persistence can", t.Testbed.Name(), n.Name())
		}
		if choosy && r.CanRestart(f.how) != nil {
			return fmt.Errorf("%s testbed: %w", t.Testbed.Name(), r.CanRestart(f.how))
		}
	}
	return nil
}

func (f kill) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	nodes, err := pickVictims(ctx, s, f.Params, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if f.how != testbed.WithData {
		if err := findPrey(ctx, nodes, keys); err != nil {
			return faults.Injection{}, err
		}
	}
	hit := faults.Hit{Nodes: phrase.Names(nodes), Key: s.Occasion.Key}
	s.Begin(hit)
	held := leases(s)
	var receipts []string
	for _, n := range nodes {
		receipt, err := f.kill(ctx, s, n)
		if err != nil {
			return faults.Injection{}, err
		}
		receipts = append(receipts, receipt)
	}
	return f.killed(hit, phrase.Join(append(receipts, held)...)), nil
}

// killed is the injection of nodes that are down. Whether a power loss has lost
// anything only the restart can tell.
func (f kill) killed(hit faults.Hit, receipt string) faults.Injection {
	if f.how == testbed.PowerLoss {
		return faults.Injection{Target: hit, Note: receipt}
	}
	return faults.Injection{Target: hit, Receipt: receipt}
}

func (f kill) kill(ctx context.Context, s *faults.Scope, n testbed.Node) (string, error) {
	node := n.(testbed.Killer)
	killed := time.Now()
	s.OnHeal(n.Name()+" is down", "start a redis-server on "+n.Addr(), func(ctx context.Context) (string, error) {
		if node.Alive() {
			return "", nil // an earlier try has started it
		}
		how := f.how
		if f.late {
			how = f.comeBack(ctx, s, node, killed)
		}
		receipt, err := node.Restart(ctx, how)
		if receipt == "" {
			return "", err
		}
		return fmt.Sprintf("%s back %s after %v: %s", n.Name(), how, phrase.Round(time.Since(killed)), receipt), err
	})
	receipt, err := node.Kill(ctx)
	if err != nil {
		return "", err
	}
	if node.Alive() {
		return "", fmt.Errorf("kill %s: it is alive still", n.Name())
	}
	return n.Name() + " killed: " + receipt, nil
}

// comeBack waits until a node that loses its data may return, and says what it returns with.
// When the run ends before that, nobody waits for a TTL: the node returns with its data, or
// where it has none as soon as clients have had time to stop.
func (f kill) comeBack(ctx context.Context, s *faults.Scope, node testbed.Killer, killed time.Time) testbed.Restart {
	due := killed.Add(lateRestart(s.TTL))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.Over():
	}
	if ctx.Err() != nil || !time.Now().Before(due) {
		return f.how
	}
	if r, choosy := node.(testbed.Restarter); choosy && r.CanRestart(testbed.WithData) == nil {
		return testbed.WithData
	}
	wait.For(ctx, min(stopGrace, time.Until(due)))
	return f.how
}

// stopGrace is how long clients have to stop once a run is over.
const stopGrace = time.Second

// lateRestart is how long a node that loses its data stays down, so that every lease that it
// granted has run out when it returns: the TTL, and some for drift.
func lateRestart(ttl time.Duration) time.Duration { return ttl + ttl/10 + 10*time.Millisecond }

// pickVictims resolves the nodes of a fault that excludes others on them, and
// claims them.
func pickVictims(ctx context.Context, s *faults.Scope, p faults.Params, rng *rand.Rand) ([]testbed.Node, error) {
	var of []faults.Client
	if p.Client != "" {
		var err error
		if of, err = s.PickClients(p.Client, rng); err != nil {
			return nil, err
		}
	}
	nodes, err := s.PickNodes(ctx, p.Node, of, rng)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if err := s.Claim(n.Name()); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// leases is a text about how many leases a fault of nodes meets.
func leases(s *faults.Scope) string {
	return fmt.Sprintf("%d leases held at that moment", len(s.Holdings("")))
}

// Claims implements faults.Claimer.
func (f kill) Claims() string { return f.Node }
