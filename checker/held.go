package checker

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
	j.tie(tieHeld, g)
	k.held = append(k.held, g)
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
