package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// Roles of clients. Any other text is a client's name, a name that an earlier
// step bound, or several of them with a comma between. "ROLE as NAME" binds
// NAME to the victims once the fault is in force.
const (
	RoleAny    = "any"    // one of them; for a phase-locked step, the one whose moment it is
	RoleAll    = "all"    // every one
	RoleHolder = "holder" // one that holds a lease right now; phase-locked: the one whose moment it is
	RoleWanted = "wanted" // as holder, of a key for which another one asks meanwhile; any holder when there was none for a TTL. Of extended leases rather one that was extended once
	RoleWaiter = "waiter" // the one that has waited longest for a key that another one holds
	RoleWriter = "writer" // as waiter, to write what readers hold; any waiter when there was none for an eighth of a TTL, and after a quarter a holder, or anybody
	RoleTaker  = "taker"  // as any; of a step locked to acquire-sent, one that asks for a key that is free
	RoleNested = "nested" // as any; of a step locked to an acquire or a release, one that holds the key already, or holds it still; any at the moment to which the step turns
	RoleReader = "reader" // as holder, of a key that another one holds too, as readers do; when there was none for half a TTL one who reads alone, or any holder
)

// OneClient lists the roles that are one client's, as a plan may say it in a word.
func OneClient() []string {
	return []string{RoleHolder, RoleWanted, RoleWaiter, RoleWriter, RoleTaker, RoleNested, RoleReader}
}

// Roles of nodes, beside RoleAny and RoleAll. Any other text is as for clients.
const (
	RoleMinority = "minority" // as many as the quorum can spare
	RoleMajority = "majority" // a quorum
	RoleSwing    = "swing"    // one of those that make up the holder's quorum
	RoleMaster   = "master"   // any of them; of a deployment, the one that is elected; of several the one that stores the key of the moment
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

// JoinRole puts "ROLE as NAME" together, or the role alone where there is no name.
func JoinRole(role, name string) string {
	if name == "" {
		return role
	}
	return role + " as " + name
}

// SplitNames parts a list of names.
func SplitNames(list string) []string {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// PickClients resolves a role of clients, RoleAny when it is empty.
func (s *Scope) PickClients(text string, rng *rand.Rand) ([]Client, error) {
	role, name := SplitRole(text, RoleAny)
	found, err := s.clientsOf(role, rng)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("client %q: %w", role, ErrMissed)
	}
	s.bindLater(name, phrase.Names(found))
	return found, nil
}

func (s *Scope) clientsOf(role string, rng *rand.Rand) ([]Client, error) {
	switch role {
	case RoleAll:
		return s.Clients, nil
	case RoleAny, RoleTaker, RoleNested:
		if s.Occasion.Owner != "" {
			return s.free(s.ClientName(s.Occasion.Owner)), nil
		}
		return one(s.unimpaired(), rng), nil
	case RoleReader:
		if s.Occasion.Shared {
			return s.free(s.ClientName(s.Occasion.Owner)), nil
		}
		found := s.free(s.readers(2)...)
		if len(found) == 0 && s.sought > s.TTL/2 {
			if found = s.free(s.readers(1)...); len(found) == 0 {
				return s.clientsOf(RoleHolder, rng)
			}
		}
		return one(found, rng), nil
	case RoleHolder:
		return one(s.free(s.holders()...), rng), nil
	case RoleWanted:
		if s.sought > s.TTL {
			return s.clientsOf(RoleHolder, rng)
		}
		return one(s.free(s.wanted()...), rng), nil
	case RoleWaiter:
		return s.free(s.headWaiter(func(watch.Waiter) bool { return true })), nil
	case RoleWriter:
		roles := []string{RoleWaiter, RoleHolder, RoleAny} // as long as one does something that the fault can meet
		switch {
		case s.sought > s.TTL/4:
		case s.sought > s.TTL/8:
			roles = roles[:1]
		default:
			return s.free(s.headWaiter(s.writes)), nil
		}
		for _, role := range roles {
			if found, err := s.clientsOf(role, rng); len(found) > 0 || err != nil {
				return found, err
			}
		}
		return nil, nil
	}
	return named(s.run, "client", s.Clients, role)
}

// free returns those of the named clients that no fault has down or frozen.
func (s *Scope) free(names ...string) []Client {
	var found []Client
	for _, c := range s.Clients {
		if slices.Contains(names, c.Name()) && !s.run.isTaken(c.Name()) {
			found = append(found, c)
		}
	}
	return found
}

// unimpaired returns the free clients, those with every link open if there are any.
func (s *Scope) unimpaired() []Client {
	free := s.free(phrase.Names(s.Clients)...)
	whole := slices.DeleteFunc(slices.Clone(free), func(c Client) bool { return !s.run.intact(c.Name()) })
	if len(whole) > 0 {
		return whole
	}
	return free
}

// named returns those that a list names, by their own names or by bound ones: each once, in the order of the list.
func named[T interface{ Name() string }](r *run, what string, all []T, list string) ([]T, error) {
	var found []T
	for _, name := range SplitNames(list) {
		some := slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !r.is(x.Name(), name) })
		if len(some) == 0 {
			return nil, fmt.Errorf("%s %q is neither a %s nor bound yet: %w", what, name, what, ErrMissed)
		}
		found = append(found, slices.DeleteFunc(some, func(x T) bool { return slices.Contains(phrase.Names(found), x.Name()) })...)
	}
	return found, nil
}

// holders returns the clients that hold a lease whose validity is not over.
// For a phase-locked step it is the client of the moment, if it still holds, or gives
// back what it held.
func (s *Scope) holders() []string {
	if s.Watch == nil {
		return nil
	}
	if o := s.Occasion; o.Moment.GivesBack() {
		return []string{s.ClientName(o.Owner)}
	}
	var found []string
	for _, h := range s.Watch.Holders() {
		o := s.Occasion
		if s.Deadline(h) <= s.Now() {
			continue
		}
		if o.Owner == "" || s.concerns(o, h) {
			found = append(found, s.ClientName(h.Owner))
		}
	}
	return found
}

// readers returns the clients that hold a key as readers, so many of them at least together.
func (s *Scope) readers(least int) []string {
	held := map[string][]string{} // by key, the clients
	for _, h := range s.Holdings("") {
		if h.Mode == history.Shared {
			held[h.Key] = append(held[h.Key], s.ClientName(h.Owner))
		}
	}
	return slices.DeleteFunc(s.holders(), func(client string) bool {
		for _, readers := range held {
			if len(readers) >= least && slices.Contains(readers, client) {
				return false
			}
		}
		return true
	})
}

// concerns reports whether an occasion is one of the holding's: what was seen on a link
// names its client, and a tapped command the key as the lock stores it.
func (s *Scope) concerns(o Occasion, h watch.Holding) bool {
	if o.Node != "" {
		return s.ClientName(h.Owner) == o.Owner && (!HasKey(o.Moment) || h.Key == o.Key)
	}
	return h.Owner == o.Owner && h.Key == o.Key
}

// wanted returns those of the holders for whose key another client asks.
func (s *Scope) wanted() []string {
	holders := s.holders()
	if o := s.Occasion; o.Moment.GivesBack() {
		return slices.DeleteFunc(holders, func(client string) bool { return !s.asked(o.Key, client) })
	}
	return slices.DeleteFunc(holders, func(client string) bool {
		return !slices.ContainsFunc(s.Holdings(client), func(h watch.Holding) bool { return s.asks(h, client) && s.goesOn(h) })
	})
}

// goesOn reports whether whoever has extended h will most likely hold it for a while yet, as it has not
// done so for long. When nobody such was there for half a TTL, anybody may.
func (s *Scope) goesOn(h watch.Holding) bool {
	return s.Occasion.Moment != watch.NextRenewalDue || s.sought > s.TTL/2 || h.Renewed-h.Since < s.TTL/2
}

// asks reports whether another client asks for what h holds. For a phase-locked step h is the
// lease of the moment, as far as that names one.
func (s *Scope) asks(h watch.Holding, client string) bool {
	if o := s.Occasion; o.Owner != "" && !s.concerns(o, h) {
		return false
	}
	return s.asked(h.Key, client)
}

// asked reports whether another client than this one asks for a key.
func (s *Scope) asked(key, client string) bool {
	return s.Watch.Asked(key, func(owner string) bool { return s.ClientName(owner) != client })
}

// writes reports whether somebody waits to write what readers hold.
func (s *Scope) writes(w watch.Waiter) bool {
	return w.Mode == history.Exclusive && slices.ContainsFunc(s.Watch.Holder(w.Key), func(h watch.Holding) bool { return h.Mode == history.Shared })
}

// headWaiter returns the client that has waited longest for a held key, of the waiters that count.
func (s *Scope) headWaiter(counts func(watch.Waiter) bool) string {
	if s.Watch == nil {
		return ""
	}
	for _, w := range s.Watch.Waiters() {
		client := s.ClientName(w.Owner)
		if len(s.Watch.Holder(w.Key)) > 0 && !s.run.isTaken(client) && counts(w) {
			return client
		}
	}
	return ""
}

func (s *Scope) bindLater(name string, victims []string) {
	if name != "" {
		s.binds = append(s.binds, bind{name: name, victims: victims})
	}
}

func one[T any](all []T, rng *rand.Rand) []T {
	if len(all) == 0 {
		return nil
	}
	i := rng.IntN(len(all))
	return all[i : i+1]
}
