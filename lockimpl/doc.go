// Package lockimpl is the contract that every lock under test meets: a
// [Factory] builds one client's [Locker], which grants a [Lease]. What else a
// lock can do is an optional interface of one method: waiting, readers, order,
// re-entry, several keys, renewal, a channel that closes when the lease ends.
//
// An outcome is definite ([ErrHeld], [ErrNoQuorum], [ErrLost]) or unknown: an
// error that is none of these says that the servers may have acted, or may act
// yet. A lock that calls an unknown outcome a refusal leaves keys behind.
//
// The package imports nothing but the standard library. The full lock is
// lockimpl/redlock, and lockimpl/locktest holds tests that every correct lock
// passes.
package lockimpl
