package capacity

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"locktorture/reports/capacity/queueing"
)

// A Calibration is what the model of package queueing is fitted to, beside the sweep
// of the closed loop and the hot key. HeldOut was measured in the same repeats, and
// is fitted to nothing.
type Calibration struct {
	Quorum     int           `json:"quorum"`                // nodes that must reply
	CPUs       int           `json:"cpus"`                  // of the machine that load and servers share
	Size       int           `json:"size"`                  // goroutines of the loads below
	Same       []Load        `json:"same"`                  // on all masters, as the next ones are on fewer
	Fewer      []Load        `json:"fewer_masters"`         // none where the lock runs on no fewer
	Apart      []Load        `json:"apart"`                 // of goroutines that hold, so that their requests do not come together
	Linked     []Load        `json:"linked"`                // behind links without a delay: what the links cost
	Linkers    int           `json:"link_clients"`          // clients behind links, over which the goroutines are spread
	Delayed    []Load        `json:"delayed"`               // behind links with delays, by one goroutine a client and by several: round trips
	HotDelayed []Load        `json:"hot_delayed,omitempty"` // of one key that all want and give back at once, behind such links: round trips of a hand-off
	Overhold   float64       `json:"overhold_s"`            // by how much a hold outlasts what was asked for
	HeldOut    []HeldOut     `json:"held_out"`              // predicted against measured
	Missing    []string      `json:"not_held_out"`          // what was not measured, and why
	Errors     Errors        `json:"errors"`                // of the predictions
	Asked      []Prediction  `json:"what_if"`               // the questions that the page answers
	Ramp       []Prediction  `json:"ramp"`                  // the open loop as it is predicted
	Delays     []float64     `json:"delays_s"`              // of Delayed, in ascending order; the first is 0
	Took       time.Duration `json:"took_ns,omitempty"`
}

// peace is the share of the closed loops that must have been measured undisturbed: with
// fewer, a median of repeats is one of what disturbed them.
const peace = 0.5

// disturbed says that too many of the closed loops that the model is fitted to were
// disturbed for it to answer anything.
func (r *Report) disturbed() error {
	c := r.Calibration
	if c == nil {
		return nil
	}
	e := DisturbedError{Command: r.Command}
	for _, loads := range [][]Load{r.Sweep, c.Fewer, c.Apart, c.Delayed, c.HotDelayed} {
		for _, l := range loads {
			if e.Loops++; l.Disturbed {
				e.Disturbed++
			}
		}
	}
	if float64(e.Loops-e.Disturbed) >= peace*float64(e.Loops) {
		return nil
	}
	return e
}

// A DisturbedError says that a calibration answers nothing, since hardly anything that it
// was fitted to was measured undisturbed.
type DisturbedError struct {
	Disturbed, Loops int
	Command          string // that measured it
}

func (e DisturbedError) Error() string {
	return fmt.Sprintf("the figures are not valid: %d of the %d closed loops that the model is fitted to were measured while other programs took the processors; calibrate again where nothing else runs, with: %s",
		e.Disturbed, e.Loops, e.Command)
}

// A Refusal is what a question gets from a calibration that is not valid.
type Refusal struct {
	Question    string `json:"name"`
	Suppressed  string `json:"suppressed"`
	Calibration string `json:"calibration"`
}

// Refuse is the answer to a question where there is no valid one.
func (r *Report) Refuse(question, from string, why error) Refusal {
	return Refusal{Question: question, Suppressed: why.Error(), Calibration: r.source(from)}
}

// Text writes the refusal as the answer to a question.
func (f Refusal) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "NO ANSWER  %s\n", f.Question)
	writeLines(&out, "suppressed", []string{f.Suppressed})
	writeLines(&out, "calibration", []string{f.Calibration})
	_, err := io.WriteString(w, out.String())
	return err
}

// Times are how long something took: the mean, and the quantiles at
// queueing.Probabilities.
type Times struct {
	Mean      float64   `json:"mean_s"`
	Quantiles []float64 `json:"quantiles_s"`
}

// TimesOf sums durations up; of none, it is nothing.
func TimesOf(all []time.Duration) *Times {
	if len(all) == 0 {
		return nil
	}
	all = slices.Sorted(slices.Values(all))
	t := &Times{}
	for _, d := range all {
		t.Mean += d.Seconds() / float64(len(all))
	}
	for _, p := range queueing.Probabilities {
		t.Quantiles = append(t.Quantiles, all[int(p*float64(len(all)-1))].Seconds())
	}
	return t
}

// quantile is that at one of queueing.Probabilities.
func (t *Times) quantile(p float64) float64 {
	return t.Quantiles[slices.Index(queueing.Probabilities, p)]
}

// Average of durations; 0 of none.
func Average(all []time.Duration) (mean time.Duration) {
	for _, d := range all {
		mean += d
	}
	return mean / time.Duration(max(len(all), 1))
}

// At is the quantile at one of queueing.Probabilities.
func (t *Times) At(p float64) float64 {
	return t.Quantiles[slices.Index(queueing.Probabilities, p)]
}

// of one repeat, or of all when it is negative.
func of(loads []Load, repeat int) []Load {
	return slices.DeleteFunc(slices.Clone(loads), func(l Load) bool { return repeat >= 0 && l.Repeat != repeat || l.Rate <= 0 })
}

// timed are those of a repeat, or of all where it is negative, that tell how long acquires
// and releases took.
func timed(loads []Load, repeat int) []Load {
	return slices.DeleteFunc(of(loads, repeat), func(l Load) bool { return l.Acquire == nil || l.Release == nil })
}

// average of what pick returns of the loads; 0 of none.
func average(loads []Load, pick func(Load) float64) float64 {
	sum := 0.0
	for _, l := range loads {
		sum += pick(l)
	}
	if len(loads) == 0 {
		return 0
	}
	return sum / float64(len(loads))
}

func harness(l Load) float64 { return l.Harness }
func redis(l Load) float64   { return l.Redis }

// blend averages the quantiles of several repeats.
func blend(loads []Load, pick func(Load) *Times) queueing.Spread {
	var sum []float64
	for _, l := range loads {
		t := pick(l)
		if t == nil {
			continue
		}
		if sum == nil {
			sum = make([]float64, len(t.Quantiles))
		}
		for i := range min(len(sum), len(t.Quantiles)) {
			sum[i] += t.Quantiles[i]
		}
	}
	return queueing.NewSpread(sum)
}

func acquiring(l Load) *Times { return l.Acquire }
func releasing(l Load) *Times { return l.Release }

func mean(t *Times) float64 {
	if t == nil {
		return 0
	}
	return t.Mean
}
