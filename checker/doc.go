// Package checker judges histories. A Judge takes the events of a run one by
// one, live or from a file, and ends with a Report: the violations that the
// history alone proves, what is merely suspicious, and the evidence that the
// verdict rests on.
//
// # How it works
//
// The ledger (internal/ledger) turns events into facts: an operation was invoked, a lease was
// granted, extended, released or lost, a write landed in the store's own order,
// a fault came or went. Every property is a rule (internal/rule) that sees the facts. A rule
// that panics leaves its own properties undecided (V5) and no other's.
//
// The state grows with live leases, open operations, unsettled unknown
// outcomes, keys and owners; never with the length of the history.
//
// # What a lease promises
//
// The definite hold of a grant is [ok, min(deadline, invocation of the
// release, reported loss)): while the library tells its caller "you hold it".
// Only definite holds prove anything. An operation of unknown outcome never
// makes a violation by itself.
//
// # Notes on phase events
//
// A phase event's Note is a list of items, separated by semicolons:
//
//	canary caught[: …]   the planted mutant was caught
//	canary missed[: …]   it was not (V6)
//	clean                the key space was empty at the start
//	dirty[: …]           it was not (V7)
//	sometimes a, b, c    moments that the run must reach (V3): expiry-while-held,
//	                     takeover, stale-write, extension, minority-acquire, unknown
//	reached a, b         moments reached, as the workload saw them
//
// Its Lag, when present, is the 99th percentile of the harness's own scheduling
// lag in the phase that ends there. It counts (V4) where no stall event explains it.
//
// # Notes on witness events
//
// A key event shows what a node stores at its instant. With the Note "watch"
// it shows what the node stores from there to the next key event of the same
// node and key: only such an unbroken record can prove a sub-quorum grant (S9).
// With the Value "sample" it is one of many looks while the run goes on: they show
// leases that nobody owns (L8), and a key that is free while somebody waits (L2).
package checker
