// Package memredis is a Redis server in memory, for virtual time: no socket, no
// goroutine, no clock of its own. It knows the commands that locks, the guarded
// store and the harness send, and runs Lua scripts as Redis does: in one piece,
// without access to anything undeclared.
//
// It is compared with redis-server 7.0 by random sequences of commands, in the
// tests of this package. What it lacks is refused with Redis' own words for an
// unknown command, never guessed.
package memredis
