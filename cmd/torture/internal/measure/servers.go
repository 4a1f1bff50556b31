// Package measure has what bench and capacity measure with: servers, clients, locks
// and meters.
package measure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
)

// A Config says on which servers something is measured.
type Config struct {
	Testbed string
	Nodes   int
	Given   config.Config // of servers that run already: its GivenSettings
	Dir     string        // for the nodes' logs
}

// Validate names the first setting that cannot work.
func (c Config) Validate() error {
	kinds := []string{testbed.KindAuto, testbed.KindProcess, testbed.KindEmbedded, testbed.KindExternal}
	switch {
	case c.Testbed != "" && !slices.Contains(kinds, c.Testbed):
		return fmt.Errorf("--testbed is %q: one of %s%s", c.Testbed, strings.Join(kinds, ", "), config.DidYouMean(c.Testbed, kinds))
	case c.Testbed == testbed.KindExternal && len(c.Given.Redis) == 0:
		return errors.New("--testbed external needs --redis host:port,… of the servers")
	case len(c.Given.Redis) > 0 && (c.Testbed == testbed.KindProcess || c.Testbed == testbed.KindEmbedded):
		return fmt.Errorf("--redis contradicts --testbed (%s): servers that run already are testbed external: leave one of them out", c.Testbed)
	}
	return c.Given.ValidateGiven()
}

// Servers are the servers on which locks are measured, with a direct connection
// to each. Every key on them carries their id.
type Servers struct {
	Bed    testbed.Testbed
	id     string
	Admins []*redis.Client // one for each server
	pids   []int           // of the servers, where they run on this machine; else 0
	places []place
	cells  int
}

// Start starts servers, or connects to those that c gives, which must be empty, or
// have no key with its prefix. The caller closes them.
func Start(ctx context.Context, c Config) (s *Servers, err error) {
	wiring.SilenceClients()
	s = &Servers{id: c.Given.Prefix + "torture-" + strings.ToLower(rand.Text()[:10])}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	kind := c.Testbed
	external, err := c.Given.External()
	if err != nil {
		return s, wiring.UnfitError{Err: err}
	}
	if len(c.Given.Redis) > 0 && (kind == "" || kind == testbed.KindAuto) {
		kind = testbed.KindExternal
	}
	s.Bed, _, err = testbed.Start(ctx, testbed.Config{
		Kind: kind, Nodes: c.Nodes, Dir: c.Dir,
		External: external,
	})
	if err != nil && kind == testbed.KindExternal {
		return s, wiring.UnfitError{Err: err}
	}
	if err != nil {
		return s, err
	}
	for _, n := range s.Bed.Nodes() {
		s.Admins = append(s.Admins, wiring.Admin(n))
		s.pids = append(s.pids, s.pid(ctx, len(s.Admins)-1))
		s.places = append(s.places, s.placeOf(len(s.pids)-1, s.pids[len(s.pids)-1]))
	}
	return s, nil
}

// Embedded reports whether the servers are part of this process.
func (s *Servers) Embedded() bool { return s.Bed.Name() == testbed.KindEmbedded }

// pid asks a server for its process, and believes it when this machine has a
// process of that number that calls itself a Redis.
func (s *Servers) pid(ctx context.Context, node int) int {
	if s.Embedded() {
		return 0
	}
	text, err := s.Admins[node].Info(ctx, "server").Result()
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(infoField(text, "process_id"))
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	if name, err := p.Comm(); err != nil || !strings.Contains(name, "redis") && !strings.Contains(name, "valkey") {
		return 0
	}
	return pid
}

func infoField(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// nextPrefix names the keys of the next measurement.
func (s *Servers) nextPrefix() string {
	s.cells++
	return fmt.Sprintf("%s-%d", s.id, s.cells)
}

// Close removes what the measurements left on servers that live on.
func (s *Servers) Close(ctx context.Context) error {
	var errs []error
	if s.Bed != nil && s.Bed.Name() == testbed.KindExternal {
		for i := range s.Admins {
			errs = append(errs, s.sweep(ctx, i))
		}
	}
	for _, a := range s.Admins {
		errs = append(errs, a.Close())
	}
	if s.Bed != nil {
		errs = append(errs, s.Bed.Close())
	}
	return errors.Join(errs...)
}

// sweepTime bounds the removal of keys from one server.
const sweepTime = 30 * time.Second

// sweep deletes every key that carries the id of the Servers, and looks whether any
// is left.
func (s *Servers) sweep(ctx context.Context, node int) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	a, pattern := s.Admins[node], "*"+s.id+"*"
	for keys := a.Scan(ctx, 0, pattern, 1000).Iterator(); ; {
		if !keys.Next(ctx) {
			if err := keys.Err(); err != nil {
				return fmt.Errorf("delete keys %s on %s: %w", pattern, s.Bed.Nodes()[node].Addr(), err)
			}
			break
		}
		if err := a.Unlink(ctx, keys.Val()).Err(); err != nil {
			return fmt.Errorf("delete %s on %s: %w", keys.Val(), s.Bed.Nodes()[node].Addr(), err)
		}
	}
	rest := a.Scan(ctx, 0, pattern, 1000).Iterator()
	if rest.Next(ctx) {
		return fmt.Errorf("keys %s are still on %s after they were deleted: delete them by hand", pattern, s.Bed.Nodes()[node].Addr())
	}
	return rest.Err()
}

// Commands is how many commands the first n servers have executed so far,
// those within scripts too, without the handshakes of connections.
func (s *Servers) Commands(ctx context.Context, n int) (total float64) {
	for _, a := range s.Admins[:n] {
		text, err := a.Info(ctx, "commandstats").Result()
		if err != nil {
			return 0
		}
		for line := range strings.Lines(text) {
			total += calls(line)
		}
	}
	return total
}

// calls reads "cmdstat_set:calls=12,usec=…".
func calls(line string) float64 {
	name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
	base, _, _ := strings.Cut(name, "|")
	switch base {
	case "info", "hello", "client", "ping", "command", "config", "auth":
		return 0
	}
	if !ok {
		return 0
	}
	count, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseFloat(strings.TrimSpace(count), 64)
	return n
}

// Notes say what limits the figures.
func (s *Servers) Notes() []string {
	var out []string
	switch {
	case s.Embedded():
		out = append(out, "embedded nodes: not Redis; no figure here is a benchmark")
	case slices.ContainsFunc(s.pids, func(pid int) bool { return pid > 0 }):
		out = append(out, "load and Redis share this machine's processors: ratios within this run hold, absolute figures only here")
	}
	var at []string
	for _, n := range s.Bed.Nodes() {
		at = append(at, n.Addr())
	}
	if note := ungated(at, s.places); note != "" {
		out = append(out, note)
	}
	return out
}

// ungated says of servers on this machine of which nobody can tell which process they are
// that their processor time is not told from that of other programs; "" where there is
// none.
func ungated(at []string, places []place) string {
	var all []string
	for i, p := range places {
		if p == unseen {
			all = append(all, at[i])
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: on this machine, and no process that is seen here, so that nobody can tell what other programs took: nothing is left out for it, but for time that the host took; see to it that the machine is idle",
		strings.Join(all, ", "))
}

// A place is where a server runs.
type place int

const (
	here      place = iota // a process of this machine, or this process itself
	elsewhere              // on another machine
	unseen                 // on this machine, as what nobody can tell: in a container, say
)

// placeOf is where a server with that address and process, as far as it is known, runs.
func (s *Servers) placeOf(node, pid int) place {
	switch {
	case s.Embedded() || pid > 0:
		return here
	case ours(s.Bed.Nodes()[node].Addr()):
		return unseen
	}
	return elsewhere
}

// ours reports whether an address is one of this machine.
func ours(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "localhost" { // a Unix socket
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	all, err := net.InterfaceAddrs()
	return ip.IsLoopback() || err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		own, ok := a.(*net.IPNet)
		return ok && own.IP.Equal(ip)
	})
}

// Bootstrap admits the brand-new nodes to the full lock, on one master and on
// all: two sets of nodes, two prefixes.
func (s *Servers) Bootstrap(ctx context.Context, most int) error {
	for n := 1; n <= most; n += 2 {
		l, err := FullLock(s.fullPrefix(n))(wiring.Direct(s.Bed.Nodes()[:n]))
		if err != nil {
			return fmt.Errorf("admit %d nodes: %w", n, err)
		}
		err = wiring.Bootstrap(ctx, l.(lockimpl.Bootstrapper))
		if err := errors.Join(err, l.Close()); err != nil {
			return fmt.Errorf("admit %d nodes: %w", n, err)
		}
	}
	return nil
}

// fullPrefix is the full lock's prefix on the first n nodes.
func (s *Servers) fullPrefix(n int) string { return fmt.Sprintf("%s-on%d", s.id, n) }
