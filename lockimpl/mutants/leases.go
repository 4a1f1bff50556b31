package mutants

import (
	"time"

	"locktorture/lockimpl/mutants/internal/planted"
	"locktorture/lockimpl/mutants/internal/planted/script"
	"locktorture/lockimpl/redlock"
)

// leases are bugs in how long a lease is believed to last.
func leases() []Mutant {
	slow := func(cfg *redlock.Config) { cfg.NodeTimeout = 2 * max(cfg.MaxTTL, 5*time.Second) }
	return []Mutant{
		{
			ID:     "quorum-2",
			Bug:    "two grants out of five are a quorum, and two such quorums need not meet",
			Fault:  "cut one client from three nodes, another from the other three",
			Expect: []string{"S1", "S9"}, Nodes: 5,
			bugs: planted.Bugs{Quorum: 2},
		},
		{
			ID:     "validity-fresh",
			Bug:    "validity counts from the reply: the time that the acquisition took is not subtracted",
			Fault:  "hold the replies of an acquire back for longer than the TTL",
			Expect: []string{"S7", "S1", "S3"},
			bugs:   planted.Bugs{FreshValidity: true}, adjust: slow,
		},
		{
			ID:     "extend-any-owner",
			Bug:    "an extension does not ask whose key it is",
			Fault:  "pause the holder beyond its TTL while it renews and another waits",
			Expect: []string{"S6", "S1"},
			adjust: slow,
			bugs: planted.Bugs{NewDeadline: true, Scripts: map[*script.Script]*script.Script{
				script.Renew: script.Renew.Replace(
					"elseif string.sub(m[2], 1, #ARGV[1]) ~= ARGV[1] then\n  said = 3\n", ""),
			}},
		},
		{
			ID:     "extend-minority",
			Bug:    "an extension on one node counts as success",
			Fault:  "cut the renewing holder from all nodes but one",
			Expect: []string{"S1", "S6"}, Nodes: 3,
			bugs: planted.Bugs{ExtendQuorum: 1},
		},
		{
			ID:     "extend-recreates",
			Bug:    "an extension creates the key where it has gone",
			Fault:  "pause the renewing holder beyond its TTL; jump node clocks forward",
			Expect: []string{"S6", "S1", "L8"},
			adjust: slow,
			bugs: planted.Bugs{NewDeadline: true, Scripts: map[*script.Script]*script.Script{
				script.Renew: script.Renew.Replace("if not m[2] then\n  said = 0\n",
					"if not m[2] then\n  redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[4], 'PX', ttl)\n"),
			}},
		},
		{
			ID:     "renew-recreated-count",
			Bug:    "a renewal takes the lock again where its key has gone, and counts that at once",
			Fault:  "jump the clocks of a quorum forward while the holder renews and others contend",
			Expect: []string{"S6", "S1", "L8"}, Nodes: 3,
			bugs: planted.Bugs{CountRecreated: true},
		},
		{
			ID:     "renew-new-deadline",
			Bug:    "a renewal is bounded by the deadline that it would set, not by the old one",
			Fault:  "hold the replies of a renewal back beyond the old deadline",
			Expect: []string{"S6", "S1", "S11"},
			bugs:   planted.Bugs{NewDeadline: true}, adjust: slow,
		},
		{
			ID:     "loss-late",
			Bug:    "the end of validity is told one TTL late",
			Fault:  "cut the renewing holder from a quorum",
			Expect: []string{"S11", "S1", "S3"},
			bugs:   planted.Bugs{LateLoss: true},
		},
	}
}
