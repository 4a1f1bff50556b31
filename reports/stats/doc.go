// Package stats measures a history in one streaming pass of bounded memory:
// latencies per operation and phase, outcomes per window of time, faults and
// the recovery from them, fairness between clients, and how close holders
// came to the end of their leases.
//
// What it counts describes a run and never judges it: verdicts are the
// checker's.
package stats
