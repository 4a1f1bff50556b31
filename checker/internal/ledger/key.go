package ledger

import (
	"time"

	"locktorture/workload/history"
)

// A Holder is one owner's relation to one key. The fields that every operation reads come
// first, in 64 bytes.
type Holder struct {
	Key     *Key
	Grant   *Grant // its latest
	Prior   *Grant // the one before
	tried   Use    // UseRefused or UseUnknown: the latest attempt after that grant
	over    bool   // its latest grant has stopped
	beside  bool   // it was granted a lease while another one of its went on
	granted int32  // how many leases it was granted
	OwnerNo int    // the owner's number
	ID      int    // its own, of all keys together
	Owner   string

	vain    asking // that attempt
	extends asking // its latest extension that was asked for, and not answered
	wrote   int    // index of its latest write; it makes all of it as large as the allocator aligns to 64 bytes
}

// A Key is a guarded resource.
type Key struct {
	Name             string
	No               int
	Holders          []*Holder       // by the owner's number; nil where it has none
	many             map[int]*Holder // those with higher numbers than holders has places for
	Held             []*Grant        // live, and the last few that ended
	watched          [2][]*Grant     // by mode: not released, and not yet crossed by enough of others' grants
	Last             *Grant          // the latest
	Overflow         *overflow       // live grants that held has no place for; nil when there never were any
	Open             queue           // open acquires and extensions
	Log              storeLog
	Tokens           tokens         // to whom
	Newest           uint64         // token that anybody was heard of with
	LastUnknown      unknownAcquire // the last acquire of unknown outcome
	UnknownExtension time.Duration  // an extension of unknown outcome was given up last
	Answered         time.Duration  // an acquire or extension was answered last
	gone             forgottenHolds // grants that are no longer remembered
	followed         []*following   // that have not ended, by their leases' deadlines
	ServedUntil      time.Duration  // until when servers may keep any lease of it
}

// Asking says whether an acquire of h's that was invoked before o is under way. Where o has
// stamps of its own it may have happened after its line, so that any open acquire counts.
func (h *Holder) Asking(o *Op) bool {
	for a := h.Key.Open.Head; a != nil && (a.InvIdx < o.InvIdx || o.HasBegan()); a = a.Next {
		if a.Holder == h && a.Action == history.Acquire {
			return true
		}
	}
	return false
}
