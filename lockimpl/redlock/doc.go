// Package redlock is a distributed lock on Redis, over one master or an odd
// number of independent ones, with fencing tokens.
//
// # The lock
//
// [New] makes a client of one master, or of an odd number of independent ones,
// from go-redis clients; [NewFromOptions] and [NewFromURLs] from what such clients
// are made of. A lease is granted by a quorum of the masters and carries a fencing
// token, which the guarded resource must check: accept a write only when its
// token is at least the highest one seen, and store the two together. Tokens
// stay below 2^53, so that they survive Lua and JSON.
//
// [Lock.Do] runs a function while it holds a key. Acquire and AcquireShared try
// once. AcquireWait and AcquireFair wait their turn. AcquireAs enters again,
// AcquireAll takes several keys or none. A [Lease] renews itself once told to
// (Renew), and closes a channel (Lost) and ends a context (Context) when it can
// no longer be relied on, by a local timer, whatever the network does. A [Session]
// renews many leases at once, a [Semaphore] has several holders, and
// [Lock.Inspect] and [Lock.Watch] tell who holds a key.
//
// A set of nodes that is new must be admitted. It is, by itself, when one
// quarantine of Config.MaxTTL is over; a program that sets up the nodes, and
// says with Config.FirstTime that they have never served, may have it at once
// ([Lock.Bootstrap]). Services do not call it.
//
// # What is guaranteed
//
// M: no two holders at once, before their deadlines. T: of two grants of a
// key, one after the other, the later has the higher token, and no token is
// granted twice (readers share theirs). L: when messages stop, leases end and
// a majority is there, somebody can acquire.
//
//	 #  what happens                             M          T         L
//	 1  requests or replies lost, delayed,       yes        yes       after one TTL
//	    sent twice; partial grants
//	 2  a minority of nodes away or silent       yes        yes       yes
//	 3  a holder pauses or dies                  until its  yes       after one TTL
//	                                             deadline
//	 4  a node's clock jumps ahead               no         yes       yes
//	 5  the clients' clocks differ               yes        yes       yes
//	 6  nodes lose everything, one after         yes        yes       yes
//	    another; a quorum stays admitted
//	 7  a majority loses everything              yes        by clock  after the quarantine
//	 8  a single master loses everything, comes  yes        by clock  after the quarantine
//	    back with old data, or is demoted and
//	    promoted again
//	8a  a single master is replaced by a stale   no         no        yes; not detectable
//	    replica while it goes on serving some
//	    of the clients
//	8b  the same, with min-replicas-to-write on  yes        by clock  after the quarantine
//	    the master, and a replica that is
//	    promoted after it has been missed there
//	 9  quorum 4 of 5: two nodes lose            yes        yes       with one node down
//	    everything, without any remedy
//	10  servers that load, are demoted, busy,    yes        yes       when they serve again
//	    out of memory, or forget scripts
//	11  many clients contend for one key         yes        yes       yes
//	12  fence keys evicted or deleted            yes        yes       yes
//
// Behind each cell stand tests, of which the first fails when the cell is untrue:
// TestEveryGuaranteeFailsWhenItIsUntrue makes it so. Beside them stand
// TestChaosInVirtualTime, TestChaosOnServers and TestLockFollowsItsModel, for all.
//
//   - 1 M: TestLateCopyOfAReleaseFreesNobodyElse, TestLateCopyOfAnAcquireTakesNothing;
//     T: TestEveryMutantIsCaughtAndItsTwinIsNot (write-back-any-owner);
//     L: TestPartialGrantsEndWithinOneTTL, TestLostReplyLeavesNoKey, TestCancelledAcquireLeavesNoKey
//   - 2 M, T: TestEveryMutantIsCaughtAndItsTwinIsNot (quorum-2, token-max);
//     L: TestBlackHoledNodeCostsNothingButItsVote, TestNodeThatComesBackIsUsedAtOnce
//   - 3 M, T, L: TestWaiterTakesOverWhenTheLeaseOfADeadHolderEnds;
//     M: TestLeaseEndsByLocalTimerWhateverTheNetworkDoes, TestLeaseDoesNotOutliveASuspension
//   - 4 M, T, L: TestClockJumpsAndPausesKeepTokensGrowing
//   - 5 M, T, L: TestClientsWhoseClocksDiffer; T: TestEveryMutantIsCaughtAndItsTwinIsNot (token-clock)
//   - 6 M, T: TestEveryMutantIsCaughtAndItsTwinIsNot (amnesia-serves, amnesia-no-seed, amnesia-early-seed);
//     M: TestLeaseThatNodesForgotKeepsOthersOutUntilItsDeadline, TestSmallerMaxTTLDoesNotShortenTheQuarantine;
//     T: TestEmptyNodesOneAfterTheOtherKeepTokensGrowing; L: TestRenewedLeaseOutlivesARollingRestart
//   - 7 M: TestBootstrapDoesNotGiveALeaseAway, TestBootstrapRefusesASetThatLostSomething;
//     T, L: TestEmptyMajorityComesBackWithinAQuarantine
//   - 8 M: TestServerThatComesBackWithoutALeaseKeepsOthersOutUntilItsEnd, TestDemotedAndPromotedServerKeepsOthersOut;
//     T, L: TestEmptySingleNodeComesBackWithinAQuarantine
//   - 8a M, T, L: TestStaleReplicaBesideItsMaster
//   - 8b M, T, L: TestStaleReplicaOfAMasterThatMissesIt
//   - 9 M, T: TestQuorumOfFourOutlivesTwoNodesThatForget; L: TestQuorumOfFourNeedsFourNodes
//   - 10 M, T: TestServersThatRefuseForAWhile;
//     L: TestServerThatForgetsItsScriptsIsTaughtThem, TestServerWithoutMemoryLetsLeasesBeReleased,
//     TestDemotedServerServesNobody, TestBusyServerDelaysAndLeavesNothing
//   - 11 M, T, L: TestNoKeyIsLeftAndHandOffsGoOnUnderContention;
//     L: TestWaitersTakeTurns, TestSeveralKeysAreTakenWithoutDeadlock, TestFairWaitersAreServedInTheirOrder
//   - 12 M: TestLossOfFencesFreesNothing; T, L: TestTokensGrowWhenFencesAreLost
//
// Row 8a: the replica sits out its quarantine, so that it gives no lease away
// that the old master granted before; but a master that nobody has stopped goes
// on granting to those who still reach it, and two servers that do not know of
// each other cannot exclude each other. Redis copies without waiting: use an odd
// number of masters without replicas.
//
// Row 8b: with min-replicas-to-write 1, one replica, and min-replicas-max-lag
// well below the TTL, a master refuses to grant and to extend by itself: at once
// when its replica's connection ends, and otherwise up to a second or two after
// the lag. Leases from before end within the quarantine of the replica, as long
// as that is promoted no sooner (Sentinel: down-after-milliseconds above the lag
// by two seconds). A replica that is promoted while its master has not yet
// missed it is row 8a for that time.
//
// A node is known by the run id of its process and the replication history of
// its data (INFO); both are asked for on every new connection, and the history
// again in front of what is sent, at most once in a millisecond. What was sent
// within that millisecond, was then held up by the network, and met the server
// after a demotion, a full resync and a promotion, is not noticed. A master whose first replica
// comes, or whose last one has been gone for repl-backlog-ttl, begins another
// history: it sits out a quarantine for nothing.
//
// Nobody but the lock writes, moves or restores keys under its prefix, or swaps its
// database for another (SWAPDB): old data that come back without a restart are not noticed.
//
// A node's clock that is set back lengthens what its leases have left there, by no more
// than the node's longest lease: a holder that has died is outlived by that.
//
// "By clock": as long as some node's clock is ahead of every token issued,
// that is, was not set back by more than the outage. M assumes that clocks run
// at rates within one per cent of each other; T needs no timing at all while
// admitted nodes keep their data, and the same timing as M when they do not.
//
// # Why tokens are ordered
//
// Each node issues a value above every one that it has stored, in the script
// that takes the lock there. With a quorum of grants, T is the highest of
// their values, and it counts on a node only if that node was issued T itself
// or stored it afterwards while this attempt still owned the lock there and
// had been issued no more. An attempt returns when T counts on a quorum.
//
// Order: a later attempt is granted by a quorum, which meets the earlier one's
// in some node; that node had stored T, so that it issues more. Uniqueness:
// suppose that two attempts return T. They share a node that counts for both;
// there one owned the lock before the other, and when the later one was
// granted it the node had stored T already, so that it was issued more than
// T, which does not count towards T.
//
// Values are kept in a fixed number of fences, which locks share by a hash of
// their names: what other locks add only takes a value further. So names that are
// used once do not pile up. For a fence that is not there, since it is new or since
// it was lost, stands the node's high-water mark, which no value that the node has
// stored exceeds.
//
// Nodes usually agree at once because the client proposes a value (its clock,
// or the highest token that it knows of). That is a hint: it saves a round
// trip, and no argument above rests on it. Hints hide broken schemes, which is
// why the tests run with and without.
//
// A node that restarts empty must not serve: neither leases nor tokens are
// there any more. It waits until every lease that it may have granted has
// ended, and then takes for its floor the highest value that any of a quorum
// of other admitted nodes may have issued, read after that wait: an attempt
// that counted on it and was decided in time has left T on one of them by
// then. The schemes that leave a part of this out, and what becomes of them,
// are in the package mutants, each with the shortest story that breaks it.
//
// # Waiting
//
// A waiter queues on the nodes, ordered by the time at which it began, and the
// node refuses the lock to anybody else while a live waiter is first. A release
// wakes the first, on a channel of its client's own; a waiter asks again three
// times within Config.Patience, so that a dead one holds the others up for no
// longer: whoever asks then takes its place away, and wakes the next. Where several writers of one client are in the queue for one key
// (AcquireFair), the first of them asks, and keeps the places of the others. Of
// several waiters in one client for one key, one queues and the others wait for it
// in memory. On one master nobody is overtaken (AcquireFair). Over a quorum two
// waiters that began within the error of their clocks may change places; that is
// all that can be promised there without agreement among the nodes.
//
// # What goes over the wire
//
// One script per node takes the lock and issues the token. An attempt asks a
// quorum of nodes first, the same for all clients of a key, and the others as
// soon as one of these does not grant, or a little later: a section that is
// over by then costs three nodes of five and no split votes. Whatever is to
// go to one node at one time goes out in one pipeline of go-redis, one pipeline
// at a time, and no command of a client overtakes another of its own.
//
// # What it asks of the servers
//
// Redis 7 or newer, no maxmemory or maxmemory-policy noeviction (another is refused on each
// new connection: leases would be evicted), no Redis Cluster (refused: it
// moves keys from one server to another), and a connection that leads to one
// server process as long as it lives (a proxy that pools connections would hide
// a restart). The lock only sends relative times.
package redlock
