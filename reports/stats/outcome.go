package stats

import (
	"strings"

	"locktorture/workload/history"
)

// Outcomes counts how acquire attempts ended.
type Outcomes struct {
	Acquired  int64 `json:"acquired"`
	Contended int64 `json:"contended"` // refused: another owner holds, or no quorum agreed
	Error     int64 `json:"error"`     // certainly not acquired, for another reason
	Unknown   int64 `json:"unknown"`   // may or may not have been acquired
}

// Attempts is the sum of all outcomes.
func (o Outcomes) Attempts() int64 { return o.Acquired + o.Contended + o.Error + o.Unknown }

// Minus returns what came to o since earlier.
func (o Outcomes) Minus(earlier Outcomes) Outcomes {
	return Outcomes{
		Acquired: o.Acquired - earlier.Acquired, Contended: o.Contended - earlier.Contended,
		Error: o.Error - earlier.Error, Unknown: o.Unknown - earlier.Unknown,
	}
}

func (o *Outcomes) merge(p Outcomes) {
	o.Acquired += p.Acquired
	o.Contended += p.Contended
	o.Error += p.Error
	o.Unknown += p.Unknown
}

func (o *Outcomes) add(e *history.Event) {
	switch {
	case e.Kind == history.OK:
		o.Acquired++
	case e.Kind == history.Info:
		o.Unknown++
	case refused(e.Err):
		o.Contended++
	default:
		o.Error++
	}
}

// refused tells a definite no of the lock from a failure to ask: a history
// carries the reason as text only. An absent reason is a refusal.
func refused(reason string) bool {
	for _, word := range []string{"held", "quorum", "contended", "locked", "not obtained", "taken"} {
		if strings.Contains(reason, word) {
			return true
		}
	}
	return reason == ""
}

// Plus returns the sum of both.
func (o Outcomes) Plus(p Outcomes) Outcomes {
	o.merge(p)
	return o
}
