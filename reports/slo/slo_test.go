package slo

import (
	"strings"
	"testing"
	"time"

	"locktorture/reports/internal/sample"
	"locktorture/reports/stats"
	"locktorture/workload/history"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"acquire.p99<50ms", "acquire.p99 < 50 ms"},
		{"acquire.p99.9 <= 1.5s", "acquire.p99.9 <= 1.5 s"},
		{"acquire.faulted.max<2s", "acquire.faulted.max < 2 s"},
		{"service.p50 < 800us", "service.p50 < 0.8 ms"},
		{"error<0.1%", "error < 0.1 %"},
		{"unknown<0.001", "unknown < 0.1 %"},
		{"grants/s>100", "grants/s > 100"},
		{"grants/s >= 1 000/s", "grants/s >= 1 000"},
		{"jain>0.9", "jain > 0.9"},
		{"lag.p99<1ms", "lag.p99 < 1 ms"},
		{"recovery<5s", "recovery < 5 s"},
	} {
		o, err := Parse(c.in)
		if err != nil || o.String() != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, o, err, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"acquire.p99", "one of < <= > >="},
		{"aquire.p99<1s", `metric "aquire.p99" is unknown`},
		{"acquire<1s", "wants a quantile"},
		{"acquire.p98<1s", "wants a quantile"},
		{"acquire.faulted<1s", "wants a quantile"},
		{"lag.quiet.p99<1ms", "not told apart by phase"},
		{"acquire.p99<50", "not a duration"},
		{"acquire.p99<-5ms", "not a duration"},
		{"error<5ms", "not a share"},
		{"error<101%", "not a share"},
		{"grants/s>many", "not a number"},
		{"grants/s>NaN", "not a number"},
		{"", "one of < <= > >="},
		{"<5", "unknown"},
	} {
		if o, err := Parse(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %q, %v; want an error with %q", c.in, o, err, c.want)
		}
	}
	if _, err := ParseAll([]string{"x<1", "jain>0.5", "y<1"}); err == nil || strings.Count(err.Error(), "is unknown") != 2 {
		t.Errorf("ParseAll: %v; want both errors", err)
	}
}

func TestEvaluate(t *testing.T) {
	h := sample.History(sample.Passing)
	s := stats.New(h.Header)
	for i := range h.Events {
		s.Event(&h.Events[i])
	}
	sum := s.Summary()
	for text, want := range map[string]bool{
		"acquire.p99<1us": false, "acquire.p99<1h": true, "acquire.quiet.p99<acquire": false,
		"error<0%": false, "error<=100%": true, "contended>0%": true, "grants/s>1": true, "grants/s>1000000": false,
		"jain>0.5": true, "gap<1s": false, "recovery<0s": false, "dropped<=0": true, "extend.p99<1h": false, "lag.max<1h": false,
	} {
		o, err := Parse(text)
		if err != nil {
			if want {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if r := o.Evaluate(sum); r.OK != want || r.Observed == "" {
			t.Errorf("%s: %+v, want ok %v", text, r, want)
		}
	}
	empty := stats.New(h.Header).Summary()
	o, err := Parse("acquire.p99<1h")
	if err != nil {
		t.Fatal(err)
	}
	if r := o.Evaluate(empty); r.OK || r.Observed != "nothing measured" {
		t.Errorf("on nothing: %+v", r)
	}
	if o.AcquireP99() != time.Hour {
		t.Errorf("bound %v", o.AcquireP99())
	}
}

// What was never served cannot have been fast.
func TestDemandThatWasNotServed(t *testing.T) {
	summary := func(note string) *stats.Summary {
		s := stats.New(history.Header{TTL: time.Second})
		ok := history.Event{Kind: history.OK, Op: history.Phase, Process: history.Nemesis}
		main := ok
		main.Value = history.PhaseMain
		s.Event(&main)
		for i := range 100 {
			at := time.Duration(i) * time.Millisecond
			s.Event(&history.Event{Time: at, Process: 0, Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "a"})
			s.Event(&history.Event{Time: at, Process: 0, Kind: history.OK, Op: history.Acquire, Key: "k", Owner: "a"})
		}
		main.Time, main.Note = time.Second, note
		s.Event(&main)
		return s.Summary()
	}
	overload := history.Demand{Offered: 5129, Served: 100, Dropped: 5000, Abandoned: 20, Unserved: 1, Pending: 8,
		Waited: []history.Waited{{AtLeast: 64 * time.Millisecond, Count: 21}, {AtLeast: 512 * time.Millisecond, Count: 5000}}}
	all := history.Demand{Offered: 108, Served: 100, Pending: 8}
	for _, c := range []struct {
		slo, note string
		ok        bool
		observed  string
	}{
		{"acquire.p99<2s", overload.Note(), false, "> "},
		{"acquire.max<1h", overload.Note(), false, "> "},
		{"acquire.mean<1h", overload.Note(), false, "> "},
		{"acquire.p50>1ms", overload.Note(), true, "> "},
		{"acquire.p99<2s", all.Note(), true, ""},
		{"served>99%", overload.Note(), false, "1.95 %"},
		{"served>99%", all.Note(), true, "100 %"},
		{"served>99%", "", false, "nothing measured"},
	} {
		o, err := Parse(c.slo)
		if err != nil {
			t.Fatal(err)
		}
		if r := o.Evaluate(summary(c.note)); r.OK != c.ok || !strings.HasPrefix(r.Observed, c.observed) {
			t.Errorf("%s, %q: %+v, want %v and %q", c.slo, c.note, r, c.ok, c.observed)
		}
	}
}
