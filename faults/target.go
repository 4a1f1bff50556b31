package faults

import (
	"slices"
	"strings"
	"time"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

// A Target is what a schedule of faults acts on: testbed, clients and the links between them,
// and what is known of the lock. It does not change while the schedule runs.
type Target struct {
	Testbed testbed.Testbed
	Clients []Client
	Link    func(client, node string) link.Link // client may be Peers; node is a testbed node's name, or StoreNode
	Watch   *watch.Observer                     // who holds what right now, read off the history
	Quorum  int
	TTL     time.Duration

	// Fabric makes further links, such as that of a replica; nil when there is
	// none.
	Fabric link.Fabric

	// LeaseKeys names the keys that bear the lease of key on a node; nil when
	// the lock does not say. The swing role looks for them, and does without when
	// none is ever seen: of a lock in another process they may be a guess.
	LeaseKeys func(key string) []string

	// Load is how long clients begin something new, counted from the beginning of the
	// schedule; 0 is not known. No other victim is tried that there is no time to hurt.
	Load time.Duration

	// Quarantine is how long the lock itself keeps a node out that comes back
	// from a restart; 0 when it does not. Plans leave that much time between
	// two nodes that restart.
	Quarantine time.Duration

	// Notifies says that clients of the lock, under this load, subscribe to
	// releases.
	Notifies bool

	// Extends says that leases of the lock can be extended, by it or by hand.
	Extends bool

	// Reads says that clients of the lock, under this load, ask for keys as readers.
	Reads bool

	// Reenters says that owners of a key, under this load, ask for it again.
	Reenters bool

	// Taps says that commands are seen as they pass on the links, so that steps can wait for them.
	Taps bool

	// OwnWrites says that clients write by themselves, past the links to the store.
	OwnWrites bool

	// ClientOf maps an owner in the history to its client's name; nil means
	// that an owner is its client's name, or begins with it and a separator.
	ClientOf func(owner string) string
}

// Peers stands in the place of a client's name for the link by which the other
// servers of a deployment, and its Sentinels, reach a node.
const Peers = "peers"

// ClientName returns the name of owner's client.
func (t *Target) ClientName(owner string) string {
	if t.ClientOf != nil {
		return t.ClientOf(owner)
	}
	for _, c := range t.Clients {
		rest, found := strings.CutPrefix(owner, c.Name())
		if found && (rest == "" || strings.ContainsAny(rest[:1], "#/.:-~@")) {
			return c.Name()
		}
	}
	return owner
}

// Holdings returns what a client holds, or what all clients hold when client is empty.
func (t *Target) Holdings(client string) []watch.Holding {
	if t.Watch == nil {
		return nil
	}
	return slices.DeleteFunc(t.Watch.Holders(), func(h watch.Holding) bool {
		return client != "" && t.ClientName(h.Owner) != client
	})
}

// Deadline is when the lock's promise for h ends; where the lock promises nothing, it is
// computed from the TTL.
func (t *Target) Deadline(h watch.Holding) time.Duration {
	if h.ValidUntil > 0 {
		return h.ValidUntil
	}
	return h.Renewed + t.TTL
}
