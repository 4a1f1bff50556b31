package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/lockimpl/peers/redislock"
	"locktorture/lockimpl/peers/redsync"
	"locktorture/lockimpl/peers/rueidislock"
	"locktorture/workload/history/printable"
)

// libraries are the locks that people really use, as their users get them.
func libraries() map[string]Lock {
	all := map[string]Lock{
		"redsync": {
			About: "redsync v4.18.0 (Go): Redlock over N masters, as it comes", Nodes: 3, Drift: redsyncDrift,
			Factory:  func(config.Config) lockimpl.Factory { return redsync.New(redsync.Options{}) },
			Expected: []string{"S10", "S1"}, ShownBy: "cut a client from a minority, then restart a node of its quorum empty; black-hole one node", CorrectedBy: "redlock",
		},
		"redsync-hurried": {
			About: "redsync v4.18.0 (Go), asked by callers whose own deadlines end before a try does", Nodes: 3, Drift: redsyncDrift,
			Factory: func(config.Config) lockimpl.Factory { return redsync.New(redsync.Options{}) },
			ShownBy: "lose the replies to an acquire until its caller's deadline", CorrectedBy: "redlock",
		},
		"redislock": {
			About: "bsm/redislock v0.9.4 (Go): one master, an owner token, no deadline", Nodes: 1,
			Factory:  func(config.Config) lockimpl.Factory { return redislock.New() },
			Expected: []string{"S7"}, ShownBy: "hold the reply to an acquire back for longer than the TTL", CorrectedBy: "single",
		},
		"rueidislock": {
			About: "rueidislock v1.0.79 (Go): one master, renewed by the library, told by a context", Nodes: 1,
			Factory:  func(config.Config) lockimpl.Factory { return rueidislock.New(rueidislock.Options{}) },
			Expected: []string{"S1"}, ShownBy: "black-hole the holder's link just before a renewal", CorrectedBy: "single",
		},
		"redis-py": {
			About: "redis-py's Lock (Python, a child process), with a timeout", Nodes: 1, Child: true, Sentinel: true, Start: wrapper(python),
			Expected: []string{"S3z"}, ShownBy: "stop the process (SIGSTOP) beyond the TTL", CorrectedBy: "single",
		},
		"redis-py-default": {
			About: "redis-py's Lock (Python, a child process) without a timeout, as it comes", Nodes: 1, Child: true, Sentinel: true, Start: wrapper(pythonDefault),
			Expected: []string{"L1", "L8"}, ShownBy: "lose the reply to an acquire", CorrectedBy: "redis-py",
		},
		"redis-rb": {
			About: "SET NX PX and scripts over redis-rb (Ruby, a child process)", Nodes: 1, Child: true, Start: wrapper(ruby),
			Expected: []string{"S3z"}, ShownBy: "stop the process (SIGSTOP) beyond the TTL", CorrectedBy: "single",
		},
	}
	for id, l := range all {
		l.Category = Libraries
		all[id] = l.started()
	}
	return all
}

// redsyncDrift is the library's drift factor.
func redsyncDrift(ttl time.Duration) time.Duration { return ttl / 100 }

// The wrappers that come with the tool, run by Debian's own interpreters.
var (
	python        = child.Command{Path: "/usr/bin/python3", Args: []string{"-c", child.RedisPy}}
	pythonDefault = child.Command{Path: "/usr/bin/python3", Args: []string{"-c", child.RedisPy, "--no-timeout"}}
	ruby          = child.Command{Path: "/usr/bin/ruby", Args: []string{"-e", child.RedisRb}}
)

// execPrefix begins the id of a lock that is a wrapper's command.
const execPrefix = "exec:"

// HideSecrets is a lock's id without what is secret in its command.
func HideSecrets(id string) string {
	command, is := strings.CutPrefix(id, execPrefix)
	if !is {
		return id
	}
	return execPrefix + printable.HideCommand(command)
}

// wrapped is the lock behind a command of the user's.
func wrapped(id, command string) (Lock, error) {
	words := strings.Fields(command)
	if strings.Contains(command, printable.Hidden) {
		return Lock{}, fmt.Errorf("lock %q: what was secret in its command was not kept: play it with torture run --lock exec:… --seed …", id)
	}
	if len(words) == 0 {
		return Lock{}, errors.New(`lock "exec:" names no command: exec:'python3 my_wrapper.py'`)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return Lock{}, fmt.Errorf("lock %q: %w", HideSecrets(id), err)
	}
	l := Lock{
		ID: HideSecrets(id), About: "a child process: " + printable.HideCommand(command), Category: Libraries, Nodes: 1, AnyNodes: true, Child: true, Sentinel: true,
		Start: wrapper(child.Command{Path: words[0], Args: words[1:]}),
	}
	return l.started(), nil
}

// childGrace is what a child on a busy machine may take beyond its time.
const childGrace = 6 * time.Second

// A child writes a few times while it holds, and no more often than this.
const (
	writesPerHold = 4
	leastEvery    = 5 * time.Millisecond
)

// WriteEvery is the pause between two writes of a child that holds a key.
func WriteEvery(c config.Config) time.Duration {
	return max(c.Load.Hold.Mean/writesPerHold, leastEvery)
}

// wrapper makes the children of command write while they hold, and give up on
// their nodes as other locks' clients do.
func wrapper(command child.Command) func(config.Config) child.Starter {
	return func(c config.Config) child.Starter {
		command.Every, command.Watchdog = WriteEvery(c), c.TTL
		command.IO = cmp.Or(c.Load.Timeout, min(c.TTL/2, time.Second))
		command.Seed, command.Grace = c.Seed, childGrace
		return command.Starter()
	}
}

// started gives a lock that is started the Factory that calls nothing off.
func (l Lock) started() Lock {
	if l.Start != nil {
		l.Factory = func(c config.Config) lockimpl.Factory { return l.Start(c).Factory() }
	}
	return l
}

// Starter builds the lock for as long as its context lasts; one that lives in this
// process it builds at once.
func (l Lock) Starter(c config.Config) child.Starter {
	if l.Start != nil {
		return l.Start(c)
	}
	build := l.Factory(c)
	return func(_ context.Context, nodes []lockimpl.Node) (lockimpl.Locker, error) {
		locker, err := build(nodes)
		if err == nil && locker == nil {
			err = errNothingBuilt
		}
		return locker, err
	}
}
