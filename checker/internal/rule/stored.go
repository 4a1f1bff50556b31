package rule

import (
	"locktorture/workload/history"
	"strings"
	"time"
)

const WithoutExpiry = -1

// TimeLeft is the time until the key of a witness's event expires.
func TimeLeft(e *history.Event) time.Duration {
	return time.Duration(min(e.PTTL, int64(history.MaxTime/time.Millisecond))) * time.Millisecond
}

func IsSample(e *history.Event) bool { return e.Op == history.Key && e.Value == history.Sample }

// StoredFor says whether a stored value is this owner's: its name, or its name followed by what
// distinguishes its attempts.
func StoredFor(holder, owner string) bool {
	rest, ok := strings.CutPrefix(holder, owner)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ":/#"))
}
