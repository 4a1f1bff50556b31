package history

import (
	"regexp"
	"slices"
	"strings"
)

// network is how errors of connections and time-outs are told, by Go and by other languages.
var network = regexp.MustCompile(`(?i)time-?out|timed ?out|hang up|went away|is gone|does not answer|deadline exceeded|cancell?ed|connection|connect:|refused|reset by peer|closed|\beof\b|broken pipe|unreachable|no route|ECONN|EPIPE`)

// OfNetwork says whether the error of an operation tells of a link or a server that failed, or of
// a caller who went away, and not of an answer.
func OfNetwork(err string) bool { return network.MatchString(err) }

// unanswered is how errors are told of servers that did not answer, in lower case. A time-out that
// names no link is not among them: it may be the time that a lock waited for somebody who held the key.
var unanswered = []string{
	"connection", "not connected", "connect:", "dial ", "i/o timeout", "i/o time-out", "socket", "reset by peer", "broken pipe", "unreachable", "no route", "no such host",
	"does not answer", "answered in time", "not sent", "never sent", "econn", "epipe", "etimedout",
}

var eof = regexp.MustCompile(`\beof\b`)

// Unanswered says whether the error of a refused acquire tells that servers were not reached or
// did not answer. It then says nothing of who holds the key. A judge asks it of many refusals: it
// looks for words, since one expression of all of them took thirty times as long.
func Unanswered(err string) bool {
	text := strings.ToLower(err)
	return slices.ContainsFunc(unanswered, func(word string) bool { return strings.Contains(text, word) }) || strings.Contains(text, "eof") && eof.MatchString(text)
}
