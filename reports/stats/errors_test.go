package stats

import (
	"fmt"
	"slices"
	"testing"

	"locktorture/workload/history"
)

// TestErrors counts what operations ended with: errors that differ in numbers alone are one,
// and a lock that is held, a stale write, or what the lock cannot do, is none.
func TestErrors(t *testing.T) {
	var h history.History
	ends := func(op history.Op, kind history.Kind, has history.Field, text string) {
		process := len(h.Events)
		h.Events = append(h.Events,
			history.Event{Process: process, Kind: history.Invoke, Op: op, Key: "k", Owner: "a"},
			history.Event{Process: process, Kind: kind, Op: op, Key: "k", Owner: "a", Has: has, Err: text})
	}
	ends(history.Acquire, history.Info, 0, "dial 127.0.0.1:4711: refused by 0xbeef1")
	ends(history.Acquire, history.Fail, 0, "dial 127.0.0.1:4712: refused by 0xbeef2")
	ends(history.Release, history.Fail, 0, "lost")
	ends(history.Acquire, history.Fail, 0, "lock held")
	ends(history.Acquire, history.Fail, 0, "")
	ends(history.Write, history.Fail, history.HasSeq, "rejected")
	ends(history.Write, history.Fail, 0, "refused")
	ends(history.Extend, history.Info, 0, "extend: unsupported operation")
	ends(history.Acquire, history.OK, 0, "")
	for i := range mostErrors {
		ends(history.Extend, history.Info, 0, fmt.Sprintf("error %s", string(rune('α'+i))))
	}
	_, sum := measure(h)
	if len(sum.Errors) != mostErrors {
		t.Errorf("%d errors, want %d", len(sum.Errors), mostErrors)
	}
	want := []Error{
		{Op: "acquire", Text: "dial 127.0.0.1:4711: refused by 0xbeef1", Unknown: 1, Failed: 1},
		{Op: "extend", Text: "error α", Unknown: 1},
	}
	if !slices.Equal(sum.Errors[:2], want) {
		t.Errorf("%+v, want %+v first", sum.Errors[:2], want)
	}
	if last := sum.Errors[len(sum.Errors)-1]; last != (Error{Op: "write", Text: "refused", Failed: 1}) {
		t.Errorf("%+v is last: neither a refusal nor a stale write is an error", last)
	}
}
