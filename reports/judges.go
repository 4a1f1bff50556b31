package reports

import (
	"cmp"
	"fmt"
	"slices"

	"locktorture/checker"
	"locktorture/checker/anomaly"
)

// A Judge is one property, and the findings of the anomalies that break it.
type Judge struct {
	Name string
	IDs  []string

	Violations []checker.Finding // neither expected nor accepted by the scenario
	Expected   []checker.Finding
	Accepted   []checker.Finding
	Suspicious []checker.Finding

	Void string // why nothing was decided, or not about all of IDs; or empty
	part bool   // something was decided
	idle bool   // the history had nothing that any of IDs could be seen in
}

// Properties lists the properties that are judged and the anomalies that break
// each.
func Properties() (all []Judge) {
	for _, p := range anomaly.Properties() {
		all = append(all, Judge{Name: string(p), IDs: anomaly.Of(p)})
	}
	return all
}

// Judges sorts the findings of a report by the property that they break. A
// finding that no property lists gets a judge of its own.
func Judges(r checker.Report) []Judge {
	all := Properties()
	of := func(id string) *Judge {
		for i := range all {
			if slices.Contains(all[i].IDs, id) {
				return &all[i]
			}
		}
		all = append(all, Judge{Name: id, IDs: []string{id}})
		return &all[len(all)-1]
	}
	for _, f := range r.Violations {
		j := of(f.ID)
		switch {
		case f.Expected:
			j.Expected = append(j.Expected, f)
		case f.Accepted:
			j.Accepted = append(j.Accepted, f)
		default:
			j.Violations = append(j.Violations, f)
		}
	}
	for _, f := range r.Suspicious {
		j := of(f.ID)
		j.Suspicious = append(j.Suspicious, f)
	}
	for i := range all {
		all[i].void(r.Void)
		all[i].idle = !slices.ContainsFunc(all[i].IDs, func(id string) bool { return !slices.Contains(r.Nothing, id) })
	}
	return all
}

// void notes which of the property's anomalies the history does not decide. A
// bound of service is always judged: what missed it missed it, whoever was slow.
func (j *Judge) void(voids []checker.Void) {
	undecided := map[string]bool{}
	for _, v := range voids {
		for _, id := range v.IDs {
			if slices.Contains(j.IDs, id) {
				undecided[id], j.Void = true, cmp.Or(j.Void, v.Why)
			}
		}
	}
	j.part = slices.ContainsFunc(j.IDs, func(id string) bool { return !undecided[id] && !anomaly.Has(id, anomaly.Service) })
}

// Status is the result for the property, in a word.
func (j Judge) Status() string {
	switch {
	case len(j.Violations) > 0:
		return "VIOLATED"
	case len(j.Expected) > 0:
		return "violated as expected"
	case len(j.Accepted) > 0:
		return "violated as accepted"
	case j.Void != "" && j.part:
		return "judged in part"
	case j.Void != "":
		return "not judged"
	case j.idle:
		return "had nothing to judge"
	default:
		return "ok"
	}
}

// WorstFirst lists the violations: one of each class in the order in which they came
// about, then a second of each, and so on. A foreign release comes first, since it says why
// two hold the key; what any lock without tokens shows under a client that stands still
// follows on what the lock itself did wrong, and what the scenario accepts or means to see
// comes last.
func WorstFirst(r checker.Report) []checker.Finding {
	type ranked struct {
		checker.Finding
		accepted, common, turn, cause int
	}
	seen := map[string]int{}
	all := make([]ranked, len(r.Violations))
	for i, f := range r.Violations {
		all[i] = ranked{Finding: f, common: slices.Index([]string{"S3", "S3z"}, f.ID), cause: 1}
		if f.Expected || f.Accepted {
			all[i].accepted = 1
		}
		if f.ID == "S5" {
			all[i].cause = 0
		}
		like := fmt.Sprint(f.ID, all[i].accepted)
		all[i].turn = seen[like]
		seen[like]++
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.accepted, b.accepted), cmp.Compare(a.common, b.common), cmp.Compare(a.turn, b.turn), cmp.Compare(a.cause, b.cause))
	})
	out := make([]checker.Finding, len(all))
	for i, f := range all {
		out[i] = f.Finding
	}
	return out
}

// Allowance says behind a violation, in brackets, why it does not count: the scenario means to see it,
// or accepts it. It is empty for one that does.
func Allowance(f checker.Finding) string {
	switch {
	case f.Expected:
		return " (expected)"
	case f.Accepted:
		return " (accepted)"
	}
	return ""
}
