package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/peers/redislock"
	"locktorture/lockimpl/peers/redsync"
	"locktorture/lockimpl/peers/rueidislock"
	"locktorture/lockimpl/redlock"
)

// A Contestant is a lock that can be measured.
type Contestant struct {
	ID      string
	About   string
	Nodes   int  // on so many masters: 1, or 0 for any odd number
	Extends bool // a lease can be extended by hand
	Factory func(prefix string) lockimpl.Factory
	Pause   func(rng *rand.Rand) time.Duration // between two tries at a held key
}

// TTL is the lease asked for: much longer than any hold.
const TTL = 5 * time.Second

// redsyncPause is how long redsync waits between two tries unless told
// otherwise. Source: redsync v4.18.0, minRetryDelayMilliSec, maxRetryDelayMilliSec.
func redsyncPause(rng *rand.Rand) time.Duration {
	return 50*time.Millisecond + time.Duration(rng.Int64N(int64(200*time.Millisecond)))
}

// FullLock is the full lock under prefix.
func FullLock(prefix string) lockimpl.Factory {
	return redlock.NewFactory(redlock.Config{Prefix: prefix, FirstTime: true})
}

func always(f lockimpl.Factory) func(string) lockimpl.Factory {
	return func(string) lockimpl.Factory { return f }
}

// Contestants are the locks in the order in which tables show them. Of those
// in a setting, the first is what the others are compared with. Each rival is as its own
// documentation has it, and at its fastest known setting where that is another.
var Contestants = []Contestant{
	{ID: "single", About: "the full lock on one master, fenced", Nodes: 1, Extends: true, Factory: FullLock},
	{ID: "redlock", About: "the full lock over several masters, fenced", Extends: true, Factory: FullLock},
	{ID: "redsync", About: "redsync v4.18.0 on go-redis v9.23.0, as it comes; polls every 50 to 250 ms, its default", Extends: true,
		Factory: always(redsync.New(redsync.Options{})), Pause: redsyncPause},
	{ID: "redsync-fast", About: "redsync v4.18.0 at its fastest: WithFailFast, on rueidis v1.0.79; polls every 1 ms", Extends: true,
		Factory: always(redsync.NewFailFast())},
	{ID: "redislock", About: "bsm/redislock v0.9.4 on go-redis v9.23.0 at its fastest: polls every 1 ms (in its documentation's example every 100 ms)", Nodes: 1, Extends: true,
		Factory: always(redislock.New())},
	{ID: "rueidislock", About: "rueidislock v1.0.79 as its README says for one server (KeyMajority 1, NoLoopTracking), its fastest: one key; waits for the server's notice", Nodes: 1,
		Factory: always(rueidislock.New(rueidislock.ForOneServer))},
	{ID: "rueidislock-default", About: "rueidislock v1.0.79 with its defaults: two of three keys; waits for the server's notice", Nodes: 1,
		Factory: always(rueidislock.New(rueidislock.Options{}))},
}

// ContestantIDs are the locks that bench measures unless told otherwise, the
// ones that others are compared with first.
func ContestantIDs() []string {
	var ids []string
	for _, c := range Contestants {
		ids = append(ids, c.ID)
	}
	return ids
}

// ContestantLines are they with how each is set, a line each.
func ContestantLines() []string {
	var lines []string
	for _, c := range Contestants {
		lines = append(lines, fmt.Sprintf("%-20s %s", c.ID, c.About))
	}
	return lines
}

// FindContestant returns the lock called ID: a contestant, or any lock of the
// catalogue.
func FindContestant(known catalogue.Locks, id string) (Contestant, error) {
	for _, c := range Contestants {
		if c.ID == id {
			return c, nil
		}
	}
	l, ok := known[id]
	if !ok {
		all := append(ContestantIDs(), slices.Collect(maps.Keys(known))...)
		slices.Sort(all)
		return Contestant{}, fmt.Errorf("--lock: lock %q does not exist%s (torture list locks)", id, config.DidYouMean(id, slices.Compact(all)))
	}
	c := Contestant{ID: id, About: l.About, Nodes: 1, Factory: always(l.Factory(config.Config{TTL: TTL}))}
	if cmp.Or(l.Nodes, 1) > 1 {
		c.Nodes = 0
	}
	return c, nil
}

// Fits reports whether the lock is meant for so many masters.
func (c Contestant) Fits(nodes int) bool {
	return c.Nodes == nodes || c.Nodes == 0 && (nodes > 1 || c.ID == "redsync")
}
