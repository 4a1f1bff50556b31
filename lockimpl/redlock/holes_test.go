package redlock_test

// holes are what attacks on the lock once found, and mutations of its source that
// no test noticed: each with the edits that bring it back, and the test that then
// fails. README.md lists them.
var holes = []cell{
	{"hole 1", "", "TestAcceptedWriteBackIsBelowEveryLaterToken", "a writer's token is not stored where readers' gossip is ahead of it", []edit{
		{lua + "write_back.lua", "elseif w < T then", "elseif false then"},
	}},
	{"hole 2", "", "TestExtensionCountsOnlyNodesThatGrantedBeforeIt", "an extension counts what is acquired in its own round", []edit{
		{"redlock/extend.go", "case said == 1 && c.counts:", "case said == 1 && (c.counts || untrue(\"hole 2\")):"},
	}},
	{"hole 3", "", "TestDemotedAndPromotedServerKeepsOthersOut", "a server is known by its run id alone", []edit{
		{"redlock/internal/node/conn.go", "\treturn process[:min(len(process), 20)] +", "\tif untrue(\"hole 3\") {\n\t\thistory = \"\"\n\t}\n\treturn process[:min(len(process), 20)] +"},
	}},
	{"hole 4", "", "TestServerThatDoesNotSayWhoItIs", "a server that hides INFO is accepted", []edit{
		{"redlock/internal/node/conn.go", "case c.run == anonymous && !cfg.Anonymous:", "case c.run == anonymous && !cfg.Anonymous && !untrue(\"hole 4\"):"},
	}},
	{"hole 5", "a", "TestBootstrapDoesNotGiveALeaseAway", "Bootstrap admits a set that lost everything", []edit{
		{"redlock/bootstrap.go", "case !l.cfg.FirstTime:", "case !l.cfg.FirstTime && !untrue(\"hole 5a\"):"},
	}},
	{"hole 5", "b", "TestBootstrapOfAServingSetDoesWithoutAMinority", "Bootstrap needs every node of a set that serves", []edit{
		{"redlock/bootstrap.go", "case admitted >= l.quorum && admitted == answered:", "case admitted >= l.quorum && admitted == answered && (answered == len(all) || !untrue(\"hole 5b\")):"},
	}},
	{"hole 6", "", "TestStaleReplicaOfAMasterThatMissesIt", "a stale replica that is promoted serves at once", []edit{
		{lua + "hello.lua", "if m[1] and run == ARGV[1] then", "if m[1] then"},
		{lua + "acquire.lua", "if run ~= string.match(ARGV[3], '^%S+') then return -2 end", ""},
	}},
	{"hole 7", "", "TestLeaseDoesNotOutliveASuspension", "a suspension of the machine is not noticed", []edit{
		{"redlock/lease.go", "if e.ended || now.Round(0)", "if untrue(\"hole 7\") || e.ended || now.Round(0)"},
	}},
	{"hole 8", "", "TestSmallerMaxTTLDoesNotShortenTheQuarantine", "the quarantine is as long as this client's MaxTTL", []edit{
		{"redlock/admission.go", "longest := max(l.cfg.MaxTTL, time.Duration(l.longest.Load()))\n", "longest := max(l.cfg.MaxTTL, time.Duration(l.longest.Load()))\n\tif untrue(\"hole 8\") {\n\t\tlongest = l.cfg.MaxTTL\n\t}\n"},
	}},
	{"hole 9", "a", "TestLostOfAnExpiredLease", "Lost closes its channel and leaves the end of the lease to close it again", []edit{
		{"redlock/lease.go", "\tcase e.ended:\n\t\tclose(e.lost)\n", "\tcase e.ended || untrue(\"hole 9a\"):\n\t\tclose(e.lost)\n"},
	}},
	{"hole 9", "b", "TestHostileReplies", "a reply with an impossible length panics", []edit{
		{"redlock/internal/node/conn.go", "\tcase runtime.Error:\n", "\tcase runtime.Error:\n\t\tif untrue(\"hole 9b\") {\n\t\t\tpanic(p)\n\t\t}\n"},
	}},
	{"hole 10", "", "TestExtensionBeyondWhatTheNodesGrantLeavesTheLease", "a node that does not grant for so long counts as one that lost the lease", []edit{
		{"redlock/extend.go", "case said == -3:", "case said == -3 && !untrue(\"hole 10\"):"},
	}},
	{"hole 11", "", "TestOutageIsNotARefusal", "an outage is told as a refusal", []edit{
		{"redlock/decide.go", "if held && out <=", "if untrue(\"hole 11\") || held && out <="},
	}},
	{"hole 12", "", "TestRenewedLeaseOutlivesARollingRestart", "a renewal leaves nodes that came back without the lease", []edit{
		{"redlock/extend.go", "if !r.calls[i].absent {", "if !r.calls[i].absent || untrue(\"hole 12\") {"},
	}},
	{"hole 13", "", "TestPatienceMayDifferBetweenClients", "everybody is judged by the patience of who asks", []edit{
		{lua + "queue.lua", "(own and tonumber(own) or patience)", "patience"},
	}},
	{"hole 14", "", "TestAllKeysAreWaitedForLongerThanTheTTL", "what was taken is not extended while the rest is waited for", []edit{
		{"redlock/multi.go", "if len(taken) == 0 {", "if len(taken) == 0 || untrue(\"hole 14\") {"},
	}},
	{"hole 15", "", "TestLargePipelineDoesNotCostTheNextOneItsConnection", "the deadline of a write stays behind", []edit{
		{"redlock/internal/node/conn.go", "\treturn redis.NewClient(n.options(w)), w, nil", "\treturn redis.NewClient(n.options(keptDeadline(w))), w, nil"},
	}},
	{"hole 16", "a", "TestExtendKeepsToItsContextBehindARenewal", "Extend waits for a renewal beyond its context", []edit{
		{"redlock/extend.go", "\t\tcase <-other:\n\t\tcase <-ctx.Done():", "\t\tcase <-other:\n\t\tcase <-unless(\"hole 16a\", ctx).Done():"},
	}},
	{"hole 16", "b", "TestAcquireKeepsToItsContextWithoutDeadlines", "Acquire waits for its answer beyond its context", []edit{
		{"redlock/attempt.go", "within(ctx, a.limit(), done)", "within(unless(\"hole 16b\", ctx), a.limit(), done)"},
	}},
	{"hole 17", "", "TestNamesUsedOnceLeaveFewKeys", "every name has a fence of its own", []edit{
		{"redlock/internal/keys/keys.go", "uint64(s.Hash>>16%Fences)", "number(s.Hash)"},
	}},
	{"hole 18", "", "TestIntentsThatHaveEndedAreForgotten", "intents that have ended are kept", []edit{
		{"redlock/internal/waiting/intents.go", "if len(s.byKey) >= s.limit {", "if len(s.byKey) >= s.limit && !untrue(\"hole 18\") {"},
	}},
	{"hole 19", "a", "TestUserWithoutPasswordAndWithoutChannels", "a release that may not publish fails", []edit{
		{lua + "queue.lua", "redis.pcall('PUBLISH'", "redis.call('PUBLISH'"},
	}},
	{"hole 19", "b", "TestUserWithoutPasswordAndWithoutChannels", "a user without a password is ignored", []edit{
		{"redlock/internal/node/conn.go", "if opt.Username == \"\" ||", "if untrue(\"hole 19b\") || opt.Username == \"\" ||"},
	}},
	{"hole 20", "", "TestOneServerIsNotTwoNodes", "one server under three names counts as three", []edit{
		{"redlock/internal/node/conn.go", "if err == nil && n.cfg.Meet != nil &&", "if err == nil && !untrue(\"hole 20\") && n.cfg.Meet != nil &&"},
	}},
	{"hole 21", "", "TestReleaseDoesWithoutANodeThatDied", "nodes that were not asked do not count as free", []edit{
		{"redlock/release.go", "case r.deleted > 0 &&", "case r.deleted > 0 && !untrue(\"hole 21\") &&"},
	}},
	{"hole 22", "", "TestEveryPipelineHasADeadline", "a pipeline is read without a deadline", []edit{
		{"redlock/internal/node/conn.go", "\topt.PoolSize, opt.MinIdleConns,", "\tif untrue(\"hole 22\") {\n\t\topt.ReadTimeout = -1\n\t}\n\topt.PoolSize, opt.MinIdleConns,"},
		{"redlock/internal/node/node.go", "clone := c.WithTimeout(d)\n", "clone := c.WithTimeout(d)\n\tif untrue(\"hole 22\") {\n\t\tclone = c.WithTimeout(-1)\n\t}\n"},
	}},

	{"mutation 1", "", "TestServerThatComesBackWithoutALeaseKeepsOthersOutUntilItsEnd", "the run id is never read", []edit{
		{lua + "hello.lua", "if m[1] and run == ARGV[1] then", "if m[1] then"},
		{lua + "acquire.lua", "if run ~= string.match(ARGV[3], '^%S+') then return -2 end", ""},
	}},
	{"mutation 2", "", "TestBootstrapDoesNotGiveALeaseAway", "the quarantine is half as long", []edit{
		{"redlock/admission.go", "\treturn longest + longest/50 +", "\tif untrue(\"mutation 2\") {\n\t\tlongest /= 2\n\t}\n\treturn longest + longest/50 +"},
	}},
	{"mutation 3", "", "TestLeaseDoesNotOutliveASuspension", "no check for a suspension when the lease is used", []edit{
		{"redlock/lease.go", "\te.noticeSleep()\n\treturn !e.ended", "\tif !untrue(\"mutation 3\") {\n\t\te.noticeSleep()\n\t}\n\treturn !e.ended"},
	}},
	{"mutation 4", "", "TestValidityLeavesRoomForDrift", "no allowance for drift", []edit{
		{"redlock/config.go", "\treturn time.Duration(float64(ttl)*driftFactor) + driftFixed", "\tif untrue(\"mutation 4\") {\n\t\treturn 0\n\t}\n\treturn time.Duration(float64(ttl)*driftFactor) + driftFixed"},
	}},
	{"mutation 5", "", "TestAcceptedWriteBackIsBelowEveryLaterToken", "a write-back leaves the high-water mark", []edit{
		{lua + "write_back.lua", "if tonumber(hw) < T then", "if false then"},
	}},
	{"mutation 6", "", "TestAcceptedWriteBackIsBelowEveryLaterToken", "a reader's write-back does not look at what writers were given", []edit{
		{lua + "write_back_shared.lua", "if w >= T then return {2, w + 1} end", ""},
	}},
	{"mutation 7", "", "TestLateCopyOfAnAcquireTakesNothing", "no tombstones", []edit{
		{lua + "queue.lua", "redis.call('SET', tombstone, '1', 'PX', ms)", ""},
	}},
	{"mutation 8", "a", "TestProposalFarAheadOfTheClockIsIgnored", "acquire accepts any proposal", []edit{
		{lua + "acquire.lua", "if not us or hint <= us + 2000000 then", "if true then"},
	}},
	{"mutation 8", "b", "TestProposalFarAheadOfTheClockIsIgnored", "wait accepts any proposal", []edit{
		{lua + "wait.lua", "if hint > f and hint <= us + 2000000 then", "if hint > f then"},
	}},
	{"mutation 8", "c", "TestProposalFarAheadOfTheClockIsIgnored", "readers' proposals are accepted whatever they are", []edit{
		{lua + "acquire_shared.lua", "if hint > us + 2000000 then hint = 0 end", ""},
	}},
}
