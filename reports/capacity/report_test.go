package capacity

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/reports/slo"
	"locktorture/reports/stats"
)

// planned is a report over synthetic points: p99 leaves 10 ms at 990/s and
// misses 50 ms at 1392/s.
func planned() *Report {
	r := &Report{
		Command: "torture capacity --slo 'acquire.p99<50ms'", Redis: "process, redis 7", Repeats: 5, RTT: 200 * time.Microsecond,
		Setup: Setup{Lock: "redlock", Masters: 5, Clients: 16, Keys: 64, Hold: 20 * time.Millisecond, TTL: 2 * time.Second, Step: time.Second},
		SLO:   []string{"acquire.p99 < 50 ms"},
	}
	for _, s := range steps(990, 4) {
		p := time.Duration(s.P99 * 1e9)
		r.Points = append(r.Points, Point{
			Phase: "ramp", Rate: s.Rate, Repeat: s.Repeat, Valid: true, OK: s.OK, Done: int64(s.Rate),
			Response: stats.Quantiles{Count: 1000, P50: p / 4, P99: p}, Service: stats.Quantiles{Count: 1000, P99: p / 2},
			SLO:  []slo.Result{{SLO: "acquire.p99 < 50 ms", OK: s.OK}},
			Busy: Busy{Redis: []float64{0.9, 0.4, 0.4, 0.4, 0.4}, Harness: 0.3, Machine: 0.7, CPUs: 8},
		})
	}
	r.Sweep = sweep(52, 0.02, 1.2e-4, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, 5)
	r.USL = FitUSL(r.Sweep)
	r.Limit, r.Knee = Edge(Steps(r.Points)), Knee(Steps(r.Points))
	r.Recommended = r.Limit.Times(Headroom)
	r.Hot = Hot{Hold: r.Setup.Hold, HandOff: Mean([]float64{.004, .005}), Measured: Mean([]float64{41, 41, 41}), Predicted: Mean([]float64{41, 40})}
	r.Effects = []Effect{{Name: "rtt ×2", Of: "closed loop", Change: Mean([]float64{-.4, -.5, -.45})}, {Name: "masters 3→5", Of: "closed loop", Change: suppressed("one master")}}
	r.Bottleneck = Blame(r.Points, r.Limit.Value, r.Setup, 100, 1/float64(r.Setup.Keys))
	r.Recovery = Recovery{Outage: 2 * time.Second, Rate: 900, Capacity: Mean([]float64{1900, 2000}), Backlog: Mean([]float64{1800, 1900}), Back: Mean([]float64{1.7, 1.9}),
		Timeline: []Moment{{-1, .01, 90}, {0, 2, 90}, {1, 1, 90}, {2, 0.5, 90}, {3, .01, 90}}}
	r.Recovery.Predicted.Backlog, r.Recovery.Predicted.Drain = 1800, 1.7
	r.Lease = Cover([]Tail{{time.Second, 40 * time.Millisecond, 300 * time.Millisecond, 900, 900}, {1500 * time.Millisecond, 60 * time.Millisecond, 310 * time.Millisecond, 900, 900}})
	r.Advise()
	return r
}

func TestAdviceNamesCauseNumberIntervalAndNextStep(t *testing.T) {
	r := planned()
	all := strings.Join(r.Advice, "\n")
	for _, want := range []string{"Plan for up to", "70 % of the", "lies between", "redis main thread", "Next step: shard", "One key carried 41/s", "TTL of 2 s covers", "majority is lost for 2 s"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the advice:\n%s", want, all)
		}
	}
}

// Of one key no more is claimed of all servers than that a hold takes its time: what it
// carried here is of this machine, and of what disturbed it.
func TestAdviceOnOneKeyIsWithinItsHold(t *testing.T) {
	r := planned() // which holds for 20 ms
	r.Hot.Measured = Estimate{Value: 45, Low: 30, High: 90, Confidence: confidence, N: 5}
	r.Advise()
	if all, want := strings.Join(r.Advice, "\n"), "One key carried 45/s [30/s, 90/s] (n = 5) here at a hold of 20 ms; whatever the servers, it carries less than 50/s"; !strings.Contains(all, want) {
		t.Errorf("%q is not in\n%s", want, all)
	}
}

func TestBlameNamesWhatIsFull(t *testing.T) {
	setup := Setup{Keys: 64}
	for _, tt := range []struct {
		want    string
		busy    Busy
		ceiling float64
	}{
		{"redis main thread", Busy{Redis: []float64{0.9}, Machine: 0.5, CPUs: 8}, 1000},
		{"waiting for keys", Busy{Redis: []float64{0.2}, Machine: 0.5, CPUs: 8}, 40},
		{"processors of this machine", Busy{Redis: []float64{0.5}, Harness: 1.4, Machine: 0.97, CPUs: 2}, 1000},
		{"other programs on this machine", Busy{Redis: []float64{0.5}, Harness: 0.3, Machine: 1, CPUs: 2}, 1000},
		{"round trips and scheduling", Busy{Redis: []float64{0.2}, Harness: 0.2, Machine: 0.3, CPUs: 8}, 1000},
	} {
		b := Blame([]Point{{Rate: 1000, Valid: true, Busy: tt.busy}}, 1000, setup, tt.ceiling, 1.0/float64(setup.Keys))
		if b.Name != tt.want || b.Next == "" || len(b.Evidence) == 0 {
			t.Errorf("%+v: %+v, want %s", tt.busy, b, tt.want)
		}
	}
	if b := Blame(nil, 1000, setup, 1, 1); b.Name != "unknown" {
		t.Errorf("nothing measured, and %q is to blame", b.Name)
	}
}

// A rate cannot be below 0, and neither can its interval, however far repeats differ; a
// change can.
func TestIntervalsOfAmountsStayAboveZero(t *testing.T) {
	values := []float64{1, 400, 3}
	if e := Amount(values); e.Low != 0 || e.High < 400 || e.Value != Mean(values).Value {
		t.Errorf("%+v", e)
	}
	if e := Mean([]float64{-0.5, 0.1, -0.2}); e.Low >= -0.2 {
		t.Errorf("a change: %+v", e)
	}
}

// A rate with one valid repeat is no evidence, and a discarded point none at
// all.
// A figure that rests on few events says so.
func TestFewEventsAreSaid(t *testing.T) {
	r := planned()
	for i := range r.Points {
		r.Points[i].Offered = 300
	}
	r.Effects[0].Pairs = 230
	told := func() (text string) {
		for _, l := range r.Lines() {
			if l.Label == "limit" || l.Label == "sensitivity" {
				text += l.Text + "\n"
			}
		}
		return text
	}
	if text := told(); strings.Contains(text, "few") {
		t.Errorf("there were enough:\n%s", text)
	}
	r.Effects[0].Pairs = 60
	for i := range r.Points {
		r.Points[i].Offered = 30
	}
	for _, want := range []string{"few: 30 arrivals in a repeat at a rate near it, where a p99 wants 200", "few: 60 pairs in all, where a rate wants 200"} {
		if text := told(); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestStepsNeedTwoValidRepeats(t *testing.T) {
	points := []Point{{Rate: 1, Valid: true}, {Rate: 1, Valid: false}, {Rate: 2, Valid: true}, {Rate: 2, Repeat: 1, Valid: true}}
	if s := Steps(points); len(s) != 2 || s[0].Rate != 2 {
		t.Errorf("%+v", s)
	}
}

func TestForms(t *testing.T) {
	r := planned()
	var text, page, table, raw bytes.Buffer
	for _, err := range []error{r.Text(&text), r.Page(&page), r.CSV(&table), r.JSON(&raw)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"recommended", "knee", "one hot key", "model (USL)", "limited by", "sensitivity", "lease", "if a majority is lost", "not measured", "suppressed: one master", "(n = 5)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if n := strings.Count(page.String(), "<figure>"); n != 6 || strings.Count(page.String(), "<desc>") != n {
		t.Errorf("%d figures", n)
	}
	for _, fetch := range []string{"src=", "<link", "<script", "url(", "@import"} {
		if strings.Contains(page.String(), fetch) {
			t.Errorf("the page holds %s", fetch)
		}
	}
	if rows, err := csv.NewReader(&table).ReadAll(); err != nil || len(rows) != 1+len(r.Points)+len(r.Sweep) {
		t.Errorf("%d lines of CSV: %v", len(rows), err)
	}
	var back Report
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || back.Limit != r.Limit {
		t.Errorf("read back %+v: %v", back.Limit, err)
	}
}

// Cost and failures are told where they were measured, and nowhere else.
func TestCostIsTold(t *testing.T) {
	r := planned()
	text := func() string {
		var out bytes.Buffer
		if err := r.Text(&out); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(out.String(), "\u202f", " ")
	}
	if strings.Contains(text(), "cost of a pair") || strings.Contains(text(), "as felt") {
		t.Error("a cost that was not measured")
	}
	three := func(v float64) Estimate { return Amount([]float64{v, v, v}) }
	r.Cost = Cost{Size: 32, Client: three(95e-6), Master: three(14e-6), Commands: three(24), In: three(1900), Out: three(640), Connections: three(2), Key: three(212), Keys: 5000}
	r.LostMaster = &Failure{Masters: 1, Outage: 2 * time.Second, Times: 3, Rate: 785, Requests: 4710, Late: 471, During: stats.Quantiles{P50: time.Millisecond, P99: 70 * time.Millisecond}}
	for _, want := range []string{"95 µs", "24 [24, 24] (n = 3) commands", "a held key takes 212 B", "≈ 212.0 MB [212.0 MB, 212.0 MB] (n = 3) for 1 M keys on each master, extrapolated", "one master silent for 2 s, 3 times at 785/s: of 4 710 requests due meanwhile 10 % missed the objective"} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	r.Cost.Many = Sample{Keys: 100_000, Each: 205.4}
	if got, want := text(), "≈ 205.4 MB for 1 M keys on each master, extrapolated 10-fold from 100 000 held at once on one master, 205 B each (measured once"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
	r.Cost.Many.Missing = "12 of 100 000 keys were not held within 7.5 s"
	if got, want := text(), "extrapolated 200-fold from 5 000 held at once; many more were not measured: 12 of"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
	r.Cost = Cost{Missing: "embedded nodes"}
	if !strings.Contains(text(), "not measured: embedded nodes") {
		t.Error("why nothing was measured is not said")
	}
}

// What is said of a trace of arrivals: whether it is carried at its own pace, and up to
// which pace.
func TestTraceOfArrivals(t *testing.T) {
	r := planned()
	r.Arrivals = &Arrivals{File: "tuesday.csv", Count: 1200, Span: 10 * time.Second, Rate: 120, Peak: 410, Keys: 64, Hottest: 0.12}
	play := func(met map[float64]int) {
		r.Points = nil
		for rate, ok := range map[float64]int{120: met[120], 180: met[180], 270: met[270]} {
			for repeat := range 5 {
				r.Points = append(r.Points, Point{Rate: rate, Window: time.Second, Repeat: repeat, Valid: true, OK: repeat < ok, Response: stats.Quantiles{P50: time.Millisecond, P99: 9 * time.Millisecond}})
			}
		}
		r.Limit = Edge(Steps(r.Points))
		r.Advise()
	}
	written := func() string {
		var text bytes.Buffer
		if err := r.Text(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	play(map[float64]int{120: 5, 180: 5, 270: 0})
	for _, want := range []string{"tuesday.csv: 1 200 arrivals in 10", "410/s in the busiest second", "64 keys, the most popular wanted by 12", "5 of 5 repeats meet", "carries tuesday.csv", "of its own pace"} {
		if text := written(); !strings.Contains(strings.ReplaceAll(text, "\u202f", " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if limit := r.Limit.Value / r.Arrivals.Rate; limit < 1.5 || limit > 2.25 {
		t.Errorf("carried up to ×%.2f", limit)
	}
	r.Arrivals.Count = 199
	play(map[float64]int{120: 5})
	if text := written(); !strings.Contains(text, "few: 199 arrivals, where a p99 wants 200") {
		t.Errorf("a p99 of few arrivals:\n%s", text)
	}
	r.Points = slices.DeleteFunc(r.Points, func(p Point) bool { return p.Repeat == 4 })
	for i := range r.Points {
		r.Points[i].OK = r.Points[i].Repeat < 2
	}
	if r.Advise(); !strings.Contains(r.headline(), "does not carry tuesday.csv: 2 of 4") {
		t.Errorf("half of the repeats: %s", r.headline())
	}
	play(map[float64]int{120: 1})
	if text := written(); !strings.Contains(text, "does not carry tuesday.csv: 1 of 5 repeats") {
		t.Errorf("what is missed at its own pace is not said:\n%s", text)
	}
	r.Points = nil
	if r.Advise(); !strings.Contains(r.headline(), "Nothing can be said of tuesday.csv") {
		t.Errorf("without a valid repeat: %s", r.headline())
	}
	var page bytes.Buffer
	if err := r.Page(&page); err != nil {
		t.Fatal(err)
	}
}

// A run without a single valid point still has its report.
func TestEmptyReportIsDrawn(t *testing.T) {
	r := &Report{Repeats: 2}
	no := suppressed("nothing was measured")
	r.Limit, r.Recommended, r.Knee, r.USL, r.Recovery.Backlog = no, no, no, FitUSL(nil), no
	r.Advise()
	var page, text bytes.Buffer
	if err := r.Page(&page); err != nil {
		t.Fatal(err)
	}
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "No rate can be recommended") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

// The figures show the objective, of whatever size, and none where there is none.
func TestFiguresShowTheObjective(t *testing.T) {
	for bound, shown := range map[time.Duration]bool{50 * time.Millisecond: true, 1500 * time.Millisecond: true, 0: false} {
		r := planned()
		r.Bound = bound
		svg, err := r.rampFigure().SVG()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(svg), "objective"); got != shown {
			t.Errorf("an objective of %v: shown %t, want %t", bound, got, shown)
		}
	}
}
