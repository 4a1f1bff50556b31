package liveness

import (
	"math/bits"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// Independence is which keys are locks of their own, as far as a history shows it. A lock may keep
// several keys under one (lock striping: Herlihy and Shavit, The Art of Multiprocessor Programming,
// 13.2.2), so that who holds one of them keeps everybody out of the others. That two owners held two
// keys at the same time, one of them exclusively, shows that these are not kept so.
type Independence struct {
	keys     [mostIndependent]*ledger.Key
	granted  uint64                  // keys that were, as bits
	together [mostIndependent]uint64 // by key, those that were held together with it
}

// mostIndependent is how many keys are told apart: with more, all count as locks of their own.
const mostIndependent = 64

// observe notes with which other keys g's is held together when it is granted.
func (i *Independence) observe(g *ledger.Grant) {
	k := g.Holder.Key
	if k.No >= mostIndependent {
		return
	}
	i.keys[k.No] = k
	for rest := i.granted &^ i.together[k.No]; rest != 0; rest &= rest - 1 {
		no := bits.TrailingZeros64(rest)
		x := i.keys[no].Last
		if x.End() > g.OK && x.Holder.OwnerNo != g.Holder.OwnerNo && (x.Mode == history.Exclusive || g.Mode == history.Exclusive) {
			i.together[k.No] |= 1 << no
			i.together[no] |= 1 << k.No
		}
	}
	i.granted |= 1 << k.No
}

// shows reports whether what happens to k in [from, to], which is now, tells of k alone: every other
// key that may have been held meanwhile, or stored by servers, was held together with k before.
func (i *Independence) shows(k *ledger.Key, from, to time.Duration) bool {
	if k.No >= mostIndependent {
		return true
	}
	for no, x := range i.keys {
		if x == nil || x == k || i.together[k.No]>>no&1 == 1 {
			continue
		}
		if x.Open.Head != nil {
			return false // somebody may have it already
		}
		for _, g := range x.Held {
			end := g.ReleaseOK
			if end == ledger.Never {
				end = g.ServedUntil
			}
			if g.Inv <= to && end >= from {
				return false
			}
		}
	}
	return true
}
