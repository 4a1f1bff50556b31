package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

// LookLimit bounds a look at what one node stores.
const LookLimit = 300 * time.Millisecond

// PickNodes resolves a role of nodes, RoleAny when it is empty. of are the
// clients whose quorum the swing role speaks of; none means the client of the
// step's occasion, or any holder.
func (s *Scope) PickNodes(ctx context.Context, text string, of []Client, rng *rand.Rand) ([]testbed.Node, error) {
	role, name := SplitRole(text, RoleAny)
	found, err := s.nodesOf(ctx, role, of, rng)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("node %q: %w", role, ErrMissed)
	}
	s.bindLater(name, phrase.Names(found))
	return found, nil
}

func (s *Scope) nodesOf(ctx context.Context, role string, of []Client, rng *rand.Rand) ([]testbed.Node, error) {
	all := s.Testbed.Nodes()
	up := s.up()
	if d, is := s.Testbed.(testbed.Deployment); is && slices.Contains(ofDeployments, role) {
		return s.ofDeployment(ctx, d, role, of, rng)
	}
	switch role {
	case RoleAll:
		return all, nil
	case RoleAny, RoleMaster:
		return one(up, rng), nil
	case RoleMinority:
		return some(up, len(up)-s.Quorum, rng), nil
	case RoleMajority:
		return some(up, s.Quorum, rng), nil
	case RoleSwing:
		return one(s.swing(ctx, of, rng), rng), nil
	case RoleThat:
		return named(s.run, "node", s.Testbed.Nodes(), s.Occasion.Node)
	case StoreNode:
		return []testbed.Node{s.Testbed.Store()}, nil
	}
	return named(s.run, "node", s.Testbed.Nodes(), role)
}

// ofDeployments are the roles with another meaning where nodes are the masters and replicas of
// a deployment: the masters are a quorum, and the replicas what it can spare.
var ofDeployments = []string{RoleMaster, RoleSwing, RoleMajority, RoleMinority}

func (s *Scope) ofDeployment(ctx context.Context, d testbed.Deployment, role string, of []Client, rng *rand.Rand) ([]testbed.Node, error) {
	masters, err := d.Masters(ctx)
	if err != nil {
		return nil, fmt.Errorf("node %q: %w: %w", role, err, ErrMissed)
	}
	key := s.Occasion.Key
	if role == RoleSwing && len(masters) > 1 {
		h, held := s.holding(of, rng)
		if !held {
			return nil, nil
		}
		key = h.Key
	}
	if len(masters) > 1 && (role == RoleMaster || role == RoleSwing) {
		shard, err := s.shard(ctx, d, key, len(masters), rng)
		if err != nil {
			return nil, fmt.Errorf("node %q: %w: %w", role, err, ErrMissed)
		}
		masters = masters[shard : shard+1]
	}
	return slices.DeleteFunc(s.up(), func(n testbed.Node) bool { return slices.Contains(masters, n) == (role == RoleMinority) }), nil
}

// shard is the shard that stores the lease of key, any of so many where there is none.
func (s *Scope) shard(ctx context.Context, d testbed.Deployment, key string, of int, rng *rand.Rand) (int, error) {
	if key == "" {
		return rng.IntN(of), nil
	}
	if s.LeaseKeys != nil {
		if names := s.LeaseKeys(key); len(names) > 0 {
			key = names[0]
		}
	}
	return d.Shard(ctx, key)
}

// PickMaster resolves RoleMaster in a deployment, and says which shard's it is: that of
// the step's occasion, any one where there is none.
func (s *Scope) PickMaster(ctx context.Context, d testbed.Deployment, rng *rand.Rand) (n testbed.Node, shard int, err error) {
	masters, err := d.Masters(ctx)
	if err == nil {
		shard, err = s.shard(ctx, d, s.Occasion.Key, len(masters), rng)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("node %q: %w: %w", RoleMaster, err, ErrMissed)
	}
	return masters[shard], shard, nil
}

// up returns the nodes that no fault has down or frozen.
func (s *Scope) up() []testbed.Node {
	return slices.DeleteFunc(slices.Clone(s.Testbed.Nodes()), func(n testbed.Node) bool { return s.run.isTaken(n.Name()) })
}

// some draws n of all, in their order.
func some(all []testbed.Node, n int, rng *rand.Rand) []testbed.Node {
	if n <= 0 {
		return nil
	}
	chosen := rng.Perm(len(all))[:min(n, len(all))]
	slices.Sort(chosen)
	found := make([]testbed.Node, 0, n)
	for _, i := range chosen {
		found = append(found, all[i])
	}
	return found
}

// swing returns the nodes that make up the quorum of one holding: those that store its key, and
// to which its client's link is open. Where the lock does not name its keys, or none was ever
// seen under such a name, only the links count.
func (s *Scope) swing(ctx context.Context, of []Client, rng *rand.Rand) []testbed.Node {
	h, held := s.holding(of, rng)
	if !held {
		return nil
	}
	client := s.ClientName(h.Owner)
	open := slices.DeleteFunc(s.up(), func(n testbed.Node) bool { return s.run.isCut(client, n.Name()) })
	if s.LeaseKeys == nil {
		return open
	}
	found := storing(ctx, open, s.LeaseKeys(h.Key))
	if len(found) > 0 {
		s.run.stored.Store(true)
	} else if !s.run.stored.Load() {
		return open
	}
	return found
}

// holding chooses one holding of the given clients, of the step's occasion, or
// of anybody.
func (s *Scope) holding(of []Client, rng *rand.Rand) (watch.Holding, bool) {
	found := slices.DeleteFunc(s.Holdings(""), func(h watch.Holding) bool {
		if len(of) > 0 {
			return !slices.Contains(phrase.Names(of), s.ClientName(h.Owner))
		}
		return s.Occasion.Owner != "" && !s.concerns(s.Occasion, h)
	})
	if len(found) == 0 {
		return watch.Holding{}, false
	}
	return found[rng.IntN(len(found))], true
}

// storing returns those of nodes that store any of keys right now. A node that
// does not answer in time stores nothing, as far as anybody can tell.
func storing(ctx context.Context, nodes []testbed.Node, keys []string) []testbed.Node {
	ctx, cancel := context.WithTimeout(ctx, LookLimit)
	defer cancel()
	has := make([]bool, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			reply, err := testbed.Do(ctx, n, append([]string{"EXISTS"}, keys...)...)
			count, _ := strconv.Atoi(fmt.Sprint(reply))
			has[i] = err == nil && count > 0
		})
	}
	wg.Wait()
	var found []testbed.Node
	for i, n := range nodes {
		if has[i] {
			found = append(found, n)
		}
	}
	return found
}
