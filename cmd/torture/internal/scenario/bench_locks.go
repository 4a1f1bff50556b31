package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/peers/redislock"
	"locktorture/lockimpl/peers/redsync"
	"locktorture/lockimpl/peers/rueidislock"
	"locktorture/lockimpl/redlock"
)

// A contestant is a lock that can be measured.
type contestant struct {
	id      string
	about   string
	nodes   int  // on so many masters: 1, or 0 for any odd number
	extends bool // a lease can be extended by hand
	factory func(prefix string) lockimpl.Factory
	pause   func(rng *rand.Rand) time.Duration // between two tries at a held key
}

// benchTTL is the lease asked for: much longer than any hold.
const benchTTL = 5 * time.Second

// redsyncPause is how long redsync waits between two tries unless told
// otherwise. Source: redsync v4.18.0, minRetryDelayMilliSec, maxRetryDelayMilliSec.
func redsyncPause(rng *rand.Rand) time.Duration {
	return 50*time.Millisecond + time.Duration(rng.Int64N(int64(200*time.Millisecond)))
}

func benchFull(prefix string) lockimpl.Factory {
	return redlock.NewFactory(redlock.Config{Prefix: prefix, FirstTime: true})
}

func always(f lockimpl.Factory) func(string) lockimpl.Factory {
	return func(string) lockimpl.Factory { return f }
}

// contestants are the locks in the order in which tables show them. Of those
// in a setting, the first is what the others are held against.
var contestants = []contestant{
	{id: "single", about: "the full lock on one master, fenced", nodes: 1, extends: true, factory: benchFull},
	{id: "redlock", about: "the full lock over several masters, fenced", extends: true, factory: benchFull},
	{id: "redsync", about: "redsync v4.18.0 on go-redis, as it comes; polls every 50 to 250 ms", extends: true,
		factory: always(redsync.New(redsync.Options{})), pause: redsyncPause},
	{id: "redsync-fast", about: "redsync v4.18.0, fail-fast on rueidis; polls every 50 to 250 ms", extends: true,
		factory: always(redsync.NewFailFast()), pause: redsyncPause},
	{id: "redislock", about: "bsm/redislock v0.9.4; polls every 1 ms", nodes: 1, extends: true, factory: always(redislock.New())},
	{id: "rueidislock", about: "rueidislock v1.0.79; waits for the server's notice", nodes: 1, factory: always(rueidislock.New())},
}

// ContestantIDs are the locks that bench measures unless told otherwise, the
// ones that others are held against first.
func ContestantIDs() []string {
	var ids []string
	for _, c := range contestants {
		ids = append(ids, c.id)
	}
	return ids
}

// findContestant returns the lock called id: a contestant, or any lock of the
// catalogue.
func findContestant(id string) (contestant, error) {
	for _, c := range contestants {
		if c.id == id {
			return c, nil
		}
	}
	l, ok := Locks[id]
	if !ok {
		all := append(ContestantIDs(), slices.Collect(maps.Keys(Locks))...)
		slices.Sort(all)
		return contestant{}, fmt.Errorf("lock %q does not exist%s (torture list locks)", id, config.DidYouMean(id, slices.Compact(all)))
	}
	c := contestant{id: id, about: l.About, nodes: 1, factory: always(l.Factory(config.Config{TTL: benchTTL}))}
	if cmp.Or(l.Nodes, 1) > 1 {
		c.nodes = 0
	}
	return c, nil
}

// fits reports whether the lock is meant for so many masters.
func (c contestant) fits(nodes int) bool {
	return c.nodes == nodes || c.nodes == 0 && (nodes > 1 || c.id == "redsync")
}
