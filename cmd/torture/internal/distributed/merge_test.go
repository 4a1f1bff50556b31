package distributed

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

// eventSource reads events that are in memory.
type eventSource struct{ events []history.Event }

func (t *eventSource) Next(e *history.Event) error {
	if len(t.events) == 0 {
		return io.EOF
	}
	*e, t.events = t.events[0], t.events[1:]
	return nil
}

// source is a history that is written for people, of one host.
func source(t *testing.T, host, text string) (Source, history.Header) {
	t.Helper()
	h, err := history.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Source{Host: host, Events: &eventSource{h.Events}}, h.Header
}

// merged merges sources and checks that the result is a history.
func merged(t *testing.T, h history.Header, sources ...Source) []history.Event {
	t.Helper()
	h.Hosts = map[string]history.Host{}
	for _, s := range sources {
		h.Hosts[s.Host] = history.Host{Epsilon: time.Millisecond}
	}
	var all []history.Event
	line, err := history.AppendHeader(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(h, sources, func(e *history.Event) {
		all = append(all, *e)
		line = history.AppendEvent(line, e)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := history.ReadAll(strings.NewReader(string(line))); err != nil {
		t.Fatalf("what was merged is no history: %v\n%s", err, line)
	}
	return all
}

// judged is the verdict on what was merged, and what was found.
func judged(h history.Header, epsilon time.Duration, hosts []string, events []history.Event) (checker.Verdict, []string) {
	h.Hosts = map[string]history.Host{}
	for _, host := range hosts {
		h.Hosts[host] = history.Host{Epsilon: epsilon}
	}
	j := checker.New(h, checker.Options{})
	for i := range events {
		j.Event(&events[i])
	}
	r := j.Finish(context.Background(), false)
	var found []string
	for _, v := range r.Violations {
		found = append(found, v.ID)
	}
	return r.Verdict, found
}

const head = "header ttl 1s lock x fenced\n"

// TestMergeOrdersByTime: events of several sources come in the order of their times, each
// source's in its own; numbers of processes do not meet, and what speaks of an event by
// its index still does.
func TestMergeOrdersByTime(t *testing.T) {
	a, h := source(t, "a", head+`
		1ms 0 invoke acquire k owner c0
		5ms 0 info acquire k owner c0
		9ms link ok receipt executed of 0`)
	b, _ := source(t, "b", head+`
		102ms 0 invoke acquire k owner c1
		104ms 0 fail acquire k owner c1`)
	b.Time = func(t time.Duration) time.Duration { return t - 100*time.Millisecond }
	var got []string
	for _, e := range merged(t, h, a, b) {
		got = append(got, fmt.Sprintf("%d %v %s %d %s of %d", e.Index, e.Time, e.Host, e.Process, e.Kind, e.Of))
	}
	want := []string{"0 1ms a 0 invoke of 0", "1 2ms b 1 invoke of 0", "2 4ms b 1 fail of 0", "3 5ms a 0 info of 0", "4 9ms a -4 ok of 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// ahead is a clock that is so far ahead of the coordinator's.
func ahead(by time.Duration) func(time.Duration) time.Duration {
	return func(t time.Duration) time.Duration { return t - by }
}

// TestDoubleGrantAcrossWorkers: two leases of two workers that overlap by more than the
// clocks may be off are found, however far the clocks are apart; what may be no overlap
// at all is none.
func TestDoubleGrantAcrossWorkers(t *testing.T) {
	const one = `
		c0 invoke acquire k
		1ms c0 ok acquire k until 900ms fence 1
		800ms c0 invoke release k
		801ms c0 ok release k`
	for _, c := range []struct {
		name    string
		granted time.Duration // to the other worker's client, by the coordinator's clock
		epsilon time.Duration
		want    []string
	}{
		{"while it is held", 400 * time.Millisecond, time.Millisecond, []string{"S1", "S6"}},
		{"when it was given back", 802 * time.Millisecond, time.Millisecond, nil},
		{"so close to the end that the clocks do not tell", 799 * time.Millisecond, 2 * time.Millisecond, nil},
		{"with clocks of which nothing is known", 400 * time.Millisecond, time.Second, nil},
	} {
		a, h := source(t, "a", head+one)
		shown := c.granted + 2*time.Second
		b, _ := source(t, "b", head+fmt.Sprintf(`
			%v c1 invoke acquire k
			%v c1 ok acquire k until %v fence 2
			%v c1 invoke release k
			%v c1 ok release k`, shown, shown+time.Millisecond, shown+900*time.Millisecond, shown+5*time.Millisecond, shown+6*time.Millisecond))
		b.Time = ahead(2 * time.Second)
		end, _ := source(t, "coordinator", head+"3s nemesis ok phase end")
		_, found := judged(h, c.epsilon, []string{"a", "b", "coordinator"}, merged(t, h, end, a, b))
		if !slices.Equal(found, c.want) {
			t.Errorf("granted to another worker %s: found %v, want %v", c.name, found, c.want)
		}
	}
}

// TestLostWorkerIsNoFalseAlarm: what a lost worker did after its last event shows at other
// clients, in the store's log and on the nodes: a lease given back early, a lock taken and
// written under. None of it is held against the lock; what it had told of before is.
func TestLostWorkerIsNoFalseAlarm(t *testing.T) {
	const lost = `
		c0 invoke acquire k
		1ms c0 ok acquire k until 900ms fence 1
		2ms c0 invoke write k value c0/1
		3ms c0 ok write k value c0/1 seq 1`
	const other = `
		20ms c1 invoke acquire k
		21ms c1 ok acquire k until 920ms fence 2
		22ms c1 invoke write k value c1/1
		23ms c1 ok write k value c1/1 seq 2
		24ms c1 invoke release k
		25ms c1 ok release k
		50ms c1 invoke acquire k
		51ms c1 fail acquire k
		60ms c1 invoke acquire k
		61ms c1 ok acquire k until 960ms fence 4
		62ms c1 invoke write k value c1/2
		63ms c1 ok write k value c1/2 seq 4
		64ms c1 invoke release k
		65ms c1 ok release k`
	const log = `
		2s store ok audit k seq 1 value c0/1 owner c0 fence 1
		store ok audit k seq 2 value c1/1 owner c1 fence 2
		store ok audit k seq 3 value c0/2 owner c0 fence 3
		store ok audit k seq 4 value c1/2 owner c1 fence 4
		nemesis ok phase end`
	for _, c := range []struct {
		name string
		lost string
		want []string
	}{
		{"lost", "it was killed", nil},
		{"not lost", "", []string{"S1", "S1", "R2"}},
	} {
		a, h := source(t, "a", head+lost)
		a.Lost, a.Clients = c.lost, []string{"c0"}
		b, _ := source(t, "b", head+other)
		end, _ := source(t, "coordinator", head+log)
		_, found := judged(h, time.Millisecond, []string{"a", "b", "coordinator"}, merged(t, h, end, a, b))
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, found, c.want)
		}
	}
}

// TestLostAtAnyEvent: whichever event of a worker is the last that came, what its clients
// did after it is held against nobody: leases, restarts and writes of which only the
// store's log tells.
func TestLostAtAnyEvent(t *testing.T) {
	const lost = `
		1ms c0 invoke acquire k
		2ms c0 ok acquire k until 900ms fence 1
		3ms c0 invoke write k value c0/1
		4ms c0 ok write k value c0/1 seq 1
		5ms c0 invoke release k
		6ms c0 ok release k
		30ms c0 invoke acquire k
		31ms c0 fail acquire k
		40ms c0 invoke acquire k
		41ms c0 ok acquire k until 940ms fence 3
		42ms c0 invoke extend k
		43ms c0 ok extend k until 942ms
		44ms c0 invoke write k value c0/2
		45ms c0 ok write k value c0/2 seq 3
		50ms 9 invoke acquire k2 owner c0.1
		51ms 9 ok acquire k2 owner c0.1 until 950ms fence 1
		52ms 9 invoke write k2 owner c0.1 value c0.1/1
		53ms 9 ok write k2 owner c0.1 value c0.1/1 seq 4
		54ms 9 invoke release k2 owner c0.1
		55ms 9 ok release k2 owner c0.1`
	const other = `
		20ms c1 invoke acquire k
		21ms c1 ok acquire k until 920ms fence 2
		22ms c1 invoke write k value c1/1
		23ms c1 ok write k value c1/1 seq 2
		38ms c1 invoke release k
		39ms c1 ok release k
		60ms c1 invoke acquire k2
		61ms c1 ok acquire k2 until 960ms fence 2
		62ms c1 invoke write k2 value c1/2
		63ms c1 ok write k2 value c1/2 seq 5
		64ms c1 invoke release k2
		65ms c1 ok release k2`
	const log = `
		2s store ok audit k seq 1 value c0/1 owner c0 fence 1
		store ok audit k seq 2 value c1/1 owner c1 fence 2
		store ok audit k seq 3 value c0/2 owner c0 fence 3
		store ok audit k2 seq 4 value c0.1/1 owner c0.1 fence 1
		store ok audit k2 seq 5 value c1/2 owner c1 fence 2
		nemesis ok phase end`
	whole, err := history.Parse(head + lost)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole.Events) + 1 {
		a := Source{Host: "a", Events: &eventSource{whole.Events[:cut]}, Lost: "it was killed", Clients: []string{"c0"}}
		b, h := source(t, "b", head+other)
		end, _ := source(t, "coordinator", head+log)
		events := merged(t, h, end, a, b)
		if _, found := judged(h, time.Millisecond, []string{"a", "b", "coordinator"}, events); len(found) > 0 {
			t.Errorf("of %d events %d came: found %v", len(whole.Events), cut, found)
		}
		lines, told := 0, 0 // of the store's log, and those that a note says are missing
		for _, e := range events {
			if e.Op == history.Audit {
				lines++
			} else if e.Note != "" {
				_, _ = fmt.Sscanf(e.Note, "%d lines of the store's log", &told)
			}
		}
		if lines+told != 5 {
			t.Errorf("of %d events %d came: %d of 5 lines of the store's log, and %d are said to be missing", len(whole.Events), cut, lines, told)
		}
	}
}

// TestLostWorkerIsStillJudged: a double grant of which a lost worker had told is found.
func TestLostWorkerIsStillJudged(t *testing.T) {
	a, h := source(t, "a", head+`
		c0 invoke acquire k
		1ms c0 ok acquire k until 900ms fence 1
		40ms c0 invoke acquire k2`)
	a.Lost, a.Clients = "it was killed", []string{"c0"}
	b, _ := source(t, "b", head+`
		20ms c1 invoke acquire k
		21ms c1 ok acquire k until 920ms fence 2
		33ms c1 invoke release k
		34ms c1 ok release k`)
	end, _ := source(t, "coordinator", head+"2s nemesis ok phase end")
	if _, found := judged(h, time.Millisecond, []string{"a", "b", "coordinator"}, merged(t, h, end, a, b)); !slices.Contains(found, "S1") {
		t.Errorf("found %v", found)
	}
}

// BenchmarkMergeAndJudge is what a coordinator does for each event of three workers once
// a run is over, reading and writing aside.
func BenchmarkMergeAndJudge(b *testing.B) {
	const each = 20_000
	h := history.Header{Type: "history", Version: history.Version, TTL: time.Second, Nodes: 1, Quorum: 1, Fenced: true, Hosts: map[string]history.Host{}}
	var sources []Source
	for w := range 3 {
		host := fmt.Sprint("w", w)
		h.Hosts[host] = history.Host{Epsilon: 100 * time.Microsecond}
		var events []history.Event
		for i := range each / 4 { // every worker has a key of its own
			at := time.Duration(i)*4*time.Millisecond + time.Duration(w)*time.Millisecond
			e := history.Event{Process: 0, Kind: history.Invoke, Op: history.Acquire, Key: host, Owner: host}
			for k := range 4 {
				e.Index, e.Time = len(events), at+time.Duration(k)*500*time.Microsecond
				switch k {
				case 1:
					e.Kind, e.Fence, e.ValidUntil, e.Has = history.OK, uint64(i+1), at+time.Second, history.HasValidUntil
				case 2:
					e.Kind, e.Op, e.ValidUntil, e.Has = history.Invoke, history.Release, 0, 0
				case 3:
					e.Kind = history.OK
				}
				events = append(events, e)
			}
		}
		sources = append(sources, Source{Host: host, Events: &eventSource{events}, Time: ahead(time.Second)})
	}
	for b.Loop() {
		again := slices.Clone(sources)
		for i, s := range again {
			again[i].Events = &eventSource{s.Events.(*eventSource).events}
		}
		j := checker.New(h, checker.Options{})
		if _, err := Merge(h, again, j.Event); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(3*each*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
