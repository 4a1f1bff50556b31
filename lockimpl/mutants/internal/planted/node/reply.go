// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// An Outcome is what became of a call.
type Outcome int

const (
	// NotExecuted: the script did not run, and never will.
	NotExecuted Outcome = iota
	// Executed: the script ran.
	Executed
	// ExecutionUnknown: it may have run, or may run yet.
	ExecutionUnknown
)

// A Reply is the answer to a call. Err is nil when Outcome is Executed. Its
// numbers are those of a list, or the one that the server answered.
type Reply struct {
	Err     error
	Outcome Outcome
	// Doubt is set when a copy of the call may still be under way.
	Doubt bool

	ints [6]int64
	strs [6]string
}

// Int returns the reply, or the first element of it, as a number.
func (r *Reply) Int() int64 { return r.ints[0] }

// At returns element i of a reply that is a list of numbers.
func (r *Reply) At(i int) int64 { return r.ints[i] }

// Str returns element i of a reply that is a list.
func (r *Reply) Str(i int) string { return r.strs[i] }

// A ServerError is an error that a server answered: the script changed
// nothing that matters.
type ServerError string

func (e ServerError) Error() string { return string(e) }

// Code returns the first word, such as LOADING.
func (e ServerError) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// IsOfScript reports whether err is of a command within a script, before which others may
// have been executed.
func IsOfScript(err error) bool {
	se, ok := errors.AsType[ServerError](err) // allocates nothing, and err is nil nearly always
	return ok && strings.Contains(string(se), "@user_script")
}

// isTransient reports whether the server may answer otherwise soon.
func (e ServerError) isTransient() bool {
	switch e.Code() {
	case "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN":
		return true
	}
	return false
}

// isUnknownCommand reports whether the server does not know the command, or not by that name.
func (e ServerError) isUnknownCommand() bool {
	return strings.Contains(string(e), "unknown command") || strings.Contains(string(e), "Unknown Redis command")
}

// hides reports whether the server refuses the user INFO, or hides it from everybody.
func (e ServerError) hides() bool { return e.lacksPermission() || e.isUnknownCommand() }

// IsPermanent reports whether err is one that asking again
// cannot mend: wrong credentials or certificates, keys that hold something else, a server that
// cannot run scripts. A server that is loading its data, busy with a script,
// out of memory or not a master at this moment may answer otherwise soon.
func IsPermanent(err error) bool {
	if isWrongTLS(err) || errors.Is(err, ErrAnonymous) || errors.Is(err, ErrClusterMode) || errors.Is(err, ErrEvicting) {
		return true
	}
	var se ServerError
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() {
	case "WRONGTYPE", "NOAUTH", "WRONGPASS":
		return true
	}
	return strings.Contains(string(se), "WRONGTYPE") || se.lacksPermission() || se.isUnknownCommand()
}

// IsMissingPermission reports whether the server refused the user a command, a key or a
// channel, itself or within a script.
func IsMissingPermission(err error) bool {
	var se ServerError
	return errors.As(err, &se) && se.lacksPermission()
}

func (e ServerError) lacksPermission() bool {
	return e.Code() == "NOPERM" || strings.Contains(string(e), "The user executing the script") ||
		strings.Contains(string(e), "ACL failure in script")
}

// isWrongTLS reports whether the server's certificate does not hold for what the client
// trusts and whom it means, or the server does not speak TLS.
func isWrongTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var greeting tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &greeting) && greeting.Conn != nil
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// isServerError reports whether a server answered err.
func isServerError(err error) bool {
	var re redis.Error
	return errors.As(err, &re)
}

// serverError returns err, as a ServerError when a server answered it.
func serverError(err error) error {
	var re redis.Error
	if errors.As(err, &re) {
		return ServerError(re.Error())
	}
	return err
}

// replyOf returns what the server answered.
func replyOf(cmd *redis.Cmd) Reply {
	v, err := cmd.Result()
	switch {
	case errors.Is(err, redis.Nil), err == nil && v == nil: // no script answers nothing
		return Reply{Err: errProtocol, Outcome: ExecutionUnknown}
	case err != nil:
		return Reply{Err: serverError(err)}
	}
	r := Reply{Outcome: Executed}
	if list, ok := v.([]any); ok {
		for i := range min(len(list), len(r.ints)) {
			r.put(i, list[i])
		}
	} else {
		r.put(0, v)
	}
	return r
}

func (r *Reply) put(i int, v any) {
	switch v := v.(type) {
	case int64:
		r.ints[i] = v
	case string:
		r.strs[i] = v
	}
}
