package mutants

import (
	"locktorture/lockimpl/mutants/internal/planted"
	"locktorture/lockimpl/mutants/internal/planted/script"
)

// tokens are bugs in how fencing tokens are made.
func tokens() []Mutant {
	return []Mutant{
		{
			ID:     "token-max",
			Bug:    "the token is the highest value of the quorum and is not written back: {1,1,9} gives 9, then {2,2,1} gives 2",
			Fault:  "cut off one minority, then another",
			Expect: []string{"S4", "S4b", "S2"}, Nodes: 3,
			bugs: planted.Bugs{NoWriteBack: true},
		},
		{
			ID:     "token-clock",
			Bug:    "the token is the client's own clock",
			Fault:  "clients whose clocks differ by more than the time between two grants",
			Expect: []string{"S4", "S4b", "S2"},
			bugs:   planted.Bugs{ClockToken: true},
		},
		{
			ID:     "write-back-any-owner",
			Bug:    "the write-back does not ask whether the lock is still this attempt's: tokens repeat",
			Fault:  "leases that end while the write-back is on its way: node clocks forward, delayed requests",
			Expect: []string{"S4b", "S4"}, Nodes: 3,
			bugs: planted.Bugs{Scripts: map[*script.Script]*script.Script{
				script.WriteBack: script.WriteBack.Replace(
					"if not m[2] or string.sub(m[2], 1, n) ~= ARGV[1] then return 0 end", "").Replace(
					"local T, v = tonumber(ARGV[3]), tonumber(string.sub(m[2], n + 2))\nif v > T then return {2, v} end",
					"local T = tonumber(ARGV[3])"),
			}},
		},
	}
}

// floorOnly begins a fence that is not there at the node's floor, though the node
// may have issued more: what it has stored for other names would hide a floor that
// is too low.
var floorOnly = map[*script.Script]*script.Script{
	script.Acquire: script.Acquire.Replace("local f = hw\n", "local f = floor\n"),
	script.Wait:    script.Wait.Replace("local f = tonumber(hw)", "local f = tonumber(floor)"),
}

// memory are bugs in the return of a node that has forgotten everything.
func memory() []Mutant {
	return []Mutant{
		{
			ID:     "amnesia-serves",
			Bug:    "a node that comes back empty serves at once: leases and the token counter are lost",
			Fault:  "restart nodes of the holder's quorum empty, one after the other",
			Expect: []string{"S1", "S10", "S4", "S4b", "S2"},
			bugs:   planted.Bugs{AdmitAtOnce: true, Scripts: floorOnly},
		},
		{
			ID:     "amnesia-no-seed",
			Bug:    "a node that comes back empty sits out its quarantine, and starts its tokens from zero",
			Fault:  "cut off one minority, then another, while nodes restart empty",
			Expect: []string{"S4", "S4b", "S2"},
			bugs:   planted.Bugs{NoSeed: true, Scripts: floorOnly},
		},
		{
			ID:     "amnesia-early-seed",
			Bug:    "it is seeded from marks that were read before its quarantine had ended",
			Fault:  "cut off one minority, then another, while nodes restart empty",
			Expect: []string{"S4", "S4b", "S2"}, Nodes: 3,
			bugs: planted.Bugs{EarlySeed: true, Scripts: floorOnly},
		},
	}
}
