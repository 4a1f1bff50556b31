package anomaly

// table is the catalogue. A new anomaly is an entry here, and a rule that
// reports it.
var table = []Anomaly{
	{
		ID: "S1", Name: "double grant", Property: Exclusion, Traits: ComparesTimes,
		Meaning: "Two clients were both told “you hold the lock”, at the same time.",
		Remedy:  "look and take in one step, compare the owner in each step that extends or releases, and see whether a node forgot the lock or ended it too early (see the faults); a fence at the store limits the damage.",
	}, {
		ID: "S2", Name: "stale write accepted", Property: Fencing,
		Meaning: "The store took a write that carried an older token than one it had taken before: the fence let a former holder overwrite a later one.",
		Title:   "{actor}'s stale write to {key} was accepted", Actor: LowerToken,
		Remedy: "the store must compare each write's token with the highest one seen, in the step that writes.",
	}, {
		ID: "S3", Name: "interleaved sections, lost update", Property: Fencing,
		Meaning:    "Between two writes that one client made under one lock, another client wrote; or two clients changed the same version, and one change is gone.",
		Title:      "{actor} wrote to {key} inside {other}'s critical section",
		OtherTitle: "{other} and {actor} both changed the same version of {key}", Actor: Intruder,
		Remedy: "see why both could write (a second grant, a lease outlived, or a version that was read before the grant), and fence the store.",
	}, {
		ID: "S3z", Name: "zombie effect", Property: Fencing, Traits: ComparesTimes,
		Meaning: "A client wrote after its lease had run out, as if it still held the lock: the lock kept its promise, the client overstayed.",
		Title:   "{actor} wrote to {key} after its lease had ended",
		Remedy:  "let the store reject old tokens, compare the deadline right before each write, and take a lease longer than any pause.",
	}, {
		ID: "S4", Name: "token order", Property: Tokens, Traits: ComparesTimes,
		Meaning: "A client that got the lock later was given a token that is not higher: a store that compares tokens would turn away the wrong one.",
		Title:   "the tokens of {key} went back",
		Remedy:  "issue tokens as numbers that only grow, from state that survives what the nodes went through.",
	}, {
		ID: "S4b", Name: "duplicate token", Property: Tokens,
		Meaning:    "Two holders were given the same token, or one holder's token changed under it: a store cannot tell them apart.",
		Title:      "two grants of {key} share a token",
		OtherTitle: "{actor}'s lease of {key} changed its token",
		Remedy:     "raise and store the token in the same step that takes the lock, on a quorum, and let a lease keep its token.",
	}, {
		ID: "S5", Name: "foreign release", Property: Ownership, Traits: ComparesTimes,
		Meaning: "A client gave up a lock that was no longer its own, and so took it away from the one who held it.",
		Title:   "{actor} released {key}, which was {other}'s", Actor: Releaser,
		Remedy: "a release must compare the owner token and delete in one step.",
	}, {
		ID: "S6", Name: "extension across a loss", Property: Ownership, Traits: ComparesTimes,
		Meaning: "A client extended or released the lock “successfully” although another had held it in between: the lock did not check whose it was.",
		Title:   "{actor} kept {key} as its own, though {other} had held it since",
		Remedy:  "compare the owner token in the step that extends or releases, and extend nothing that is gone.",
	}, {
		ID: "S7", Name: "stillborn grant", Property: Exclusion, Traits: ComparesTimes,
		Meaning: "A client was told that it holds the lock when the lease was already over.",
		Title:   "{actor} was granted {key} when its lease had ended already",
		Remedy:  "refuse a grant that was decided too late, and give back what was taken.",
	}, {
		ID: "S8", Name: "unconfirmed use", Property: Ownership,
		Meaning: "The store took a write from a client that knew it did not hold the lock, or could not know that it did.",
		Title:   "{actor} wrote to {key} without holding it",
		Remedy:  "write only between a confirmed acquire and the release or the report of a loss.",
	}, {
		ID: "S9", Name: "sub-quorum grant", Property: Exclusion,
		Meaning: "A client was told that it holds the lock although fewer nodes than a majority ever stored it.",
		Title:   "{actor} was granted {key} by less than a quorum",
		Remedy:  "count an answer only when it says yes.",
	}, {
		ID: "S10", Name: "early takeover", Property: Exclusion, Traits: ComparesTimes,
		Meaning: "The lock was given to somebody else before the holder's time was up, because nodes forgot it: the cause behind a double grant.",
		Title:   "{actor} was granted {key} before {other}'s lease had ended",
		Remedy:  "let a node that restarts stay away for a whole TTL or keep its data (fsync always), and keep clocks from jumping.",
	}, {
		ID: "S11", Name: "late loss", Property: Ownership, Traits: ComparesTimes,
		Meaning: "The library told its user that the lock was lost only after somebody else had been given it, later than it promises.",
		Title:   "{actor} learned too late that it had lost {key}",
		Remedy:  "report a loss at the latest at the lease's own deadline, whatever the network does.",
	}, {
		ID: "R1", Name: "acknowledged write missing", Property: Fencing, Traits: Bookkeeping,
		Meaning: "The store said that it had taken a write, and its own log does not have it.",
		Remedy:  "acknowledge nothing that is not kept.",
	}, {
		ID: "R2", Name: "refused or unasked write kept", Property: Fencing, Traits: Bookkeeping,
		Meaning: "The store's own log has a write that was refused, or that nobody asked for.",
		Remedy:  "reject before writing, and find out who else writes there.",
	}, {
		ID: "R3", Name: "number given twice", Property: Fencing, Traits: Bookkeeping,
		Meaning: "The store gave one number to two writes, so that their order cannot be told.",
		Remedy:  "number each write in the step that makes it.",
	}, {
		ID: "R4", Name: "rightful write rejected", Property: Fencing,
		Meaning: "The store turned away the client that held the lock with the newest token.",
		Remedy:  "the store must take a token that is not lower than the highest one it has seen.",
	}, {
		ID: "R5", Name: "borrowed token", Property: Fencing,
		Meaning: "A client wrote with a token that had been given to somebody else.",
		Remedy:  "write with the token of one's own lease.",
	}, {
		ID: "L1", Name: "orphan, deadlock", Property: Liveness, Traits: ComparesTimes | NeedsHealth,
		Meaning: "After everything was healed nobody held the lock, and still nobody could get it.",
		Title:   "nobody can acquire {key}, and nobody holds it",
		Remedy:  "give every key a TTL in the step that sets it, and undo what a failed attempt took.",
	}, {
		ID: "L2", Name: "no progress with a quorum", Property: Liveness, Traits: ComparesTimes | NeedsHealth,
		Meaning: "A majority of nodes could be reached and nobody held the lock, and still nobody got it for a long time.",
		Title:   "nobody was granted {key}, though a quorum was there",
		Remedy:  "look at what refuses or delays the attempts (time-outs longer than the lease, keys left behind, a node that counts against the quorum).",
	}, {
		ID: "L3", Name: "starvation", Property: Liveness, Traits: ComparesTimes | NeedsHealth,
		Meaning: "A client waited longer than the scenario allows.",
		Title:   "{actor} had to wait for {key} too long",
		Remedy:  "queue the waiters, first come first served.",
	}, {
		ID: "L4", Name: "slow recovery", Property: Liveness, Traits: Service,
		Meaning: "After a fault was healed it took longer than the scenario allows until anybody got the lock again.",
	}, {
		ID: "L5", Name: "lease lost without cause", Property: Liveness, Traits: ComparesTimes | NeedsHealth,
		Meaning: "A client was told that it lost the lock although nothing was wrong.",
		Title:   "{actor} was told that it had lost {key}, and nothing was wrong",
		Remedy:  "look at the renewal: it stopped, or took a delay for a loss.",
	}, {
		ID: "L6", Name: "availability below floor", Property: Liveness, Traits: Service,
		Meaning: "Fewer attempts were answered than the scenario demands.",
	}, {
		ID: "L7", Name: "split-vote livelock", Property: Liveness, Traits: ComparesTimes | NeedsHealth,
		Meaning: "All contenders took a few nodes each, again and again, so that nobody ever had a majority.",
		Title:   "the votes for {key} stay split",
		Remedy:  "give back a minority at once, and wait a random time before the next attempt.",
	}, {
		ID: "L8", Name: "leftovers", Property: Leftovers, Traits: NeedsHealth,
		Meaning: "A node kept a lock key that nobody owns any more, or one that would never expire, or only far later than was asked for.",
		Title:   "{key} was left behind on a node",
		Remedy:  "set key and expiry in one step, and only where nobody holds the key; undo what a failed attempt took, and stop renewing what was released.",
	}, {
		ID: "L9", Name: "release without effect", Property: Leftovers, Traits: ComparesTimes | NeedsHealth,
		Meaning: "A client gave the lock back and was told that it worked, and still nobody could get it until its time was up.",
		Title:   "{actor} released {key}, and it stayed taken", Actor: Releaser,
		Remedy: "answer a release with yes only when the key was deleted, and compare the token that was stored, not another.",
	}, {
		ID: "P1", Name: "panic of the lock",
		Meaning: "The lock under test panicked, or its process ended by itself: whoever uses it goes down with it.",
	}, {
		ID: "H1", Name: "trouble of the harness",
		Meaning: "Something befell the run that says nothing about the lock: a server or a disk failed by other hands than the run's, or two ways of judging the same events disagree.",
	}, {
		ID: "V1", Name: "too little evidence",
		Meaning: "Too little happened for a pass to mean anything.",
		Advice:  "raise --duration, --clients or --hold",
	}, {
		ID: "V2", Name: "fault without receipt",
		Meaning: "A fault was planned, and nothing proves that it took effect, or that it was undone.",
		Advice:  "raise --hold or --clients, so that the fault meets a holder",
	}, {
		ID: "V3", Name: "moment not reached",
		Meaning: "The scenario wants to have seen a certain moment, and it did not come.",
		Advice:  "raise --duration, or choose a scenario whose faults reach it",
	}, {
		ID: "V4", Name: "the harness lagged",
		Meaning: "The harness itself was too slow for its times to prove anything.",
		Advice:  "lower --rate or --clients, or give the machine fewer other things to do",
	}, {
		ID: "V5", Name: "not judged to the end",
		Meaning: "Not everything was judged.",
		Advice:  "less is to be remembered of a shorter run, with fewer clients and keys; where time ran out, torture check --check-timeout gives what is stored longer",
	}, {
		ID: "V6", Name: "canary not caught",
		Meaning: "A lock that is known to be broken was planted, and the judges did not catch it: they would not have caught a real one either.",
		Advice:  "raise --duration: the judges must first catch the mutant",
	}, {
		ID: "V7", Name: "key space not clean",
		Meaning: "There were keys on the nodes before the run began.",
		Advice:  "start on an empty Redis",
	},
}
