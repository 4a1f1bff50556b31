package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/watch"
)

// Roles of clients. Any other text is a client's name, a name that an earlier
// step bound, or several of them with a comma between. "ROLE as NAME" binds
// NAME to the victims once the fault is in force.
const (
	RoleAny    = "any"    // one of them; for a phase-locked step, the one whose moment it is
	RoleAll    = "all"    // every one
	RoleHolder = "holder" // one that holds a lease right now; phase-locked: the one whose moment it is
	RoleWaiter = "waiter" // the one that has waited longest for a key that another one holds
)

// Roles of nodes, beside RoleAny and RoleAll. Any other text is as for clients.
const (
	RoleMinority = "minority" // as many as the quorum can spare
	RoleMajority = "majority" // a quorum
	RoleSwing    = "swing"    // one of those that make up the holder's quorum
	RoleThat     = "that"     // the one of the tapped command to which the step is locked
)

// SplitRole parts "ROLE as NAME".
func SplitRole(text, otherwise string) (role, name string) {
	role, name, _ = strings.Cut(text, " as ")
	role, name = strings.TrimSpace(role), strings.TrimSpace(name)
	if role == "" {
		role = otherwise
	}
	return role, name
}

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

// Holdings returns what a client holds, or what anybody holds when client is
// empty.
func (t *Target) Holdings(client string) []watch.Holding {
	if t.Watch == nil {
		return nil
	}
	return slices.DeleteFunc(t.Watch.Holders(), func(h watch.Holding) bool {
		return client != "" && t.ClientName(h.Owner) != client
	})
}

// PickClients resolves a role of clients, RoleAny when it is empty.
func (t *Target) PickClients(text string, rng *rand.Rand) ([]Client, error) {
	role, name := SplitRole(text, RoleAny)
	found, err := t.clientsOf(role, rng)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("client %q: %w", role, ErrMissed)
	}
	t.bindLater(name, phrase.Names(found))
	return found, nil
}

func (t *Target) clientsOf(role string, rng *rand.Rand) ([]Client, error) {
	switch role {
	case RoleAll:
		return t.Clients, nil
	case RoleAny:
		if t.Occasion.Owner != "" {
			return t.free(t.ClientName(t.Occasion.Owner)), nil
		}
		return one(t.unhurt(), rng), nil
	case RoleHolder:
		return one(t.free(t.holders()...), rng), nil
	case RoleWaiter:
		return t.free(t.headWaiter()), nil
	}
	return t.namedClients(role)
}

// free returns those of the named clients that no fault has down or frozen.
func (t *Target) free(names ...string) []Client {
	var found []Client
	for _, c := range t.Clients {
		if slices.Contains(names, c.Name()) && !t.shared().isTaken(c.Name()) {
			found = append(found, c)
		}
	}
	return found
}

// unhurt returns the free clients, those with every road open if there are any.
func (t *Target) unhurt() []Client {
	free := t.free(phrase.Names(t.Clients)...)
	whole := slices.DeleteFunc(slices.Clone(free), func(c Client) bool { return !t.shared().intact(c.Name()) })
	if len(whole) > 0 {
		return whole
	}
	return free
}

func (t *Target) namedClients(list string) ([]Client, error) {
	var found []Client
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		some := slices.DeleteFunc(slices.Clone(t.Clients), func(c Client) bool { return !t.shared().is(c.Name(), name) })
		if len(some) == 0 {
			return nil, fmt.Errorf("client %q is neither a client nor bound yet: %w", name, ErrMissed)
		}
		found = append(found, some...)
	}
	return found, nil
}

// holders returns the clients that hold a lease whose validity is not over.
// For a phase-locked step it is the client of the moment, if it still holds.
func (t *Target) holders() []string {
	if t.Watch == nil {
		return nil
	}
	var found []string
	for _, h := range t.Watch.Holders() {
		o := t.Occasion
		if t.Deadline(h) <= t.Now() {
			continue
		}
		if o.Owner == "" || t.concerns(o, h) {
			found = append(found, t.ClientName(h.Owner))
		}
	}
	return found
}

// concerns reports whether an occasion is one of the holding's: a tapped
// command names its client, and the key as the lock stores it.
func (t *Target) concerns(o Occasion, h watch.Holding) bool {
	if o.Node != "" {
		return t.ClientName(h.Owner) == o.Owner
	}
	return h.Owner == o.Owner && h.Key == o.Key
}

// headWaiter returns the client that has waited longest for a held key.
func (t *Target) headWaiter() string {
	if t.Watch == nil {
		return ""
	}
	for _, w := range t.Watch.Waiters() {
		client := t.ClientName(w.Owner)
		if len(t.Watch.Holder(w.Key)) > 0 && !t.shared().isTaken(client) {
			return client
		}
	}
	return ""
}

func (t *Target) bindLater(name string, victims []string) {
	if name != "" {
		t.binds = append(t.binds, bind{name: name, victims: victims})
	}
}

func one[T any](all []T, rng *rand.Rand) []T {
	if len(all) == 0 {
		return nil
	}
	i := rng.IntN(len(all))
	return all[i : i+1]
}
