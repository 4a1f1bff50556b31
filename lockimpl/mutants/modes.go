package mutants

import (
	"time"

	"locktorture/lockimpl/mutants/internal/planted"
	"locktorture/lockimpl/mutants/internal/planted/script"
	"locktorture/lockimpl/redlock"
)

// modes are bugs beyond the exclusive lock.
func modes() []Mutant {
	return []Mutant{
		{
			ID:      "reentry-drift",
			Bug:     "a second grant to the same owner is not counted: the first release frees the key",
			Fault:   "an owner that enters twice, and others that contend",
			Expect:  []string{"S1", "S3", "L5"},
			Ability: "reentrant",
			bugs:    planted.Bugs{Uncounted: true},
		},
		{
			ID:      "readers-share-expiry",
			Bug:     "all readers share one entry: the first that leaves, or whose lease ends, ends it for all",
			Fault:   "two readers and a writer",
			Expect:  []string{"S1", "S3"},
			Ability: "shared",
			bugs: planted.Bugs{Scripts: map[*script.Script]*script.Script{
				script.AcquireShared:   script.AcquireShared.Replace("KEYS[8], ms + ttl, ARGV[1])", "KEYS[8], ms + ttl, 'all')"),
				script.RenewShared:     script.RenewShared.Replace("KEYS[4], ARGV[1])", "KEYS[4], 'all')"),
				script.WriteBackShared: script.WriteBackShared.Replace("KEYS[4], ARGV[1])", "KEYS[4], 'all')"),
				script.ReleaseShared:   script.ReleaseShared.Replace("KEYS[8], ARGV[1])", "KEYS[8], 'all')"),
			}},
		},
		{
			ID:      "no-wake-up",
			Bug:     "the last reader that leaves wakes nobody",
			Fault:   "readers, and a writer that waits",
			Expect:  []string{"L2", "L3", "L4"},
			Ability: "shared",
			bugs: planted.Bugs{Scripts: map[*script.Script]*script.Script{
				script.ReleaseShared: script.ReleaseShared.Replace(
					"wake(KEYS[6], KEYS[7], ms, tonumber(ARGV[5]), ARGV[4])", ""),
			}},
			adjust: func(cfg *redlock.Config) { cfg.Patience = time.Minute },
		},
	}
}
