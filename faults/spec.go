package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/faults/link"
)

// A Spec is one step as text: a line of a scenario file, of the command line,
// or of plan.json. Zeros stand for the fault's own choice.
type Spec struct {
	At     time.Duration `yaml:"at"`     // since the main phase began
	On     Moment        `yaml:"on"`     // phase lock: the first such moment after At; "time" for none at all
	By     string        `yaml:"by"`     // of this client only
	Then   time.Duration `yaml:"then"`   // pause between the moment and the fault
	Within time.Duration `yaml:"within"` // how long to wait for the moment
	Fault  string        `yaml:"fault"`
	For    time.Duration `yaml:"for"`   // how long; 0 is the fault's own choice
	Every  time.Duration `yaml:"every"` // again and again, this far apart
	Times  int           `yaml:"times"` // how often; 0 is once
	Params `yaml:",inline"`
}

// AtTime is the Moment that stands for no phase lock, where a fault has one of
// its own.
const AtTime Moment = "time"

// Build makes a schedule of specs, in the order of their times.
func Build(catalogue map[string]Entry, specs []Spec, ttl time.Duration) (Schedule, error) {
	var plan Schedule
	for i, s := range specs {
		steps, err := s.build(catalogue, ttl)
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
		plan = append(plan, steps...)
	}
	slices.SortStableFunc(plan, func(a, b Step) int { return cmp.Compare(a.When.After, b.When.After) })
	return plan, nil
}

func (s Spec) build(catalogue map[string]Entry, ttl time.Duration) ([]Step, error) {
	entry, known := catalogue[s.Fault]
	if !known {
		return nil, fmt.Errorf("unknown fault %q%s", s.Fault, suggest(s.Fault, slices.Sorted(maps.Keys(catalogue))))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Fault, err)
	}
	fault := entry.New(s.Params.or(entry.Default))
	if err := s.useless(fault, entry); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Fault, err)
	}
	length := cmp.Or(s.For, entry.For(ttl))
	if s.Delay > 0 && length > 0 && s.Delay >= length {
		return nil, fmt.Errorf("%s: delay: %v is not shorter than the step, which lasts %v: for: %v would do", s.Fault, s.Delay, length, ceil(2*s.Delay))
	}
	if f, ok := fault.(lasting); ok {
		fault = f.lasting(length, ttl)
	}
	step := Step{
		When:  Trigger{After: s.At, On: cmp.Or(s.On, entry.On), By: s.By, Then: s.Then, Within: s.Within},
		For:   length,
		Fault: fault,
	}
	if step.When.On == AtTime {
		step.When.On = ""
	}
	steps := []Step{step}
	for len(steps) < s.Times {
		step.When.After += s.Every
		steps = append(steps, step)
	}
	return steps, nil
}

// lasting is a Fault whose own choices depend on the length of its step.
type lasting interface {
	lasting(length, ttl time.Duration) Fault
}

// useless says which of the settings would change nothing.
func (s Spec) useless(f Fault, e Entry) error {
	spread := cmp.Or(s.Spread, e.Default.Spread)
	switch on := cmp.Or(s.On, e.On); {
	case s.Every > 0 && s.Times <= 1:
		return fmt.Errorf("every: %v needs times: how often", s.Every)
	case s.Jitter == Constant && spread != "" && spread != link.Uniform:
		return fmt.Errorf("jitter: 0s leaves nothing to spread %s: say how much, or leave out one of both", spread)
	case on != "" && on != AtTime:
	case s.By != "":
		return fmt.Errorf("by: %s needs on: the moment of that client's to wait for", s.By)
	case s.Within != 0:
		return fmt.Errorf("within: %v needs on: the moment to wait for", s.Within)
	case s.Then != 0:
		return fmt.Errorf("then: %v needs on: the moment after which to wait", s.Then)
	}
	return s.Params.unused(f)
}

func (s Spec) check() error {
	moments := append(Moments(), AtTime, "")
	_, tapped := s.On.tap()
	switch {
	case !slices.Contains(moments, s.On) && !tapped:
		return fmt.Errorf("unknown moment %q%s", s.On, suggest(string(s.On), texts(moments)))
	case s.On == Bound && s.By == "":
		return fmt.Errorf("on: bound needs by: the name that another step binds")
	case s.At < 0 || s.For < 0 || s.Within < 0 || s.Every < 0 || s.Times < 0:
		return fmt.Errorf("at, for, within, every and times must not be negative")
	case s.Times > 1 && s.Every == 0:
		return fmt.Errorf("times: %d needs every", s.Times)
	case s.Then < 0 && !s.On.scheduled():
		return fmt.Errorf("then: %v before the moment: possible with %s and %s only", s.Then, RenewalDue, Expiry)
	case s.Delay < 0 || s.Jitter < 0 && s.Jitter != Constant || s.Jitter > s.Delay && s.Delay > 0 && s.uniform():
		return fmt.Errorf("delay %v with jitter %v: neither may be negative, nor jitter the larger one", s.Delay, s.Jitter)
	case !slices.Contains(spreads, s.Spread):
		return fmt.Errorf("unknown spread %q: there are uniform, exponential, heavy-tail", s.Spread)
	case s.Direction != "" && toward[s.Direction] == "":
		return fmt.Errorf("unknown direction %q: there are request, response, and both when it is left out", s.Direction)
	case s.Rate < 0:
		return fmt.Errorf("rate: %d bytes per second: must not be negative", s.Rate)
	case s.Bytes < 0:
		return fmt.Errorf("bytes: %d: must not be negative", s.Bytes)
	case s.Fault == "slow-close" && s.Delay%time.Millisecond != 0, s.Fault == "slicer" && s.Delay%time.Microsecond != 0:
		return fmt.Errorf("delay: %v: slow-close counts whole milliseconds, slicer whole microseconds", s.Delay)
	}
	return nil
}

var spreads = []link.Spread{"", link.Uniform, link.Exponential, link.HeavyTail}

func (s Spec) uniform() bool { return s.Spread == "" || s.Spread == link.Uniform }

func texts(moments []Moment) []string {
	var all []string
	for _, m := range moments {
		if m != "" {
			all = append(all, string(m))
		}
	}
	return all
}

// suggest names the word nearest to wrong, or all of them when none is near.
func suggest(wrong string, words []string) string {
	if best := Nearest(wrong, words); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ": there are " + strings.Join(words, ", ")
}
