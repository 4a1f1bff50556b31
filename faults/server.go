package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"locktorture/faults/testbed"
)

// A serverFault is done to Redis by commands on a connection past every link.
type serverFault struct {
	Params
	name     string
	commands []string // that it sends
	instant  bool

	// hurt acts on one node, registers the undo with t.OnHeal, and says what
	// proves that it bit.
	hurt func(ctx context.Context, t *Target, p Params, n testbed.Node) (receipt string, err error)
}

// server makes the constructor of f.
func server(f serverFault) func(Params) Fault {
	return func(p Params) Fault {
		f.Params = p
		return f
	}
}

func (f serverFault) Name() string { return f.name }

func (f serverFault) Supports(t *Target) error {
	if err := needNodes[testbed.Administrable](t, "administered", "process, container and embedded"); err != nil {
		return err
	}
	for _, n := range t.Testbed.Nodes() {
		for _, command := range f.commands {
			if err := n.(testbed.Administrable).CanAdminister(command); err != nil {
				return fmt.Errorf("%s testbed: %w", t.Testbed.Name(), err)
			}
		}
	}
	return nil
}

func (f serverFault) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	nodes, err := pickVictims(ctx, t, f.Params, rng)
	if err != nil {
		return Injection{}, err
	}
	hit := Hit{Nodes: names(nodes), Key: t.Occasion.Key, Instant: f.instant}
	t.Begin(hit)
	var receipts []string
	for _, n := range nodes {
		receipt, err := f.hurt(ctx, t, f.Params, n)
		if err != nil {
			return Injection{}, fmt.Errorf("%s: %w", n.Name(), err)
		}
		if receipt != "" {
			receipts = append(receipts, n.Name()+": "+receipt)
		}
	}
	return Injection{Target: hit, Receipt: join(receipts...), Instant: f.instant}, nil
}

// tell sends a command that changes the server as a whole.
func tell(ctx context.Context, n testbed.Node, args ...string) error {
	_, err := n.(testbed.Administrable).Administer(ctx, args...)
	return err
}

// ask sends a command and returns its reply as a number.
func ask(ctx context.Context, n testbed.Node, args ...string) (int64, error) {
	reply, err := testbed.Do(ctx, n, args...)
	if err != nil {
		return 0, err
	}
	number, ok := reply.(int64)
	if !ok {
		return 0, fmt.Errorf("%s answers %v: want a number", args[0], reply)
	}
	return number, nil
}

// stat reads one number out of INFO.
func stat(ctx context.Context, n testbed.Node, section, field string) (int64, error) {
	reply, err := testbed.Do(ctx, n, "INFO", section)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), field+":"); found {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("INFO %s has no %s", section, field)
}

// setting reads one CONFIG value.
func setting(ctx context.Context, n testbed.Node, name string) (string, error) {
	reply, err := testbed.Do(ctx, n, "CONFIG", "GET", name)
	if err != nil {
		return "", err
	}
	pair, ok := reply.([]any)
	if !ok || len(pair) != 2 {
		return "", fmt.Errorf("CONFIG GET %s answers %v", name, reply)
	}
	return fmt.Sprint(pair[1]), nil
}

// configure sets a CONFIG value until the heal.
func configure(ctx context.Context, t *Target, n testbed.Node, name, value string) error {
	before, err := setting(ctx, n, name)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, to string) error {
		return tell(ctx, n, "CONFIG", "SET", name, to)
	}
	command := fmt.Sprintf("redis-cli CONFIG SET %s %q on %s", name, before, n.Addr())
	t.OnHeal(fmt.Sprintf("%s has %s %s", n.Name(), name, value), command, func(ctx context.Context) (string, error) {
		return "", set(ctx, before)
	})
	return set(ctx, value)
}
