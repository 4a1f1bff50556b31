package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/testbed"
)

// A serverFault acts on Redis by commands, over a connection that passes no link.
type serverFault struct {
	faults.Params
	name     string
	commands []string // that it sends
	instant  bool
	writes   bool     // to what a server stores, or acts on writes: a replica takes none
	more     []string // settings that it takes beside client and node

	// prey, when set, counts what there is on a node for the fault to hurt. Where
	// no victim has any, the fault waits for another moment.
	prey func(ctx context.Context, n testbed.Node) (int64, error)

	// apply acts on one node, registers the undo with t.OnHeal, and says what
	// proves that it took effect.
	apply func(ctx context.Context, s *faults.Scope, p faults.Params, n testbed.Node) (receipt string, err error)
}

// server returns the constructor of f.
func server(f serverFault) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault {
		f.Params = p
		return f
	}
}

func (f serverFault) Name() string { return f.name }

func (f serverFault) Supports(t *faults.Target) error {
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

func (f serverFault) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	p := f.Params
	if _, deployed := s.Testbed.(testbed.Deployment); deployed {
		if role, name := faults.SplitRole(p.Node, faults.RoleAny); role == faults.RoleAny {
			p.Node = faults.JoinRole(faults.RoleMaster, name) // a replica takes no command that writes
		}
	}
	nodes, err := pickVictims(ctx, s, p, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if f.writes {
		if err := mastersAlone(ctx, s, nodes); err != nil {
			return faults.Injection{}, err
		}
	}
	if err := findPrey(ctx, nodes, f.prey); err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Nodes: phrase.Names(nodes), Key: s.Occasion.Key, Instant: f.instant}
	s.Begin(hit)
	var receipts []string
	for _, n := range nodes {
		receipt, err := f.apply(ctx, s, f.Params, n)
		if err != nil {
			return faults.Injection{}, fmt.Errorf("%s: %w", n.Name(), err)
		}
		if receipt != "" {
			receipts = append(receipts, n.Name()+": "+receipt)
		}
	}
	return faults.Injection{Target: hit, Receipt: phrase.Join(receipts...), Instant: f.instant}, nil
}

// mastersAlone returns ErrMissed when one of the nodes of a deployment is a replica at the
// moment, or when that is not known.
func mastersAlone(ctx context.Context, s *faults.Scope, nodes []testbed.Node) error {
	d, deployed := s.Testbed.(testbed.Deployment)
	if !deployed {
		return nil
	}
	masters, err := d.Masters(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", err, faults.ErrMissed)
	}
	for _, n := range nodes {
		if !slices.Contains(masters, n) {
			return fmt.Errorf("%s is a replica, which takes no writes: %w", n.Name(), faults.ErrMissed)
		}
	}
	return nil
}

// findPrey returns ErrMissed when no node has anything for the fault to act on, or when one
// that may be stopped or being promoted does not answer.
func findPrey(ctx context.Context, nodes []testbed.Node, prey func(context.Context, testbed.Node) (int64, error)) error {
	if prey == nil {
		return nil
	}
	for _, n := range nodes {
		look, cancel := context.WithTimeout(ctx, faults.LookLimit)
		found, err := prey(look, n)
		cancel()
		if err != nil && !testbed.Refuses(err) && ctx.Err() == nil {
			return fmt.Errorf("%s: %w: %w", n.Name(), err, faults.ErrMissed)
		}
		if err != nil || found > 0 {
			return err
		}
	}
	return fmt.Errorf("%s: nothing to hurt there: %w", phrase.Few(phrase.Names(nodes)), faults.ErrMissed)
}

// keys counts the keys that a node stores.
func keys(ctx context.Context, n testbed.Node) (int64, error) { return query(ctx, n, "DBSIZE") }

// countTTL counts the keys that expire.
const countTTL = `
local found, cursor = 0, '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if redis.call('PTTL', key) > 0 then found = found + 1 end
  end
until cursor == '0'
return found`

// expiring counts the keys of a node that expire: leases, as a rule.
func expiring(ctx context.Context, n testbed.Node) (int64, error) {
	return query(ctx, n, "EVAL", countTTL, "0")
}

// errorsOf counts the replies with an error code that a node has ever given.
func errorsOf(ctx context.Context, n testbed.Node, code string) (int64, error) {
	reply, err := testbed.Do(ctx, n, "INFO", "errorstats")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if count, found := strings.CutPrefix(strings.TrimSpace(line), "errorstat_"+code+":count="); found {
			return strconv.ParseInt(count, 10, 64)
		}
	}
	return 0, nil
}

// refused registers a receipt that counts how many commands n refuses with
// code from here to the heal. The harness's own must be over.
func refused(ctx context.Context, s *faults.Scope, n testbed.Node, code string) error {
	before, err := errorsOf(ctx, n, code)
	if err != nil {
		return err
	}
	s.OnHeal("refusals are counted", "nothing is broken", func(ctx context.Context) (string, error) {
		after, err := errorsOf(ctx, n, code)
		if err != nil || after <= before {
			return "", err
		}
		return fmt.Sprintf("%s refused %d commands with %s", n.Name(), after-before, code), nil
	})
	return nil
}

// administer sends a command that changes the whole server, not a key.
func administer(ctx context.Context, n testbed.Node, args ...string) error {
	_, err := n.(testbed.Administrable).Administer(ctx, args...)
	return err
}

// query sends a command and returns its reply as a number.
func query(ctx context.Context, n testbed.Node, args ...string) (int64, error) {
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

// configure sets a CONFIG value until the heal, or until restore is called.
func configure(ctx context.Context, s *faults.Scope, n testbed.Node, name, value string) (restore func(context.Context) error, err error) {
	before, err := setting(ctx, n, name)
	if err != nil {
		return nil, err
	}
	set := func(ctx context.Context, to string) error {
		return administer(ctx, n, "CONFIG", "SET", name, to)
	}
	restore = func(ctx context.Context) error { return set(ctx, before) }
	command := fmt.Sprintf("redis-cli CONFIG SET %s %q on %s", name, before, n.Addr())
	s.OnHeal(fmt.Sprintf("%s has %s %s", n.Name(), name, value), command, func(ctx context.Context) (string, error) {
		return "", restore(ctx)
	})
	return restore, set(ctx, value)
}

// Settings names what the commands of the fault can be told.
func (f serverFault) Settings() []string { return append(f.Params.Settings(), f.more...) }

// Claims implements faults.Claimer.
func (f serverFault) Claims() string { return f.Node }
