package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// Build makes a schedule of specs, in the order of their times.
func Build(entries map[string]catalogue.Entry, specs []faults.Spec, ttl time.Duration) (faults.Schedule, error) {
	var plan faults.Schedule
	for i, s := range specs {
		steps, err := buildSpec(s, entries, ttl)
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
		plan = append(plan, steps...)
	}
	slices.SortStableFunc(plan, func(a, b faults.Step) int { return cmp.Compare(a.When.After, b.When.After) })
	return plan, nil
}

func buildSpec(s faults.Spec, entries map[string]catalogue.Entry, ttl time.Duration) ([]faults.Step, error) {
	entry, known := entries[s.Fault]
	if !known {
		return nil, fmt.Errorf("unknown fault %q%s", s.Fault, faults.Suggest(s.Fault, slices.Sorted(maps.Keys(entries))))
	}
	if err := check(s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Fault, err)
	}
	fault := entry.New(s.Params.Or(entry.Default))
	if err := useless(s, fault, entry); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Fault, err)
	}
	length := cmp.Or(s.For, entry.For(ttl))
	if s.Delay > 0 && length > 0 && s.Delay >= length {
		return nil, fmt.Errorf("%s: delay: %v is not shorter than the step, which lasts %v: for: %v would do", s.Fault, s.Delay, length, ceil(2*s.Delay))
	}
	if s.Until != "" && length == 0 {
		return nil, fmt.Errorf("%s: until: %s ends nothing: this fault is over at once", s.Fault, s.Until)
	}
	if f, ok := fault.(faults.Stretchable); ok {
		fault = f.Lasting(length, ttl)
	}
	step := faults.Step{
		When:  faults.Trigger{After: s.At, On: cmp.Or(s.On, entry.On), By: s.By, Then: s.Then, Within: s.Within, Else: s.Else},
		For:   length,
		Until: s.Until,
		Fault: fault,
	}
	if step.When.On == faults.AtTime {
		step.When.On = ""
	}
	steps := []faults.Step{step}
	for len(steps) < s.Times {
		step.When.After += s.Every
		steps = append(steps, step)
	}
	return steps, nil
}

// useless says which of the settings would change nothing.
func useless(s faults.Spec, f faults.Fault, e catalogue.Entry) error {
	spread := cmp.Or(s.Spread, e.Default.Spread)
	switch on := cmp.Or(s.On, e.On); {
	case s.Until != "" && !faults.HasKey(on):
		return fmt.Errorf("until: %s needs on: a moment of the key that is meant", s.Until)
	case s.Every > 0 && s.Times <= 1:
		return fmt.Errorf("every: %v needs times: how often", s.Every)
	case s.Jitter == faults.Constant && spread != "" && spread != link.Uniform:
		return fmt.Errorf("jitter: 0s leaves nothing to spread %s: say how much, or leave out one of both", spread)
	case on != "" && on != faults.AtTime:
	case s.By != "":
		return fmt.Errorf("by: %s needs on: the moment of that client's to wait for", s.By)
	case s.Within != 0:
		return fmt.Errorf("within: %v needs on: the moment to wait for", s.Within)
	case s.Then != 0:
		return fmt.Errorf("then: %v needs on: the moment after which to wait", s.Then)
	}
	return s.Params.Unused(f)
}

// foreseen are the moments of which then may be negative, seen those that until may name.
var foreseen, seen = func() (foreseen, seen []watch.Moment) {
	for _, m := range watch.Moments() {
		if _, late := m.Late(); m.Foreseen() {
			foreseen = append(foreseen, m)
		} else if !late {
			seen = append(seen, m)
		}
	}
	return foreseen, seen
}()

func check(s faults.Spec) error {
	moments := append(faults.Moments(), faults.AtTime, "")
	_, tapped := faults.ParseTap(s.On)
	switch {
	case !slices.Contains(moments, s.On) && !tapped:
		return fmt.Errorf("unknown moment %q%s", s.On, faults.Suggest(string(s.On), texts(moments)))
	case s.Else != "" && (s.Within == 0 || !slices.Contains(watch.Moments(), s.Else)):
		return fmt.Errorf("else: %q needs within, and one of the moments %v", s.Else, texts(watch.Moments()))
	case s.Until != "" && !slices.Contains(seen, s.Until):
		return fmt.Errorf("until: %q is none of the moments that are seen: %v", s.Until, texts(seen))
	case s.On == faults.Bound && s.By == "":
		return fmt.Errorf("on: bound needs by: the name that another step binds")
	case s.At < 0 || s.For < 0 || s.Within < 0 || s.Every < 0 || s.Times < 0:
		return fmt.Errorf("at, for, within, every and times must not be negative")
	case s.Times > 1 && s.Every == 0:
		return fmt.Errorf("times: %d needs every", s.Times)
	case s.Then < 0 && !s.On.Foreseen():
		return fmt.Errorf("then: %v before the moment: possible with %v only", s.Then, texts(foreseen))
	case s.Delay < 0 || s.Jitter < 0 && s.Jitter != faults.Constant || s.Jitter > s.Delay && s.Delay > 0 && uniform(s):
		return fmt.Errorf("delay %v with jitter %v: neither may be negative, nor jitter the larger one", s.Delay, s.Jitter)
	case !slices.Contains(spreads, s.Spread):
		return fmt.Errorf("unknown spread %q: there are uniform, exponential, heavy-tail", s.Spread)
	case s.Direction != "" && s.Toward() == "":
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

func uniform(s faults.Spec) bool { return s.Spread == "" || s.Spread == link.Uniform }

func texts(moments []watch.Moment) []string {
	var all []string
	for _, m := range moments {
		if m != "" {
			all = append(all, string(m))
		}
	}
	return all
}
