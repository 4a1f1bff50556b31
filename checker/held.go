package checker

import (
	"slices"

	"locktorture/workload/history"
)

// Ended grants that a key remembers, for what is told of them late; more while
// one that ran out unreleased may yet be extended.
const (
	remembered     = 4
	rememberedOpen = 16
)

// remember adds g to its key's grants.
func (j *Judge) remember(g *grant) {
	k := g.holder.key
	if len(k.held) > remembered {
		j.forget(k)
	}
	if len(k.held) >= heldMost {
		j.crowdOut(k)
	}
	j.tie(tieHeld, g)
	k.held = append(k.held, g)
}

// recall remembers g again, if its key has forgotten it.
func (j *Judge) recall(g *grant) {
	if g.member == 0 && !slices.Contains(g.holder.key.held, g) {
		j.remember(g)
	}
}

// crowdOut makes place among k's grants: the oldest one goes to the crowd, a
// reader first, since what a reader excludes is rarer.
func (j *Judge) crowdOut(k *key) {
	at := max(slices.IndexFunc(k.held, func(x *grant) bool { return x.mode == history.Shared }), 0)
	x := k.held[at]
	k.held = slices.Delete(k.held, at, at+1)
	j.join(k, x)
}

// forget makes k forget the grants that ended long ago.
func (j *Judge) forget(k *key) {
	over, limit := 0, remembered
	for _, x := range k.held {
		if x.end() > j.now {
			continue
		}
		if x.extends == 0 {
			over++
		}
		if x.stop == never {
			limit = rememberedOpen
		}
	}
	for i := 0; over > limit; {
		x := k.held[i]
		if x.end() > j.now || x.extends > 0 {
			i++
			continue
		}
		over--
		j.untie(tieHeld, x)
		k.held = append(k.held[:i], k.held[i+1:]...)
	}
}
