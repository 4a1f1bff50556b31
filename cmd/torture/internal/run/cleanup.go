package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/lockimpl/redlock"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
	"locktorture/workload/store"
)

// cleanLimit bounds the removal of the run's keys from all servers.
const cleanLimit = 30 * time.Second

// A keySpace is the keys on each server, by the server's name.
type keySpace map[string][]string

// keySpace looks at the servers, past every link. The full lock's admission record is left out.
func (e *environment) keySpace(ctx context.Context) (keySpace, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanLimit)
	defer cancel()
	space := keySpace{}
	for _, n := range e.servers() {
		keys, err := foreignKeys(ctx, e.cfg, n)
		if err != nil {
			return nil, fmt.Errorf("look at %s before the load: %w", n.Name(), err)
		}
		space[n.Name()] = keys
	}
	return space, nil
}

// without is what of k is none of the names.
func (k keySpace) without(names []string) keySpace {
	left := keySpace{}
	for server, keys := range k {
		left[server] = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(names, key) })
	}
	return left
}

// names are the keys of all servers, each once. What a lock writes to a master is on its replicas a
// little later.
func (k keySpace) names() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(k))...))))
}

// noteCleanliness checks that nothing is on the servers before the load but what the lock itself
// writes when it connects, and records the result.
func (s *session) noteCleanliness(ctx context.Context) error {
	now, err := s.env.keySpace(ctx)
	if err != nil {
		return err
	}
	var dirt []string
	strange := now.without(s.env.connecting)
	for _, server := range slices.Sorted(maps.Keys(strange)) {
		if keys := strange[server]; len(keys) > 0 {
			dirt = append(dirt, fmt.Sprintf("%s holds %s, such as %s", server, unit.Counted(len(keys), "key"), strings.ReplaceAll(printable.Line(keys[0]), ";", "?"))) // a semicolon ends an item of the note
		}
	}
	if len(dirt) > 0 {
		s.note("dirty: " + strings.Join(dirt, ", "))
		return nil
	}
	if prefix := s.env.cfg.Prefix; prefix != "" {
		s.note("clean: no key on any server had " + prefix + " in its name at the start")
		return nil
	}
	s.note("clean: every server was empty at the start")
	return nil
}

// foreignKeys lists the keys that are on a server before the load under the run's prefix,
// except the lock's admission record.
func foreignKeys(ctx context.Context, c config.Config, n testbed.Node) (keys []string, err error) {
	a := wiring.Admin(n)
	defer func() { err = errors.Join(err, a.Close()) }()
	for all := a.Scan(ctx, 0, "*"+c.Prefix+"*", scanPage).Iterator(); ; {
		if !all.Next(ctx) {
			return keys, all.Err()
		}
		if key := all.Val(); !redlock.SharedKey(catalogue.SharedPrefix(c), key) {
			keys = append(keys, key)
		}
	}
}

// scanPage is how many keys a server is asked for at a time.
const scanPage = 1000

// servers are the nodes and the store.
func (e *environment) servers() []testbed.Node {
	return append([]testbed.Node{e.bed.Store()}, e.bed.Nodes()...)
}

// cleanUp removes what the run wrote from servers that live on, which were empty before the
// run. A key that the run cannot have written stays, and is reported: somebody else uses the
// server.
func (e *environment) cleanUp(ctx context.Context) error {
	if e.bed == nil || e.bed.Name() != testbed.KindExternal {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanLimit)
	defer cancel()
	var errs []error
	cleaned := map[string]bool{} // one of the nodes may be the store as well, or be the same server with another database
	for _, n := range e.servers() {
		at := n.(testbed.Given).Endpoint().String()
		if cleaned[at] {
			continue
		}
		cleaned[at] = true
		foreign, err := removeKeys(ctx, wiring.Admin(n), e.cfg, e.connecting...)
		if err != nil {
			errs = append(errs, fmt.Errorf("remove the run's keys from %s: %w", n.Addr(), err))
		}
		if foreign != "" {
			e.find(fmt.Sprintf("key %s on %s is not of this run, and was left: does somebody else use that server?", printable.Line(foreign), n.Addr()))
		}
	}
	return errors.Join(errs...)
}

// cleanGiven removes what a run of cfg wrote from the servers that it was given.
func cleanGiven(ctx context.Context, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	servers, store, err := cfg.Servers()
	if store != nil {
		servers = append(servers, *store)
	}
	errs := []error{err}
	for _, at := range servers {
		if _, err := removeKeys(ctx, wiring.AdminAt(at), cfg); err != nil {
			errs = append(errs, fmt.Errorf("remove the run's keys from %s: %w", at, err))
		}
	}
	return errors.Join(errs...)
}

// removeKeys removes from a server what a run of c may have written, and the keys that are named
// also, and closes the client. It returns a key among those that are the run's own to write
// which no such run can have written, if there is one.
func removeKeys(ctx context.Context, server *redis.Client, c config.Config, also ...string) (foreign string, err error) {
	defer func() { err = errors.Join(err, server.Close()) }()
	for keys := server.Scan(ctx, 0, "*"+c.Prefix+"*", scanPage).Iterator(); ; { // a prefix has nothing that a pattern knows
		if !keys.Next(ctx) {
			return foreign, keys.Err()
		}
		if key := keys.Val(); !wrote(key, c) && !slices.Contains(also, key) {
			foreign = key
		} else if err := server.Unlink(ctx, key).Err(); err != nil {
			return foreign, err
		}
	}
}

// wrote reports whether a key is one that a run may have written: the guarded
// store's, the canary's, what the full lock shares on a node, or any with the name of one
// of the run's resources, k0, k1, …, in it; under the run's prefix, where it has one.
func wrote(key string, c config.Config) bool {
	if strings.HasPrefix(key, c.Prefix+store.Prefix) || strings.Contains(key, c.Prefix+canaryKey) || redlock.SharedKey(catalogue.SharedPrefix(c), key) {
		return true
	}
	if c.Prefix == "" {
		words := strings.FieldsFunc(key, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		return slices.ContainsFunc(words, func(w string) bool { return isResource(w, c.Load.Keys) })
	}
	for _, rest := range strings.Split(key, c.Prefix)[1:] {
		end := strings.IndexFunc(rest[min(1, len(rest)):], func(c rune) bool { return !unicode.IsDigit(c) })
		if end < 0 {
			end = len(rest) - 1
		}
		if len(rest) > 0 && isResource(rest[:end+1], c.Load.Keys) {
			return true
		}
	}
	return false
}

// isResource reports whether word names one of so many resources.
func isResource(word string, resources int) bool {
	number, is := strings.CutPrefix(word, "k")
	n, err := strconv.Atoi(number)
	return is && err == nil && n >= 0 && n < resources
}
