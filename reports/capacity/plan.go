package capacity

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"locktorture/reports/capacity/queueing"
	"locktorture/reports/unit"
)

// A Wish is what a plan has to meet.
type Wish struct {
	Rate  float64
	P99   time.Duration // of the acquire; 0: no bound
	Keys  int           // over all shards
	Zipf  float64
	Hold  time.Duration
	RTT   []time.Duration
	Nodes int // masters of a shard; 0: the common numbers are compared
}

// A Plan is what a wish takes with one number of masters.
type Plan struct {
	Masters int        `json:"masters"`
	Shards  int        `json:"shards"`            // lock groups that share nothing, each with masters of its own
	Cores   int        `json:"cores"`             // of the clients, for all shards
	One     Prediction `json:"shard"`             // the busiest one
	Why     string     `json:"why_not,omitempty"` // for want of which there is no plan
	Note    string     `json:"note,omitempty"`    // how sure it is that the objective is met

	Warnings []string `json:"warnings,omitempty"` // of the calibration
}

// The bounds of a plan.
const (
	mostShards = 256
	planBusy   = 0.7 // of a processor: beyond, a burst has no room
)

// Plan finds the fewest shards, on machines of their own, that meet the wish.
func (m *Model) Plan(w Wish) ([]Plan, error) {
	sizes := []int{w.Nodes}
	if w.Nodes == 0 {
		sizes = []int{m.r.Setup.Masters}
		if len(m.r.Calibration.Fewer) > 0 {
			sizes = []int{3, 5, 7}
		}
	}
	var out []Plan
	for _, masters := range sizes {
		if err := m.Check(Scenario{Masters: masters, Own: true, RTT: w.RTT, Hold: w.Hold}); err != nil {
			return nil, err
		}
		p, err := m.planOn(w, masters)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// planOn doubles the shards until the wish is met, and then halves the distance to
// the fewest that do.
func (m *Model) planOn(w Wish, masters int) (Plan, error) {
	if why := m.oneKey(w, masters); why != "" {
		return Plan{Masters: masters, Shards: mostShards, Why: why}, nil
	}
	var last Plan
	try := func(shards int) (ok bool, err error) {
		last, err = m.withShards(w, masters, shards)
		return last.Why == "", err
	}
	low, high := 0, 1
	for {
		ok, err := try(high)
		if err != nil || ok {
			if err != nil {
				return last, err
			}
			break
		}
		if high >= min(mostShards, w.Keys) {
			return last, nil
		}
		low, high = high, min(2*high, mostShards, w.Keys)
	}
	best := last
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := try(mid)
		if err != nil {
			return last, err
		}
		if ok {
			high, best = mid, last
		} else {
			low = mid
		}
	}
	return best, nil
}

// oneKey says why no number of shards meets the wish: they do not part a key.
func (m *Model) oneKey(w Wish, masters int) string {
	one := Scenario{Masters: masters, Own: true, Cores: m.cores(Scenario{}), RTT: w.RTT}
	curve := m.Curve(one, -1)
	delays := m.networkDelays(one, curve, -1, 1)
	takes := m.hold(w.Hold) + 1/curve.Rate(1) + delays.Acquire + delays.Release
	wanted := w.Rate * queueing.NewPopularity(w.Keys, w.Zipf).Hottest() * takes
	if wanted < 1 {
		return ""
	}
	return fmt.Sprintf("the most popular of %s would be wanted %s of the time (%s for each of its holders), and no number of shards parts a key: more keys, less skew or a shorter hold",
		unit.Counted(w.Keys, "key"), unit.Percent(wanted), seconds(takes))
}

// withShards predicts one of so many shards, with processors for its clients.
func (m *Model) withShards(w Wish, masters, shards int) (Plan, error) {
	one := Scenario{Masters: masters, Shards: shards, Rate: w.Rate, Keys: w.Keys, Zipf: w.Zipf, Hold: w.Hold, RTT: w.RTT, Own: true}
	_, share := queueing.Shard(w.Keys, w.Zipf, shards)
	arriving := w.Rate * share
	loops := m.loops(one, -1)
	d := m.spent(one, loops[0], -1) // few at a time: what they cost at most
	if most := m.spent(one, loops[len(loops)-1], -1); most.master < d.master {
		d.master = most.master // many at a time do with less of a Redis
	}
	if arriving*d.master > redisFull {
		return Plan{Masters: masters, Shards: shards, Why: fmt.Sprintf("each Redis's main thread would be %s in use in the busiest shard", unit.Percent(arriving*d.master))}, nil
	}
	plan := Plan{}
	for _, times := range []int{1, 2, 4} { // more than the load takes, for the tail
		one.Cores = max(int(math.Ceil(arriving*d.client/planBusy)), 1) * times
		plan = Plan{Masters: masters, Shards: shards, Cores: one.Cores * shards}
		p, err := m.Predict("one shard", one)
		if err != nil {
			return plan, err
		}
		switch plan.One = p; {
		case p.Behind:
			plan.Why = fmt.Sprintf("%s of %s would be served: %s", rate(p.Rate.Value), rate(arriving), p.Busy[0])
		case p.Busy[0].Share > p.Busy[0].Full:
			plan.Why = p.Busy[0].String()
		case w.P99 > 0 && p.P99.Value >= w.P99.Seconds():
			plan.Why = fmt.Sprintf("acquire p99 would be %s: %s", seconds(p.P99.Value), p.slowedBy())
		default:
			if w.P99 > 0 && p.P99.Confidence > 0 && p.P99.High >= w.P99.Seconds() {
				plan.Note = fmt.Sprintf("acquire.p99 < %s is met by the prediction, and not by the whole of its interval: measure before you rely on it", unit.Setting(w.P99))
			}
			return plan, nil
		}
	}
	return plan, nil
}

// planIdle is the use of what is busiest below which it keeps nobody waiting: what takes
// long then is the way.
const planIdle = 0.3

// slowedBy says why acquires take as long as they do.
func (p Prediction) slowedBy() string {
	if busiest := p.Busy[0]; busiest.Share >= planIdle {
		return busiest.String()
	}
	if trip := p.Scenario.roundTrip(); trip > 0 {
		return fmt.Sprintf("an acquire takes round trips of %s to a quorum, which no server shortens", seconds(trip))
	}
	return "nothing is busy: that is what an acquire takes by itself"
}

// AnswerPlan writes plans as the answer to a question.
func (r *Report) AnswerPlan(w io.Writer, from, question string, plans []Plan) error {
	var out strings.Builder
	fmt.Fprintf(&out, "PLAN  %s\n", question)
	writeLines(&out, "warning", r.Warning)
	beyond := map[string]bool{}
	var notes []string
	for _, p := range plans {
		out.WriteString(p.text())
		for _, b := range p.One.Beyond {
			if !beyond[b] {
				beyond[b] = true
				notes = append(notes, b)
			}
		}
	}
	writeLines(&out, "≈ extrapolated", notes)
	writeLines(&out, "error", r.errorLines())
	if slices.ContainsFunc(plans, func(p Plan) bool { return p.Why == "" }) {
		writeLines(&out, "advice", []string{fmt.Sprintf("the plan has no headroom for bursts and faults: order for %s of the rate, and measure again on the machines themselves", unit.Percent(1/Headroom))})
	}
	writeLines(&out, "calibration", []string{r.source(from)})
	_, err := io.WriteString(w, out.String())
	return err
}

func (p Plan) text() string {
	head := fmt.Sprintf("  %-16s", fmt.Sprintf("%d %s", p.Masters, unit.Plural(p.Masters, "master")))
	if p.Why != "" {
		return head + fmt.Sprintf("no plan with up to %s: %s\n", unit.Counted(p.Shards, "shard"), p.Why)
	}
	one := p.One
	lost := p.Masters - (p.Masters/2 + 1)
	return head + fmt.Sprintf("%s of %s (%s, one processor each; a shard survives the loss of %d) and %s for the clients\n",
		unit.Counted(p.Shards, "shard"), unit.Counted(p.Masters, "master"), unit.Counted(p.Shards*p.Masters, "Redis server"), lost, unit.Counted(p.Cores, "processor")) +
		fmt.Sprintf("  %-16sof the busiest: %s, acquire p50 %s, p99 %s, %s at a time of which %s hold\n", "",
			one.figure(one.Rate, rate), one.latency(one.P50), one.latency(one.P99), unit.Counted(int(math.Ceil(p.atATime())), "request"), unit.Number(one.Rate.Value*one.Scenario.Hold.Seconds())) +
		fmt.Sprintf("  %-16swhat breaks first: %s\n", "", one.Busy[0]) + p.noted()
}

func (p Plan) noted() string {
	if p.Note == "" {
		return ""
	}
	return fmt.Sprintf("  %-16s%s\n", "", p.Note)
}

// atATime is how many requests there are at a time, by Little's law.
func (p Plan) atATime() float64 {
	return p.One.Under + p.One.Rate.Value*(p.One.Scenario.Hold.Seconds()+p.One.P50.Value)
}
