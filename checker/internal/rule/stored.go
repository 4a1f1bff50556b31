package rule

import (
	"locktorture/workload/history"
	"strings"
	"time"
)

const WithoutExpiry = -1

// TimeLeft is how long the key of a witness's event may stay yet.
func TimeLeft(e *history.Event) time.Duration {
	return time.Duration(min(e.PTTL, int64(history.MaxTime/time.Millisecond))) * time.Millisecond
}

func IsSample(e *history.Event) bool { return e.Op == history.Key && e.Value == history.Sample }

// StoredFor says whether a stored owner is this owner: as it stands, or followed
// by what tells its attempts apart.
func StoredFor(holder, owner string) bool {
	rest, ok := strings.CutPrefix(holder, owner)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ":/#"))
}
