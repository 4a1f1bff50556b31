package testbed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Watched node knows what the harness did to it, and so can report what others did: that
// somebody killed or stopped its server, or emptied it, or that its disk is full.
type Watched interface {
	// Unplanned says what happened to the node that the harness did not do, or nil. Once it
	// has said so it repeats it. It does not look at a node that is being killed or started
	// at the moment.
	Unplanned(ctx context.Context) error
}

const (
	vitalsWait  = 200 * time.Millisecond // for an answer
	mostWait    = 2 * time.Second        // for one of a server that has been silent, and that no command was to hold up
	silentLimit = 20 * time.Second       // a server that nothing holds up must have answered by then
)

// LookEvery is how often a Watched node asks its server how it is: calls in between repeat the
// last result.
const LookEvery = 250 * time.Millisecond

// A vitals compares what a server reports about itself from one look to the next with the
// commands that the harness sent it. The zero value is ready for use.
type vitals struct {
	mu   sync.Mutex
	told map[string]int64 // commands sent through Administer, by name in lower case

	elected bool // whether the server is a master is for others to say, such as Redis Sentinel or Redis Cluster

	// What follows belongs to look and restarted, which its node keeps apart.
	seen     map[string]int64 // counters at the last look
	server   string           // run id at the last look
	looked   time.Time
	answered time.Time
	mishap   error
}

// noteCommand notes a command that the server is about to be sent on purpose.
func (v *vitals) noteCommand(args []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told == nil {
		v.told = map[string]int64{}
	}
	v.told[strings.ToLower(args[0])]++
}

// restarted forgets what the server reported: the harness has started another one in its place.
func (v *vitals) restarted() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen, v.server, v.answered = nil, "", time.Time{}
	maps.DeleteFunc(v.told, func(command string, _ int64) bool { return command == "flushall" || command == "flushdb" })
}

// check asks n's server how it is, at most once in LookEvery, and returns what happened to it
// that the harness did not do. held says that a fault keeps it from answering. It is called by
// one goroutine at a time.
func (v *vitals) check(ctx context.Context, n Node, held bool) error {
	if v.mishap != nil || held || time.Since(v.looked) < LookEvery {
		return v.mishap
	}
	v.looked = time.Now()
	ask, cancel := context.WithTimeout(ctx, v.patience())
	defer cancel()
	fields, err := infoAll(ask, n)
	if ctx.Err() != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.answered = time.Now()
		err = v.judge(n.Name(), fields)
	} else {
		err = v.silence(n, err)
	}
	v.mishap = err
	return err
}

// patience is how long the server may take to answer this time: on an overloaded machine every
// answer is slow.
func (v *vitals) patience() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.answered.IsZero() || len(v.told) > 0 || time.Since(v.answered) < mostWait {
		return vitalsWait
	}
	return mostWait
}

// silence judges a server that did not answer. It may be busy for a while, and a fault may have
// stopped it.
func (v *vitals) silence(n Node, why error) error {
	switch {
	case errors.Is(why, syscall.ECONNREFUSED):
		return fmt.Errorf("no server answers at %s (%s) any more: %w", n.Name(), n.Addr(), why)
	case v.answered.IsZero() || len(v.told) > 0 || time.Since(v.answered) < silentLimit:
		return nil
	}
	return fmt.Errorf("%s (%s) has not answered for %s: %w", n.Name(), n.Addr(), time.Since(v.answered).Round(time.Millisecond), why)
}

// counters of INFO that tell of what others did, and what goes wrong by itself.
var counters = []struct{ field, part, command, means string }{
	{"cmdstat_flushall", "calls", "flushall", "FLUSHALL was sent to %s by somebody else: it was emptied"},
	{"cmdstat_flushdb", "calls", "flushdb", "FLUSHDB was sent to %s by somebody else: it was emptied"},
	{"errorstat_MISCONF", "count", "", "%s refuses writes (MISCONF): it cannot write to its disk"},
	{"errorstat_OOM", "count", "config", "%s refuses writes (OOM): its memory is full"},
}

// judge compares the server's counters with those at the last look.
func (v *vitals) judge(name string, fields map[string]string) error {
	id := fields["run_id"]
	if v.server != "" && id != v.server {
		return fmt.Errorf("%s was restarted by somebody else: another server answers there, with process id %s", name, fields["process_id"])
	}
	first := v.server == ""
	v.server = id
	if fields["aof_last_write_status"] == "err" {
		return fmt.Errorf("%s cannot write its append-only file", name)
	}
	if fields["role"] == "slave" && !v.elected && v.told["replicaof"] == 0 {
		return fmt.Errorf("%s was made a replica by somebody else", name)
	}
	was := v.seen
	v.seen = map[string]int64{}
	for _, c := range counters {
		now := part(fields[c.field], c.part)
		v.seen[c.field] = now
		grown := now - was[c.field]
		switch {
		case first || grown <= 0:
		case c.command == "config" && v.told[c.command] > 0:
		case c.command == "flushall" || c.command == "flushdb":
			ours := v.told[c.command]
			if grown > ours {
				return fmt.Errorf(c.means, name)
			}
			v.told[c.command] = ours - grown
		default:
			return fmt.Errorf(c.means, name)
		}
	}
	return nil
}

// part reads one number out of a field such as "calls=3,usec=12".
func part(field, name string) int64 {
	for item := range strings.SplitSeq(field, ",") {
		if text, ok := strings.CutPrefix(item, name+"="); ok {
			n, _ := strconv.ParseInt(text, 10, 64)
			return n
		}
	}
	return 0
}
