package redlock_test

// again is whether who waits for several keys waits for them anew.
var again = edit{
	"redlock/multi.go", "if lost == nil || !retriable(ctx, lost) {",
	"if lost == nil || !retriable(ctx, lost) || untrue(\"hole 82a\") || untrue(\"hole 82b\") && !errors.Is(lost, lockimpl.ErrLost) {",
}

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
		{"redlock/extend.go", "repair(c *renewCall) {\n", "repair(c *renewCall) {\n\tif untrue(\"hole 12\") {\n\t\treturn\n\t}\n"},
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
		{"redlock/internal/node/conn.go", "if err == nil && n.cfg.Meet != nil {", "if err == nil && !untrue(\"hole 20\") && n.cfg.Meet != nil && (c.proc != \"\" || !untrue(\"hole 90\")) {"},
	}},
	{"hole 21", "", "TestReleaseDoesWithoutANodeThatDied", "nodes that were not asked do not count as free", []edit{
		{"redlock/release.go", "case r.deleted > 0 &&", "case r.deleted > 0 && !untrue(\"hole 21\") &&"},
	}},
	{"hole 22", "", "TestEveryPipelineHasADeadline", "a pipeline is read without a deadline", []edit{
		{"redlock/internal/node/conn.go", "\topt.PoolSize, opt.MinIdleConns,", "\tif untrue(\"hole 22\") {\n\t\topt.ReadTimeout = -1\n\t}\n\topt.PoolSize, opt.MinIdleConns,"},
		{"redlock/internal/node/node.go", "clone := c.WithTimeout(d)\n", "clone := c.WithTimeout(d)\n\tif untrue(\"hole 22\") {\n\t\tclone = c.WithTimeout(-1)\n\t}\n"},
	}},

	{"hole 23", "", "TestNoContextIsNoPanic", "a call without a context panics", []edit{
		{"redlock/extend.go", "if ctx == nil {", "if ctx == nil && !untrue(\"hole 23\") {"},
	}},
	{"hole 24", "", "TestARefusalThatIsRepeatedIsOneAnswer", "a release that is sent again is counted again", []edit{
		{"redlock/release.go", "case !c.counted:", "case !c.counted || untrue(\"hole 24\"):"},
	}},
	{"hole 25", "a", "TestHoldingStaysWithWhoeverTookTheKeyMeanwhile", "a holding is forgotten though its owner has the key", []edit{
		{"redlock/reentry.go", "h.users == 0 && h.count == 0 {", "h.users == 0 && (h.count == 0 || untrue(\"hole 25a\")) {"},
	}},
	{"hole 25", "b", "TestReentryAfterALossLeavesNoKey", "a lost lease that its owner replaces is not given back", []edit{
		{"redlock/reentry.go", "lost := h.lease; lost != nil {", "lost := h.lease; lost != nil && !untrue(\"hole 25b\") {"},
	}},
	{"hole 26", "a", "TestCloseBesideAnAcquireLeavesNoKey", "a lock that is being closed grants a lease, which nobody can give back", []edit{
		{"redlock/attempt.go", "if l.closed.Load() { // who", "if l.closed.Load() && !untrue(\"hole 26a\") { // who"},
	}},
	{"hole 26", "b", "TestCloseEndsEveryWait", "Close leaves those who wait to their contexts", []edit{
		{"redlock/lock.go", "\tl.lines.Close(ErrClosed)\n", "\tif !untrue(\"hole 26b\") {\n\t\tl.lines.Close(ErrClosed)\n\t}\n"},
	}},
	{"hole 27", "a", "TestSessionGivesBackWhatNodesLost", "what is left of a session's lease that nodes lost is not given back", []edit{
		{"redlock/session.go", "if !valid && got.e.isReleased() {", "if !valid && (untrue(\"hole 27a\") || got.e.isReleased()) {"},
	}},
	{"hole 27", "b", "TestSizeOfTheNextBatch", "a session's batches stay as large where their answers are late", []edit{
		{"redlock/session.go", "case took >= limit && failed:", "case took >= limit && failed && !untrue(\"hole 27b\"):"},
	}},
	{"hole 28", "a", "TestMinorityThatIsMisconfiguredEndsNoWait", "what one node will always say ends a wait", []edit{
		{"redlock/decide.go", "if countHopeless(reasons) > a.spare() {", "if n := countHopeless(reasons); n > a.spare() || n > 0 && untrue(\"hole 28a\") {"},
	}},
	{"hole 28", "b", "TestWaitForMoreThanTheNodesGrantEndsAtOnce", "a wait goes on that no node will ever grant", []edit{
		{"redlock/errors.go", "|| errors.Is(err, ErrTTLTooLong)) {", "|| errors.Is(err, ErrTTLTooLong) && !untrue(\"hole 28b\")) {"},
	}},
	{"hole 28", "c", "TestPauseOfAWaiterKeepsToItsPatience", "a waiter pauses for longer than its place in the queue lasts", []edit{
		{"redlock/wait.go", "\ttop := min(", "\tif untrue(\"hole 28c\") {\n\t\treturn l.cfg.RetryMin\n\t}\n\ttop := min("},
	}},
	{"hole 29", "a", "TestFailedRoundAddsNoNodeToTheNext", "what a failed round was granted on its way counts in the next", []edit{
		{"redlock/extend.go", "\t\te.mayCount = r.counted\n", "\t\tif !untrue(\"hole 29a\") {\n\t\t\te.mayCount = r.counted\n\t\t}\n"},
	}},
	{"hole 29", "b", "TestRepairIsAsLongAsTheLease", "a repair is as long as the lease was at first", []edit{
		{"redlock/extend.go", "\tif t := time.Now().Add(ttl + e.l.cfg.NodeTimeout); t", "\tif untrue(\"hole 29b\") {\n\t\tttl = e.a.r.ttl\n\t}\n\tif t := time.Now().Add(ttl + e.l.cfg.NodeTimeout); t"},
	}},
	{"hole 30", "", "TestValidUntilHasPassedWhenTheLeaseHasEnded", "a lease that has ended is still said to be valid", []edit{
		{"redlock/lease.go", "if e.ended && e.stopped", "if e.ended && !untrue(\"hole 30\") && e.stopped"},
	}},
	{"hole 31", "", "TestEndOfAnAttemptBesideItsSending", "an acquire that is being sent is taken for one that never will be", []edit{
		{"redlock/attempt.go", "was := s.sent.Swap(true)", "was := s.sent.Swap(!untrue(\"hole 31\"))"},
	}},
	{"hole 32", "a", "TestHookThatHidesAnError", "a hook that hides an error leaves a lease that may have been granted", []edit{
		{"redlock/internal/node/conn.go", "\treturn c.under.broken\n", "\tif untrue(\"hole 32a\") {\n\t\treturn nil\n\t}\n\treturn c.under.broken\n"},
	}},
	{"hole 32", "b", "TestHookThatSendsNothingOrTwice", "a pipeline goes out as often as a hook calls for it", []edit{
		{"redlock/internal/node/conn.go", "\t\tif !d.sent {\n", "\t\tif !d.sent || untrue(\"hole 32b\") {\n"},
	}},
	{"hole 33", "a", "TestWaiterInTheLineIsToldWhatThoseAheadWereTold", "who waits behind another of its client is told of a holder in an outage", []edit{
		{"redlock/wait.go", "case e.Granted:", "case e.Granted || untrue(\"hole 33a\"):"},
	}},
	{"hole 33", "b", "TestContextThatEndsBeforeANodeIsAskedIsNoRefusal", "who asked no node is told of a holder", []edit{
		{"redlock/wait.go", "\treturn fmt.Errorf(\"acquire %s: %w: no node was asked", "\tif untrue(\"hole 33b\") {\n\t\treturn lockimpl.ErrHeld\n\t}\n\treturn fmt.Errorf(\"acquire %s: %w: no node was asked"},
	}},

	{"hole 34", "", "TestTimesBeyondReckoningAreRefused", "a MaxTTL of which the quarantine overflows is accepted", []edit{
		{"redlock/config.go", "if d > mostDuration {", "if d > mostDuration && !untrue(\"hole 34\") {"},
	}},
	{"hole 35", "", "TestServerThatEvictsKeysIsRefused", "a server that evicts leases which are held is accepted", []edit{
		{"redlock/internal/node/conn.go", "case evicts(room):", "case evicts(room) && !untrue(\"hole 35\"):"},
	}},
	{"hole 36", "", "TestTokensGrowUnderAClockCenturiesAhead", "tokens follow a clock beyond what a number can tell apart", []edit{
		{lua + "acquire.lua", "math.min(t[1] * 1000000 + t[2], 2 ^ 52)", "t[1] * 1000000 + t[2]"},
		{lua + "wait.lua", "math.min(t[1] * 1000000 + t[2], 2 ^ 52)", "t[1] * 1000000 + t[2]"},
	}},
	{"hole 37", "a", "TestServersThatChangePlacesAreUsedAgain", "servers that change places are refused for ever", []edit{
		{"redlock/internal/node/identities.go", "case other.parted.IsZero():", "case other.parted.IsZero() || untrue(\"hole 37a\"):"},
	}},
	{"hole 37", "b", "TestAServerIsOneNodeAtATime", "a server that changes places answers as two nodes in one exchange", []edit{
		{"redlock/internal/node/identities.go", "<= s.Pause:", "<= s.Pause && !untrue(\"hole 37b\"):"},
	}},
	{"hole 38", "", "TestRenewalFollowsOneWhoseContextHasEnded", "a renewal whose context has ended keeps another from beginning", []edit{
		{"redlock/renew.go", "before != nil && !before.isEnded() {", "before != nil && (!before.isEnded() || untrue(\"hole 38\")) {"},
	}},
	{"hole 39", "", "TestCommandThatIsMissingLeavesNoKey", "a script takes the lock before a command that may be refused", []edit{
		{lua + "wait.lua", "quit(KEYS[6], KEYS[7], ARGV[5])\n-- The lock", "-- The lock"},
		{lua + "wait.lua", "end\nreturn v\n", "end\nquit(KEYS[6], KEYS[7], ARGV[5])\nreturn v\n"},
	}},
	{"hole 40", "", "TestLeaseFromBeforeAClockWasSetBackEnds", "a lease lasts for as long as a node's clock was set back", []edit{
		{lua + "queue.lua", "if left <= tonumber(maxttl) then return left end", "if true then return left end"},
	}},
	{"hole 41", "", "TestFairWaiterThatCannotSubscribeKeepsItsPlace", "a waiter's place in the queue is that of its subscription", []edit{
		{"redlock/wait.go", "\tl.listen(ctx)\n", "\tl.listen(ctx)\n\tif untrue(\"hole 41\") {\n\t\tr.ticket = time.Now().UnixMicro()\n\t}\n"},
	}},
	{"hole 42", "", "TestWatchEndsWithTheLock", "Watch goes on after Close", []edit{
		{"redlock/inspect.go", "\tdefer context.AfterFunc(l.untilClose, cancel)()\n", "\tif !untrue(\"hole 42\") {\n\t\tdefer context.AfterFunc(l.untilClose, cancel)()\n\t}\n"},
	}},

	{"hole 33", "c", "TestHandOverThatIsOverIsNoHolder", "who waits behind one that was granted and has given back is told of a holder", []edit{
		{"redlock/internal/waiting/lines.go", "case <-ahead.Lost():\n\t\treturn false", "case <-ahead.Lost():\n\t\treturn untrue(\"hole 33c\")"},
	}},
	{"hole 12", "b", "TestNodeThatAnswersAfterItsRoundIsRepaired", "a node that answers after its round is repaired in the next", []edit{
		{"redlock/extend.go", "return c.absent && c.repairs", "return c.absent && c.repairs && !untrue(\"hole 12b\")"},
	}},
	{"hole 26", "c", "TestObserverMayReleaseAndClose", "who is told of a renewal or a loss is waited for by those it calls", []edit{
		{"redlock/observe.go", "\t\tgo l.tellAll() //", "\t\tif untrue(\"hole 26c\") {\n\t\t\tl.news.mu.Unlock()\n\t\t\tl.tellAll()\n\t\t\tl.news.mu.Lock()\n\t\t\treturn\n\t\t}\n\t\tgo l.tellAll() //"},
	}},
	{"hole 26", "d", "TestLeaseAfterCloseIsToldSo", "what is asked of a lease after Close is told as an outage", []edit{
		{"redlock/extend.go", "if e.l.closed.Load() {", "if e.l.closed.Load() && !untrue(\"hole 26d\") {"},
	}},
	{"hole 28", "d", "TestCertificateThatDoesNotHoldIsMisconfigured", "a wrong certificate is told as an outage", []edit{
		{"redlock/internal/node/reply.go", "if isWrongTLS(err) ||", "if isWrongTLS(err) && !untrue(\"hole 28d\") ||"},
	}},
	{"hole 43", "", "TestReleaseRingsTheNextInTheLineAlone", "a release rings everybody of its client who contends", []edit{
		{"redlock/internal/waiting/lines.go", "\t\tln.wakers[0].ring()\n", "\t\tfor i, w := range ln.wakers {\n\t\t\tif i == 0 || untrue(\"hole 43\") {\n\t\t\t\tw.ring()\n\t\t\t}\n\t\t}\n"},
	}},
	{"hole 44", "", "TestLongLineOverFiveMasters", "every waiter of a client asks to keep its place", []edit{
		{"redlock/internal/waiting/rest.go", "asks, named := w.asks(), false", "asks, named := w.asks() || untrue(\"hole 44\"), false"},
	}},
	{"hole 45", "a", "TestFirstOfALineAsksForAll", "a leader whose place was lost comes behind its line", []edit{
		{"redlock/internal/waiting/rest.go", "&& o.Resting() {", "&& o.Resting() && (o != w || !untrue(\"hole 45a\")) {"},
	}},
	{"hole 45", "b", "TestKeepKeepsTheOrderOfSeveralCalls", "a line whose clock is ahead and whose places were lost is served by its names", []edit{
		{lua + "queue.lua", "ms * 1000 + 1000000 + ahead)", "ms * 1000 + 1000000)"},
	}},
	{"hole 46", "", "TestLineIsToldTogetherWhatEndsItsWait", "what ends every wait is told to one of a line after the other", []edit{
		{"redlock/wait.go", "ctx.Err() == nil && tries > 0 {", "ctx.Err() == nil && tries > 0 && !untrue(\"hole 46\") {"},
	}},
	{"hole 47", "", "TestHandshakeEnds", "a server that is silent in the handshake of TLS costs three timeouts", []edit{
		{"redlock/internal/node/secure.go", "if !h.done.Load() {", "if !h.done.Load() && !untrue(\"hole 47\") {"},
	}},
	{"hole 48", "", "TestWaiterAsksAgainOnceItCanHear", "a wake-up that came before the subscription costs a waiter until its next poll", []edit{
		{"redlock/internal/waiting/lines.go", "\t\t\tif w.asks() {\n\t\t\t\tw.ring()\n", "\t\t\tif w.asks() && !untrue(\"hole 48\") {\n\t\t\t\tw.ring()\n"},
	}},
	{"hole 49", "", "TestWaiterAsksAgainOnceAnotherNodeCanBeHeard", "a wake-up that a quorum could not hear costs a waiter until its next poll, where a node is heard for the first time behind the quorum", []edit{
		{"redlock/queue.go", "\t\t\tif heard < l.quorum {\n", "\t\t\tif heard < l.quorum || untrue(\"hole 49\") && first && heard > l.quorum {\n"},
	}},
	{"hole 50", "", "TestWriterOfAnotherLockOvertakesAReadersWriteBack", "a token that a reader takes from a node, above that of a writer of another lock with the same fence, counts there and is not stored", []edit{
		{lua + "write_back_shared.lua", "local overtaken = w >= T\n", "if w >= T then return {2, w + 1} end\nlocal overtaken = false\n"},
	}},
	{"hole 51", "", "TestLateAnswerToAnOlderWriteBackKeepsTheNode", "a node that answers the write-back of an older token counts as one without the lease, and is given nothing back", []edit{
		{"redlock/decide.go", "case v == 2 && r.token < a.token:", "case v == 2 && r.token < a.token && !untrue(\"hole 51\"):"},
	}},
	{"hole 52", "", "TestAttemptThatIsExecutedAfterItsLeaseIsUndone", "a node that executes an attempt later than its lease would have lasted keeps the key for as long again", []edit{
		{"redlock/again.go", "late := a.byNode[i].doubt", "late := a.byNode[i].doubt && !untrue(\"hole 52\")"},
	}},
	{"hole 53", "", "TestSilentNodeIsNoVoteForARefusal", "a node that is silent counts as one that would have granted, so that an outage is told as a refusal", []edit{
		{"redlock/decide.go", "> a.spare() && !a.restDecides():", "> a.spare() && (untrue(\"hole 53\") || !a.restDecides()):"},
	}},
	{"hole 54", "a", "TestUndoOfWhatANodeMayStillExecuteCostsLittle", "a node that is gone is dialled four times a second for as long as the client lives", []edit{
		{"redlock/again.go", "\treturn max(retryRelease, a.l.cfg.NodeTimeout/2,", "\tif untrue(\"hole 54a\") {\n\t\treturn a.l.cfg.NodeTimeout / 2\n\t}\n\treturn max(retryRelease, a.l.cfg.NodeTimeout/2,"},
	}},
	{"hole 54", "b", "TestUndoOfWhatANodeMayStillExecuteCostsLittle", "Close waits for the pause between two releases", []edit{
		{"redlock/lock.go", "l.sendRetries() // for the last time\n", "l.retries.sendNow()\n\tif !untrue(\"hole 54b\") {\n\t\tl.late.sendNow()\n\t}\n"},
	}},
	{"hole 54", "c", "TestLateAttemptIsUndoneOnceItsNodeIsHeard", "what a node may execute late is undone after a pause when it is heard again", []edit{
		{"redlock/lock.go", "\tif err == nil {\n\t\t\tl.hurryRetries(i)", "\tif err == nil && !untrue(\"hole 54c\") {\n\t\t\tl.hurryRetries(i)"},
	}},
	{"hole 55", "", "TestWaiterThatComesToLeadInAnOutageIsToldOfIt", "who comes to lead a line in an outage is told of the holder from before it", []edit{
		{"redlock/wait.go", "\tif told := l.lines.Told(k.Name, by); told != nil {", "\tif told := l.lines.Told(k.Name, by); told != nil && !untrue(\"hole 55\") {"},
	}},
	{"hole 56", "a", "TestSilentServerCostsACallerOneNodeTimeout", "a caller who runs its own pipeline waits for two node timeouts", []edit{
		{"redlock/attempt.go", "limit() time.Duration {\n", "limit() time.Duration {\n\tif untrue(\"hole 56a\") {\n\t\treturn min(a.l.cfg.NodeTimeout, time.Until(a.until))\n\t}\n"},
		{"redlock/internal/node/run.go", "if !guard.Stop() && broken != nil {", "if !guard.Stop() && broken != nil && !untrue(\"hole 56a\") && !untrue(\"hole 56b\") {"},
	}},
	{"hole 56", "b", "TestSilentServerCostsACallerOneNodeTimeout", "who gives back by its own pipeline waits for two node timeouts", []edit{
		{"redlock/release.go", "\treturn r.a.l.within(", "\tif untrue(\"hole 56b\") {\n\t\tby = time.Now()\n\t}\n\treturn r.a.l.within("},
		{"redlock/internal/node/run.go", "if !guard.Stop() && broken != nil {", "if !guard.Stop() && broken != nil && !untrue(\"hole 56a\") && !untrue(\"hole 56b\") {"},
	}},
	{"hole 57", "", "TestReleaseThatFailedBehindTheDeletionIsNoLoss", "a release that failed behind the deletion, and finds nothing when it is sent again, is told as a loss", []edit{
		{"redlock/release.go", "(r.Doubt || c.failed)", "(r.Doubt || c.failed && !untrue(\"hole 57\"))"},
	}},

	{"hole 58", "", "TestPlaceOfWhoGaveUpIsTakenAwayOnceItsNodeIsBack", "who gives up while a node is out of reach keeps everybody else from the key there for its Patience", []edit{
		{"redlock/queue.go", "r.Outcome != node.Executed && c.mayBePlaced()", "r.Outcome != node.Executed && !untrue(\"hole 58\") && c.mayBePlaced()"},
	}},
	{"hole 59", "", "TestWriterThatTriesNoMoreKeepsNobodyOut", "a writer that tries, and is refused by readers, keeps everybody else from the key for the Patience of those who wait", []edit{
		{"redlock/lock.go", "betweenTries: min(cfg.Patience, mostBetweenTries).Milliseconds()", "betweenTries: map[bool]int64{true: cfg.Patience.Milliseconds(), false: min(cfg.Patience, mostBetweenTries).Milliseconds()}[untrue(\"hole 59\")]"},
	}},
	{"hole 60", "", "TestWaiterNamedByAMinorityAsksSoon", "a waiter that is named by fewer nodes than a quorum asks again only once the lease that it was refused for would be over", []edit{
		{"redlock/wait.go", "Named: l.upTo(min(l.cfg.RetryMax, every)),", "Named: map[bool]time.Duration{true: mostDuration, false: l.upTo(min(l.cfg.RetryMax, every))}[untrue(\"hole 60\")],"},
	}},
	{"hole 61", "", "TestPlaceThatAnEarlierAttemptTakesLateIsTakenAway", "an attempt that a node executes after its waiter gave up, and that was not its last, leaves a place there for the waiter's Patience", []edit{
		{"redlock/release.go", "c.tombstone > 0 {", "c.tombstone > 0 && !untrue(\"hole 61\") {"},
	}},
	{"hole 62", "", "TestAcquireThatLandsBehindTheLeavingLeavesNoPlace", "an acquire that is sent again, since the node forgot its script, lands behind the leaving of a waiter that others granted, and leaves a place", []edit{
		{"redlock/queue.go", "r.Outcome == node.Executed && c.isAhead():", "r.Outcome == node.Executed && c.isAhead() && !untrue(\"hole 62\"):"},
	}},
	{"hole 63", "", "TestNodeThatIsAwayIsAskedEverMoreRarely", "a node that is away is dialled twenty times a second for the Patience of who gave up", []edit{
		{"redlock/again.go", "max(retryRelease, awayPause(since))", "max(retryRelease, none(\"hole 63\", awayPause(since)))"},
	}},
	{"hole 64", "", "TestWhoWaitsBehindATryIsWokenAtItsEnd", "nobody wakes who waits behind the place of a writer that only tried, and the release that named it is lost", []edit{
		{"redlock/queue.go", "if queued {\n\t\t\ttime.AfterFunc", "if queued && !untrue(\"hole 64\") {\n\t\t\ttime.AfterFunc"},
	}},
	{"hole 65", "", "TestLongLineThatAMinorityNamesAsksSeldom", "a long line asks again and again for a key that only a minority of nodes can grant", []edit{
		{"redlock/internal/waiting/rest.go", "if times == 0 {", "if times == 0 || untrue(\"hole 65\") {"},
	}},
	{"hole 66", "", "TestWhoWasGrantedInVainLeavesNoPlace", "who was granted the key by a minority in vain, and gives up, leaves the place that was kept for it there since", []edit{
		{"redlock/queue.go", "|| c.a.err != nil", "|| c.a.err != nil && !untrue(\"hole 66\")"},
	}},
	{"hole 67", "", "TestPlaceOfWhoHasLeftIsNotKept", "a place that was to be kept is taken again behind the leaving of its waiter", []edit{
		{"redlock/queue.go", "!w.Again() && !o.Left()", "!w.Again() && (!o.Left() || untrue(\"hole 67\"))"},
	}},
	{"hole 68", "", "TestNodeThatRefusesWhatItIsAskedIsNotDialledWithoutEnd", "a node that is connected to, and refuses to undo anything, is dialled again and again without a pause", []edit{
		{"redlock/again.go", "time.Since(s.hurried[to]) >= r.pause {", "(time.Since(s.hurried[to]) >= r.pause || untrue(\"hole 68\")) {"},
	}},
	{"hole 69", "a", "TestWaiterPausesWhateverItIsConfiguredTo", "a waiter that is configured to pauses of nothing asks without end while too few nodes answer", []edit{
		{"redlock/lock.go", "= max(cfg.RetryMin, leastPause), ", "= max(cfg.RetryMin, none(\"hole 69a\", leastPause)), "},
		{"redlock/wait.go", "l.cfg.Backoff(tries+1), leastPause)", "l.cfg.Backoff(tries+1), none(\"hole 69a\", leastPause))"},
	}},
	{"hole 69", "b", "TestAdmissionPausesWhateverItIsConfiguredTo", "who is configured to pauses of nothing asks without end whether a node can be admitted", []edit{
		{"redlock/lock.go", "max(cfg.RetryMax, leastPause)", "max(cfg.RetryMax, none(\"hole 69b\", leastPause))"},
	}},
	{"hole 70", "", "TestNodeThatIsAwayIsAskedAsRarelyWhileAnotherRefuses", "a node that is away is dialled as often as any other has to be asked again", []edit{
		{"redlock/again.go", "if r.at.Sub(now) <= r.pause/2 {", "if r.at.Sub(now) <= r.pause/2 || untrue(\"hole 70\") {"},
	}},
	{"hole 71", "", "TestReleaseAsksANodeThatHasNothingOnce", "a node that was away all the time is sent every release again and again, and the client keeps each until its lease would have ended", []edit{
		{"redlock/release.go", "|| !c.owed()", "|| !c.owed() && (!untrue(\"hole 71\") || !c.Wanted(false))"},
	}},
	{"hole 72", "", "TestWaitForASemaphoreUnderItsOwnLease", "who waits for a semaphore with the context of a lease on it asks without a pause", []edit{
		{"redlock/semaphore.go", "under != nil {", "under != nil && !untrue(\"hole 72\") {"},
	}},
	{"hole 73", "", "TestLinesAskNoLeaseWithTheirMutexHeld", "a client locks up when a wait behind its own lease ends while that lease is given back", []edit{
		{"redlock/internal/waiting/lines.go", "ahead, last := ln.ahead, ln.last\n\tq.mu.Unlock()\n", "ahead, last := ln.ahead, ln.last\n\tif untrue(\"hole 73\") {\n\t\tdefer q.mu.Unlock()\n\t} else {\n\t\tq.mu.Unlock()\n\t}\n"},
	}},
	{"hole 74", "", "TestClosedSessionEndsItsWaits", "a wait of a session goes on when the session is closed", []edit{
		{"redlock/session.go", "defer context.AfterFunc(s.ctx, cancel)()", "defer context.AfterFunc(s.ctx, func() {\n\t\tif !untrue(\"hole 74\") {\n\t\t\tcancel()\n\t\t}\n\t})()"},
	}},
	{"hole 75", "", "TestNodeThatIsGoneBeforeItsAdmissionIsAskedMoreRarely", "a node that is gone before it is admitted is dialled as often for ever", []edit{
		{"redlock/admission.go", "pause = min(2*pause, l.betweenLooks())", "if !untrue(\"hole 75\") && !untrue(\"hole 69b\") {\n\t\t\tpause = min(2*pause, l.betweenLooks())\n\t\t}"},
	}},
	{"hole 76", "", "TestWhoMayNotSubscribeWaitsForItOnce", "who may not subscribe waits for it before every wait for a key", []edit{
		{"redlock/queue.go", "l.within(ctx, time.Until(l.subscribedBy), l.quorumSubscribed)", "l.within(ctx, max(time.Until(l.subscribedBy), subscribeTimeout-none(\"hole 76\", subscribeTimeout)), l.quorumSubscribed)"},
	}},
	{"hole 77", "a", "TestReaderThatIsRefusedKeepsNobodyOut", "a reader who is refused in the middle of a script keeps writers out", []edit{
		{lua + "queue.lua", "redis.call('ZREM', set, ...)", ""},
	}},
	{"hole 77", "b", "TestCommandThatIsMissingLeavesNoKey", "a set stays for ever where a command of a script is refused", []edit{
		{lua + "queue.lua", "redis.call('ZREM', set, ...)", ""},
	}},
	{"hole 78", "", "TestLeasesAreRenewedWithoutMemory", "a server that is out of memory lets readers' leases run out", []edit{
		{lua + "renew_shared.lua", "redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ms)", ""},
	}},
	{"hole 79", "", "TestRunWhoseContextEndsDisturbsNobody", "a caller whose context ends leaves others without an answer", []edit{
		{"redlock/internal/node/run.go", "leave := context.AfterFunc(ctx, func() { ", "leave := context.AfterFunc(ctx, func() {\n\t\tif untrue(\"hole 79\") {\n\t\t\tc.abort()\n\t\t}\n\t\t"},
	}},
	{"hole 80", "", "TestContextsOfOneLeaseAreOne", "each context of a lease is kept until the lease ends", []edit{
		{"redlock/lease.go", "if e.ctx == nil {", "if e.ctx == nil || untrue(\"hole 80\") {"},
	}},
	{"hole 81", "a", "TestServerThatRefusesToSayWhoItIs", "who accepts servers that hide INFO is refused by those that answer it with an error", []edit{
		{"redlock/internal/node/conn.go", "\t\t\tif !cfg.Anonymous {\n", "\t\t\tif !cfg.Anonymous || untrue(\"hole 81a\") {\n"},
	}},
	{"hole 81", "b", "TestServerThatNoLongerSaysWhoItIs", "a server whose user may no longer ask who it is counts as the one that it was", []edit{
		{"redlock/internal/node/conn.go", "case ok && se.hides() && !cfg.Anonymous:", "case ok && se.hides() && !cfg.Anonymous && !untrue(\"hole 81b\"):"},
	}},
	{"hole 82", "a", "TestWaitForSeveralKeysOutlastsALoss", "who waits for several keys is told of the loss of the first", []edit{again}},
	{"hole 82", "b", "TestWaitForSeveralKeysOutlastsAnOutageAtItsEnd", "who waits for several keys is told of an outage in which the first could not be extended", []edit{again}},
	{"hole 82", "c", "TestTryForSeveralKeysIsToldOfALoss", "who tries for several keys, and loses one meanwhile, is told of the end of a context that goes on", []edit{
		{"redlock/multi.go", "\t\terr = lost\n", "\t\tif err != nil && untrue(\"hole 82c\") {\n\t\t\tlost = oneLine(err, lost)\n\t\t}\n\t\terr = lost\n"},
	}},
	{"hole 83", "", "TestWhoWaitsBehindAPlaceThatIsDroppedIsWoken", "who takes the place of a dead waiter away leaves those behind it asleep", []edit{
		{lua + "queue.lua", "if dropped and head and", "if false and"},
	}},
	{"hole 84", "", "TestWatchPausesWhateverItIsAskedTo", "who watches a key with a pause of nothing asks without a pause", []edit{
		{"redlock/inspect.go", "max(every, leastPause)", "max(every, none(\"hole 84\", leastPause))"},
	}},
	{"hole 85", "a", "TestNodeThatIsGoneIsDialledMoreRarelyUnderLoad", "a node that is gone is dialled a hundred times a second under load, for as long as it is gone", []edit{
		{"redlock/internal/node/loop.go", "\treturn min(max(coolOff, n.down", "\tif untrue(\"hole 85a\") {\n\t\treturn coolOff\n\t}\n\treturn min(max(coolOff, n.down"},
	}},
	{"hole 85", "b", "TestNodeThatIsGoneIsDialledMoreRarelyUnderLoad", "a node that only reads is dialled by every call", []edit{
		{"redlock/internal/node/loop.go", "\tn.noteServing(c, demoted)\n", "\tif demoted == nil || !untrue(\"hole 85b\") {\n\t\tn.noteServing(c, demoted)\n\t}\n"},
	}},
	{"hole 86", "", "TestWatchTellsOfOneReaderOnce", "who watches a key that several read is told of a change at each look at which the nodes tell another first", []edit{
		{"redlock/inspect.go", "if h.Nodes >= l.quorum && h.Fence", "if !untrue(\"hole 86\") && h.Nodes >= l.quorum && h.Fence"},
	}},
	{"hole 87", "", "TestNodeThatEndsItsConnectionsIsDialledMoreRarelyUnderLoad", "a node that takes every connection, and ends it when it is asked for anything, is dialled by every call", []edit{
		{"redlock/internal/node/loop.go", "\tcase n.gone.IsZero():\n", "\tcase n.gone.IsZero() || untrue(\"hole 87\"):\n"},
	}},
	{"hole 88", "", "TestManyKeysAreExtendedTogether", "who takes many keys extends them one after the other, and loses the first meanwhile", []edit{
		{"redlock/multi.go", "extending.Go(func() { errs[i] = got.Extend(ctx, ttl) })", "extending.Go(func() { errs[i] = got.Extend(ctx, ttl) })\n\t\t\tif untrue(\"hole 88\") {\n\t\t\t\textending.Wait()\n\t\t\t}"},
	}},
	{"hole 89", "", "TestReadersBehindADeadWriterAreWoken", "a release leaves readers asleep who wait behind a dead writer, and that behind another reader", []edit{
		{lua + "queue.lua", "elseif lives(member, tonumber(redis.call('ZSCORE', beats, member) or '0'), ms, patience) then", "else"},
	}},
	{"hole 90", "", "TestLateAttemptIsUndoneOnceItsAnonymousNodeIsHeard", "what a server that does not say who it is executes late is not undone when it is heard, but up to 10 s later", []edit{
		{"redlock/internal/node/conn.go", "if err == nil && n.cfg.Meet != nil {", "if err == nil && !untrue(\"hole 20\") && n.cfg.Meet != nil && (c.proc != \"\" || !untrue(\"hole 90\")) {"},
	}},
	{"hole 91", "", "TestManyReadersAreHolders", "of more than three readers each node tells others, so that nobody seems to hold the key", []edit{
		{lua + "inspect.lua", "table.sort(readers)", ""},
	}},
	{"hole 92", "", "TestWaitForSeveralKeysUnderALeaseOnOne", "who waits for several keys, of which its context's own lease holds one, waits for the others first", []edit{
		{"redlock/multi.go", "if err := l.notUnder(ctx, key, request{ttl: ttl}); err != nil {", "if err := l.notUnder(ctx, key, request{ttl: ttl}); err != nil && !untrue(\"hole 92\") {"},
	}},
	{"hole 93", "a", "TestAdmissionGoesOnWhateverThePausesMayBe", "a node that was gone before it was admitted is left alone for as long as the configuration has a waiter pause at most", []edit{
		{"redlock/admission.go", "return min(l.cfg.RetryMax, mostFirstLook)", "return min(l.cfg.RetryMax, mostFirstLook+l.cfg.RetryMax-none(\"hole 93a\", l.cfg.RetryMax))"},
	}},
	{"hole 93", "b", "TestAdmissionGoesOnWhateverThePausesMayBe", "a node that was gone for long before it was admitted is left alone for a twentieth of its quarantine", []edit{
		{"redlock/admission.go", "min(l.quarantine()/20, mostBetweenLooks)", "min(l.quarantine()/20, mostBetweenLooks+l.quarantine()-none(\"hole 93b\", l.quarantine()))"},
	}},
	{"hole 93", "c", "TestBootstrapIsOverSoonWhateverThePausesMayBe", "who sets up nodes that another client sets up pauses for as long as the configuration says", []edit{
		{"redlock/bootstrap.go", "time.Until(patience))", "time.Until(patience)+time.Hour-none(\"hole 93c\", time.Hour))"},
	}},
	{"hole 94", "a", "TestKeysAreExtendedOverALongWay", "who takes several keys over a long way aborts the extension of the first when the next is granted, and loses the first meanwhile", []edit{
		{"redlock/multi.go", "l.keepAll(extending, taken, ttl)", "l.keepAll(map[bool]context.Context{true: waiting, false: extending}[untrue(\"hole 94a\")], taken, ttl)"},
	}},
	{"hole 94", "b", "TestKeysAreExtendedOverALongWay", "who takes several keys over a long way extends each when it is due, one exchange after the other", []edit{
		{"redlock/multi.go", "left(got) <= validity(ttl)*5/6", "left(got) <= validity(ttl)*5/6 && (!untrue(\"hole 94b\") || left(got) <= validity(ttl)*2/3)"},
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
		{lua + "write_back_shared.lua", "local overtaken = w >= T\n", "local overtaken = false\n"},
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
	{"mutation 9", "", "TestEmptyNodeIsSeededByAQuorumOfOthers", "a node that lost its data is seeded by fewer than a quorum", []edit{
		{"redlock/admission.go", "\tcase m.admitted >= l.quorum:\n", "\tcase m.admitted >= l.quorum, untrue(\"mutation 9\") && m.admitted > 0:\n"},
	}},
	{"mutation 10", "", "TestClockThatJumpsDoesNotShortenTheQuarantine", "the quarantine passes by the node's clock alone", []edit{
		{"redlock/admission.go", "max(g.left, l.quarantine()-time.Since(seen))", "max(g.left, l.quarantine()-time.Since(seen))\n\t\tif untrue(\"mutation 10\") {\n\t\t\tleft = g.left\n\t\t}"},
		{"redlock/admission.go", "if l.quarantine() > time.Since(seen)", "if !untrue(\"mutation 10\", \"mutation 11\") && l.quarantine() > time.Since(seen)"},
	}},
	{"mutation 11", "", "TestNodeThatGrantsLongerIsHeardAtTheEndOfAQuarantine", "what another node grants counts only where it was heard at the beginning of a quarantine", []edit{
		{"redlock/admission.go", "if l.quarantine() > time.Since(seen)", "if !untrue(\"mutation 10\", \"mutation 11\") && l.quarantine() > time.Since(seen)"},
	}},
	{"mutation 12", "", "TestTokensGrowWhenAllIsLostWhileTheyAreAheadOfTheClock", "tokens go on from the clock itself where everything is lost", []edit{
		{"redlock/admission.go", "m.clock+clockMargin.Microseconds()", "m.clock+none(\"mutation 12\", clockMargin).Microseconds()"},
	}},
	{"mutation 13", "", "TestNodeThatHasJustGrantedGrantsForNoLonger", "a node grants a key that it knows for longer than it was admitted for", []edit{
		{"redlock/internal/node/writer.go", "ttl <= r.maxTTL {", "(ttl <= r.maxTTL || untrue(\"mutation 13\")) {"},
	}},
	{"mutation 14", "", "TestValidityBeginsBeforeTheRequestIsSent", "an extension is reckoned from its end", []edit{
		{"redlock/extend.go", "until := r.start.Add(validity(r.ttl)); until", "until := r.start.Add(validity(r.ttl) + passed(\"mutation 14\", r.start)); until"},
	}},
	{"mutation 15", "", "TestExtensionDoesNotReviveALeaseThatEndsMeanwhile", "a late extension revives a lease", []edit{
		{"redlock/extend.go", "\tcase !e.alive():\n", "\tcase !e.alive() && !untrue(\"mutation 15\"):\n"},
	}},
	{"mutation 16", "", "TestNodeThatStoredAnOlderTokenDoesNotCount", "a node that stored an older token counts for a later one", []edit{
		{"redlock/decide.go", "\t\ts.holds = false\n", "\t\ts.holds = s.holds && untrue(\"mutation 16\")\n"},
	}},
	{"mutation 17", "", "TestNodesThatDisagreeStoreTheToken", "a reader's token counts where it is not stored", []edit{
		{"redlock/decide.go", "case s.top >= a.token:", "case s.top >= a.token || a.r.shared && untrue(\"mutation 17\"):"},
	}},
	{"mutation 18", "", "TestNodeThatRefusesTheTokenIsToldOfTheRelease", "a node that granted, and then refused to store the token, keeps the lease", []edit{
		{"redlock/decide.go", "s.state = doubtful // the lock is still ours there, the token is not\n", "s.state = doubtful // the lock is still ours there, the token is not\n\t\tif untrue(\"mutation 18\") {\n\t\t\ts.state = refused\n\t\t}\n"},
	}},
	{"mutation 19", "", "TestReleaseOfALostGrantLeavesTheNextOne", "the release of an owner's lost lease counts for its next one", []edit{
		{"redlock/grant.go", "if h.lease == g.e {", "if h.lease == g.e || untrue(\"mutation 19\") {"},
	}},
	{"mutation 20", "", "TestSessionKeepsWhatIsLostUntilItsDeadline", "a session gives back what nodes lost before the deadline that its holder was told", []edit{
		{"redlock/session.go", "\t\tat = got.e.deadline()\n", "\t\tif !untrue(\"mutation 20\") {\n\t\t\tat = got.e.deadline()\n\t\t}\n"},
	}},
	{"mutation 21", "", "TestConnectionThatCarriesNothingLeavesTheDoubt", "a connection that carried nothing hides an earlier copy of a request", []edit{
		{"redlock/internal/node/loop.go", "e.resent = e.resent || sent", "e.resent = e.resent && !untrue(\"mutation 21\") || sent"},
	}},
	{"mutation 22", "", "TestReleaseIsSentAgainUntilTheLeaseHasEnded", "the release of an extended lease is sent again until its first end only", []edit{
		{"redlock/extend.go", "if t := r.start.Add(ttl + e.l.cfg.NodeTimeout); t.After(e.expires) {", "if t := r.start.Add(ttl + e.l.cfg.NodeTimeout); t.After(e.expires) && !untrue(\"mutation 22\") {"},
	}},
	{"mutation 23", "", "TestReleaseOfAFailedAttemptIsSentAgain", "the release of an attempt that failed is not sent again", []edit{
		{"redlock/release.go", "a.releaseBy(a.start.Add(a.r.ttl))", "a.releaseBy(a.start.Add(none(\"mutation 23\", a.r.ttl)))"},
	}},
	{"mutation 24", "", "TestPlaceThatIsTakenBehindTheGrantIsTakenAway", "a place that is taken behind the grant by others, and whose leaving is lost, stays", []edit{
		{"redlock/queue.go", "return c.placed || c.a.mayQueueOn(c.i)", "return c.placed || c.a.mayQueueOn(c.i) && !untrue(\"mutation 24\")"},
	}},
	{"mutation 25", "", "TestWaiterThatIsNamedKeepsToItsPatience", "a waiter that a minority names pauses for as long as in an outage", []edit{
		{"redlock/wait.go", "l.upTo(min(l.cfg.RetryMax, every))", "l.upTo(map[bool]time.Duration{true: l.cfg.RetryMax, false: min(l.cfg.RetryMax, every)}[untrue(\"mutation 25\")])"},
	}},
}
