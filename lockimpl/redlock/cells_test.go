package redlock_test

// A cell is one promise, or one refusal to promise, of the table of guarantees:
// M, T or L of a row. The edits change the lock so that the cell is untrue; the
// test that the cell names must then fail.
type cell struct {
	row, column string
	test        string // with a part of it after a slash, when the whole takes long
	untrue      string // what the edits make of the lock
	edits       []edit
}

// An edit replaces a text of a source file, which is named from lockimpl. In a
// file of Go the text must occur once, and the new one asks untrue(cell) whether it
// is to be different; in a script every occurrence is replaced.
type edit struct{ file, old, new string }

const lua = "redlock/internal/script/lua/"

var (
	// expiring is how the key of a lease is set to expire.
	expiring = func(new string) []edit {
		return []edit{
			{lua + "acquire.lua", "'PX', ARGV[2], 'NX'", new},
			{lua + "wait.lua", "'PX', ARGV[2], 'NX'", new},
			{lua + "acquire_shared.lua", "'PX', ttl, 'NX'", new},
		}
	}
	longLease    = expiring("'PX', 100 * ARGV[2], 'NX'")
	shortLease   = expiring("'PX', math.ceil(ARGV[2] / 2), 'NX'")
	endlessLease = expiring("'NX'")
	mortalFence  = []edit{
		{lua + "acquire.lua", "redis.call('SET', KEYS[3], s)", "redis.call('SET', KEYS[3], s, 'PX', ARGV[2])"},
		{lua + "acquire.lua", "redis.call('SET', KEYS[3], s, 'NX')", "redis.call('SET', KEYS[3], s, 'NX', 'PX', ARGV[2])"},
		{lua + "acquire.lua", "redis.call('SET', KEYS[3], ARGV[4])", "redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[2])"},
		{lua + "acquire.lua", "local f = hw\n", "local f = 0\n"},
		{lua + "wait.lua", "redis.call('SET', KEYS[3], s)", "redis.call('SET', KEYS[3], s, 'PX', ARGV[2])"},
		{lua + "wait.lua", "redis.call('SET', KEYS[3], s, 'NX')", "redis.call('SET', KEYS[3], s, 'NX', 'PX', ARGV[2])"},
		{lua + "wait.lua", "local f = tonumber(hw)", "local f = 0"},
	}
	votes       = []edit{{"redlock/lock.go", "quorum: cfg.Quorum,", "quorum: votes(cfg.Quorum, len(nodes)),"}}
	plantedVote = []edit{{"mutants/internal/planted/lock.go", "quorum: cfg.Quorum,", "quorum: votes(cfg.Quorum, len(nodes)),"}}
	atOnce      = []edit{
		{"redlock/admission.go", "\t\tif left > 0 {\n", "\t\tif left > 0 && !untrue(\"6M\", \"8bM\") {\n"},
		{"redlock/admission.go", "\t\tif l.quarantine() > time.Since(seen) {", "\t\tif l.quarantine() > time.Since(seen) && !untrue(\"6M\", \"8bM\") {"},
		{"redlock/admission.go", "g.ticket, floor, false)", "g.ticket, floor, untrue(\"6M\", \"8bM\"))"},
		seeding,
	}
	seeding = edit{
		"redlock/admission.go", "\tcase m.admitted >= l.quorum:\n",
		"\tcase untrue(\"6L\", \"7L\", \"8L\", \"8aL\", \"8bL\"):\n\t\treturn errNoSeed\n\tcase untrue(\"6M\"):\n\tcase m.admitted >= l.quorum:\n",
	}
	unseeded = []edit{ // what a node has stored for other names would hide it
		{"redlock/admission.go", "\tfloor := m.highest\n", "\tfloor := m.highest\n\tif untrue(\"6T\") {\n\t\tfloor = 0\n\t}\n"},
		{lua + "acquire.lua", "local f = hw\n", "local f = floor\n"},
		{lua + "wait.lua", "local f = tonumber(hw)", "local f = tonumber(floor)"},
	}
	noClock = []edit{{
		"redlock/admission.go", "floor = max(floor, m.clock+clockMargin.Microseconds())",
		"if !untrue(\"7T\", \"8T\", \"8aT\", \"8bT\") {\n\t\t\tfloor = max(floor, m.clock+clockMargin.Microseconds())\n\t\t}",
	}}
	neverAdmitted = []edit{seeding}
	ownHeld       = "if m[2] then\n  local n = #ARGV[1]"
)

// freedIf lets a script take a lock that somebody holds, on a condition.
func freedIf(script, condition string) []edit {
	return []edit{{lua + script, ownHeld, "if m[2] and " + condition + " then redis.call('DEL', KEYS[2]) m[2] = false end\n" + ownHeld}}
}

var cells = []cell{
	{"1", "M", "TestLateCopyOfAReleaseFreesNobodyElse", "a release does not ask whose lease it is", []edit{
		{lua + "give_back.lua", "if not m[1] or string.sub(m[1], 1, #ARGV[1]) ~= ARGV[1] then return 0 end", "if not m[1] then return 0 end"},
		{lua + "release.lua", "local mine = m[1] and string.sub(m[1], 1, #ARGV[1]) == ARGV[1]", "local mine = m[1]"},
	}},
	{"1", "T", "TestEveryMutantIsCaughtAndItsTwinIsNot/write-back-any-owner", "a write-back does not ask whose lease it is", []edit{
		{lua + "write_back.lua", "if not m[2] or string.sub(m[2], 1, n) ~= ARGV[1] then return 0 end", ""},
		{lua + "write_back.lua", "local T, v = tonumber(ARGV[3]), tonumber(string.sub(m[2], n + 2))\nif v > T then return {2, v} end", "local T = tonumber(ARGV[3])"},
	}},
	{"1", "L", "TestPartialGrantsEndWithinOneTTL", "a lease lives a hundred times as long on a node", longLease},

	{"2", "M", "TestEveryMutantIsCaughtAndItsTwinIsNot/quorum-2", "two of five nodes are enough", votes},
	{"2", "T", "TestEveryMutantIsCaughtAndItsTwinIsNot/token-max", "the token is not written back", []edit{
		{"redlock/decide.go", "\tcase s.value > a.token: // too late", "\tcase untrue(\"2T\"):\n\t\ts.holds = true\n\t\treturn out\n\tcase s.value > a.token: // too late"},
	}},
	{"2", "L", "TestBlackHoledNodeCostsNothingButItsVote", "all nodes must grant", votes},

	{"3", "M", "TestWaiterTakesOverWhenTheLeaseOfADeadHolderEnds", "a lease lives half as long on a node", shortLease},
	{"3", "T", "TestWaiterTakesOverWhenTheLeaseOfADeadHolderEnds", "a fence ends with the lease", mortalFence},
	{"3", "L", "TestWaiterTakesOverWhenTheLeaseOfADeadHolderEnds", "a lease lives a hundred times as long on a node", longLease},

	{"4", "M", "TestClockJumpsAndPausesKeepTokensGrowing", "a lease does not end on a node, whatever its clock says", endlessLease},
	{"4", "T", "TestClockJumpsAndPausesKeepTokensGrowing", "a fence ends with the lease", mortalFence},
	{"4", "L", "TestClockJumpsAndPausesKeepTokensGrowing", "a lease does not end on a node", endlessLease},

	{"5", "M", "TestClientsWhoseClocksDiffer", "a client whose clock is ahead takes a lease for ended", freedIf("acquire.lua", "tonumber(ARGV[4]) - (tonumber(string.match(m[2], '%d+$')) or 0) > 1000000")},
	{"5", "T", "TestClientsWhoseClocksDiffer", "a proposal counts though the fence is above it", []edit{
		{lua + "acquire.lua", "if hint > f then", "if hint > 0 then"},
	}},
	{"5", "L", "TestClientsWhoseClocksDiffer", "an absurd proposal is refused", []edit{
		{lua + "acquire.lua", "if not us or hint <= us + 2000000 then f = hint end", "if not us or hint <= us + 2000000 then f = hint else return {0, 0, 0} end"},
	}},

	{"6", "M", "TestEveryMutantIsCaughtAndItsTwinIsNot/amnesia-serves", "a node that is empty serves at once", atOnce},
	{"6", "T", "TestEveryMutantIsCaughtAndItsTwinIsNot/amnesia-no-seed", "it starts its tokens from zero", unseeded},
	{"6", "L", "TestRenewedLeaseOutlivesARollingRestart", "it is never admitted again", neverAdmitted},

	{"7", "M", "TestBootstrapDoesNotGiveALeaseAway", "the quarantine is half as long", []edit{
		{"redlock/admission.go", "return longest + longest/50 + 10*time.Millisecond", "if untrue(\"7M\") {\n\t\treturn longest / 2\n\t}\n\treturn longest + longest/50 + 10*time.Millisecond"},
	}},
	{"7", "T", "TestEmptyMajorityComesBackWithinAQuarantine", "the floor does not follow the clock", noClock},
	{"7", "L", "TestEmptyMajorityComesBackWithinAQuarantine", "no node is ever admitted again", neverAdmitted},

	{"8", "M", "TestServerThatComesBackWithoutALeaseKeepsOthersOutUntilItsEnd", "no script asks which server it runs on", []edit{
		{lua + "hello.lua", "if m[1] and run == ARGV[1] then", "if m[1] then"},
		{lua + "acquire.lua", "if run ~= string.match(ARGV[3], '^%S+') then return -2 end", ""},
	}},
	{"8", "T", "TestEmptySingleNodeComesBackWithinAQuarantine", "the floor does not follow the clock", noClock},
	{"8", "L", "TestEmptySingleNodeComesBackWithinAQuarantine", "the node is never admitted again", neverAdmitted},

	{"8a", "M", "TestStaleReplicaBesideItsMaster", "no lease is ever extended: the holder's ends in the quarantine", []edit{
		{lua + "renew.lua", "local said = 1", "local said = 3"},
	}},
	{"8a", "T", "TestStaleReplicaBesideItsMaster", "the floor does not follow the clock, and proposals alone do", noClock},
	{"8a", "L", "TestStaleReplicaBesideItsMaster", "no node is ever admitted again", neverAdmitted},

	{"8b", "M", "TestStaleReplicaOfAMasterThatMissesIt", "a server that is promoted serves at once", atOnce},
	{"8b", "T", "TestStaleReplicaOfAMasterThatMissesIt", "the floor does not follow the clock", noClock},
	{"8b", "L", "TestStaleReplicaOfAMasterThatMissesIt", "no node is ever admitted again", neverAdmitted},

	{"9", "M", "TestQuorumOfFourOutlivesTwoNodesThatForget", "the quorum is one less", plantedVote},
	{"9", "T", "TestQuorumOfFourOutlivesTwoNodesThatForget", "the token is the lowest that a node issued", []edit{
		{"mutants/internal/planted/lease.go", "fence: uint64(token),", "fence: uint64(lowest(a, token)),"},
	}},
	{"9", "L", "TestQuorumOfFourNeedsFourNodes", "all nodes must grant", votes},

	{"10", "M", "TestServersThatRefuseForAWhile/LOAD", "an error counts as a grant", []edit{
		{"redlock/attempt.go", "\tcase r.Outcome == node.NotExecuted:\n", "\tcase r.Outcome == node.NotExecuted && untrue(\"10M\"):\n\t\ts.state, s.mine, s.value, s.top = granted, true, s.a.hint+1, s.a.hint+1\n\tcase r.Outcome == node.NotExecuted:\n"},
	}},
	{"10", "T", "TestServersThatRefuseForAWhile/LOAD", "tokens do not grow", []edit{
		{"redlock/lease.go", "fence: uint64(token),", "fence: uint64(token) >> coarse(),"},
	}},
	{"10", "L", "TestServerThatForgetsItsScriptsIsTaughtThem", "a script that was forgotten is not sent again", []edit{
		{"redlock/internal/node/loop.go", "se.Code() == \"NOSCRIPT\" && !e.eval", "se.Code() == \"NOSCRIPT\" && !e.eval && !untrue(\"10L\")"},
	}},

	{"11", "M", "TestNoKeyIsLeftAndHandOffsGoOnUnderContention", "the first waiter takes what somebody holds", freedIf("wait.lua", "true")},
	{"11", "T", "TestNoKeyIsLeftAndHandOffsGoOnUnderContention", "a waiter is given the last token again", []edit{
		{lua + "wait.lua", "local v = f + 1", "local v = f"},
	}},
	{"11", "L", "TestNoKeyIsLeftAndHandOffsGoOnUnderContention", "a release wakes nobody, and nobody asks again", []edit{
		{lua + "queue.lua", "local head = first_waiter(tickets, beats, ms, patience)\n  if not head then return end", "local head = nil\n  if not head then return end"},
		{"redlock/wait.go", "limit := l.cfg.Patience / 3\n", "limit := l.cfg.Patience / 3\n\tif untrue(\"11L\") {\n\t\treturn time.Hour\n\t}\n"},
	}},

	{"12", "M", "TestLossOfFencesFreesNothing", "a lease without a fence counts as ended", freedIf("acquire.lua", "not m[3]")},
	{"12", "T", "TestTokensGrowWhenFencesAreLost", "the floor stands in for a fence that is not there, and not the high-water mark", []edit{
		{lua + "acquire.lua", "local f = hw\n", "local f = floor\n"},
		{lua + "wait.lua", "local f = tonumber(hw)", "local f = tonumber(floor)"},
		{lua + "acquire_shared.lua", "local f, w = hw, hw", "local f, w = floor, floor"},
	}},
	{"12", "L", "TestTokensGrowWhenFencesAreLost", "a node without a fence grants nothing", []edit{
		{lua + "acquire.lua", "local f = hw\n", "if not m[3] then return -2 end\nlocal f = hw\n"},
	}},
}

// helpers are files that the edits of Go sources need, by their paths.
var helpers = map[string]string{
	"redlock/untrue.go": `package redlock

import (
	"context"
	"time"

	"locktorture/lockimpl/redlock/internal/script"
)

func untrue(cells ...string) bool { return script.Untrue(cells...) }

func unless(cell string, ctx context.Context) context.Context {
	if untrue(cell) {
		return context.Background()
	}
	return ctx
}

func votes(quorum, nodes int) int {
	switch {
	case untrue("2M"):
		return quorum - 1
	case untrue("2L", "9L"):
		return nodes
	}
	return quorum
}

func none(cell string, d time.Duration) time.Duration {
	if untrue(cell) {
		return 0
	}
	return d
}

func passed(cell string, since time.Time) time.Duration {
	if untrue(cell) {
		return time.Since(since)
	}
	return 0
}

func coarse() int {
	if untrue("10T") {
		return 60
	}
	return 0
}
`,
	"redlock/internal/node/untrue.go": `package node

import (
	"net"
	"time"

	"locktorture/lockimpl/redlock/internal/script"
)

func untrue(cells ...string) bool { return script.Untrue(cells...) }

// keeper keeps the first deadline that it was given.
type keeper struct {
	net.Conn
	given bool
}

func keptDeadline(c net.Conn) net.Conn {
	if untrue("hole 15") {
		return &keeper{Conn: c}
	}
	return c
}

func (k *keeper) SetWriteDeadline(t time.Time) error {
	if k.given {
		return nil
	}
	k.given = true
	return k.Conn.SetWriteDeadline(t)
}
`,
	"redlock/internal/keys/untrue.go": `package keys

import "os"

func number(hash uint32) uint64 {
	if os.Getenv("REDLOCK_UNTRUE") == "hole 17" {
		return uint64(hash)
	}
	return uint64(hash >> 16 % Fences)
}
`,
	"redlock/internal/waiting/untrue.go": `package waiting

import "os"

func untrue(cell string) bool { return os.Getenv("REDLOCK_UNTRUE") == cell }
`,
	"mutants/internal/planted/untrue.go": `package planted

import "os"

func untrue(cell string) bool { return os.Getenv("REDLOCK_UNTRUE") == cell }

func votes(quorum, nodes int) int {
	if untrue("9M") {
		return quorum - 1
	}
	return quorum
}

func lowest(a *attempt, token int64) int64 {
	if !untrue("9T") {
		return token
	}
	for i := range a.byNode {
		if v := a.byNode[i].value; v > 0 {
			token = min(token, v)
		}
	}
	return token
}
`,
	"redlock/internal/script/untrue.go": `package script

import (
	"os"
	"slices"
	"strings"
)

func Untrue(cells ...string) bool { return slices.Contains(cells, os.Getenv("REDLOCK_UNTRUE")) }

// bend makes of a script what the cell that is untrue makes of it.
func bend(name, text string) string {
	for _, e := range bends[os.Getenv("REDLOCK_UNTRUE")] {
		if e[0] == name || e[0] == "queue" {
			text = strings.ReplaceAll(text, e[1], e[2])
		}
	}
	return text
}
`,
}

// bending has every script go through bend.
var bending = edit{
	"redlock/internal/script/script.go", `strings.Replace(text(name), include, text("queue"), 1)`,
	`bend(name, strings.Replace(text(name), include, text("queue"), 1))`,
}
