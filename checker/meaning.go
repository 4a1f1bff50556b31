package checker

// meanings say in one sentence each what is wrong, to somebody who has never
// seen the catalogue.
var meanings = map[string]string{
	"S1":  "Two clients were both told “you hold the lock”, at the same time.",
	"S2":  "The store took a write that carried an older token than one it had taken before: the fence let a former holder overwrite a later one.",
	"S3":  "Between two writes that one client made under one lock, another client wrote; or two clients changed the same version, and one change is gone.",
	"S3z": "A client wrote after its lease had run out, as if it still held the lock: the lock kept its promise, the client overstayed.",
	"S4":  "A client that got the lock later was given a token that is not higher: a store that compares tokens would turn away the wrong one.",
	"S4b": "Two holders were given the same token, or one holder's token changed under it: a store cannot tell them apart.",
	"S5":  "A client gave up a lock that was no longer its own, and so took it away from the one who held it.",
	"S6":  "A client extended or released the lock “successfully” although another had held it in between: the lock did not check whose it was.",
	"S7":  "A client was told that it holds the lock when the lease was already over.",
	"S8":  "The store took a write from a client that knew it did not hold the lock, or could not know that it did.",
	"S9":  "A client was told that it holds the lock although fewer nodes than a majority ever stored it.",
	"S10": "The lock was given to somebody else before the holder's time was up, because nodes forgot it: the cause behind a double grant.",
	"S11": "The library told its user that the lock was lost only after somebody else had been given it, later than it promises.",
	"R1":  "The store said that it had taken a write, and its own log does not have it.",
	"R2":  "The store's own log has a write that was refused, or that nobody asked for.",
	"R3":  "The store gave one number to two writes, so that their order cannot be told.",
	"R4":  "The store turned away the client that held the lock with the newest token.",
	"R5":  "A client wrote with a token that had been given to somebody else.",
	"L1":  "After everything was healed nobody held the lock, and still nobody could get it.",
	"L2":  "A majority of nodes could be reached and nobody held the lock, and still nobody got it for a long time.",
	"L3":  "A client waited longer than the scenario allows.",
	"L4":  "After a fault was healed it took longer than the scenario allows until anybody got the lock again.",
	"L5":  "A client was told that it lost the lock although nothing was wrong.",
	"L6":  "Fewer attempts were answered than the scenario demands.",
	"L7":  "All contenders took a few nodes each, again and again, so that nobody ever had a majority.",
	"L8":  "A node kept a lock key that nobody owns any more, or one that would never expire.",
	"L9":  "A client gave the lock back and was told that it worked, and still nobody could get it until its time was up.",
	"V1":  "Too little happened for a pass to mean anything.",
	"V2":  "A fault was planned, and nothing proves that it took effect, or that it was undone.",
	"V3":  "The scenario wants to have seen a certain moment, and it did not come.",
	"V4":  "The harness itself was too slow for its times to prove anything.",
	"V5":  "Not everything was judged.",
	"V6":  "A lock that is known to be broken was planted, and the judges did not catch it: they would not have caught a real one either.",
	"V7":  "There were keys on the nodes before the run began.",
	"P1":  "The lock under test panicked, or its process ended by itself: whoever uses it goes down with it.",
	"H1":  "Something befell the run that says nothing about the lock: a server or a disk failed by other hands than the run's, or two ways of judging the same events disagree.",
}

// Meaning says in a sentence what the anomaly id is, or "" for an unknown id.
func Meaning(id string) string { return meanings[id] }
