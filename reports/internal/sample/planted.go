package sample

import (
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// nemesis draws the faults: each invoked, confirmed, and healed.
func (w *world) nemesis() {
	w.add(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseMain})
	if !w.Faults {
		return
	}
	w.fault("one-way-partition", map[string]any{"clients": []string{"c03"}, "nodes": []string{"n2"}, "direction": "request"}, 20000, 28000)
	w.fault("pause-client", map[string]any{"clients": []string{"c07"}}, 24000, 27000)
	w.fault("kill-restart", map[string]any{"nodes": []string{"n1"}}, 36000, 40310)
	w.fault("latency", "all links +200 ms ±50", 48000, 54000)
	w.instant("flush", map[string]any{"nodes": []string{"n4"}}, 57000)
}

func (w *world) fault(name string, on any, from, to int) {
	e := history.Event{Time: ms(from), Process: history.Nemesis, Kind: history.Invoke, Op: history.Fault, Fault: name}
	w.add(e)
	e.Time, e.Kind, e.Target, e.Receipt = ms(from+9), history.OK, target(on), "seen in force"
	w.add(e)
	h := history.Event{Time: ms(to), Process: history.Nemesis, Kind: history.Invoke, Op: history.Heal, Fault: name, Target: e.Target}
	w.add(h)
	h.Time, h.Kind, h.Receipt = ms(to+5), history.OK, "seen gone"
	w.add(h)
}

func (w *world) instant(name string, on any, at int) {
	e := history.Event{Time: ms(at), Process: history.Nemesis, Kind: history.Invoke, Op: history.Fault, Fault: name, Instant: true}
	w.add(e)
	e.Time, e.Kind, e.Target, e.Receipt = ms(at+4), history.OK, target(on), "DBSIZE 0"
	w.add(e)
}

// planted draws two holders of k3: the first is granted before n1 dies and
// writes after the second was granted.
func (w *world) planted() {
	if !w.Break {
		return
	}
	w.free["k3"] = w.Duration
	a := w.planted1("c07", 35800, 35833, 4117)
	b := w.planted1("c12", 36245, 36305, 4119)
	w.key("n1", "c07", 35835)
	w.key("n1", "", 36010)
	w.key("n1", "c12", 36300)
	w.key("n4", "c12", 36290)
	w.seq++
	w.accepted(b, 36601, "c12-a")
	late := history.Event{Time: ms(37040), Process: a.Process, Kind: history.Invoke, Op: history.Write, Key: "k3", Owner: "c07", Fence: 4117, Value: "c07-late"}
	w.add(late)
	w.seq++
	late.Time, late.Kind, late.Seq, late.Has, late.Err = ms(37080), history.Fail, w.seq, history.HasSeq, "stale token"
	w.add(late)
	w.released(a, 38300, 38420)
	w.released(b, 38255, 38300)
}

func (w *world) planted1(owner string, inv, ok int, fence uint64) history.Event {
	e := history.Event{Time: ms(inv), Process: w.next(), Kind: history.Invoke, Op: history.Acquire, Key: "k3", Owner: owner}
	w.add(e)
	e.Time, e.Kind, e.Fence, e.ValidUntil, e.Has = ms(ok), history.OK, fence, ms(inv)+ttl-drift, history.HasValidUntil
	w.add(e)
	return e
}

func (w *world) accepted(g history.Event, at int, value string) {
	e := history.Event{Time: ms(at), Process: g.Process, Kind: history.Invoke, Op: history.Write, Key: g.Key, Owner: g.Owner, Fence: g.Fence, Value: value}
	w.add(e)
	e.Time, e.Kind, e.Seq, e.Has = ms(at)+400*time.Microsecond, history.OK, w.seq, history.HasSeq
	w.add(e)
}

func (w *world) released(g history.Event, inv, ok int) {
	e := history.Event{Time: ms(inv), Process: g.Process, Kind: history.Invoke, Op: history.Release, Key: g.Key, Owner: g.Owner}
	w.add(e)
	e.Time, e.Kind = ms(ok), history.OK
	w.add(e)
}

func (w *world) key(node, holder string, at int) {
	w.add(history.Event{Time: ms(at), Process: history.Witness, Kind: history.OK, Op: history.Key, Key: "k3", Node: node, Holder: holder, Has: history.HasPTTL, PTTL: 1900})
}

// Report is what judging h would give: the planted violation when it is there.
func Report(h history.History) checker.Report {
	r := checker.Report{
		Schema: 1, Verdict: checker.Pass,
		Evidence: checker.Evidence{Grants: 18402, Contended: 9000, Handovers: 15000, FaultedHandovers: 371, Takeovers: 9, FenceSaves: 3, Unknown: 421, Resolved: 418, ByReceipts: 30},
		Checked:  checker.Checked{Events: len(h.Events), Seconds: 0.2},
	}
	var witness []int
	for _, e := range h.Events {
		if e.Key == "k3" && e.Kind == history.OK && e.Op == history.Acquire && (e.Fence == 4117 || e.Fence == 4119) ||
			e.Kind == history.Fail && e.Value == "c07-late" || e.Kind == history.OK && e.Fault == "kill-restart" && e.Op == history.Fault {
			witness = append(witness, e.Index)
		}
	}
	if len(witness) < 4 {
		return r
	}
	slices.Sort(witness)
	r.Verdict, r.Exit = checker.Fail, checker.Fail.Exit()
	r.Violations = []checker.Finding{{
		ID: "S1", Name: "double grant", Key: "k3", Owners: []string{"c07", "c12"}, Witness: witness,
		Blame: "server granted twice", Breakers: []string{"kill-restart n1"},
		Text: "c12 was granted k3 while c07 still held it: n1 came back without the lock that it had confirmed, and 3 of 5 is no quorum once a member forgets.",
	}}
	return r
}
