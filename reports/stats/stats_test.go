package stats

import (
	"testing"
	"time"

	"locktorture/reports/internal/sample"
	"locktorture/workload/history"
)

func measure(h history.History) (*Stats, *Summary) {
	s := New(h.Header)
	for i := range h.Events {
		s.Event(&h.Events[i])
	}
	return s, s.Summary()
}

func TestMeasureFaultyRun(t *testing.T) {
	_, sum := measure(sample.History(sample.Passing))
	if sum.Outcomes.Acquired == 0 || sum.Outcomes.Contended == 0 || sum.Outcomes.Error == 0 || sum.Outcomes.Unknown == 0 {
		t.Errorf("outcomes %+v: want some of each", sum.Outcomes)
	}
	if got := len(sum.Faults); got != 5 {
		t.Fatalf("%d faults, want 5", got)
	}
	for _, f := range sum.Faults {
		if !f.TookEffect || !f.Mended() || f.FirstGrant == Never {
			t.Errorf("%s on %s: %+v", f.Name, f.Target, f)
		}
	}
	if q, f := sum.Find(Acquire, "quiet"), sum.Find(Acquire, "faulted"); q.P50 >= f.P99 || q.Count == 0 || f.Count == 0 {
		t.Errorf("quiet %+v against faulted %+v", q, f)
	}
	if a, s := sum.Find(Acquire, All), sum.Find(AcquireService, All); a.P50 <= s.P50 {
		t.Errorf("response p50 %v ≤ service p50 %v, though every start was late", a.P50, s.P50)
	}
	if len(sum.Gaps) == 0 || sum.Gaps[0].Length() < 3*time.Second {
		t.Errorf("gaps %v: want the outage first", sum.Gaps)
	}
	if sum.Fairness.Jain < 0.9 || len(sum.Fairness.Clients) != 16 {
		t.Errorf("fairness %v of %d clients", sum.Fairness.Jain, len(sum.Fairness.Clients))
	}
	if sum.Margin.Validity.Count == 0 || sum.Margin.Gap.Count == 0 || sum.Margin.Lease == 0 {
		t.Errorf("margin %+v", sum.Margin)
	}
	if !sum.Complete {
		t.Error("complete history taken for a cut-off one")
	}
}

func TestGapOfDoubleGrant(t *testing.T) {
	_, sum := measure(sample.History(sample.Failing))
	if sum.Margin.Gap.Negative != 1 || sum.Margin.Gap.Min >= 0 {
		t.Errorf("gap %+v: want the overlap below zero", sum.Margin.Gap)
	}
}

func TestDegenerateHistories(t *testing.T) {
	end := history.Event{Time: time.Second, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd}
	orphan := history.Event{Process: 3, Kind: history.OK, Op: history.Release, Key: "k", Owner: "a"}
	for name, events := range map[string][]history.Event{
		"no event": nil, "end alone": {end}, "completion alone": {orphan},
		"invocation alone":   {{Kind: history.Invoke, Op: history.Acquire, Key: "k"}},
		"heal without fault": {{Process: history.Nemesis, Kind: history.OK, Op: history.Heal, Fault: "x"}},
	} {
		s, sum := measure(history.History{Events: events})
		if snap := s.Snapshot(); snap.Outcomes != sum.Outcomes || sum.Outcomes.Attempts() != 0 {
			t.Errorf("%s: snapshot %+v, summary %+v", name, snap.Outcomes, sum.Outcomes)
		}
		if sum.GrantsPerSecond() != 0 || sum.HistAll(Acquire) != nil {
			t.Errorf("%s: grants out of nothing", name)
		}
	}
}

func TestWindowsWiden(t *testing.T) {
	w := windows{width: firstWidth}
	grant := history.Event{Kind: history.OK, Op: history.Acquire}
	const n = 5000
	for i := range n {
		grant.Time = time.Duration(i) * time.Second
		w.attempt(&grant, time.Duration(i+1)*time.Millisecond)
	}
	list := w.summary(grant.Time)
	if len(list) > maxWindows || w.width != 16*time.Second {
		t.Errorf("%d windows of %v", len(list), w.width)
	}
	total := int64(0)
	for _, one := range list {
		total += one.Outcomes.Acquired
		if one.P50 == 0 || one.P99 > one.Max {
			t.Errorf("window at %v: %+v", one.Start, one)
		}
	}
	if total != n {
		t.Errorf("%d grants in all windows, want %d", total, n)
	}
}

func TestTargetText(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `"n1"`: "n1", `{"clients":[0,1]}`: "0,1", `{"nodes":["n1","n2"]}`: "n1,n2",
		`{"clients":["c03"],"nodes":["n2"],"direction":"request"}`: "c03→n2",
		`{"client":"c03","node":"n2"}`:                             "c03↔n2",
		`{"nodes":["n1"],"jump":"+5s"}`:                            "n1",
		`{"shard":7}`:                                              "shard 7", `{}`: "",
		`{"at":"2s","on":"renewal-due","fault":"kill"}`:                                  "at 2s, on renewal-due",
		`{"range":{"from":1,"to":[2,3]},"sure":true}`:                                    "from 1, to 2, to 3, sure true",
		`{"clients":["a","b","c","d"],"nodes":["n2"],"direction":"response","key":"k1"}`: "4 clients←n2 (k1)",
	} {
		target, _ := history.ParseTarget([]byte(raw)) // none where there is no text
		if got := TargetText(target); got != want {
			t.Errorf("TargetText(%s) = %q, want %q", raw, got, want)
		}
	}
}

func TestClientOf(t *testing.T) {
	for owner, want := range map[string]string{"c07": "c07", "c07.12": "c07", "a.b": "a.b", "x.": "x.", ".1": ".1", "": ""} {
		if got := ClientOf(owner); got != want {
			t.Errorf("ClientOf(%q) = %q, want %q", owner, got, want)
		}
	}
}

func TestMainPhaseApart(t *testing.T) {
	phase := func(at time.Duration, v string) history.Event {
		return history.Event{Time: at, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: v}
	}
	acquire := func(at time.Duration, k history.Kind) history.Event {
		return history.Event{Time: at, Kind: k, Op: history.Acquire, Key: "k", Owner: "a"}
	}
	end := phase(2*time.Second, history.PhaseMain)
	end.Lag, end.Has, end.Note = time.Millisecond, history.HasLag, "end of phase; 9 arrivals, 3 dropped at a full backlog, 1 unserved"
	_, sum := measure(history.History{Events: []history.Event{
		phase(0, history.PhaseWarmup), acquire(1, history.Invoke), acquire(2, history.OK),
		phase(time.Second, history.PhaseMain), acquire(time.Second, history.Invoke), acquire(2*time.Second, history.OK),
		end, phase(2*time.Second, ""), phase(3*time.Second, history.PhaseFinal),
		acquire(4*time.Second, history.Invoke), acquire(5*time.Second, history.OK), phase(6*time.Second, history.PhaseFinal),
		phase(6*time.Second, history.PhaseEnd),
	}})
	if sum.Total.Acquired != 3 || !sum.Complete || len(sum.Gaps) != 1 || sum.Duration != 6*time.Second {
		t.Errorf("%+v", sum)
	}
	if sum.Dropped != 3 || sum.Lag.Count != 1 {
		t.Errorf("dropped %d, lag %+v", sum.Dropped, sum.Lag)
	}
	if sum.Outcomes.Acquired != 1 || sum.Measured() != time.Second || sum.Find(Acquire, All).Count != 1 {
		t.Errorf("acquired %d in %v", sum.Outcomes.Acquired, sum.Measured())
	}
}

func BenchmarkEvent(b *testing.B) {
	h := sample.History(sample.Passing)
	s := New(h.Header)
	i := 0
	for b.Loop() {
		if i == len(h.Events) {
			i, s = 0, New(h.Header)
		}
		s.Event(&h.Events[i])
		i++
	}
}
