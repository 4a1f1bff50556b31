package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Shapes of a Dist. The empty shape is Constant.
const (
	Constant    = "constant"
	Uniform     = "uniform"
	Exponential = "exponential"
)

// A Dist is a distribution of durations: what a scenario file writes as
// "20ms", "uniform 10ms..30ms" or "exp 20ms". The zero Dist is always 0.
type Dist struct {
	Shape    string        // Constant, Uniform or Exponential
	Min, Max time.Duration // Uniform: the range, both ends included
	Mean     time.Duration // Constant: the value. Exponential: the mean; no draw exceeds ten times it
}

// expCut is how many means an exponential draw may reach: a longer one would
// outlast a run. The share of draws that it cuts is e^-10.
const expCut = 10

// Fixed is the distribution that is always d.
func Fixed(d time.Duration) Dist { return Dist{Shape: Constant, Mean: d} }

// ParseDist reads what String writes.
func ParseDist(text string) (Dist, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	var d Dist
	var err error
	switch {
	case word == "uniform":
		low, high, found := strings.Cut(rest, "..")
		if !found {
			return Dist{}, fmt.Errorf("duration %q: want \"uniform 10ms..30ms\"", text)
		}
		d.Shape = Uniform
		if d.Min, err = time.ParseDuration(strings.TrimSpace(low)); err == nil {
			d.Max, err = time.ParseDuration(strings.TrimSpace(high))
		}
	case word == "exp":
		d.Shape = Exponential
		d.Mean, err = time.ParseDuration(rest)
	case rest == "":
		d.Shape = Constant
		d.Mean, err = time.ParseDuration(word)
	default:
		err = fmt.Errorf("unknown shape %q", word)
	}
	if err != nil {
		return Dist{}, fmt.Errorf("duration %q: want \"20ms\", \"uniform 10ms..30ms\" or \"exp 20ms\": %w", text, err)
	}
	return d, d.validate()
}

func (d Dist) validate() error {
	switch d.Shape {
	case "", Constant, Exponential:
		if d.Mean < 0 {
			return fmt.Errorf("duration %q is negative", d)
		}
	case Uniform:
		if d.Min < 0 || d.Max < d.Min {
			return fmt.Errorf("duration %q: want 0 ≤ low ≤ high", d)
		}
	default:
		return fmt.Errorf("duration shape %q is unknown: want %s, %s or %s", d.Shape, Constant, Uniform, Exponential)
	}
	return nil
}

// String writes d as a scenario file does.
func (d Dist) String() string {
	switch d.Shape {
	case Uniform:
		return fmt.Sprintf("uniform %v..%v", d.Min, d.Max)
	case Exponential:
		return fmt.Sprintf("exp %v", d.Mean)
	default:
		return d.Mean.String()
	}
}

// Draw takes one duration.
func (d Dist) Draw(rng *rand.Rand) time.Duration {
	switch d.Shape {
	case Uniform:
		return d.Min + time.Duration(rng.Int64N(int64(d.Max-d.Min)+1))
	case Exponential:
		return time.Duration(min(rng.ExpFloat64(), expCut) * float64(d.Mean))
	default:
		return d.Mean
	}
}

// MarshalText implements encoding.TextMarshaler.
func (d Dist) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Dist) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDist(string(text))
	return err
}
