package node

import (
	"errors"

	"locktorture/lockimpl/internal/script"
)

var errUnwanted = errors.New("no longer wanted")

// Simple is a Call that is always wanted.
type Simple struct {
	Script *script.Script
	Args   []any // number of keys, keys, arguments

	done chan Reply
}

// Command implements Call.
func (c *Simple) Command() (*script.Script, []any) { return c.Script, c.Args }

// Wanted implements Call.
func (c *Simple) Wanted() bool { return true }

// Answer implements Call.
func (c *Simple) Answer(r Reply) { c.done <- r }
