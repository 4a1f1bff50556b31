package history

import "regexp"

// network is how errors of connections and time-outs are told, by Go and by other languages.
var network = regexp.MustCompile(`(?i)time-?out|timed ?out|hang up|went away|is gone|does not answer|deadline exceeded|cancell?ed|connection|connect:|refused|reset by peer|closed|\beof\b|broken pipe|unreachable|no route|ECONN|EPIPE`)

// OfNetwork says whether the error of an operation tells of a link or a server that failed, or of
// a caller who went away, and not of an answer.
func OfNetwork(err string) bool { return network.MatchString(err) }
