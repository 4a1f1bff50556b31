package fold

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

// follow folds a history that is written for people, and returns what each event
// did to a lease.
func follow(t *testing.T, text string) (*Holdings, []Change) {
	t.Helper()
	h, err := history.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	who := NewHoldings(h.Header)
	var changes []Change
	for i := range h.Events {
		changes = append(changes, who.Event(&h.Events[i]))
	}
	return who, changes
}

// whoHolds lists who holds what: owner and key, with the depth where it is more
// than 1.
func whoHolds(h *Holdings) (all []string) {
	for _, x := range h.All() {
		s := x.Owner + " " + x.Key
		if x.Depth > 1 {
			s += fmt.Sprintf(" ×%d", x.Depth)
		}
		all = append(all, s)
	}
	return all
}

func TestHoldings(t *testing.T) {
	for _, c := range []struct {
		name, history string
		want          []string
	}{
		{"granted", `a ok acquire k until 9s`, []string{"a k"}},
		{"refused", "a invoke acquire k\na fail acquire k", nil},
		{"unknown", "a invoke acquire k\na info acquire k", nil},
		{"release sent", "a ok acquire k until 9s\na invoke release k", nil},
		{"told of its loss", "a ok acquire k until 9s\na ok lost k", nil},
		{"extension refused", "a ok acquire k until 9s\na invoke extend k\na fail extend k", nil},
		{"extension unknown", "a ok acquire k until 9s\na invoke extend k\na info extend k", []string{"a k"}},
		{"taken over", "0s a ok acquire k until 5ms\n8ms b ok acquire k until 9s", []string{"b k"}},
		{"taken over when TTL less drift had passed", "header ttl 6ms drift 1ms\n0s a ok acquire k\n8ms b ok acquire k", []string{"b k"}},
		{"not taken over before", "header ttl 60ms\n0s a ok acquire k\n8ms b ok acquire k", []string{"a k", "b k"}},
		{"two holders", "a ok acquire k until 9s\nb ok acquire k until 9s", []string{"a k", "b k"}},
		{"readers without a promise", "header ttl 1ms\n0s a ok acquire k mode r\n8ms b ok acquire k mode r", []string{"a k", "b k"}},
		{"another's release", "a ok acquire k until 9s\nb invoke release k", []string{"a k"}},
		{"re-entered", "a ok acquire k until 9s fence 7\na ok acquire k until 9s fence 7", []string{"a k ×2"}},
		{"re-entered and left", "a ok acquire k until 9s fence 7\na ok acquire k until 9s fence 7\na invoke release k", []string{"a k"}},
		{"re-entered and left twice", "a ok acquire k until 9s fence 7\na ok acquire k until 9s fence 7\na invoke release k\na ok release k\na invoke release k", nil},
		{"granted anew", "a ok acquire k until 9s fence 7\na ok acquire k until 9s fence 8", []string{"a k"}},
		{"two keys", "a ok acquire k until 9s\na ok acquire l until 9s\na invoke release k", []string{"a l"}},
		{"a renewal that tells of itself", "0s a ok acquire k until 5ms\n1ms a ok extend k began 1ms until 9s\n8ms b ok acquire k until 9s", []string{"a k", "b k"}},
	} {
		who, _ := follow(t, c.history)
		if got := whoHolds(who); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestHolding: a lease is kept up to date, also after it has ended.
func TestHolding(t *testing.T) {
	who, changes := follow(t, `
		header ttl 100ms
		0ms a invoke acquire k
		2ms a ok acquire k fence 3
		3ms a invoke write k value v
		4ms a ok write k value v seq 1
		5ms a invoke extend k
		6ms a ok extend k until 120ms
		7ms a invoke release k
		9ms a ok release k`)
	var steps []Step
	for _, c := range changes {
		steps = append(steps, c.Step)
	}
	if want := []Step{0, Granted, 0, Wrote, 0, Extended, Over, Answered}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	const ms = time.Millisecond
	want := Holding{
		Grant: 1, Key: "k", Owner: "a", Process: 1000, Fence: 3, Began: 0, Since: 2 * ms, Renewed: 6 * ms, ValidUntil: 120 * ms, Deadline: 120 * ms,
		Depth: 1, Writes: 1, LastWrite: 4 * ms, EndedBy: history.Release, Ended: 7 * ms, Released: 9 * ms,
	}
	if got := *changes[1].Holding; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if op := changes[3].Operation; op.Began != 3*ms || op.Op != history.Write {
		t.Errorf("the write is %+v", op)
	}
	if who.Keys() != 1 || who.Held(0) != 0 || who.Find("k", "a") != nil {
		t.Errorf("%d keys, held %d", who.Keys(), who.Held(0))
	}
}

func TestHeldAndCrash(t *testing.T) {
	who, changes := follow(t, "0s a ok acquire k until 5s\n1s b ok acquire l until 9s\n2s c ok acquire k until 9s")
	if got := []int{who.Held(0), who.Held(6 * time.Second), who.Held(9 * time.Second)}; !slices.Equal(got, []int{2, 2, 0}) {
		t.Errorf("held at 0, 6 and 9 s: %v", got)
	}
	who.Crash(func(owner string) bool { return owner != "b" }, 3*time.Second)
	if got := whoHolds(who); !slices.Equal(got, []string{"b l"}) || changes[0].Holding.EndedBy != history.Fault || changes[0].Holding.Ended != 3*time.Second {
		t.Errorf("after the crash %q, %+v", got, changes[0].Holding)
	}
}

// TestHoldersAreBounded: a lock that grants to everybody costs no more memory.
func TestHoldersAreBounded(t *testing.T) {
	who := NewHoldings(history.Header{})
	over := 0
	for i := range 10 * maxHolders {
		e := history.Event{Index: i, Time: time.Duration(i), Kind: history.OK, Op: history.Acquire, Key: "k", Owner: fmt.Sprint(i), ValidUntil: history.MaxTime, Has: history.HasValidUntil}
		over += len(who.Event(&e).Over)
	}
	if n := len(who.Of("k")); n != maxHolders || over != 9*maxHolders {
		t.Errorf("%d holders, %d over", n, over)
	}
}

func TestOperations(t *testing.T) {
	h, err := history.Parse(`
		0ms a invoke acquire k due 0ms
		5ms b invoke acquire k due 2ms
		6ms a ok acquire k began 1ms
		7ms c ok extend k began 3ms until 9s
		8ms nemesis ok phase main`)
	if err != nil {
		t.Fatal(err)
	}
	var ops Operations
	var got []string
	for i := range h.Events {
		if op, ok := ops.Event(&h.Events[i]); ok {
			got = append(got, fmt.Sprint(op.Owner, op.Op, op.Began, op.Intended))
		}
	}
	if want := []string{"aacquire 0s 0s", "bacquire 5ms 2ms", "aacquire 0s 0s", "cextend 3ms 3ms"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var open []string
	for op := range ops.Open {
		open = append(open, op.Owner)
	}
	if !slices.Equal(open, []string{"b"}) {
		t.Errorf("open: %q", open)
	}
}

// told is what a log says of its faults, a word each.
func told(l *FaultLog) string {
	var all []string
	for _, f := range l.All() {
		all = append(all, fmt.Sprintf("%s:%d-%d", f.Name, f.Started/time.Millisecond, f.Healed/time.Millisecond))
	}
	return strings.Join(all, " ")
}

func TestFaultLog(t *testing.T) {
	for _, c := range []struct{ name, history, want string }{
		{"one", `
			0ms nemesis invoke fault cut target n1
			1ms nemesis ok fault cut target n1 receipt gone
			5ms nemesis invoke heal cut target n1
			6ms nemesis ok heal cut target n1`, "cut:1-6"},
		{"two of a name, by target", `
			0ms nemesis invoke fault cut target n1
			1ms nemesis invoke fault cut target n2
			2ms nemesis ok fault cut target n2
			3ms nemesis ok fault cut target n1
			4ms nemesis invoke heal cut target n2
			5ms nemesis ok heal cut target n2`, "cut:3-0 cut:2-5"},
		{"two alike, by their invocations", `
			0ms nemesis invoke fault cut target n1
			1ms nemesis invoke fault cut target n1
			2ms nemesis ok fault cut target n1 of 1
			3ms nemesis fail fault cut target n1 of 0`, "cut:0-0 cut:2-0"},
		{"a role that becomes a name", `
			0ms nemesis invoke fault cut target holder
			1ms nemesis ok fault cut target n1
			2ms nemesis invoke heal cut target n1
			3ms nemesis info heal cut target n1`, "cut:1-3"},
		{"a heal that failed, and another", `
			0ms nemesis invoke fault cut
			1ms nemesis ok fault cut
			2ms nemesis invoke heal cut
			3ms nemesis fail heal cut err stuck
			4ms nemesis invoke heal cut
			5ms nemesis ok heal cut`, "cut:1-5"},
		{"a heal of nothing", `0ms nemesis ok heal cut`, ""},
	} {
		h, err := history.Parse(c.history)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var log FaultLog
		for i := range h.Events {
			log.Event(&h.Events[i])
		}
		if got := told(&log); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFault(t *testing.T) {
	h, err := history.Parse(`
		0ms nemesis invoke fault flush target n1 instant
		1ms nemesis ok fault flush receipt "DBSIZE 0"
		2ms nemesis invoke fault cut
		3ms nemesis info fault cut
		4ms nemesis invoke fault kill
		5ms nemesis fail fault kill err "no such node"`)
	if err != nil {
		t.Fatal(err)
	}
	var log FaultLog
	for i := range h.Events {
		log.Event(&h.Events[i])
	}
	flush, cut, kill := log.All()[0], log.All()[1], log.All()[2]
	if !flush.TookEffect || !flush.Mended() || flush.InForce() || flush.End() != time.Millisecond || flush.Receipts[0] != "DBSIZE 0" || flush.Target.Name() != "n1" {
		t.Errorf("flush: %+v", flush)
	}
	if cut.TookEffect || cut.Mended() || !cut.InForce() || cut.End() != Never {
		t.Errorf("cut: %+v", cut)
	}
	if kill.Started != Never || !kill.Mended() || kill.InForce() || kill.Err != "no such node" {
		t.Errorf("kill: %+v", kill)
	}
}
