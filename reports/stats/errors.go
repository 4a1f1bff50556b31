package stats

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"locktorture/workload/history"
)

// Error is an error that operations ended with, and how often. Errors that differ in numbers and
// ids alone, such as ports, times and owners, are one.
type Error struct {
	Op      string `json:"op"`
	Text    string `json:"text"`    // of the first of them
	Unknown int64  `json:"unknown"` // how often for an operation that may have taken effect all the same
	Failed  int64  `json:"failed"`  // how often for one that certainly did not
}

// Count is how often it occurred.
func (e Error) Count() int64 { return e.Unknown + e.Failed }

// mostErrors is how many errors are counted apart.
const mostErrors = 200

// changing are parts of a text that are no more than numbers and ids.
var changing = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

type errorCounts map[[2]string]*Error

// event counts the error of an operation; that somebody else holds the lock is none, nor that
// the store compared tokens, nor that the lock cannot do what it was asked to.
func (all errorCounts) event(e *history.Event) {
	no := e.Kind == history.Fail && (refused(e.Err) || e.Op == history.Write && e.HasAll(history.HasSeq))
	if e.Err == "" || e.Kind == history.OK || no || strings.Contains(e.Err, errors.ErrUnsupported.Error()) {
		return
	}
	key := [2]string{e.Op.String(), changing.ReplaceAllLiteralString(e.Err, "#")}
	t := all[key]
	if t == nil {
		if len(all) == mostErrors {
			return
		}
		t = &Error{Op: key[0], Text: strings.Clone(e.Err)}
		all[key] = t
	}
	if e.Kind == history.Info {
		t.Unknown++
	} else {
		t.Failed++
	}
}

// summary lists them, the most frequent first.
func (all errorCounts) summary() []Error {
	var out []Error
	for t := range maps.Values(all) {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Error) int {
		return cmp.Or(cmp.Compare(b.Count(), a.Count()), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Text, b.Text))
	})
	return out
}
