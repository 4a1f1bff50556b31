// Package lockimpl is a distributed lock on Redis, and the contract that every
// lock under test meets.
package lockimpl
