package node

import (
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Fate says what became of a call.
type Fate int

const (
	// FateNone: the script did not run, and never will.
	FateNone Fate = iota
	// FateDone: the script ran, and Val is its reply.
	FateDone
	// FateUnknown: it may have run, or may run yet.
	FateUnknown
)

// A Reply is the answer to a call. Err is nil when Fate is FateDone.
type Reply struct {
	Val  any
	Err  error
	Fate Fate
	// Doubt is set when an earlier copy of the call may still be under way.
	Doubt bool
}

// Int returns the reply, or the first element of it, as a number.
func (r Reply) Int() int64 {
	if n, ok := r.Val.(int64); ok {
		return n
	}
	return r.At(0)
}

// At returns element i of a reply that is a list of numbers.
func (r Reply) At(i int) int64 {
	list, _ := r.Val.([]any)
	if i >= len(list) {
		return 0
	}
	n, _ := list[i].(int64)
	return n
}

// Str returns element i of a reply that is a list.
func (r Reply) Str(i int) string {
	list, _ := r.Val.([]any)
	if i >= len(list) {
		return ""
	}
	s, _ := list[i].(string)
	return s
}

func isServerError(err error) bool {
	var re redis.Error
	return errors.As(err, &re)
}

func isNoScript(err error) bool {
	return isServerError(err) && strings.HasPrefix(err.Error(), "NOSCRIPT")
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// Transient reports whether a server that answered err may answer otherwise
// soon: it is loading its data, busy with a script, short of memory, or not a
// master at this moment. In each case the script changed nothing.
func Transient(err error) bool {
	if !isServerError(err) {
		return false
	}
	for _, code := range []string{
		"LOADING", "BUSY", "TRYAGAIN", "READONLY", "MASTERDOWN", "OOM", "MISCONF", "CLUSTERDOWN", "NOREPLICAS",
	} {
		if strings.HasPrefix(err.Error(), code) {
			return true
		}
	}
	return false
}
